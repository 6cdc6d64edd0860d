/* SPDX-License-Identifier: MIT */

// Commands on a job: delete, release, bury, kick, peek.

#include "tests/proto_beanstalk/wire_bean.h"

#include <stdio.h>
#include <string.h>

// Puts a job for `peer` and lets it reserve it.
static void reserve_one(struct peer *peer, uint64_t id)
{
    char heard[64];

    (void)snprintf(heard, sizeof heard, "INSERTED %d\r\nRESERVED %d 1\r\na\r\n", (int)id, (int)id);
    says_text(peer, "put 0 0 9 1\r\na\r\nreserve\r\n", heard);
}

static void delete_removes_ready_delayed_buried_and_own_jobs(void **state)
{
    struct bean *t = *state;

    reserve_one(t->a, 1);
    says(t->a, "bury 1 0\r\n", "BURIED\r\n");
    reserve_one(t->a, 2);
    says(t->b, "put 0 0 9 1\r\na\r\nput 0 9 9 1\r\na\r\n", "INSERTED 3\r\nINSERTED 4\r\n");
    says(t->b, "delete 1\r\ndelete 2\r\ndelete 3\r\ndelete 4\r\n",
         "DELETED\r\nNOT_FOUND\r\nDELETED\r\nDELETED\r\n");
    says(t->a, "delete 2\r\ndelete 2\r\ndelete 99\r\n", "DELETED\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    stat_is(t->a, "stats-tube default\r\n", "cmd-delete", 4);
    stat_is(t->a, "stats\r\n", "cmd-delete", 7);
}

static void release_sets_priority_and_delay(void **state)
{
    struct bean *t = *state;

    reserve_one(t->a, 1);
    says(t->a, "release 1 7 5\r\n", "RELEASED\r\n");
    says_yaml(
        t->a, "stats-job 1\r\n",
        "---\nid: 1\ntube: \"default\"\nstate: delayed\npri: 7\nage: 0\ndelay: 5\nttr: 9\n"
        "time-left: 5\nfile: 0\nreserves: 1\ntimeouts: 0\nreleases: 1\nburies: 0\nkicks: 0\n");
    rig_advance(t->rig, SECONDS(5));
    says_yaml(
        t->a, "stats-job 1\r\n",
        "---\nid: 1\ntube: \"default\"\nstate: ready\npri: 7\nage: 5\ndelay: 5\nttr: 9\n"
        "time-left: 0\nfile: 0\nreserves: 1\ntimeouts: 0\nreleases: 1\nburies: 0\nkicks: 0\n");
}

static void only_the_holder_releases_buries_and_touches(void **state)
{
    struct bean *t = *state;

    reserve_one(t->a, 1);
    says(t->b, "release 1 0 0\r\nbury 1 0\r\ntouch 1\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->b, "put 0 0 9 1\r\na\r\nrelease 2 0 0\r\nbury 2 0\r\ntouch 2\r\n",
         "INSERTED 2\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->a, "release 1 0 0\r\nrelease 1 0 0\r\n", "RELEASED\r\nNOT_FOUND\r\n");
}

static void bury_sets_the_priority_and_keeps_the_delay(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 2 9 1\r\na\r\n", "INSERTED 1\r\n");
    rig_advance(t->rig, SECONDS(2));
    says(t->a, "reserve\r\nbury 1 8\r\n", "RESERVED 1 1\r\na\r\nBURIED\r\n");
    says_yaml(
        t->a, "stats-job 1\r\n",
        "---\nid: 1\ntube: \"default\"\nstate: buried\npri: 8\nage: 2\ndelay: 2\nttr: 9\n"
        "time-left: 0\nfile: 0\nreserves: 1\ntimeouts: 0\nreleases: 0\nburies: 1\nkicks: 0\n");
    says(t->a, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
}

static void peek_sees_any_job_in_any_state(void **state)
{
    struct bean *t = *state;

    reserve_one(t->a, 1);
    says(t->a, "use x\r\nput 0 9 9 3\r\nabc\r\n", "USING x\r\nINSERTED 2\r\n");
    says(t->b, "peek 1\r\npeek 2\r\npeek 3\r\n",
         "FOUND 1 1\r\na\r\nFOUND 2 3\r\nabc\r\nNOT_FOUND\r\n");
    says(t->b, "peek 0\r\npeek 18446744073709551615\r\n", "NOT_FOUND\r\nNOT_FOUND\r\n");
}

static void peeks_by_state_look_at_the_used_tube(void **state)
{
    struct bean *t = *state;

    says(t->a, "peek-ready\r\npeek-delayed\r\npeek-buried\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->a, "put 5 0 9 1\r\na\r\nput 1 0 9 1\r\nb\r\nput 1 0 9 1\r\nc\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    says(t->a, "put 0 8 9 1\r\nd\r\nput 0 7 9 1\r\ne\r\n", "INSERTED 4\r\nINSERTED 5\r\n");
    says(t->a, "reserve-job 3\r\nbury 3 9\r\nreserve-job 1\r\nbury 1 0\r\n",
         "RESERVED 3 1\r\nc\r\nBURIED\r\nRESERVED 1 1\r\na\r\nBURIED\r\n");
    says(t->a, "pause-tube default 9\r\npeek-ready\r\npeek-delayed\r\npeek-buried\r\n",
         "PAUSED\r\nFOUND 2 1\r\nb\r\nFOUND 5 1\r\ne\r\nFOUND 3 1\r\nc\r\n");
    says(t->a, "use x\r\npeek-ready\r\npeek-delayed\r\npeek-buried\r\n",
         "USING x\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
}

static void kick_takes_buried_jobs_in_the_order_of_their_burial(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\nput 0 0 9 1\r\nb\r\nput 0 9 9 1\r\nc\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    says(t->a, "reserve-job 2\r\nbury 2 0\r\nreserve-job 1\r\nbury 1 0\r\n",
         "RESERVED 2 1\r\nb\r\nBURIED\r\nRESERVED 1 1\r\na\r\nBURIED\r\n");
    says(t->a, "kick 0\r\nkick 1\r\npeek-ready\r\n", "KICKED 0\r\nKICKED 1\r\nFOUND 2 1\r\nb\r\n");
    says(t->a, "kick 99\r\npeek-delayed\r\n", "KICKED 1\r\nFOUND 3 1\r\nc\r\n");
    says(t->a, "kick 99\r\nkick 99\r\n", "KICKED 1\r\nKICKED 0\r\n");
    says_yaml(
        t->a, "stats-job 3\r\n",
        "---\nid: 3\ntube: \"default\"\nstate: ready\npri: 0\nage: 0\ndelay: 9\nttr: 9\n"
        "time-left: 0\nfile: 0\nreserves: 0\ntimeouts: 0\nreleases: 0\nburies: 0\nkicks: 1\n");
}

static void kick_takes_the_delayed_jobs_that_are_due_first(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 9 9 1\r\na\r\nput 0 8 9 1\r\nb\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->b, "use x\r\nkick 9\r\n", "USING x\r\nKICKED 0\r\n");
    says(t->b, "use default\r\nkick 1\r\npeek-ready\r\n",
         "USING default\r\nKICKED 1\r\nFOUND 2 1\r\nb\r\n");
}

static void a_kick_of_many_goes_in_slices(void **state)
{
    struct bean *t = *state;
    unsigned long before;

    for (int i = 0; i < 1000; i++) {
        peer_send(t->a, SLICE("put 0 9 9 0\r\n\r\n"));
    }
    rig_run(t->rig);
    peer_hear(t->a);
    before = rig_feeds(t->rig);
    says(t->a, "kick 600\r\nlist-tube-used\r\n", "KICKED 600\r\nUSING default\r\n");
    assert_true(rig_feeds(t->rig) - before >= 3);
    stat_is(t->a, "stats\r\n", "current-jobs-ready", 600);
    says(t->a, "kick -1\r\n", "KICKED 400\r\n");
}

static void a_client_may_disconnect_during_a_kick(void **state)
{
    struct bean *t = *state;

    for (int i = 0; i < 1000; i++) {
        peer_send(t->a, SLICE("put 0 9 9 0\r\n\r\n"));
    }
    rig_run(t->rig);
    peer_send(t->b, SLICE("kick 1000\r\n"));
    rig_feed(t->rig);
    peer_free(t->b);
    stat_is(t->c, "stats\r\n", "current-jobs-ready", BROKER_SLICE);
}

static void kick_job_makes_one_buried_or_delayed_job_ready(void **state)
{
    struct bean *t = *state;

    reserve_one(t->a, 1);
    says(t->b, "kick-job 1\r\n", "NOT_FOUND\r\n");
    says(t->a, "bury 1 3\r\nput 0 9 9 1\r\nb\r\n", "BURIED\r\nINSERTED 2\r\n");
    says(t->b, "use x\r\nkick-job 1\r\nkick-job 2\r\n", "USING x\r\nKICKED\r\nKICKED\r\n");
    says(t->b, "kick-job 1\r\nkick-job 3\r\n", "NOT_FOUND\r\nNOT_FOUND\r\n");
    stat_is(t->b, "stats-job 1\r\n", "kicks", 1);
    stat_is(t->b, "stats-job 1\r\n", "pri", 3);
}

static void a_full_store_refuses_changes_that_need_a_record(void **state)
{
    struct bean *t = *state;

    reserve_one(t->a, 1);
    reserve_one(t->a, 2);
    says(t->a, "bury 2 0\r\nput 0 9 9 1\r\nb\r\n", "BURIED\r\nINSERTED 3\r\n");
    t->store_room = 0;
    says(t->a, "release 1 0 5\r\nkick 1\r\nkick-job 2\r\npause-tube default 1\r\nreserve-job 2\r\n",
         "OUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\n");
    says(t->a, "touch 1\r\nbury 1 0\r\ndelete 1\r\ndelete 2\r\ndelete 3\r\n",
         "TOUCHED\r\nBURIED\r\nDELETED\r\nDELETED\r\nDELETED\r\n");
}

static void a_kick_that_fills_the_store_counts_the_kicked_jobs(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 9 9 0\r\n\r\nput 0 9 9 0\r\n\r\nput 0 9 9 0\r\n\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    t->store_room = 2;
    says(t->a, "kick 9\r\nkick 9\r\n", "KICKED 2\r\nOUT_OF_MEMORY\r\n");
    stat_is(t->a, "stats\r\n", "current-jobs-delayed", 1);
}

static void a_job_that_a_worker_of_another_kind_fails_is_buried(void **state)
{
    static const struct session_ops none = {.leased = NULL};
    struct bean *t = *state;
    struct session *session;
    const struct job *job;

    says(t->a, "put 0 0 9 1\r\na\r\n", "INSERTED 1\r\n");
    assert_int_equal(broker_session_open(rig_broker(t->rig), &none, NULL, CHOICE_IN_TURN, &session),
                     STATUS_OK);
    assert_int_equal(broker_take_id(session, 1, &job), STATUS_OK);
    assert_int_equal(broker_fail(session, 1, NULL), STATUS_OK);
    says(t->a, "peek-buried\r\n", "FOUND 1 1\r\na\r\n");
    broker_session_close(session);
}

static void the_delay_ends_on_time(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 2 9 1\r\na\r\n", "INSERTED 1\r\n");
    says(t->b, "reserve\r\n", "");
    rig_advance(t->rig, SECONDS(2) - 1);
    hears(t->b, "");
    stat_is(t->a, "stats-job 1\r\n", "time-left", 0);
    rig_advance(t->rig, 1);
    hears(t->b, "RESERVED 1 1\r\na\r\n");
}

static void a_job_without_durability_is_buried_as_by_failing(void **state)
{
    struct bean *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct job_spec spec = {.queue = broker_queue_find(broker, SLICE("default")),
                            .on_fail = ON_FAIL_DROP};
    struct submission submission;

    assert_int_equal(broker_submit(broker, &spec, NULL, &submission), STATUS_OK);
    says(t->a, "reserve\r\nbury 1 0\r\npeek 1\r\n", "RESERVED 1 0\r\n\r\nBURIED\r\nNOT_FOUND\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(delete_removes_ready_delayed_buried_and_own_jobs),
        BEAN(release_sets_priority_and_delay),
        BEAN(only_the_holder_releases_buries_and_touches),
        BEAN(bury_sets_the_priority_and_keeps_the_delay),
        BEAN(peek_sees_any_job_in_any_state),
        BEAN(peeks_by_state_look_at_the_used_tube),
        BEAN(kick_takes_buried_jobs_in_the_order_of_their_burial),
        BEAN(kick_takes_the_delayed_jobs_that_are_due_first),
        BEAN(a_kick_of_many_goes_in_slices),
        BEAN(a_client_may_disconnect_during_a_kick),
        BEAN(kick_job_makes_one_buried_or_delayed_job_ready),
        BEAN(a_full_store_refuses_changes_that_need_a_record),
        BEAN(a_kick_that_fills_the_store_counts_the_kicked_jobs),
        BEAN(a_job_that_a_worker_of_another_kind_fails_is_buried),
        BEAN(the_delay_ends_on_time),
        BEAN(a_job_without_durability_is_buried_as_by_failing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
