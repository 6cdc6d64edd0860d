/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PUSH_PUSH_BED_H
#define TANDEM_TESTS_PUSH_PUSH_BED_H

// A broker, push, and a fake endpoint in one loop. Sockets need real time, but a test can also
// advance the clock, so that pauses take no time. If the machine stops the test for longer than a
// turn takes, that time does not count. The store records nothing; the test sets its room and its
// log position.

#include "core/broker.h"
#include "core/policy.h"
#include "proto_common/introspect_queues.h"
#include "push/push_request.h"
#include "push/push.h"
#include "tests/push/fake_endpoint.h"
#include "tests/support/with_cmocka.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECONDS(n) ((nsec_t)(n)*NSEC_PER_SEC)

struct push_bed {
    struct event_base *base;
    struct broker *broker;
    struct push *push;
    struct fake_endpoint fake;
    struct handles handles;
    struct session *watcher; // submits jobs, and gets their events
    char told[4096];         // "complete 1 text; failed 2; ..."
    char url[64];            // of the fake endpoint
    struct push_settings settings;
    nsec_t skew;        // added to the clock
    nsec_t read_at;     // when the system's clock was last read; 0: never
    nsec_t stalled_for; // subtracted from the clock
    bool counts_stalls; // nothing is subtracted, because the time is compared with libcurl's
    uint64_t appended;  // the store's position
    uint64_t reached;
    bool fenced;      // requests may not be sent
    unsigned refused; // records that the store has no room for: a bit for each kind
};

// Setup of each test: its settings push the queue "q" to the fake endpoint.
int bed_setup(void **state);
int bed_teardown(void **state);
#define STORY(f) cmocka_unit_test_setup_teardown(f, bed_setup, bed_teardown)

// Has push adopt the settings.
void bed_push(struct push_bed *bed);

// The same with `count` sections.
void bed_push_all(struct push_bed *bed, const struct push_settings *settings, size_t count);

struct bed_job {
    const char *queue; // NULL: "q"
    const char *body;  // NULL: "body"
    size_t zeros;      // the number of bytes '0', instead of a text
    nsec_t ttr_for;
    bool watched;
    bool fragile; // not durable, and dropped if it fails
};

// Submits a job; returns its id.
uint64_t bed_put_job(struct push_bed *bed, struct bed_job job);
#define PUT(bed, ...) bed_put_job(bed, (struct bed_job){__VA_ARGS__})

// Runs turns until nothing happens for some milliseconds.
void bed_rest(struct push_bed *bed);

// Advances the clock, and runs turns.
void bed_advance(struct push_bed *bed, nsec_t by_for);

// Runs turns until the condition holds; the test fails after some seconds.
#define UNTIL(bed, condition)                                                                      \
    do {                                                                                           \
        nsec_t until_began_at = bed_now(bed).mono;                                                 \
                                                                                                   \
        while (!(condition)) {                                                                     \
            assert_true(bed_now(bed).mono - until_began_at < SECONDS(20) + (bed)->skew);           \
            bed_turn(bed);                                                                         \
        }                                                                                          \
    } while (0)
struct instant bed_now(struct push_bed *bed);
void bed_turn(struct push_bed *bed);

// The state of the job, JOB_GONE if there is none, and the number of its attempts.
enum job_state bed_state(const struct push_bed *bed, uint64_t id);
unsigned bed_attempts(const struct push_bed *bed, uint64_t id);

// The endpoint at that position.
struct introspect_push bed_shown(const struct push_bed *bed, size_t place);

#endif
