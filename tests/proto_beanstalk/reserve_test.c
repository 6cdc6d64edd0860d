/* SPDX-License-Identifier: MIT */

// Reserving, waiting, and how waits and leases end.

#include "tests/proto_beanstalk/wire_bean.h"

static void the_lowest_priority_comes_first_then_the_oldest(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 5 0 9 1\r\na\r\nput 1 0 9 1\r\nb\r\nput 1 0 9 1\r\nc\r\nput 0 0 9 1\r\nd\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\nINSERTED 4\r\n");
    says(t->b, "reserve\r\nreserve\r\nreserve\r\nreserve\r\n",
         "RESERVED 4 1\r\nd\r\nRESERVED 2 1\r\nb\r\nRESERVED 3 1\r\nc\r\nRESERVED 1 1\r\na\r\n");
}

static void the_order_is_one_over_all_watched_tubes(void **state)
{
    struct bean *t = *state;

    says(t->a,
         "use x\r\nput 1 0 9 1\r\na\r\nuse y\r\nput 0 0 9 1\r\nb\r\n"
         "use z\r\nput 0 0 9 1\r\nc\r\nuse x\r\nput 0 0 9 1\r\nd\r\n",
         "USING x\r\nINSERTED 1\r\nUSING y\r\nINSERTED 2\r\nUSING z\r\nINSERTED 3\r\n"
         "USING x\r\nINSERTED 4\r\n");
    says(t->b, "watch z\r\nwatch x\r\nwatch y\r\n", "WATCHING 2\r\nWATCHING 3\r\nWATCHING 4\r\n");
    says(t->b, "reserve\r\nreserve\r\nreserve\r\nreserve\r\n",
         "RESERVED 2 1\r\nb\r\nRESERVED 3 1\r\nc\r\nRESERVED 4 1\r\nd\r\nRESERVED 1 1\r\na\r\n");
}

static void a_released_job_goes_ahead_of_younger_ones(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 1 0 9 1\r\na\r\nput 1 0 9 1\r\nb\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->b, "reserve\r\nrelease 1 1 0\r\nreserve\r\n",
         "RESERVED 1 1\r\na\r\nRELEASED\r\nRESERVED 1 1\r\na\r\n");
}

static void a_lost_job_goes_ahead_of_younger_ones(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 1 0 2 1\r\na\r\nput 1 0 9 1\r\nb\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->b, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(2));
    says(t->b, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    peer_free(t->b);
    says(t->c, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
}

static void a_blocked_reserve_gets_the_next_job(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve\r\n", "");
    assert_true(peer_blocked(t->a));
    says(t->b, "put 0 0 9 3\r\nabc\r\n", "INSERTED 1\r\n");
    hears(t->a, "RESERVED 1 3\r\nabc\r\n");
}

static void input_after_a_blocked_reserve_is_stored(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve\r\ndelete 1\r\nput 0 0 9 1\r\n", "");
    says(t->a, "b\r\nreserve\r\n", "");
    assert_true(peer_kept(t->a) > 0);
    says(t->b, "put 0 0 9 1\r\na\r\n", "INSERTED 1\r\n");
    hears(t->a, "RESERVED 1 1\r\na\r\nDELETED\r\nINSERTED 2\r\nRESERVED 2 1\r\nb\r\n");
}

static void waiters_are_served_first_come_first_served(void **state)
{
    static const size_t orders[][5] = {{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {3, 1, 4, 0, 2}};
    struct bean *t = *state;
    struct peer *waiters[5];

    for (size_t i = 0; i < 5; i++) {
        waiters[i] = peer_new(t->rig);
        says(waiters[i], "watch x\r\n", "WATCHING 2\r\n");
    }
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 5; i++) {
            says(waiters[orders[round][i]], "reserve\r\n", "");
        }
        for (size_t i = 0; i < 5; i++) {
            peer_ask(t->c, SLICE("use x\r\nput 0 0 9 1\r\nx\r\n"));
            assert_true(peer_hear(waiters[orders[round][i]]).len > 0);
        }
    }
}

static void a_timeout_of_zero_never_waits(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
    says(t->a, "put 0 0 9 1\r\na\r\nreserve-with-timeout 0 junk\r\n",
         "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
}

static void a_wait_ends_with_its_timeout(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve-with-timeout 3\r\nlist-tube-used\r\n", "");
    rig_advance(t->rig, SECONDS(3) - 1);
    hears(t->a, "");
    rig_advance(t->rig, 1);
    hears(t->a, "TIMED_OUT\r\nUSING default\r\n");
}

static void the_longest_timeout_does_not_end(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve-with-timeout 2147483647\r\n", "");
    rig_advance(t->rig, SECONDS(1000000));
    says(t->b, "put 0 0 9 1\r\na\r\n", "INSERTED 1\r\n");
    hears(t->a, "RESERVED 1 1\r\na\r\n");
}

static void a_lease_about_to_end_ends_the_wait(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 3 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(2) - 1);
    says(t->a, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
    rig_advance(t->rig, 1);
    says(t->a, "reserve-with-timeout 0\r\n", "DEADLINE_SOON\r\n");
    says(t->a, "reserve-with-timeout 9\r\n", "DEADLINE_SOON\r\n");
    says(t->a, "reserve\r\n", "DEADLINE_SOON\r\n");
    says(t->b, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
}

static void a_job_of_one_second_is_always_about_to_end(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\na\r\nreserve\r\nreserve\r\n",
         "INSERTED 1\r\nRESERVED 1 1\r\na\r\nDEADLINE_SOON\r\n");
}

static void a_ready_job_is_handed_out_in_the_margin(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\na\r\nput 0 0 9 1\r\nb\r\nreserve\r\nreserve\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nRESERVED 1 1\r\na\r\nRESERVED 2 1\r\nb\r\n");
}

static void a_ready_job_of_a_paused_tube_does_not_count_in_the_margin(void **state)
{
    struct bean *t = *state;

    says(t->a,
         "put 0 0 1 1\r\na\r\nput 0 0 9 1\r\nb\r\nreserve\r\npause-tube default 9\r\nreserve\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nRESERVED 1 1\r\na\r\nPAUSED\r\nDEADLINE_SOON\r\n");
}

static void a_blocked_reserve_ends_when_the_margin_begins(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 3 1\r\na\r\nreserve\r\nreserve\r\ntouch 1\r\n",
         "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(2) - 1);
    hears(t->a, "");
    rig_advance(t->rig, 1);
    hears(t->a, "DEADLINE_SOON\r\nTOUCHED\r\n");
    rig_advance(t->rig, SECONDS(3) - 1);
    says(t->a, "touch 1\r\n", "TOUCHED\r\n");
}

static void a_job_without_end_of_lease_gives_no_warning(void **state)
{
    struct bean *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct job_spec spec = {.queue = broker_queue_find(broker, SLICE("default")), .durable = true};
    struct submission submission;

    assert_int_equal(broker_submit(broker, &spec, NULL, &submission), STATUS_OK);
    says(t->a, "reserve\r\nreserve-with-timeout 5\r\n", "RESERVED 1 0\r\n\r\n");
    rig_advance(t->rig, SECONDS(5));
    hears(t->a, "TIMED_OUT\r\n");
    says(t->a, "touch 1\r\n", "TOUCHED\r\n");
    stat_is(t->a, "stats-job 1\r\n", "ttr", 0);
    stat_is(t->a, "stats-job 1\r\n", "time-left", 0);
}

static void a_lease_that_ends_makes_the_job_ready(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 7 0 2 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(2) - 1);
    says(t->b, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
    rig_advance(t->rig, 1);
    stat_is(t->a, "stats\r\n", "job-timeouts", 1);
    stat_is(t->a, "stats-job 1\r\n", "timeouts", 1);
    stat_is(t->a, "stats-job 1\r\n", "pri", 7);
    says(t->a, "release 1 0 0\r\nbury 1 0\r\ntouch 1\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->a, "delete 1\r\n", "DELETED\r\n"); // while it is ready
}

static void a_lease_that_ended_is_no_longer_its_holders(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 7 0 2 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    says(t->b, "reserve\r\n", "");
    rig_advance(t->rig, SECONDS(2));
    hears(t->b, "RESERVED 1 1\r\na\r\n");
    says(t->a, "delete 1\r\n", "NOT_FOUND\r\n");
    says(t->b, "delete 1\r\n", "DELETED\r\n");
}

static void a_waiter_may_get_its_own_job_back(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(1));
    says(t->a, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
}

static void touch_restarts_the_ttr(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 4 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(3));
    stat_is(t->a, "stats-job 1\r\n", "time-left", 1);
    says(t->a, "touch 1\r\n", "TOUCHED\r\n");
    stat_is(t->a, "stats-job 1\r\n", "time-left", 4);
    says(t->b, "touch 1\r\ntouch 2\r\n", "NOT_FOUND\r\nNOT_FOUND\r\n");
}

static void a_client_that_disconnects_gives_its_jobs_back(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 7 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    says(t->b, "reserve\r\n", "");
    says(t->a, "quit\r\n", "");
    hears(t->b, "RESERVED 1 1\r\na\r\n");
    peer_free(t->b);
    stat_is(t->c, "stats-job 1\r\n", "reserves", 2);
    stat_is(t->c, "stats-job 1\r\n", "timeouts", 0);
    stat_is(t->c, "stats-job 1\r\n", "releases", 0);
    stat_is(t->c, "stats-job 1\r\n", "pri", 7);
    stat_is(t->c, "stats\r\n", "current-jobs-ready", 1);
}

static void a_waiting_client_that_disconnects_gets_no_job(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve\r\n", "");
    stat_is(t->b, "stats\r\n", "current-waiting", 1);
    stat_is(t->b, "stats-tube default\r\n", "current-waiting", 1);
    peer_free(t->a);
    stat_is(t->b, "stats\r\n", "current-waiting", 0);
    says(t->b, "put 0 0 9 1\r\na\r\n", "INSERTED 1\r\n");
    stat_is(t->b, "stats\r\n", "current-jobs-ready", 1);
}

static void a_half_closed_client_gets_its_replies_and_does_not_wait(void **state)
{
    struct bean *t = *state;

    peer_send(t->a, SLICE("put 0 0 1 1\r\na\r\nreserve\r\nreserve\r\nlist-tube-used\r\n"));
    peer_half_close(t->a);
    hears(t->a, "INSERTED 1\r\nRESERVED 1 1\r\na\r\nDEADLINE_SOON\r\nUSING default\r\n");
    assert_true(peer_closed(t->a));
    peer_send(t->b,
              SLICE("watch x\r\nignore default\r\nreserve\r\nreserve-with-timeout 5\r\nuse b\r\n"));
    peer_half_close(t->b);
    hears(t->b, "WATCHING 2\r\nWATCHING 1\r\nTIMED_OUT\r\nTIMED_OUT\r\nUSING b\r\n");
    assert_true(peer_closed(t->b));
}

static void half_closing_ends_a_blocked_reserve(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve\r\nlist-tube-used\r\n", "");
    peer_half_close(t->a);
    hears(t->a, "TIMED_OUT\r\nUSING default\r\n");
    assert_true(peer_closed(t->a));
    stat_is(t->b, "stats\r\n", "current-waiting", 0);
}

static void half_closing_does_not_lose_a_job(void **state)
{
    struct bean *t = *state;

    says(t->a, "reserve\r\n", "");
    // The job is assigned within the put, and sent when the turn settles.
    peer_send(t->b, SLICE("put 0 0 9 1\r\na\r\n"));
    rig_feed(t->rig);
    peer_half_close(t->a);
    hears(t->a, "RESERVED 1 1\r\na\r\n");
    assert_true(peer_closed(t->a));
}

static void reserve_job_takes_a_job_in_any_state_from_any_tube(void **state)
{
    struct bean *t = *state;

    says(t->a, "use x\r\nput 0 0 9 1\r\na\r\nput 0 9 9 1\r\nb\r\nput 0 0 9 1\r\nc\r\n",
         "USING x\r\nINSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    says(t->a, "reserve-job 3\r\nbury 3 0\r\npause-tube x 9\r\n",
         "RESERVED 3 1\r\nc\r\nBURIED\r\nPAUSED\r\n");
    says(t->b, "reserve-job 1\r\nreserve-job 2\r\nreserve-job 3\r\n",
         "RESERVED 1 1\r\na\r\nRESERVED 2 1\r\nb\r\nRESERVED 3 1\r\nc\r\n");
    says(t->b, "reserve-job 1\r\nreserve-job 4\r\n", "NOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->c, "reserve-job 1\r\n", "NOT_FOUND\r\n");
    stat_is(t->c, "stats\r\n", "current-workers", 2); // a failed reserve-job does not count
}

static void reserve_job_gives_no_warning_of_a_lease(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\na\r\nreserve\r\nreserve-job 2\r\n",
         "INSERTED 1\r\nRESERVED 1 1\r\na\r\nNOT_FOUND\r\n");
}

static int setup_few_commands_a_turn(void **state)
{
    return bean_setup_with(state, (struct rig_options){.budget = 8, .unchecked = true});
}

// A feed has room for eight commands, but not for eight that search hundreds of tubes each.
static void reserve_over_many_tubes_counts_for_several_commands(void **state)
{
    struct bean *t = *state;
    unsigned long before;
    char line[64];

    for (int i = 0; i < 2 * BROKER_SLICE; i++) {
        (void)snprintf(line, sizeof line, "use t%d\r\nput 0 0 9 0\r\n\r\nwatch u%d\r\n", i, i);
        (void)peer_ask(t->a, slice_str(line));
    }
    before = rig_feeds(t->rig);
    for (int i = 0; i < 8; i++) {
        peer_send(t->a, SLICE("reserve-with-timeout 0\r\n"));
    }
    rig_run(t->rig);
    assert_true(rig_feeds(t->rig) - before >= 2);
}

// Each of these puts ends the wait of a worker on hundreds of tubes.
static void put_to_a_worker_of_many_tubes_counts_for_several_commands(void **state)
{
    struct bean *t = *state;
    struct peer *workers[] = {t->b, t->c};
    unsigned long before;
    char line[64];

    for (int i = 0; i < 4 * BROKER_SLICE; i++) {
        (void)snprintf(line, sizeof line, "watch u%d\r\n", i);
        for (size_t w = 0; w < 2; w++) {
            (void)peer_ask(workers[w], slice_str(line));
        }
    }
    peer_send(t->b, SLICE("reserve\r\n"));
    peer_send(t->c, SLICE("reserve\r\n"));
    rig_run(t->rig);
    before = rig_feeds(t->rig);
    peer_send(t->a, SLICE("put 0 0 9 0\r\n\r\nput 0 0 9 0\r\n\r\nlist-tube-used\r\n"));
    rig_run(t->rig);
    assert_true(rig_feeds(t->rig) - before >= 2);
    hears(t->a, "INSERTED 1\r\nINSERTED 2\r\nUSING default\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(the_lowest_priority_comes_first_then_the_oldest),
        BEAN(the_order_is_one_over_all_watched_tubes),
        BEAN(a_released_job_goes_ahead_of_younger_ones),
        BEAN(a_lost_job_goes_ahead_of_younger_ones),
        BEAN(a_blocked_reserve_gets_the_next_job),
        BEAN(input_after_a_blocked_reserve_is_stored),
        BEAN(waiters_are_served_first_come_first_served),
        BEAN(a_timeout_of_zero_never_waits),
        BEAN(a_wait_ends_with_its_timeout),
        BEAN(the_longest_timeout_does_not_end),
        BEAN(a_lease_about_to_end_ends_the_wait),
        BEAN(a_job_of_one_second_is_always_about_to_end),
        BEAN(a_ready_job_is_handed_out_in_the_margin),
        BEAN(a_ready_job_of_a_paused_tube_does_not_count_in_the_margin),
        BEAN(a_blocked_reserve_ends_when_the_margin_begins),
        BEAN(a_job_without_end_of_lease_gives_no_warning),
        BEAN(a_lease_that_ends_makes_the_job_ready),
        BEAN(a_lease_that_ended_is_no_longer_its_holders),
        BEAN(a_waiter_may_get_its_own_job_back),
        BEAN(touch_restarts_the_ttr),
        BEAN(a_client_that_disconnects_gives_its_jobs_back),
        BEAN(a_waiting_client_that_disconnects_gets_no_job),
        BEAN(a_half_closed_client_gets_its_replies_and_does_not_wait),
        BEAN(half_closing_ends_a_blocked_reserve),
        BEAN(half_closing_does_not_lose_a_job),
        BEAN(reserve_job_takes_a_job_in_any_state_from_any_tube),
        BEAN(reserve_job_gives_no_warning_of_a_lease),
        cmocka_unit_test_setup_teardown(reserve_over_many_tubes_counts_for_several_commands,
                                        setup_few_commands_a_turn, bean_teardown),
        cmocka_unit_test_setup_teardown(put_to_a_worker_of_many_tubes_counts_for_several_commands,
                                        setup_few_commands_a_turn, bean_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
