/* SPDX-License-Identifier: MIT */

// Replies that wait for the store, and replies that do not. The store of this test is behind, and
// catches up when the test says so.

#include "tests/proto_gearman/admin_gear.h"

#include <stdio.h>

#define CREATED(handle) RES(JOB_CREATED, handle)
#define FUNCTIONS 3000

#define BEHIND(test) cmocka_unit_test_setup_teardown(test, behind_setup, gear_teardown)
static int behind_setup(void **state)
{
    admin_setup(state);
    rig_hold_store(((struct gear *)*state)->rig);
    return 0;
}

// The peer sends `said`, and receives `heard` only after the store has caught up.
#define holds(t, peer, said, heard)                                                                \
    do {                                                                                           \
        gear_says((peer), (said), NOTHING);                                                        \
        rig_reach((t)->rig);                                                                       \
        gear_hears((peer), (heard));                                                               \
    } while (0)

// A record of another client is not stored yet.
static void fall_behind(struct gear *t)
{
    gear_says(t->c, REQ(SUBMIT_JOB_BG, "stranger", "", ""), NOTHING);
}

// The worker `b` has job 1 of `a`, which has received the handle.
static void begin_kept(struct gear *t)
{
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    holds(t, t->a, MANY(REQ(SUBMIT_JOB_BG, "f", "u", "x"), REQ(SUBMIT_JOB, "f", "u", "x")),
          MANY(CREATED("T:1"), CREATED("T:1")));
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, "T:1", "f", "x"));
}

//
// Submissions
//

static void each_kind_of_background_submission_waits_for_its_record(void **state)
{
    struct gear *t = *state;

    holds(t, t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), CREATED("T:1"));
    holds(t, t->a, REQ(SUBMIT_JOB_HIGH_BG, "f", "", "x"), CREATED("T:2"));
    holds(t, t->a, REQ(SUBMIT_JOB_LOW_BG, "f", "", "x"), CREATED("T:3"));
    holds(t, t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1900000000", "x"), CREATED("T:4"));
    holds(t, t->a, REQ(SUBMIT_JOB_SCHED, "f", "", "*", "*", "*", "*", "*", "x"), CREATED("T:5"));
    holds(t, t->a, REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "", "r", "", "x"), CREATED("T:6"));
}

static void a_submission_that_joins_waits_for_the_record_of_the_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), NOTHING);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), NOTHING);
    gear_says(t->c, REQ(SUBMIT_JOB_BG, "f", "u", "x"), NOTHING);
    rig_reach(t->rig);
    gear_hears(t->a, CREATED("T:1"));
    gear_hears(t->b, CREATED("T:1"));
    gear_hears(t->c, CREATED("T:1"));
}

static void a_submission_that_joins_a_stored_job_is_answered_at_once(void **state)
{
    struct gear *t = *state;

    holds(t, t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), CREATED("T:1"));
    fall_behind(t);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), CREATED("T:1"));
    gear_says(t->b, REQ(SUBMIT_JOB_BG, "f", "u", "x"), CREATED("T:1"));
}

static void a_job_that_becomes_durable_waits_for_its_record(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), CREATED("T:1"));
    holds(t, t->b, REQ(SUBMIT_JOB_BG, "f", "u", "x"), CREATED("T:1"));
}

static void a_foreground_job_does_not_wait_for_the_records_of_others(void **state)
{
    struct gear *t = *state;

    fall_behind(t);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), CREATED("T:2"));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:2", "f", "x"));
    gear_says(t->b, MANY(REQ(WORK_DATA, "T:2", "part"), REQ(WORK_COMPLETE, "T:2", "end")), NOTHING);
    gear_hears(t->a, MANY(RES(WORK_DATA, "T:2", "part"), RES(WORK_COMPLETE, "T:2", "end")));
    gear_hears(t->c, NOTHING);
}

static void a_foreground_job_waits_for_its_id(void **state)
{
    struct gear *t = *state;

    rig_hold_ids(t->rig);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB), NOTHING);
    rig_reach(t->rig);
    gear_hears(t->a, CREATED("T:1"));
    gear_hears(t->b, RES(JOB_ASSIGN, "T:1", "f", "x"));
}

static void a_submission_that_is_refused_is_refused_at_once(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), CREATED("T:1"));
    fall_behind(t);
    t->store_room = 0;
    gear_fails(t->a, REQ(SUBMIT_JOB_BG, "g", "", "x"), "QUEUE_ERROR");
    gear_fails(t->a, REQ(SUBMIT_JOB_HIGH_BG, "g", "", "x"), "QUEUE_ERROR");
    gear_fails(t->a, REQ(SUBMIT_JOB_LOW_BG, "g", "", "x"), "QUEUE_ERROR");
    gear_fails(t->a, REQ(SUBMIT_JOB_EPOCH, "g", "", "1900000000", "x"), "QUEUE_ERROR");
    gear_fails(t->a, REQ(SUBMIT_JOB_SCHED, "g", "", "*", "*", "*", "*", "*", "x"), "QUEUE_ERROR");
    gear_fails(t->a, REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "g", "", "r", "", "x"), "QUEUE_ERROR");
    gear_fails(t->b, REQ(SUBMIT_JOB_BG, "f", "u", "x"), "QUEUE_ERROR");
    gear_says(t->a, REQ(SUBMIT_JOB, "g", "", "x"), CREATED("T:3"));
}

//
// Bodies and results
//

static void a_job_is_assigned_when_it_is_stored(void **state)
{
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->a,
              MANY(REQ(SUBMIT_JOB_BG, "f", "", "1"), REQ(SUBMIT_JOB_BG, "f", "", "2"),
                   REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "", "r", "", "3")),
              NOTHING);
    gear_says(t->b, REQ(GRAB_JOB), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB_UNIQ), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB_ALL), NOTHING);
    rig_reach(t->rig);
    gear_hears(t->b,
               MANY(RES(JOB_ASSIGN, "T:1", "f", "1"), RES(JOB_ASSIGN_UNIQ, "T:2", "f", "", "2"),
                    RES(JOB_ASSIGN_ALL, "T:3", "f", "", "r", "3")));
}

static void a_stored_job_is_assigned_while_others_are_not(void **state)
{
    struct gear *t = *state;

    holds(t, t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), CREATED("T:1"));
    fall_behind(t);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:1", "f", "x"));
}

static void the_end_of_a_durable_job_waits_for_its_record(void **state)
{
    static const char *const ends[] = {"complete", "fail", "exception", "exception unwanted"};

    for (int i = 0; i < 4; i++) {
        struct gear *t;
        struct slice said, heard;

        gear_teardown(state);
        behind_setup(state);
        t = *state;
        begin_kept(t);
        if (i == 2) {
            gear_says(t->a, REQ(OPTION_REQ, "exceptions"), RES(OPTION_RES, "exceptions"));
        }
        said = i == 0   ? REQ(WORK_COMPLETE, "T:1", "end")
               : i == 1 ? REQ(WORK_FAIL, "T:1")
                        : REQ(WORK_EXCEPTION, "T:1", "why");
        heard = i == 0   ? RES(WORK_COMPLETE, "T:1", "end")
                : i == 2 ? RES(WORK_EXCEPTION, "T:1", "why")
                         : RES(WORK_FAIL, "T:1");
        gear_says(t->b, said, NOTHING);
        gear_hears_at(t->a, NOTHING, ends[i], i);
        rig_reach(t->rig);
        gear_hears_at(t->a, heard, ends[i], i);
    }
}

static void reports_about_a_stored_job_are_sent_at_once(void **state)
{
    struct gear *t = *state;

    begin_kept(t);
    fall_behind(t);
    gear_says(t->b, MANY(REQ(WORK_STATUS, "T:1", "1", "2"), REQ(WORK_DATA, "T:1", "part")),
              NOTHING);
    gear_hears(t->a, MANY(RES(WORK_STATUS, "T:1", "1", "2"), RES(WORK_DATA, "T:1", "part")));
}

static void a_list_does_not_wait_for_the_packets_after_it(void **state)
{
    struct gear *t = *state;

    for (int i = 0; i < FUNCTIONS; i++) {
        admin_type(t->a, admin_text("create function f%d.\n", i));
    }
    peer_ask(t->a, NOTHING);
    begin_kept(t);
    admin_ask(t->a, "status\n");
    assert_true(admin_step(t, t->a));
    peer_send(t->b, REQ(WORK_COMPLETE, "T:1", "end"));
    assert_true(admin_step(t, t->a));
    broker_settle(rig_broker(t->rig));
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), FUNCTIONS + 2);
    gear_says(t->a, SLICE("version\n"), NOTHING);
    rig_reach(t->rig);
    gear_hears(t->a, MANY(RES(WORK_COMPLETE, "T:1", "end"), SLICE("OK 0.1.0\n")));
}

//
// Administration
//

static void a_cancellation_waits_for_its_record(void **state)
{
    struct gear *t = *state;

    begin_kept(t);
    gear_says(t->c, SLICE("cancel job T:1\n"), NOTHING);
    gear_hears(t->a, NOTHING);
    rig_reach(t->rig);
    gear_hears(t->c, SLICE("OK\r\n"));
    gear_hears(t->a, RES(WORK_FAIL, "T:1"));
}

static void a_foreground_job_is_cancelled_at_once(void **state)
{
    struct gear *t = *state;

    fall_behind(t);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), CREATED("T:2"));
    types(t->b, "cancel job T:2", DONE);
    gear_hears(t->a, RES(WORK_FAIL, "T:2"));
}

//
// Replies that do not wait
//

static void other_replies_leave_at_once(void **state)
{
    struct gear *t = *state;

    fall_behind(t);
    gear_says(t->a, REQ(GET_STATUS, "T:1"), RES(STATUS_RES, "T:1", "1", "0", "0", "0"));
    gear_says(t->a, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "0", "0", "0", "0", "0"));
    gear_says(t->a, REQ(ECHO_REQ, "e"), RES(ECHO_RES, "e"));
    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(NO_JOB));
    gear_fails(t->a, REQ(WORK_COMPLETE, "T:1", ""), "JOB_NOT_FOUND");
    types(t->a, "status", "stranger\t1\t0\t0\nf\t0\t0\t1\n.\n");
    types(t->a, "show jobs", "T:1\t0\t0\t1\n.\n");
    types(t->a, "cancel job T:9", "ERR UNKNOWN_JOB\r\n");
    types(t->a, "create function g", DONE);
    types(t->a, "maxqueue g 9", DONE);
    types(t->a, "drop function g", DONE);
    gear_hears(t->c, NOTHING);
}

static void a_sleeping_worker_is_woken_at_once(void **state)
{
    struct gear *t = *state;

    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), NOTHING);
    gear_hears(t->b, RES(NOOP));
}

//
// The order of replies, and clients that disconnect
//

static void packets_of_a_connection_keep_their_order(void **state)
{
    struct gear *t = *state;

    gear_says(t->a,
              MANY(REQ(ECHO_REQ, "1"), REQ(SUBMIT_JOB_BG, "f", "", "x"), REQ(ECHO_REQ, "2"),
                   REQ(SUBMIT_JOB, "g", "", "x"), SLICE("version\n")),
              RES(ECHO_RES, "1"));
    gear_says(t->b, MANY(REQ(CAN_DO, "g"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:2", "g", "x"));
    gear_says(t->b, REQ(WORK_COMPLETE, "T:2", "end"), NOTHING);
    gear_hears(t->a, NOTHING);
    rig_reach(t->rig);
    gear_hears(t->a, MANY(CREATED("T:1"), RES(ECHO_RES, "2"), CREATED("T:2"), SLICE("OK 0.1.0\n"),
                          RES(WORK_COMPLETE, "T:2", "end")));
}

static void a_client_may_disconnect_while_its_output_is_held(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), NOTHING);
    gear_says(t->c, REQ(SUBMIT_JOB, "f", "u", "x"), NOTHING);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), NOTHING);
    peer_free(t->a);
    peer_free(t->b);
    gear_hears(t->c, NOTHING);
    rig_reach(t->rig);
    gear_hears(t->c, CREATED("T:1"));
    gear_says(t->c, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:1", "f", "x"));
}

static void a_worker_lost_before_its_job_is_stored_costs_no_attempt(void **state)
{
    struct gear *t = *state;
    struct peer *worker = peer_new(t->rig);

    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(worker, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), NOTHING);
    gear_says(worker, REQ(GRAB_JOB_ALL), NOTHING);
    peer_free(worker);
    assert_int_equal(gear_job(t, 1).state, JOB_READY);
    assert_int_equal(gear_job(t, 1).attempts, 0);
    assert_int_equal(gear_job(t, 1).reserves, 0);
    rig_reach(t->rig);
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, "T:1", "f", "x"));
    peer_free(t->b);
    assert_int_equal(gear_job(t, 1).attempts, 1);
}

// The same for a job that fails when the time-out of its worker ends.
static void a_time_out_before_the_job_is_stored_costs_no_attempt(void **state)
{
    struct gear *t = *state;

    gear_says(t->b, REQ(CAN_DO_TIMEOUT, "f", "1"), NOTHING);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), NOTHING);
    gear_says(t->b, REQ(GRAB_JOB), NOTHING);
    assert_int_equal(gear_job(t, 1).state, JOB_RESERVED);
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(gear_job(t, 1).state, JOB_READY);
    assert_int_equal(gear_job(t, 1).attempts, 0);
    assert_int_equal(gear_job(t, 1).timeouts, 0);
    rig_reach(t->rig);
    gear_hears(t->b, RES(JOB_ASSIGN, "T:1", "f", "x"));
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, "T:1", "f", "x"));
    rig_advance(t->rig, SECONDS(1));
    assert_int_equal(gear_job(t, 1).attempts, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEHIND(each_kind_of_background_submission_waits_for_its_record),
        BEHIND(a_submission_that_joins_waits_for_the_record_of_the_job),
        BEHIND(a_submission_that_joins_a_stored_job_is_answered_at_once),
        BEHIND(a_job_that_becomes_durable_waits_for_its_record),
        BEHIND(a_foreground_job_does_not_wait_for_the_records_of_others),
        BEHIND(a_foreground_job_waits_for_its_id),
        BEHIND(a_submission_that_is_refused_is_refused_at_once),
        BEHIND(a_job_is_assigned_when_it_is_stored),
        BEHIND(a_stored_job_is_assigned_while_others_are_not),
        BEHIND(the_end_of_a_durable_job_waits_for_its_record),
        BEHIND(reports_about_a_stored_job_are_sent_at_once),
        BEHIND(a_list_does_not_wait_for_the_packets_after_it),
        BEHIND(a_cancellation_waits_for_its_record),
        BEHIND(a_foreground_job_is_cancelled_at_once),
        BEHIND(other_replies_leave_at_once),
        BEHIND(a_sleeping_worker_is_woken_at_once),
        BEHIND(packets_of_a_connection_keep_their_order),
        BEHIND(a_client_may_disconnect_while_its_output_is_held),
        BEHIND(a_worker_lost_before_its_job_is_stored_costs_no_attempt),
        BEHIND(a_time_out_before_the_job_is_stored_costs_no_attempt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
