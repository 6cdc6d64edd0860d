/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_STORM_H
#define TANDEM_TESTS_CORE_STORM_H

// A broker that everything happens to at once: all features together, slices as small as they may
// be, a store that refuses, memory that is short or fails, restarts. There is no model of what each
// verb answers, which core_random_test has. What is compared is what must hold whatever happens:
// the broker's books, what sessions may be told, what the store has, and that after all is done
// nobody waits beside work, and nothing is late.

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
    unsigned fails; // of so many verbs the allocations of one fail; 0: of none
    bool stepped;   // the wall clock was set since the records began
    struct storm_store store;
    struct storm_session sessions[STORM_SESSIONS];
    struct storm_watch watches[STORM_WATCHES];
    size_t watch_count;
    struct storm_sweep sweeps[STORM_SWEEPS];
    struct kick kick;
    struct queue *kicked; // NULL: none is on
    struct queue_snapshot snapshot;
    bool snapshots;
};

extern const char *const storm_queues[STORM_QUEUES];

uint32_t storm_draw(struct storm *g, uint32_t bound);
struct slice storm_queue(struct storm *g);

struct storm *storm_new(uint64_t seed);

// All is done that can be, and what must hold then is compared.
void storm_quiesce(struct storm *g);

// The broker is started anew from what its store has; what comes back is compared.
void storm_restart(struct storm *g);

void storm_open(struct storm *g, struct storm_session *s);
void storm_close(struct storm *g, struct storm_session *s);
void storm_watch(struct storm *g, const struct storm_session *s, struct watch *watch, uint64_t id);
void storm_free(struct storm *g);

#endif
