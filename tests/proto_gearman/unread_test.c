/* SPDX-License-Identifier: MIT */

// Clients that do not read: the reports about their jobs are stored up to a limit, and then the
// client is dropped. No other peer is held up.

#include "tests/proto_gearman/wire_gear.h"

#define PART ((size_t)100000)

static void begin(struct peer *client, struct peer *worker)
{
    gear_submits(client, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_says(worker, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(worker, "f", "x");
}

static void send_parts(struct peer *worker, int count)
{
    struct slice part = REQ(WORK_DATA, H(1), gear_run('p', PART));

    for (int i = 0; i < count; i++) {
        gear_says(worker, part, NOTHING);
    }
}

static void unread_output_is_stored_for_the_client(void **state)
{
    struct gear *t = *state;
    struct slice part = RES(WORK_DATA, H(1), gear_run('p', PART));

    begin(t->a, t->b);
    peer_stop_reading(t->a);
    send_parts(t->b, 3);
    gear_hears(t->a, NOTHING);
    assert_int_equal(peer_unread(t->a), 3 * part.len);
    peer_read_again(t->a);
    gear_hears(t->a, MANY(part, part, part));
    assert_false(peer_dropped(t->a));
}

static void a_client_that_leaves_too_much_unread_is_dropped(void **state)
{
    struct gear *t = *state;

    t->settings.max_unread = 10 * PART;
    begin(t->a, t->b);
    peer_stop_reading(t->a);
    send_parts(t->b, 10);
    assert_false(peer_dropped(t->a));
    assert_in_range(peer_unread(t->a), 10 * PART, 11 * PART);
    send_parts(t->b, 2);
    assert_true(peer_dropped(t->a));
    assert_true(peer_closed(t->a));
    peer_read_again(t->a);
    gear_hears(t->a, NOTHING);
}

static void a_client_that_exceeds_the_limit_of_the_host_is_dropped(void **state)
{
    struct gear *t = *state;

    rig_limit_kept(t->rig, 20 * PART);
    begin(t->a, t->b);
    peer_stop_reading(t->a);
    send_parts(t->b, 20);
    assert_false(peer_dropped(t->a));
    send_parts(t->b, 1);
    assert_true(peer_dropped(t->a));
}

static void input_of_the_client_counts_as_well(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('b', 10 * PART);

    rig_limit_kept(t->rig, 30 * PART);
    begin(t->a, t->b);
    peer_stop_reading(t->a);
    send_parts(t->b, 15);
    // Half of a workload. No more of it is read while this much output is unread.
    peer_send(t->a, slice_of(REQ(SUBMIT_JOB, "f", "", body).ptr, 5 * PART));
    rig_run(t->rig);
    send_parts(t->b, 10);
    assert_false(peer_dropped(t->a));
    send_parts(t->b, 2);
    assert_true(peer_dropped(t->a));
}

static void its_worker_is_not_held_up(void **state)
{
    struct gear *t = *state;

    t->settings.max_unread = PART;
    begin(t->a, t->b);
    peer_stop_reading(t->a);
    send_parts(t->b, 5);
    assert_true(peer_dropped(t->a));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    job_is_gone(t, 1);
}

static void other_clients_of_the_job_get_everything(void **state)
{
    struct gear *t = *state;
    struct slice part = RES(WORK_DATA, H(1), gear_run('p', PART));

    t->settings.max_unread = 2 * PART;
    begin(t->a, t->b);
    gear_submits(t->c, REQ(SUBMIT_JOB, "f", "u", "x"));
    peer_stop_reading(t->a);
    send_parts(t->b, 5);
    assert_true(peer_dropped(t->a));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "done"), NOTHING);
    gear_hears(t->c, MANY(part, part, part, part, part, RES(WORK_COMPLETE, H(1), "done")));
}

static void a_dropped_client_leaves_its_other_jobs(void **state)
{
    struct gear *t = *state;

    t->settings.max_unread = PART;
    begin(t->a, t->b);
    gear_submits(t->a, REQ(SUBMIT_JOB, "g", "", "x"));
    gear_says(t->a, REQ(CAN_DO, "h"), NOTHING);
    gear_submits(t->c, REQ(SUBMIT_JOB, "h", "", "x"));
    gear_grabs(t->a, "h", "x");
    peer_stop_reading(t->a);
    send_parts(t->b, 5);
    jobs_are(t, "g", JOB_READY, 0);
    jobs_are(t, "h", JOB_READY, 1);
}

static void a_client_that_reads_may_get_any_amount(void **state)
{
    struct gear *t = *state;

    t->settings.max_unread = PART;
    begin(t->a, t->b);
    for (int i = 0; i < 100; i++) {
        send_parts(t->b, 1);
        gear_hears(t->a, RES(WORK_DATA, H(1), gear_run('p', PART)));
    }
    assert_false(peer_dropped(t->a));
}

static void large_results_at_once_do_not_drop_a_client(void **state)
{
    struct gear *t = *state;
    const char *result = gear_run('r', 20 * PART);

    t->settings.max_unread = PART;
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "y"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    gear_grabs(t->b, "f", "y");
    gear_says(t->b, MANY(REQ(WORK_COMPLETE, H(1), result), REQ(WORK_COMPLETE, H(2), result)),
              NOTHING);
    gear_hears(t->a, MANY(RES(WORK_COMPLETE, H(1), result), RES(WORK_COMPLETE, H(2), result)));
}

static void one_large_result_does_not_drop_a_client(void **state)
{
    struct gear *t = *state;
    const char *result = gear_run('r', 20 * PART);

    t->settings.max_unread = PART;
    begin(t->a, t->b);
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), result), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), result));
    assert_false(peer_dropped(t->a));
}

// Each report goes to more clients than one turn can serve.
#define WATCHES 300
#define REPORTS 100

static void a_worker_that_reports_too_fast_is_held_back(void **state)
{
    struct gear *t = *state;
    struct slice told = RES(WORK_STATUS, H(1), "1", "2");

    for (int i = 0; i < WATCHES; i++) {
        peer_send(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    }
    assert_int_equal(peer_ask(t->a, NOTHING).len, WATCHES * RES(JOB_CREATED, H(1)).len);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    for (int i = 0; i < REPORTS; i++) {
        peer_send(t->b, REQ(WORK_STATUS, H(1), "1", "2"));
    }
    rig_feed(t->rig);
    assert_int_equal(peer_kept(t->b), (REPORTS - 1) * REQ(WORK_STATUS, H(1), "1", "2").len);
    rig_run(t->rig);
    assert_int_equal(peer_hear(t->a).len, WATCHES * REPORTS * told.len);
}

static void long_data_waits_until_earlier_reports_are_sent(void **state)
{
    struct gear *t = *state;
    const char *data = gear_run('d', PART);

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    for (int i = 0; i < WATCHES; i++) {
        peer_send(t->c, REQ(SUBMIT_JOB, "f", "u", "x"));
    }
    rig_run(t->rig);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    peer_send(t->b, MANY(REQ(WORK_STATUS, H(1), "1", "2"), REQ(WORK_DATA, H(1), data),
                         REQ(WORK_COMPLETE, H(1), "y")));
    rig_feed(t->rig);
    assert_true(peer_kept(t->b) > 0);
    peer_free(t->c);
    t->c = peer_new(t->rig);
    gear_hears(t->a, MANY(RES(WORK_STATUS, H(1), "1", "2"), RES(WORK_DATA, H(1), data),
                          RES(WORK_COMPLETE, H(1), "y")));
}

static void replies_wait_for_a_client_that_does_not_read(void **state)
{
    struct gear *t = *state;

    peer_stop_reading(t->a);
    for (int i = 0; i < 100; i++) {
        peer_send(t->a, REQ(ECHO_REQ, gear_run('e', PART)));
        rig_run(t->rig);
    }
    assert_in_range(peer_unread(t->a), 10 * PART, 12 * PART);
    assert_false(peer_dropped(t->a));
    peer_read_again(t->a);
    assert_int_equal(peer_hear(t->a).len, 100 * RES(ECHO_RES, gear_run('e', PART)).len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(unread_output_is_stored_for_the_client),
        GEAR(a_client_that_leaves_too_much_unread_is_dropped),
        GEAR(a_client_that_exceeds_the_limit_of_the_host_is_dropped),
        GEAR(input_of_the_client_counts_as_well),
        GEAR(its_worker_is_not_held_up),
        GEAR(other_clients_of_the_job_get_everything),
        GEAR(a_dropped_client_leaves_its_other_jobs),
        GEAR(a_client_that_reads_may_get_any_amount),
        GEAR(large_results_at_once_do_not_drop_a_client),
        GEAR(a_worker_that_reports_too_fast_is_held_back),
        GEAR(long_data_waits_until_earlier_reports_are_sent),
        GEAR(one_large_result_does_not_drop_a_client),
        GEAR(replies_wait_for_a_client_that_does_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
