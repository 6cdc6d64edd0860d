/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_STAGE_H
#define TANDEM_TESTS_CORE_STAGE_H

// A stage for stories about the broker: the broker itself in virtual time, a store that writes down
// its records, and actors, which are sessions that write down what they are told. These texts are
// then compared: "w leased 1; c complete 1 done".
//
// Every step here ends with broker_check_step(), so that a story also shows that the broker's
// counters and containers are right after each step. An event that is not expected fails the test.

#include "core/broker.h"
#include "core/policy.h"
#include "tests/support/with_cmocka.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEC(n) ((nsec_t)(n)*NSEC_PER_SEC)
#define MSEC(n) ((nsec_t)(n)*NSEC_PER_MSEC)

// The first value of both clocks; far enough from 0 to tell a moment from a duration.
#define STAGE_MONO_AT SEC(1000)
#define STAGE_WALL_AT SEC(1700000000)

#define STAGE_ACTORS 16
#define STAGE_MARKS 2
#define STAGE_TEXT 65536

struct actor {
    struct stage *stage;
    struct session *session;
    char name[16];
};

// A watch whose events are written down with a text.
struct stage_mark {
    const struct watch *watch;
    const char *text;
};

struct stage_text {
    size_t len;
    char bytes[STAGE_TEXT];
};

struct stage {
    struct broker *broker;
    struct instant now;
    struct actor actors[STAGE_ACTORS];
    struct stage_mark marks[STAGE_MARKS];
    struct stage_text told;     // what actors were told
    struct stage_text recorded; // what the store was told
    size_t tellings;            // the number of events that actors were told
    bool mute;                  // keep only their number
    bool settling;              // the broker may call actors back
    unsigned refused;           // the store has no room for records of kind k where bit k is set
    unsigned roomy;             // kinds of records that the store granted room for in this step
    uint64_t appended;          // records; each has a position of its own, counted from 1
    uint64_t event_at;          // the position of the last event
    bool was_buried;            // in the last record, and in the last request for room
    bool room_was_buried;
    uint64_t ids_at; // the position of the ids of jobs that are not durable
};

#define STORE_REFUSES(kind) (1u << (kind))
#define STORE_REFUSES_ALL (~0u)

// A story on a stage of its own, which cmocka passes as *state.
#define STORY(f) cmocka_unit_test_setup_teardown(f, stage_setup, stage_teardown)
int stage_setup(void **state);
int stage_teardown(void **state);

// The stage proper. stage_new() takes `recorder` and `store` of the options from the stage itself
// where `with_store`; stage_free() closes all sessions.
struct stage *stage_new(struct broker_options options, bool with_store);
void stage_free(struct stage *s);

#define assert_status(expected, actual)                                                            \
    assert_string_equal(status_text(expected), status_text(actual))

// The end of a step: checks the broker, and drops the room that the store granted. Every step
// below ends so.
void stage_step(struct stage *s);

void stage_text_add(struct stage_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

//
// Time and events
//

// Settles and ticks without moving the clock until no work is pending.
void stage_settle(struct stage *s);

// Lets time pass on both clocks, then settles.
void stage_advance(struct stage *s, nsec_t by_for);

// Advances to the next due moment of the broker; there must be one.
void stage_advance_to_due(struct stage *s);

// Moves the wall clock alone, then settles.
void stage_step_wall(struct stage *s, nsec_t by_for);

// Settles, and asserts that actors were told exactly this since the last expectation, as
// "name what; name what". The empty text stands for nothing.
void stage_expect(struct stage *s, const char *text);

// The same without settling.
void stage_expect_told(struct stage *s, const char *text);

// Asserts what the store was told since the last expectation: "submit 1; end 1; pause q".
void stage_expect_recorded(struct stage *s, const char *text);

//
// Actors
//

struct actor *stage_open(struct stage *s, const char *name);
struct actor *stage_open_in_turn(struct stage *s, const char *name);

// Opens an actor that is subscribed to `queue`.
struct actor *stage_worker(struct stage *s, const char *name, const char *queue);

void act_close(struct actor *a);
void act_subscribe(struct actor *a, const char *queue);
void act_subscribe_on(struct actor *a, const char *queue, nsec_t limit_for, enum on_limit on_limit);
// Sets what its caller may do; NULL: everything. Whether the session lost a queue.
bool act_grant(struct actor *a, const struct grant *list, size_t count);
// The same, one slice of it.
enum grant_progress act_grant_slice(struct actor *a, const struct grant *list, size_t count);

void act_unsubscribe(struct actor *a, const char *queue);
void act_give_back(struct actor *a, const char *queue); // unsubscribes, and leases end

// The id of the job taken, 0 if no job that it may take is ready.
uint64_t act_take(struct actor *a);
enum status act_take_id(struct actor *a, uint64_t id);

// Takes and completes jobs until none is ready, and asserts their order: "3 1 2".
void act_drain(struct actor *a, const char *order);

// Waits without end and without a margin; the wait must be accepted.
void act_wait(struct actor *a);
enum status act_wait_until(struct actor *a, nsec_t until, nsec_t margin_for);
void act_await_nudge(struct actor *a);
bool act_unwait(struct actor *a);

// Results and exceptions are texts; NULL stands for none.
enum status act_complete(struct actor *a, uint64_t id, const char *result);
enum status act_fail(struct actor *a, uint64_t id, const char *exception);
enum status act_release(struct actor *a, uint64_t id, uint32_t pri, nsec_t delay_for);
enum status act_bury(struct actor *a, uint64_t id, uint32_t pri);
enum status act_touch(struct actor *a, uint64_t id);
void act_end_limits(struct actor *a);
enum status act_progress(struct actor *a, uint64_t id, uint64_t numerator, uint64_t denominator);
enum status act_data(struct actor *a, uint64_t id, const char *data);
enum status act_warning(struct actor *a, uint64_t id, const char *text);

//
// Jobs
//

// A job in one line: PUT(s, .pri = 5, .body = "hello"). Members that are not named are 0, except
// that the queue is "q" and the body empty, and that a job is durable unless it is fleeting.
struct plan {
    const char *queue;
    uint32_t pri;
    nsec_t delay_for;
    nsec_t at; // wall
    nsec_t ttr_for;
    const char *key;
    bool by_content;
    const char *reducer;
    uint32_t max_attempts;
    enum on_fail on_fail;
    enum on_loss on_loss;
    bool fleeting;
    const char *body;
    struct blob *blob;
};

#define PLAN(...) (&(const struct plan){__VA_ARGS__})

// Submits; it must be accepted. The id is returned.
#define PUT(s, ...) stage_put((s), PLAN(__VA_ARGS__))
uint64_t stage_put(struct stage *s, const struct plan *plan);

// The same, and the actor watches.
#define SUBMIT(a, ...) act_submit((a), PLAN(__VA_ARGS__))
struct submission act_submit(struct actor *a, const struct plan *plan);

// Submits and returns the answer. `submission` may be NULL.
enum status stage_try_put(struct stage *s, struct actor *watcher, const struct plan *plan,
                          struct submission *submission);

// Submits a job and buries it, by an actor of its own.
#define PUT_BURIED(s, ...) stage_put_buried((s), PLAN(__VA_ARGS__))
uint64_t stage_put_buried(struct stage *s, const struct plan *plan);

enum status stage_cancel(struct stage *s, uint64_t id);
enum status stage_cancel_held(struct stage *s, uint64_t id);
// Acts of an operator; `by` NULL: the host.
#define ACT(...) (&(const struct job_act){__VA_ARGS__})
enum status stage_act(struct stage *s, struct actor *by, uint64_t id, const struct job_act *act);

uint32_t stage_kick(struct stage *s, const char *queue, uint32_t bound);
enum status stage_kick_id(struct stage *s, uint64_t id);
enum status stage_pause(struct stage *s, const char *queue, nsec_t pause_for);
void stage_unwatch(struct stage *s, struct watch *watch);
// Has that text, which is static, written behind the actor's name at each event of the watch.
void stage_mark(struct stage *s, const struct watch *watch, const char *text);

// Sets the policy of all queues whose names match, and of no others:
// POLICY(s, "*", .max_jobs = 5).
#define POLICY(s, glob, ...) stage_set_policy((s), (glob), &(const struct policy_spec){__VA_ARGS__})
void stage_set_policy(struct stage *s, const char *glob, const struct policy_spec *spec);

// JOB_GONE for an unknown id.
enum job_state stage_state(struct stage *s, uint64_t id);
struct job_info stage_job(struct stage *s, uint64_t id);
struct slice stage_slice(const char *text); // NULL: no bytes

// The next kept result behind `*cursor`, which is 0 at first; false at the end.
bool stage_result_next(struct broker *broker, uint64_t *cursor, struct result *result);

// NULL for none.
struct queue *stage_find(struct stage *s, const char *queue);
struct queue_info stage_queue(struct stage *s, const char *queue);
struct broker_info stage_info(struct stage *s);

// Asserts the number of jobs of the queue: ready, delayed, reserved, buried.
void stage_expect_jobs(struct stage *s, const char *queue, uint64_t ready, uint64_t delayed,
                       uint64_t reserved, uint64_t buried);

#endif
