/* SPDX-License-Identifier: MIT */

// Replies that wait for the store, and replies that do not. The store of this test is behind, and
// catches up when the test says so.

#include "tests/proto_beanstalk/wire_bean.h"

#include <stdio.h>
#include <string.h>

#define PUT "put 0 0 9 1\r\nx\r\n"
#define PUT_LATER "put 0 9 9 1\r\nx\r\n"
#define JOB(id) "RESERVED " #id " 1\r\nx\r\n"

#define BEHIND(test) cmocka_unit_test_setup_teardown(test, behind_setup, bean_teardown)
static int behind_setup(void **state)
{
    bean_setup(state);
    rig_hold_store(((struct bean *)*state)->rig);
    return 0;
}

// The peer sends `said`, and receives `heard` only after the store has caught up.
#define holds(t, peer, said, heard)                                                                \
    do {                                                                                           \
        says((peer), said, "");                                                                    \
        rig_reach((t)->rig);                                                                       \
        hears((peer), heard);                                                                      \
    } while (0)

//
// Changes
//

static void a_put_waits_for_its_record(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, PUT, "INSERTED 1\r\n");
    // The same for a body that arrives in pieces.
    says(t->a, "put 0 0 9 4\r\nab", "");
    holds(t, t->a, "cd\r\n", "INSERTED 2\r\n");
}

static void every_delete_waits_for_its_record(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, PUT PUT, "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->a, "reserve\r\n", JOB(1));
    holds(t, t->a, "delete 1\r\n", "DELETED\r\n");
    holds(t, t->b, "delete 2\r\n", "DELETED\r\n");
}

static void a_change_by_the_holder_waits_for_its_record(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, PUT, "INSERTED 1\r\n");
    says(t->a, "reserve\r\n", JOB(1));
    holds(t, t->a, "release 1 0 0\r\n", "RELEASED\r\n");
    says(t->a, "reserve\r\n", JOB(1));
    holds(t, t->a, "release 1 0 9\r\n", "RELEASED\r\n");
    says(t->a, "reserve-job 1\r\n", JOB(1));
    holds(t, t->a, "bury 1 0\r\n", "BURIED\r\n");
}

static void a_kick_of_one_job_waits_for_its_record(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, PUT_LATER, "INSERTED 1\r\n");
    holds(t, t->b, "kick-job 1\r\n", "KICKED\r\n");
}

static void a_kick_waits_for_the_last_of_its_records(void **state)
{
    struct bean *t = *state;

    for (int i = 0; i < 6 * BROKER_SLICE; i++) {
        peer_send(t->a, SLICE(PUT_LATER));
    }
    rig_run(t->rig);
    rig_reach(t->rig);
    peer_hear(t->a);
    holds(t, t->b, "kick 300\r\n", "KICKED 300\r\n");
    says(t->b, "use empty\r\nkick 300\r\n", "USING empty\r\nKICKED 0\r\n");
}

static void a_kick_cut_short_by_the_store_waits_for_its_records(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, PUT_LATER PUT_LATER, "INSERTED 1\r\nINSERTED 2\r\n");
    t->store_room = 1;
    holds(t, t->a, "kick 9\r\n", "KICKED 1\r\n");
    says(t->a, "kick 9\r\n", "OUT_OF_MEMORY\r\n");
}

static void a_pause_waits_for_its_record(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, "pause-tube default 9\r\n", "PAUSED\r\n");
    holds(t, t->a, "pause-tube default 0\r\n", "PAUSED\r\n");
}

//
// Bodies
//

static void a_peek_waits_until_the_job_is_stored(void **state)
{
    static const struct {
        const char *put, *said, *heard;
    } rows[] = {
        {PUT, "peek 1\r\n", "FOUND 1 1\r\nx\r\n"},
        {PUT, "peek-ready\r\n", "FOUND 1 1\r\nx\r\n"},
        {PUT_LATER, "peek-delayed\r\n", "FOUND 1 1\r\nx\r\n"},
        {PUT "reserve\r\nbury 1 0\r\n", "peek-buried\r\n", "FOUND 1 1\r\nx\r\n"},
        {PUT, "reserve\r\n", JOB(1)},
        {PUT, "reserve-with-timeout 0\r\n", JOB(1)},
        {PUT, "reserve-job 1\r\n", JOB(1)},
        {PUT_LATER, "reserve-job 1\r\n", JOB(1)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bean *t;

        bean_teardown(state);
        behind_setup(state);
        t = *state;
        says_text(t->a, rows[i].put, "");
        says_text(t->b, rows[i].said, "");
        rig_reach(t->rig);
        bean_hears(t->b, slice_str(rows[i].heard), rows[i].said, (int)i);
    }
}

static void a_waiting_worker_gets_its_job_when_it_is_stored(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve\r\n", "");
    says(t->a, PUT, "");
    hears(t->b, "");
    rig_reach(t->rig);
    hears(t->a, "INSERTED 1\r\n");
    hears(t->b, JOB(1));
}

static void taking_a_buried_job_waits_for_its_record(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, PUT "reserve\r\nbury 1 0\r\n", "INSERTED 1\r\n" JOB(1) "BURIED\r\n");
    holds(t, t->b, "reserve-job 1\r\n", JOB(1));
}

static void a_peek_of_a_stored_job_does_not_wait_for_others(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, PUT PUT_LATER, "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->a, PUT, "");
    says(t->b, "peek 1\r\npeek-delayed\r\nreserve\r\n",
         "FOUND 1 1\r\nx\r\nFOUND 2 1\r\nx\r\n" JOB(1));
}

//
// Replies that do not wait
//

static void other_replies_leave_at_once(void **state)
{
    struct bean *t = *state;

    holds(t, t->b, PUT "reserve\r\n", "INSERTED 1\r\n" JOB(1));
    says(t->a, PUT, "");
    says(t->b, "touch 1\r\ntouch 9\r\ndelete 9\r\nrelease 9 0 0\r\nbury 9 0\r\nkick-job 9\r\n",
         "TOUCHED\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->b, "pause-tube nowhere 9\r\npeek 9\r\npeek-buried\r\nreserve-job 9\r\nkick 9\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nKICKED 0\r\n");
    says(t->b, "use t\r\nwatch t\r\nignore default\r\nreserve-with-timeout 0\r\nignore t\r\n",
         "USING t\r\nWATCHING 2\r\nWATCHING 1\r\nTIMED_OUT\r\nNOT_IGNORED\r\n");
    says(t->b, "list-tube-used\r\nlist-tubes-watched\r\nbad\r\nput x\r\nput 0 0 9 0\r\nxx",
         "USING t\r\nOK 8\r\n---\n- t\n\r\nUNKNOWN_COMMAND\r\nBAD_FORMAT\r\nEXPECTED_CRLF\r\n");
    stat_is(t->b, "stats\r\n", "current-jobs-ready", 1);
    stat_is(t->b, "stats-job 2\r\n", "id", 2);
    stat_is(t->b, "stats-tube default\r\n", "total-jobs", 2);
    hears(t->a, "");
}

static void a_reserve_that_ends_without_a_job_is_answered_at_once(void **state)
{
    struct bean *t = *state;

    says(t->b, "watch t\r\nignore default\r\nreserve-with-timeout 3\r\n",
         "WATCHING 2\r\nWATCHING 1\r\n");
    says(t->a, PUT, "");
    rig_advance(t->rig, SECONDS(3));
    hears(t->b, "TIMED_OUT\r\n");
}

static void refusals_leave_at_once(void **state)
{
    struct bean *t = *state;

    holds(t, t->b, PUT "reserve\r\n", "INSERTED 1\r\n" JOB(1));
    holds(t, t->b, PUT_LATER, "INSERTED 2\r\n");
    says(t->a, PUT, "");
    t->store_room = 0;
    says(t->b, PUT "release 1 0 0\r\nkick 1\r\nkick-job 2\r\npause-tube default 1\r\n",
         "OUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\n"
         "OUT_OF_MEMORY\r\n");
    // The space for these records was reserved when the job was put.
    holds(t, t->b, "bury 1 0\r\n", "BURIED\r\n");
    says(t->b, "reserve-job 1\r\n", "OUT_OF_MEMORY\r\n");
    holds(t, t->b, "delete 1\r\n", "DELETED\r\n");
}

//
// The order of replies, and clients that disconnect
//

static void replies_of_a_connection_keep_their_order(void **state)
{
    struct bean *t = *state;

    says(t->a, "use t\r\n" PUT "reserve-with-timeout 0\r\nlist-tube-used\r\n", "USING t\r\n");
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, "");
    rig_reach(t->rig);
    hears(t->a, "INSERTED 1\r\nTIMED_OUT\r\nUSING t\r\n");
}

static void a_timed_out_reply_comes_after_held_replies(void **state)
{
    struct bean *t = *state;

    says(t->a, PUT_LATER "reserve-with-timeout 2\r\n", "");
    rig_advance(t->rig, SECONDS(2));
    hears(t->a, "");
    rig_reach(t->rig);
    hears(t->a, "INSERTED 1\r\nTIMED_OUT\r\n");
}

static void a_client_may_disconnect_while_its_output_is_held(void **state)
{
    struct bean *t = *state;

    says(t->a, PUT, "");
    says(t->b, "reserve\r\n", "");
    says(t->c, "reserve\r\n", "");
    peer_free(t->a);
    peer_free(t->b);
    hears(t->c, "");
    rig_reach(t->rig);
    hears(t->c, JOB(1));
}

static void expect_untouched(struct bean *t, uint64_t id, bool untouched)
{
    const struct job *job = broker_find(rig_broker(t->rig), id);
    struct job_info info;

    assert_non_null(job);
    broker_job_info(rig_broker(t->rig), job, &info);
    assert_int_equal(info.state, JOB_READY);
    assert_int_equal(info.attempts, untouched ? 0 : 1);
    assert_int_equal(info.reserves, untouched ? 0 : 1);
}

static void a_worker_lost_before_its_job_is_stored_costs_no_attempt(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve\r\n", "");
    says(t->a, PUT, "");
    peer_free(t->b);
    expect_untouched(t, 1, true);
    says(t->c, "reserve-batch 5 0\r\n", "");
    peer_free(t->c);
    expect_untouched(t, 1, true);
    rig_reach(t->rig);
}

static void a_ttr_that_ends_before_the_job_is_stored_costs_no_attempt(void **state)
{
    static const char *const asks[] = {"reserve\r\n", "reserve-batch 5 0\r\n"};
    struct bean *t = *state;

    says(t->a, "put 0 0 1 1\r\nx\r\n", "");
    for (size_t i = 0; i < 2; i++) {
        struct peer *worker = peer_new(t->rig);

        peer_send(worker, slice_str(asks[i]));
        rig_run(t->rig);
        rig_advance(t->rig, SECONDS(1));
        expect_untouched(t, 1, true);
        if (i == 0) {
            peer_free(worker);
            continue;
        }
        // The job has not been sent: the worker may still receive it.
        rig_reach(t->rig);
        hears(worker, "RESERVED-BATCH 1\r\n" JOB(1));
        holds(t, worker, "delete 1\r\n", "DELETED\r\n");
        peer_free(worker);
    }
}

static void a_ttr_that_ends_before_the_job_is_sent_costs_no_attempt(void **state)
{
    struct bean *t = *state;

    holds(t, t->a, "put 0 0 1 1\r\nx\r\nput 0 0 1 1\r\nx\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->b, "reserve\r\n", JOB(1));
    peer_stop_reading(t->b);
    peer_send(t->b, SLICE("reserve\r\n"));
    rig_run(t->rig);
    rig_advance(t->rig, SECONDS(1));
    expect_untouched(t, 1, false);
    expect_untouched(t, 2, true);
}

static void a_job_that_was_not_sent_costs_no_attempt(void **state)
{
    static char put[3100];
    struct bean *t = *state;

    // The jobs need several spans of output, and have small and large bodies.
    for (int i = 0; i < 60; i++) {
        int len = i % 3 ? i : 3000;

        (void)snprintf(put, sizeof put, "put 0 0 9 %d\r\n%*s\r\n", len, len, "");
        peer_send(t->a, slice_str(put));
        rig_reach(t->rig);
    }
    (void)peer_ask(t->b, SLICE("reserve\r\n"));
    peer_stop_reading(t->b);
    for (int i = 0; i < 59; i++) {
        peer_send(t->b, SLICE("reserve\r\n"));
    }
    rig_run(t->rig);
    peer_free(t->b);
    for (uint64_t id = 1; id <= 60; id++) {
        expect_untouched(t, id, id > 1);
    }
}

static void a_half_closed_client_gets_its_replies_and_is_closed(void **state)
{
    struct bean *t = *state;

    says(t->a, PUT, "");
    peer_half_close(t->a);
    hears(t->a, "");
    assert_false(peer_closed(t->a));
    rig_reach(t->rig);
    hears(t->a, "INSERTED 1\r\n");
    assert_true(peer_closed(t->a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEHIND(a_put_waits_for_its_record),
        BEHIND(every_delete_waits_for_its_record),
        BEHIND(a_change_by_the_holder_waits_for_its_record),
        BEHIND(a_kick_of_one_job_waits_for_its_record),
        BEHIND(a_kick_waits_for_the_last_of_its_records),
        BEHIND(a_kick_cut_short_by_the_store_waits_for_its_records),
        BEHIND(a_pause_waits_for_its_record),
        BEHIND(a_peek_waits_until_the_job_is_stored),
        BEHIND(a_waiting_worker_gets_its_job_when_it_is_stored),
        BEHIND(taking_a_buried_job_waits_for_its_record),
        BEHIND(a_peek_of_a_stored_job_does_not_wait_for_others),
        BEHIND(other_replies_leave_at_once),
        BEHIND(a_reserve_that_ends_without_a_job_is_answered_at_once),
        BEHIND(refusals_leave_at_once),
        BEHIND(replies_of_a_connection_keep_their_order),
        BEHIND(a_timed_out_reply_comes_after_held_replies),
        BEHIND(a_client_may_disconnect_while_its_output_is_held),
        BEHIND(a_worker_lost_before_its_job_is_stored_costs_no_attempt),
        BEHIND(a_ttr_that_ends_before_the_job_is_stored_costs_no_attempt),
        BEHIND(a_ttr_that_ends_before_the_job_is_sent_costs_no_attempt),
        BEHIND(a_job_that_was_not_sent_costs_no_attempt),
        BEHIND(a_half_closed_client_gets_its_replies_and_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
