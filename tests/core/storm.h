/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_STORM_H
#define TANDEM_TESTS_CORE_STORM_H

// Random verbs of all features at once, with the smallest slices, a store that refuses, memory that
// is short or fails, and restarts. The answers of the verbs are not compared (core_random_test does
// that). The storm checks what must always hold: the invariants of the broker, the events that
// sessions may get, the jobs in the store, and that at the end no session waits beside a ready job
// and no timer is late.

#include "core/broker.h"
#include "core/operate.h"
#include "core/queue.h"
#include "core/work.h"
#include "tests/core/storm_store.h"

enum { STORM_SESSIONS = 10, STORM_QUEUES = 7, STORM_WATCHES = 4096, STORM_SWEEPS = 2 };

enum storm_busy { STORM_FREE, STORM_WAITS, STORM_UNSUBSCRIBES, STORM_GOES_TO_SLEEP };

struct storm;

struct storm_session {
    struct storm *g;
    struct session *session;
    bool in_turn;
    enum storm_busy busy;
    nsec_t until;     // WAITS
    const char *gone; // UNSUBSCRIBES: the queue that it leaves
};

struct storm_watch {
    struct watch *watch;
    const struct storm_session *owner;
    uint64_t id;
};

struct storm_sweep {
    struct sweep sweep;
    struct session *by;
    bool on;
};

struct storm {
    struct broker *broker;
    struct instant now;
    uint64_t random;
    nsec_t restarted_at;
    uint64_t last_id;
    unsigned fails; // the allocations of one verb in this number fail; 0: none do
    bool stepped;   // the wall clock was set since the records began
    struct storm_store store;
    struct storm_session sessions[STORM_SESSIONS];
    struct storm_watch watches[STORM_WATCHES];
    size_t watch_count;
    struct storm_sweep sweeps[STORM_SWEEPS];
    struct kick kick;
    struct queue *kicked; // NULL: no kick is under way
    struct queue_snapshot snapshot;
    bool snapshots;
};

extern const char *const storm_queues[STORM_QUEUES];

uint32_t storm_draw(struct storm *g, uint32_t bound);
struct slice storm_queue(struct storm *g);

struct storm *storm_new(uint64_t seed);

// Lets the broker do all pending work, and checks what must hold then.
void storm_quiesce(struct storm *g);

// Restarts the broker from its store, and compares the jobs that come back.
void storm_restart(struct storm *g);

void storm_open(struct storm *g, struct storm_session *s);
void storm_close(struct storm *g, struct storm_session *s);
void storm_watch(struct storm *g, const struct storm_session *s, struct watch *watch, uint64_t id);
void storm_free(struct storm *g);

#endif
