/* SPDX-License-Identifier: MIT */

// Submissions: the values of the job, and refusals.

#include "tests/proto_gearman/wire_gear.h"

#include <string.h>

static void is_contract(const struct gear *t, uint64_t id, uint32_t pri, bool durable)
{
    struct job_info job = gear_job(t, id);

    assert_int_equal(job.pri, pri);
    assert_int_equal(job.durable, durable);
    assert_int_equal(job.watches, durable ? 0 : 1);
    assert_int_equal(job.ttr_for, 0);
    assert_int_equal(job.on_loss, ON_LOSS_BACK);
    assert_int_equal(job.state, JOB_READY);
}

static void every_submission_is_answered_with_the_handle(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB_HIGH, "f", "", "x"), RES(JOB_CREATED, H(2)));
    gear_says(t->a, REQ(SUBMIT_JOB_LOW, "f", "", "x"), RES(JOB_CREATED, H(3)));
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), RES(JOB_CREATED, H(4)));
    gear_says(t->a, REQ(SUBMIT_JOB_HIGH_BG, "f", "", "x"), RES(JOB_CREATED, H(5)));
    gear_says(t->a, REQ(SUBMIT_JOB_LOW_BG, "f", "", "x"), RES(JOB_CREATED, H(6)));
    is_contract(t, 1, PRI_NORMAL, false);
    is_contract(t, 2, PRI_HIGH, false);
    is_contract(t, 3, PRI_LOW, false);
    is_contract(t, 4, PRI_NORMAL, true);
    is_contract(t, 5, PRI_HIGH, true);
    is_contract(t, 6, PRI_LOW, true);
}

static void epoch_sched_and_reduce_jobs_have_normal_priority(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "0", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_REDUCE_JOB, "f", "", "r", "", "x"), RES(JOB_CREATED, H(2)));
    gear_says(t->a, REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "", "r", "", "x"),
              RES(JOB_CREATED, H(3)));
    gear_says(t->a, REQ(SUBMIT_JOB_SCHED, "f", "", "*", "*", "*", "*", "*", "x"),
              RES(JOB_CREATED, H(4)));
    is_contract(t, 1, PRI_NORMAL, true);
    is_contract(t, 2, PRI_NORMAL, false);
    is_contract(t, 3, PRI_NORMAL, true);
    assert_int_equal(gear_job(t, 4).pri, PRI_NORMAL);
    assert_true(gear_job(t, 4).durable);
    assert_int_equal(gear_job(t, 4).watches, 0);
}

static void a_workload_may_be_empty_or_hold_any_byte(void **state)
{
    struct gear *t = *state;
    struct slice all = SLICE("f\0\0a\0b\n\xff\0");

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", ""), RES(JOB_CREATED, H(1)));
    gear_says(t->a, gear_raw("REQ", 7, (uint32_t)all.len, all), RES(JOB_CREATED, H(2)));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", ""));
    assert_true(slice_equal(job_body(broker_find(rig_broker(t->rig), 2)), SLICE("a\0b\n\xff\0")));
}

static void a_function_needs_a_name(void **state)
{
    struct gear *t = *state;
    struct slice error = RES(ERROR, "INVALID_FUNCTION_NAME", "A function needs a name");

    gear_says(t->a, REQ(SUBMIT_JOB, "", "u", "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "", "", ""), error);
    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "", "", "0", ""), error);
    gear_says(t->a, REQ(CAN_DO, ""), error);
    gear_says(t->a, REQ(CAN_DO_TIMEOUT, "", "5"), error);
    gear_says(t->a, REQ(CAN_DO, "", "g"), error);
}

static void a_function_name_has_at_most_512_bytes(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, gear_run('f', 512), "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(CAN_DO, gear_run('f', 512)), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, H(1), gear_run('f', 512), "x"));
    gear_fails(t->a, REQ(SUBMIT_JOB, gear_run('f', 513), "u", "x"), "ARGUMENT_TOO_LARGE");
    gear_fails(t->b, REQ(CAN_DO, gear_run('f', 513)), "ARGUMENT_TOO_LARGE");
    gear_fails(t->b, REQ(CAN_DO_TIMEOUT, gear_run('f', 513), "1"), "ARGUMENT_TOO_LARGE");
    gear_says(t->b, REQ(CANT_DO, gear_run('f', 513)), NOTHING);
}

static void a_function_name_may_have_any_byte_but_nul(void **state)
{
    static const char *const names[] = {" ", "a b", "tab\there", "new\nline", "\x01\xff", "*"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *handle = gear_handle(i + 1);

        gear_says(t->a, REQ(SUBMIT_JOB_BG, names[i], "", "x"), RES(JOB_CREATED, handle));
        gear_says(t->b, MANY(REQ(CAN_DO, names[i]), REQ(GRAB_JOB)),
                  RES(JOB_ASSIGN, handle, names[i], "x"));
    }
}

static void a_unique_has_at_most_64_bytes_which_count_in_full(void **state)
{
    struct gear *t = *state;
    struct slice error = RES(ERROR, "ARGUMENT_TOO_LARGE", "Unique value too large");
    const char *unique = gear_run('u', 64);
    const char *longer = gear_run('u', 65);

    gear_says(t->a, REQ(SUBMIT_JOB, "f", unique, "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", gear_run('u', 63), "y"), RES(JOB_CREATED, H(2)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", unique, "z"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", longer, "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", longer, "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", longer, "0", "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB_SCHED, "f", longer, "", "", "", "", "", "x"), error);
    gear_says(t->a, REQ(SUBMIT_REDUCE_JOB, "f", longer, "r", "", "x"), error);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB_UNIQ)),
              RES(JOB_ASSIGN_UNIQ, H(1), "f", unique, "x"));
    jobs_are(t, "f", JOB_READY, 1);
}

static void the_reducer_is_sent_to_workers_that_ask_for_all(void **state)
{
    struct gear *t = *state;

    for (uint64_t id = 1; id <= 3; id++) {
        gear_says(t->a, REQ(SUBMIT_REDUCE_JOB, "f", "", "sum", "agg", "x"),
                  RES(JOB_CREATED, gear_handle(id)));
    }
    gear_says(t->a, REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "u", "", "", "y"),
              RES(JOB_CREATED, H(4)));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB_ALL), RES(JOB_ASSIGN_ALL, H(1), "f", "", "sum", "x"));
    gear_says(t->b, REQ(GRAB_JOB_UNIQ), RES(JOB_ASSIGN_UNIQ, H(2), "f", "", "x"));
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, H(3), "f", "x"));
    gear_says(t->b, REQ(GRAB_JOB_ALL), RES(JOB_ASSIGN_UNIQ, H(4), "f", "u", "y"));
}

// As documented by the protocol; gearmand requires one more argument.
static void a_reduce_job_may_come_in_four_parts(void **state)
{
    static const size_t sizes[] = {0, 1, 8000, 8192, 9000, 16384, 100000};
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *handle = gear_handle(i + 1);
        const char *body = gear_run('x', sizes[i]);
        struct slice packet = i % 2 ? REQ(SUBMIT_REDUCE_JOB, "f", "", "sum", body)
                                    : REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "", "sum", body);

        // The beginning of a long packet, up to where its workload begins.
        for (; packet.len > 5000; packet = slice_from(packet, 5000)) {
            peer_send(t->a, slice_of(packet.ptr, 5000));
            rig_run(t->rig);
        }
        gear_says(t->a, packet, RES(JOB_CREATED, handle));
        gear_says(t->b, REQ(GRAB_JOB_ALL), RES(JOB_ASSIGN_ALL, handle, "f", "", "sum", body));
    }
}

static void a_reducer_has_at_most_512_bytes(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_REDUCE_JOB, "f", "", gear_run('r', 512), "", "x"),
              RES(JOB_CREATED, H(1)));
    gear_fails(t->a, REQ(SUBMIT_REDUCE_JOB, "f", "", gear_run('r', 513), "", "x"),
               "ARGUMENT_TOO_LARGE");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB_ALL)),
              RES(JOB_ASSIGN_ALL, H(1), "f", "", gear_run('r', 512), "x"));
}

static void a_draining_broker_refuses_every_submission(void **state)
{
    struct gear *t = *state;
    struct slice error = RES(ERROR, "QUEUE_ERROR", "Server is draining");

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    broker_drain(rig_broker(t->rig));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), error);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "y"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "y"));
}

static void a_full_queue_refuses_by_the_priority_of_the_submission(void **state)
{
    struct gear *t = *state;
    struct slice error = RES(ERROR, "QUEUE_ERROR", "Job queue is full");

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    assert_int_equal(STATUS_OK,
                     broker_queue_limit(NULL, broker_queue_find(rig_broker(t->rig), SLICE("f")),
                                        (const uint32_t[BAND_COUNT]){3, 2, 1}));
    gear_says(t->a, REQ(SUBMIT_JOB_LOW, "f", "", "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(2)));
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB_HIGH, "f", "", "x"), RES(JOB_CREATED, H(3)));
    gear_says(t->a, REQ(SUBMIT_JOB_HIGH, "f", "", "x"), error);
    gear_says(t->a, REQ(SUBMIT_JOB_LOW, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB_LOW, "g", "", "x"), RES(JOB_CREATED, H(4)));
}

static void a_store_without_room_refuses_background_jobs_only(void **state)
{
    struct gear *t = *state;

    t->store_room = 0;
    gear_fails(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), "QUEUE_ERROR");
    gear_fails(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "u", "0", "x"), "QUEUE_ERROR");
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    // The job would become durable, which needs a record.
    gear_fails(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), "QUEUE_ERROR");
    assert_false(gear_job(t, 1).durable);
    t->store_room = 1;
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    assert_true(gear_job(t, 1).durable);
}

static void a_function_is_removed_after_its_jobs_and_workers(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO_TIMEOUT, "g", "9"), REQ(GRAB_JOB)),
              RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), ""), NOTHING);
    peer_free(t->a);
    peer_free(t->b);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("g")));
}

// Otherwise any worker could fill the memory with names.
static void a_function_is_removed_with_its_last_worker(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "g"), REQ(CAN_DO, "h")), NOTHING);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(CANT_DO, "f"), REQ(CAN_DO, "f")), NOTHING);
    gear_says(t->a, REQ(CANT_DO, "g"), NOTHING);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("g")));
    gear_says(t->a, REQ(RESET_ABILITIES), NOTHING);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("h")));
    assert_non_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
    peer_free(t->b);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
    peer_free(t->a);
}

static void a_refused_submission_leaves_no_function(void **state)
{
    struct gear *t = *state;

    gear_fails(t->a, REQ(SUBMIT_JOB, "f", gear_run('u', 65), "x"), "ARGUMENT_TOO_LARGE");
    gear_fails(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "soon", "x"), "INVALID_ARGUMENT");
    t->store_room = 0;
    gear_fails(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), "QUEUE_ERROR");
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("f")));
}

static void the_job_of_a_client_that_disconnects_ends(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), RES(JOB_CREATED, H(2)));
    peer_free(t->a);
    jobs_are(t, "f", JOB_READY, 1);
    job_is_gone(t, 1);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB), REQ(GRAB_JOB)),
              MANY(RES(JOB_ASSIGN, H(2), "f", "x"), RES(NO_JOB)));
}

static void a_half_close_means_that_a_client_has_disconnected(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    peer_half_close(t->a);
    assert_true(peer_closed(t->a));
    job_is_gone(t, 1);
}

static void output_for_a_disconnected_client_is_dropped(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    peer_stop_reading(t->a);
    gear_says(t->a, REQ(ECHO_REQ, "never read"), NOTHING);
    peer_half_close(t->a);
    assert_true(peer_closed(t->a));
    job_is_gone(t, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(every_submission_is_answered_with_the_handle),
        GEAR(epoch_sched_and_reduce_jobs_have_normal_priority),
        GEAR(a_workload_may_be_empty_or_hold_any_byte),
        GEAR(a_function_needs_a_name),
        GEAR(a_function_name_has_at_most_512_bytes),
        GEAR(a_function_name_may_have_any_byte_but_nul),
        GEAR(a_unique_has_at_most_64_bytes_which_count_in_full),
        GEAR(the_reducer_is_sent_to_workers_that_ask_for_all),
        GEAR(a_reduce_job_may_come_in_four_parts),
        GEAR(a_reducer_has_at_most_512_bytes),
        GEAR(a_draining_broker_refuses_every_submission),
        GEAR(a_full_queue_refuses_by_the_priority_of_the_submission),
        GEAR(a_store_without_room_refuses_background_jobs_only),
        GEAR(a_function_is_removed_after_its_jobs_and_workers),
        GEAR(a_function_is_removed_with_its_last_worker),
        GEAR(a_refused_submission_leaves_no_function),
        GEAR(the_job_of_a_client_that_disconnects_ends),
        GEAR(a_half_close_means_that_a_client_has_disconnected),
        GEAR(output_for_a_disconnected_client_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
