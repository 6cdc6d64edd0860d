/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PUSH_PUSH_BED_H
#define TANDEM_TESTS_PUSH_PUSH_BED_H

// A broker, push, and a fake endpoint in one loop. Time is real where sockets are, and can be moved
// on beside that: pauses take no time. Nor does it count that the machine has stopped the test for
// longer than a turn takes. A store notes nothing, has room or not, and has reached what the test
// says.

#include "core/broker.h"
#include "core/policy.h"
#include "proto_common/sight_push.h"
#include "push/push_request.h"
#include "push/push.h"
#include "tests/push/fake_endpoint.h"

#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECONDS(n) ((nsec_t)(n)*NSEC_PER_SEC)

struct push_bed {
    struct event_base *base;
    struct broker *broker;
    struct push *push;
    struct fake_endpoint fake;
    struct handles handles;
    struct session *watcher; // submits, and is told
    char told[4096];         // "complete 1 text; failed 2; ..."
    char url[64];            // of the fake endpoint
    struct push_settings settings;
    nsec_t skew;        // that was added to the clock
    nsec_t read_at;     // when it was read last, by the system's clock; 0: never
    nsec_t stalled_for; // that was taken from it
    bool counts_stalls; // nothing is: the time that passes is compared with libcurl's
    uint64_t appended;  // the store's position
    uint64_t reached;
    bool fenced;      // nothing may be sent
    unsigned refused; // records that the store has no room for: bits of their kinds
};

// Before each story; *state is a bed whose settings push the queue "q" to the fake endpoint.
int bed_setup(void **state);
int bed_teardown(void **state);
#define STORY(f) cmocka_unit_test_setup_teardown(f, bed_setup, bed_teardown)

// Has push begin with the settings, or go on with other ones.
void bed_push(struct push_bed *bed);

// The same with so many sections.
void bed_push_all(struct push_bed *bed, const struct push_settings *settings, size_t count);

struct bed_job {
    const char *queue; // NULL: "q"
    const char *body;  // NULL: "body"
    size_t zeros;      // instead of that: so many bytes of '0'
    nsec_t ttr_for;
    bool watched;
    bool fragile; // not durable, and dropped where it fails
};

// Submits a job; its id.
uint64_t bed_put_job(struct push_bed *bed, struct bed_job job);
#define PUT(bed, ...) bed_put_job(bed, (struct bed_job){__VA_ARGS__})

// Turns pass until nothing happens any more for some milliseconds.
void bed_rest(struct push_bed *bed);

// Time passes at once, and then turns.
void bed_advance(struct push_bed *bed, nsec_t by_for);

// Turns pass until that holds; a test that waits for seconds fails.
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

// The state of the job, JOB_GONE where there is none, and how many attempts it has spent.
enum job_state bed_state(const struct push_bed *bed, uint64_t id);
unsigned bed_attempts(const struct push_bed *bed, uint64_t id);

// The endpoint of that place.
struct sight_push bed_shown(const struct push_bed *bed, size_t place);

#endif
