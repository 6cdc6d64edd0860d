/* SPDX-License-Identifier: MIT */

// Workloads: their limits, and how they arrive.

#include "tests/proto_gearman/wire_gear.h"

#include <stdlib.h>
#include <string.h>

#define MAX ((size_t)100000)
#define TOO_LARGE RES(ERROR, "ARGUMENT_TOO_LARGE", "The workload is too large")
#define PING REQ(ECHO_REQ, "ping")
#define PONG RES(ECHO_RES, "ping")

//
// The allocator: the linker redirects malloc and realloc to these functions
//

void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *block, size_t size);

static size_t largest_asked_for;

static void note(size_t size)
{
    if (size > largest_asked_for) {
        largest_asked_for = size;
    }
}

void *__wrap_malloc(size_t size)
{
    note(size);
    return __real_malloc(size);
}

void *__wrap_realloc(void *block, size_t size)
{
    note(size);
    return __real_realloc(block, size);
}

//
// Workloads
//

static int with_small_jobs(void **state)
{
    struct gear_options settings = GEAR_DEFAULTS;

    settings.max_job_size = MAX;
    return gear_setup_with(state, (struct rig_options){0}, settings);
}

static void send_in_pieces(struct peer *peer, struct slice bytes, size_t piece)
{
    while (bytes.len) {
        size_t len = bytes.len < piece ? bytes.len : piece;

        peer_send(peer, slice_of(bytes.ptr, len));
        rig_run(peer_rig(peer));
        bytes = slice_from(bytes, len);
    }
}

static void a_large_workload_may_come_in_pieces(void **state)
{
    struct gear *t = *state;
    static const size_t pieces[] = {997, 16384, 65536, 500000};
    char *body = malloc(1000001);

    assert_non_null(body);
    for (size_t i = 0; i < 1000000; i++) {
        body[i] = (char)('a' + i % 23);
    }
    body[1000000] = '\0';
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        send_in_pieces(t->a, MANY(REQ(SUBMIT_JOB, "f", "u", body), PING), pieces[i]);
        gear_hears(t->a, MANY(RES(JOB_CREATED, gear_handle(i + 1)), PONG));
        assert_int_equal(gear_grabs(t->b, "f", body), i + 1);
        send_in_pieces(t->b, MANY(REQ(WORK_COMPLETE, gear_handle(i + 1), body), PING), pieces[i]);
        gear_hears(t->b, PONG);
        gear_hears(t->a, RES(WORK_COMPLETE, gear_handle(i + 1), body));
    }
    free(body);
}

static void a_workload_may_have_the_largest_size(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('x', MAX);

    assert_int_equal(gear_submits(t->a, REQ(SUBMIT_JOB, "f", gear_run('u', 64), body)), 1);
    assert_int_equal(gear_job(t, 1).state, JOB_READY);
    gear_says(t->b, REQ(ECHO_REQ, body), RES(ECHO_RES, body));
}

static void a_larger_workload_is_refused_and_skipped(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('x', MAX + 1);
    static const size_t pieces[] = {1000, 65536, 1000000};

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        send_in_pieces(t->a, MANY(REQ(SUBMIT_JOB, "f", "u", body), PING), pieces[i]);
        gear_hears(t->a, MANY(TOO_LARGE, PONG));
    }
    gear_says(t->a, MANY(REQ(ECHO_REQ, body), PING), MANY(TOO_LARGE, PONG));
    gear_says(t->a, MANY(REQ(SUBMIT_JOB_EPOCH, "f", "u", "0", body), PING), MANY(TOO_LARGE, PONG));
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
}

static void a_larger_workload_is_refused_before_it_arrives(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB, "f", "u", gear_run('x', MAX + 1));

    gear_says(t->a, slice_of(packet.ptr, 16), TOO_LARGE);
    gear_says(t->a, MANY(slice_from(packet, 16), PING), PONG);
}

static void an_announced_size_far_too_large_ends_the_connection(void **state)
{
    static const uint32_t sizes[] = {MAX + 8193, 0x7fffffff, 0x80000000, 0xffffffff};
    static const uint32_t types[] = {7, 1, 4, 16, 14, 0, 6, 0x80000000, 0xffffffff};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            struct peer *peer = peer_new(t->rig);

            gear_says(peer, gear_raw("REQ", types[j], sizes[i], NOTHING), TOO_LARGE);
            assert_true(peer_closed(peer));
            peer_free(peer);
        }
    }
}

static void an_announced_size_just_within_is_waited_for(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, gear_raw("REQ", 7, MAX + 8192, NOTHING), NOTHING);
    assert_false(peer_closed(t->a));
}

static void a_workload_too_large_is_logged_with_the_setting(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", gear_run('x', MAX + 1)), TOO_LARGE);
    assert_true(rig_logged_too_large(t->rig, MAX + 1, "gearman.max_job_size"));
}

//
// Results
//

// The header and the handle of a report with data of `size` bytes; the data follows in pieces.
static void report(struct peer *worker, uint32_t type, const char *handle, size_t data)
{
    const char *piece = gear_run('r', 65536);
    size_t head = strlen(handle) + 1;

    peer_send(worker, gear_raw("REQ", type, (uint32_t)(head + data), slice_of(handle, head)));
    rig_run(peer_rig(worker));
    while (data > 0) {
        size_t len = data < 65536 ? data : 65536;

        peer_send(worker, slice_of(piece, len));
        rig_run(peer_rig(worker));
        data -= len;
    }
}

static void hold(struct gear *t, struct slice submission)
{
    gear_submits(t->a, submission);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
}

// The first is just above the limit, the others exceed the limit for packets.
static const size_t too_many[] = {MAX + 1, MAX + 8193, 20 * MAX};

static void a_result_that_is_too_large_fails_the_job_without_an_error_to_the_worker(void **state)
{
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (uint64_t i = 0; i < sizeof too_many / sizeof *too_many; i++) {
        const char *handle = gear_handle(i + 1);

        gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
        gear_grabs(t->b, "f", "x");
        report(t->b, 13, handle, too_many[i]);
        gear_hears(t->a, RES(WORK_FAIL, handle));
        job_is_gone(t, i + 1);
        assert_true(rig_logged_too_large(t->rig, too_many[i], "gearman.max_job_size"));
        gear_says(t->b, MANY(REQ(GRAB_JOB), PING), MANY(RES(NO_JOB), PONG));
    }
}

static void an_exception_that_is_too_large_fails_the_job(void **state)
{
    struct gear *t = *state;

    hold(t, REQ(SUBMIT_JOB, "f", "", "x"));
    report(t->b, 25, H(1), 2 * MAX);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    gear_says(t->b, MANY(REQ(WORK_FAIL, H(1)), PING), PONG);
}

static void a_result_that_misses_a_part_that_was_too_large_fails(void **state)
{
    struct gear *t = *state;

    hold(t, REQ(SUBMIT_JOB, "f", "", "x"));
    report(t->b, 28, H(1), MAX + 1);
    report(t->b, 29, H(1), 2 * MAX);
    gear_says(t->b, PING, PONG);
    gear_hears(t->a, NOTHING);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "rest"), NOTHING);
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
}

static void a_background_job_whose_result_is_too_large_ends(void **state)
{
    struct gear *t = *state;

    hold(t, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    report(t->b, 13, H(1), 2 * MAX);
    gear_says(t->b, PING, PONG);
    job_is_gone(t, 1);
}

static void a_background_job_whose_result_is_too_large_may_be_buried(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    hold(t, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    report(t->b, 13, H(1), MAX + 1);
    jobs_are(t, "f", JOB_BURIED, 1);
}

static void a_large_result_of_a_job_that_is_not_held_is_refused_and_skipped(void **state)
{
    struct gear *t = *state;

    report(t->b, 13, H(7), 2 * MAX);
    gear_hears(t->b, RES(ERROR, "JOB_NOT_FOUND", "Job given in work result not found"));
    gear_says(t->b, PING, PONG);
}

static void the_limit_may_change_at_any_time(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('x', MAX);

    t->settings.max_job_size = 10;
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "0123456789"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "0123456789a"), TOO_LARGE);
    t->settings.max_job_size = 0;
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", ""), RES(JOB_CREATED, H(2)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "a"), TOO_LARGE);
    t->settings.max_job_size = MAX;
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", body), RES(JOB_CREATED, H(3)));
    t->settings.max_job_size = 10;
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "0123456789");
    gear_grabs(t->b, "f", "");
    gear_grabs(t->b, "f", body);
}

static void a_connection_may_break_in_the_middle_of_a_workload(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB, "f", "u", gear_run('x', MAX));

    for (size_t sent = 1; sent < packet.len; sent += packet.len / 7) {
        struct peer *peer = peer_new(t->rig);

        send_in_pieces(peer, slice_of(packet.ptr, sent), 20000);
        peer_free(peer);
    }
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
}

static void a_result_may_come_in_the_middle_of_a_workload(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB, "f", "", gear_run('y', MAX));

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_says(t->a, slice_of(packet.ptr, 50000), NOTHING);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "r"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "r"));
    gear_says(t->a, slice_from(packet, 50000), RES(JOB_CREATED, H(2)));
    gear_grabs(t->b, "f", gear_run('y', MAX));
}

static void memory_grows_with_the_bytes_that_arrive(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB, "f", "u", gear_run('x', 15000000));

    largest_asked_for = 0;
    peer_send(t->a, slice_of(packet.ptr, 16));
    rig_run(t->rig);
    assert_true(largest_asked_for < 65536);
    for (size_t sent = 16; sent < 10000000; sent += 16384) {
        peer_send(t->a, slice_of(packet.ptr + sent, 16384));
        rig_run(t->rig);
        assert_true(largest_asked_for < 65536 + 4 * sent);
    }
    assert_true(largest_asked_for > 10000000);
}

static void an_unfinished_workload_reports_its_memory(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB, "f", "u", gear_run('x', MAX));

    assert_int_equal(peer_holds(t->a), 0);
    gear_says(t->a, slice_of(packet.ptr, MAX / 2), NOTHING);
    assert_in_range(peer_holds(t->a), MAX / 2, 2 * MAX);
    gear_says(t->a, slice_from(packet, MAX / 2), RES(JOB_CREATED, H(1)));
    assert_int_equal(peer_holds(t->a), 0);
}

#define SMALL(test) cmocka_unit_test_setup_teardown(test, with_small_jobs, gear_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_large_workload_may_come_in_pieces),
        SMALL(a_workload_may_have_the_largest_size),
        SMALL(a_larger_workload_is_refused_and_skipped),
        SMALL(a_larger_workload_is_refused_before_it_arrives),
        SMALL(an_announced_size_far_too_large_ends_the_connection),
        SMALL(an_announced_size_just_within_is_waited_for),
        SMALL(a_workload_too_large_is_logged_with_the_setting),
        SMALL(a_result_that_is_too_large_fails_the_job_without_an_error_to_the_worker),
        SMALL(an_exception_that_is_too_large_fails_the_job),
        SMALL(a_result_that_misses_a_part_that_was_too_large_fails),
        SMALL(a_background_job_whose_result_is_too_large_ends),
        SMALL(a_background_job_whose_result_is_too_large_may_be_buried),
        SMALL(a_large_result_of_a_job_that_is_not_held_is_refused_and_skipped),
        SMALL(the_limit_may_change_at_any_time),
        SMALL(a_connection_may_break_in_the_middle_of_a_workload),
        GEAR(a_result_may_come_in_the_middle_of_a_workload),
        GEAR(memory_grows_with_the_bytes_that_arrive),
        GEAR(an_unfinished_workload_reports_its_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
