/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_H
#define TANDEM_TESTS_CORE_ORACLE_H

// A second implementation of the broker, as plain as possible: arrays that are searched from end to
// end. It is slow and small, so that a reader can compare it with the rules of MODEL.md, and random
// runs compare the broker with it (random_test.c). The events of sessions are collected as lines.

#include "tests/core/stage.h"

enum { ORACLE_SESSIONS = 5, ORACLE_QUEUES = 20, ORACLE_JOBS = 40, ORACLE_WATCHES = 6 };
enum { ORACLE_LINES = 512, ORACLE_LINE = 64 };

enum oracle_wait_state { ORACLE_WAITS_NOT, ORACLE_WAITS_FOR_JOB, ORACLE_WAITS_FOR_NUDGE };

struct oracle_sub {
    bool on;
    bool barred;     // its caller may not work on that queue
    uint64_t joined; // when it began to wait along with a session that waited already
    nsec_t limit_for;
    enum on_limit on_limit;
    int64_t served; // when a job was last taken from it; negative: none since it was made
};

struct oracle_session {
    uint64_t number;
    bool in_turn;
    struct oracle_sub subs[ORACLE_QUEUES];
    enum oracle_wait_state wait_state;
    bool ruled; // it may work on the queues in `allowed` only
    bool allowed[ORACLE_QUEUES];
    uint64_t waits_since; // when it began to wait
    nsec_t until, margin_for;
};

struct oracle_job {
    uint64_t id; // 0: the place is free
    struct plan plan;
    int queue;
    enum job_state state;
    uint32_t pri, attempts;
    uint32_t reserves, timeouts, releases, kicks;
    uint64_t seq, buried; // its places among equals and among the buried
    nsec_t due_at;        // DELAYED
    uint64_t delayed;     // when that was set
    bool on_wall;
    bool imposed;            // DELAYED: a duplicate does not shorten it
    nsec_t ttr_at, limit_at; // RESERVED: NSEC_NEVER for none
    enum on_limit on_limit;
    int holder;
    bool by_id;
    uint64_t last_holder;
    uint64_t placed;           // when it came to the place where it is
    nsec_t created_at;         // monotonic
    nsec_t ready_at, begun_at; // READY: since when; RESERVED: since when
    bool renewed;              // RESERVED: its time to run has been renewed
    bool keyed, durable;
    uint64_t claimed; // when it got its key
    int watches;
    int watchers[ORACLE_WATCHES];
    struct watch *handles[ORACLE_WATCHES];
};

struct oracle_times {
    uint64_t count, sum_us;
};

// The policy of a queue (0: no limit), and the state of its rate.
struct oracle_gate {
    uint64_t max_jobs, max_running, interval_for, burst, weight;
    nsec_t rests_at;   // its rate is at rest from then on
    nsec_t wakes_at;   // its gate is examined then; NSEC_NEVER: never
    uint64_t closed;   // when its rate closed it
    nsec_t expire_for; // that a job may be ready
    uint64_t tag;      // its next turn, where it has a weight
};

struct oracle {
    struct instant now;
    bool stepped;   // the wall clock was set since the records began that may be played
    uint64_t stamp; // orders everything
    struct counts ever, ever_of[ORACLE_QUEUES];
    struct oracle_times wait_of[ORACLE_QUEUES], run_of[ORACLE_QUEUES];
    struct oracle_session sessions[ORACLE_SESSIONS];
    struct oracle_job jobs[ORACLE_JOBS];
    nsec_t paused_until[ORACLE_QUEUES]; // 0: not paused
    bool pause_over[ORACLE_QUEUES];     // its last pause ended by itself, which is not recorded
    struct oracle_gate gates[ORACLE_QUEUES];
    uint64_t others; // the tag of all queues without a weight
    bool gathering;  // several jobs become ready together: they are assigned when all are ready
    size_t lines;
    char told[ORACLE_LINES][ORACLE_LINE];
};

void oracle_open(struct oracle *o, int session, bool in_turn);
void oracle_close(struct oracle *o, int session);
void oracle_subscribe(struct oracle *o, int session, int queue,
                      const struct subscription_terms *terms);
void oracle_unsubscribe(struct oracle *o, int session, int queue, bool give_back);

struct oracle_job *oracle_find(struct oracle *o, uint64_t id);

// The live job that the plan joins; NULL if it makes a new one.
struct oracle_job *oracle_namesake(struct oracle *o, int queue, const char *key);
// The job that has held that key longest, in whatever queue; NULL for none.
const struct oracle_job *oracle_first_of_name(const struct oracle *o, const char *key);
void oracle_put(struct oracle *o, int queue, const struct plan *plan, uint64_t id, int watcher,
                struct watch *handle);
void oracle_unwatch(struct oracle *o, struct oracle_job *job, int place);

// The caller may work on these queues only; NULL: on all.
void oracle_grant(struct oracle *o, int session, const bool *allowed);
bool oracle_may_work(const struct oracle *o, int session, int queue);

// The id, 0 for none.
uint64_t oracle_take(struct oracle *o, int session);
enum status oracle_take_id(struct oracle *o, int session, uint64_t id);
enum status oracle_wait(struct oracle *o, int session, nsec_t until, nsec_t margin_for);
void oracle_await_nudge(struct oracle *o, int session);
void oracle_unwait(struct oracle *o, int session);

enum status oracle_complete(struct oracle *o, int session, uint64_t id);
enum status oracle_fail(struct oracle *o, int session, uint64_t id);
enum status oracle_release(struct oracle *o, int session, uint64_t id, uint32_t pri,
                           nsec_t delay_for);
enum status oracle_bury(struct oracle *o, int session, uint64_t id, uint32_t pri);
enum status oracle_touch(struct oracle *o, int session, uint64_t id);
void oracle_end_limits(struct oracle *o, int session);
enum status oracle_data(struct oracle *o, int session, uint64_t id);
enum status oracle_cancel(struct oracle *o, uint64_t id, bool even_held);
uint32_t oracle_kick(struct oracle *o, int queue, uint32_t bound);
enum status oracle_kick_id(struct oracle *o, uint64_t id);
void oracle_pause(struct oracle *o, int queue, nsec_t pause_for);

// Sets the present and does what is due.
void oracle_tick(struct oracle *o, struct instant now);

// Nudges sessions that wait for a nudge of a queue with ready jobs, and frees queues that nothing
// refers to.
void oracle_settle(struct oracle *o);

// Asserts that the sessions of the stage got the same events as those here since the last call.
void oracle_expect_told(struct oracle *o, struct stage *s);

// The next monotonic moment at which something is due.
nsec_t oracle_next_due(const struct oracle *o);

// How long a ready job has waited.
nsec_t oracle_waited_for(const struct oracle *o, const struct oracle_job *job);

// The end of the lease, NSEC_NEVER for none.
nsec_t oracle_lease_end(const struct oracle_job *job);

#endif
