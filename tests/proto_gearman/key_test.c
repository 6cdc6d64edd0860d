/* SPDX-License-Identifier: MIT */

// Coalescing: a submission with the unique of a live job joins it.

#include "tests/proto_gearman/wire_gear.h"
#include "tests/support/policies.h"

#include "core/policy.h"

// The worker offers "f" and takes the job.
static void grab(struct peer *worker, const char *handle, const char *body)
{
    gear_says(worker, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, handle, "f", body));
}

static void complete(struct peer *worker, const char *handle, const char *result)
{
    gear_says(worker, REQ(WORK_COMPLETE, handle, result), NOTHING);
}

static void a_second_submission_joins_a_queued_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "first"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB_HIGH, "f", "u", "second"), RES(JOB_CREATED, H(1)));
    jobs_are(t, "f", JOB_READY, 1);
    assert_int_equal(gear_job(t, 1).pri, PRI_NORMAL);
    grab(t->c, H(1), "first");
    complete(t->c, H(1), "done");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
    gear_hears(t->b, RES(WORK_COMPLETE, H(1), "done"));
}

static void a_second_submission_joins_a_running_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    gear_says(t->c, REQ(WORK_DATA, H(1), "early"), NOTHING);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "y"), RES(JOB_CREATED, H(1)));
    gear_says(t->c, REQ(WORK_DATA, H(1), "late"), NOTHING);
    complete(t->c, H(1), "done");
    gear_hears(t->a, MANY(RES(WORK_DATA, H(1), "early"), RES(WORK_DATA, H(1), "late"),
                          RES(WORK_COMPLETE, H(1), "done")));
    gear_hears(t->b, MANY(RES(WORK_DATA, H(1), "late"), RES(WORK_COMPLETE, H(1), "done")));
    jobs_are(t, "f", JOB_READY, 0);
}

static void a_unique_counts_within_its_function(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "g", "u", "x"), RES(JOB_CREATED, H(2)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "U", "x"), RES(JOB_CREATED, H(3)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u ", "x"), RES(JOB_CREATED, H(4)));
}

static void an_empty_unique_joins_nothing(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(2)));
}

static void a_dash_joins_by_the_workload(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "-", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "-", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "-", "y"), RES(JOB_CREATED, H(2)));
    gear_says(t->b, REQ(SUBMIT_JOB, "g", "-", "x"), RES(JOB_CREATED, H(3)));
    gear_says(t->c, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB_UNIQ)),
              RES(JOB_ASSIGN_UNIQ, H(1), "f", "-", "x"));
    complete(t->c, H(1), "done");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
    gear_hears(t->b, RES(WORK_COMPLETE, H(1), "done"));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "-", "x"), RES(JOB_CREATED, H(4)));
}

static void a_dash_joins_long_workloads_too(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('w', 100000);

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "-", body), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "-", body), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "-", body + 1), RES(JOB_CREATED, H(2)));
}

static void a_dash_with_an_empty_workload_joins_nothing(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "-", ""), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "-", ""), RES(JOB_CREATED, H(2)));
}

static void workloads_and_uniques_are_never_mistaken_for_each_other(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "same", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "-", "same"), RES(JOB_CREATED, H(2)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "same", "y"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "--", "same"), RES(JOB_CREATED, H(3)));
}

static void one_connection_gets_a_packet_for_each_submission(void **state)
{
    struct gear *t = *state;
    struct slice data = RES(WORK_DATA, H(1), "d");
    struct slice warning = RES(WORK_WARNING, H(1), "w");
    struct slice progress = RES(WORK_STATUS, H(1), "1", "2");
    struct slice done = RES(WORK_COMPLETE, H(1), "r");

    for (int i = 0; i < 3; i++) {
        gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    }
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    gear_says(t->c,
              MANY(REQ(WORK_DATA, H(1), "d"), REQ(WORK_WARNING, H(1), "w"),
                   REQ(WORK_STATUS, H(1), "1", "2"), REQ(WORK_COMPLETE, H(1), "r")),
              NOTHING);
    gear_hears(t->a, MANY(data, data, data, warning, warning, warning, progress, progress, progress,
                          done, done, done));
    gear_hears(t->b, MANY(data, warning, progress, done));
}

static void all_of_many_submissions_get_the_result(void **state)
{
    struct gear *t = *state;
    struct slice done = RES(WORK_COMPLETE, H(1), "r");
    struct slice heard;

    for (int i = 0; i < 2000; i++) {
        gear_submits(i % 4 ? t->a : t->b, REQ(SUBMIT_JOB, "f", "u", "x"));
    }
    grab(t->c, H(1), "x");
    complete(t->c, H(1), "r");
    heard = peer_hear(t->a);
    assert_int_equal(heard.len, 1500 * done.len);
    for (size_t i = 0; i < 1500; i++) {
        assert_memory_equal(heard.ptr + i * done.len, done.ptr, done.len);
    }
    assert_int_equal(peer_hear(t->b).len, 500 * done.len);
}

static void each_submission_gets_the_failure(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    gear_says(t->c, REQ(WORK_FAIL, H(1)), NOTHING);
    gear_hears(t->a, MANY(RES(WORK_FAIL, H(1)), RES(WORK_FAIL, H(1))));
}

static void a_late_joiner_gets_the_last_status_at_once(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->c, MANY(REQ(WORK_STATUS, H(1), "1", "10"), REQ(WORK_STATUS, H(1), "05", "10 ")),
              NOTHING);
    peer_hear(t->a);
    peer_hear(t->b);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"),
              MANY(RES(JOB_CREATED, H(1)), RES(WORK_STATUS, H(1), "05", "10 ")));
    gear_hears(t->a, NOTHING);
}

static void a_late_joiner_does_not_get_the_status_of_a_lost_attempt(void **state)
{
    struct gear *t = *state;
    struct peer *worker = peer_new(t->rig);

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(worker, H(1), "x");
    gear_says(worker, REQ(WORK_STATUS, H(1), "1", "10"), NOTHING);
    peer_free(worker);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "1", "0", "0", "0"));
}

static void a_unique_is_free_when_its_job_is_done(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    complete(t->c, H(1), "");
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(2)));
    grab(t->c, H(2), "x");
    gear_says(t->c, REQ(WORK_FAIL, H(2)), NOTHING);
    gear_says(t->c, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(3)));
}

static void a_background_job_stays_when_a_foreground_client_disconnects(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "y"), RES(JOB_CREATED, H(1)));
    assert_int_equal(gear_job(t, 1).watches, 1);
    peer_free(t->b);
    grab(t->c, H(1), "x");
}

static void a_background_submission_keeps_a_foreground_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB_BG, "f", "u", "y"), RES(JOB_CREATED, H(1)));
    assert_true(gear_job(t, 1).durable);
    peer_free(t->a);
    grab(t->c, H(1), "x");
    complete(t->c, H(1), "done");
    gear_hears(t->b, NOTHING);
}

static void both_kinds_of_clients_may_share_a_running_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    complete(t->c, H(1), "done");
    gear_hears(t->b, RES(WORK_COMPLETE, H(1), "done"));
    gear_hears(t->a, NOTHING);
}

static void a_running_job_whose_clients_disconnected_continues(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    peer_free(t->a);
    gear_says(t->c, MANY(REQ(WORK_DATA, H(1), "d"), REQ(WORK_COMPLETE, H(1), "done")), NOTHING);
    job_is_gone(t, 1);
}

static void a_running_job_whose_clients_disconnected_can_be_joined(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    peer_free(t->a);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    complete(t->c, H(1), "done");
    gear_hears(t->b, RES(WORK_COMPLETE, H(1), "done"));
}

static void a_joined_job_outlives_its_worker(void **state)
{
    struct gear *t = *state;
    struct peer *worker = peer_new(t->rig);

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(worker, H(1), "x");
    peer_free(t->a);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    peer_free(worker);
    grab(t->c, H(1), "x");
}

static void a_job_without_clients_ends_with_its_worker(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    peer_free(t->a);
    peer_free(t->c);
    job_is_gone(t, 1);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(2)));
}

static void a_queued_job_whose_last_client_disconnected_gives_up_its_unique(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "y"), RES(JOB_CREATED, H(1)));
    peer_free(t->a);
    jobs_are(t, "f", JOB_READY, 1);
    peer_free(t->b);
    jobs_are(t, "f", JOB_READY, 0);
    gear_says(t->c, REQ(SUBMIT_JOB, "f", "u", "z"), RES(JOB_CREATED, H(2)));
}

// As in gearmand.
static void a_submission_without_a_moment_leaves_an_epoch_job_as_it_is(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "u", "1700000100", "x"), RES(JOB_CREATED, H(1)));
    jobs_are(t, "f", JOB_DELAYED, 1);
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", "y"), RES(JOB_CREATED, H(1)));
    jobs_are(t, "f", JOB_DELAYED, 1);
    rig_advance(t->rig, 100 * NSEC_PER_SEC);
    jobs_are(t, "f", JOB_READY, 1);
    grab(t->c, H(1), "x");
    complete(t->c, H(1), "done");
    gear_hears(t->b, RES(WORK_COMPLETE, H(1), "done"));
}

static void the_earlier_of_two_moments_counts(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "u", "1700000100", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "u", "1700000050", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "u", "1700000200", "x"), RES(JOB_CREATED, H(1)));
    assert_int_equal(gear_job(t, 1).remaining_for, SECONDS(50));
    rig_advance(t->rig, SECONDS(50));
    jobs_are(t, "f", JOB_READY, 1);
}

static void a_buried_job_gives_up_its_unique(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"), RES(JOB_CREATED, H(1)));
    grab(t->c, H(1), "x");
    gear_says(t->c, REQ(WORK_FAIL, H(1)), NOTHING);
    jobs_are(t, "f", JOB_BURIED, 1);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "y"), RES(JOB_CREATED, H(2)));
}

// Hashing a workload while it arrives takes memory, too. All of the packet but its workload has
// arrived.
static size_t held_of_a_long_job(struct gear *t, const char *unique, size_t len)
{
    struct slice all = REQ(SUBMIT_JOB_BG, "f", unique, gear_run('x', len));
    struct peer *peer = peer_new(t->rig);
    size_t held;

    peer_send(peer, slice_of(all.ptr, all.len - len));
    rig_run(t->rig);
    held = peer_holds(peer);
    peer_free(peer);
    return held;
}

static void a_long_workload_that_is_a_key_is_hashed_while_it_arrives(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("f"), .spec = {.unique_body = true}};
    struct gear *t = *state;
    size_t plain = held_of_a_long_job(t, "", 65537);
    size_t named = held_of_a_long_job(t, "u", 65537);

    assert_true(held_of_a_long_job(t, "-", 65537) > named);
    assert_int_equal(held_of_a_long_job(t, "-", 65536), named);
    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    assert_true(held_of_a_long_job(t, "", 65537) > plain);
    assert_int_equal(held_of_a_long_job(t, "u", 65537), named);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(a_second_submission_joins_a_queued_job),
        GEAR(a_second_submission_joins_a_running_job),
        GEAR(a_unique_counts_within_its_function),
        GEAR(an_empty_unique_joins_nothing),
        GEAR(a_dash_joins_by_the_workload),
        GEAR(a_dash_joins_long_workloads_too),
        GEAR(a_dash_with_an_empty_workload_joins_nothing),
        GEAR(workloads_and_uniques_are_never_mistaken_for_each_other),
        GEAR(one_connection_gets_a_packet_for_each_submission),
        GEAR(all_of_many_submissions_get_the_result),
        GEAR(each_submission_gets_the_failure),
        GEAR(a_late_joiner_gets_the_last_status_at_once),
        GEAR(a_late_joiner_does_not_get_the_status_of_a_lost_attempt),
        GEAR(a_unique_is_free_when_its_job_is_done),
        GEAR(a_background_job_stays_when_a_foreground_client_disconnects),
        GEAR(a_background_submission_keeps_a_foreground_job),
        GEAR(both_kinds_of_clients_may_share_a_running_job),
        GEAR(a_running_job_whose_clients_disconnected_continues),
        GEAR(a_running_job_whose_clients_disconnected_can_be_joined),
        GEAR(a_joined_job_outlives_its_worker),
        GEAR(a_job_without_clients_ends_with_its_worker),
        GEAR(a_queued_job_whose_last_client_disconnected_gives_up_its_unique),
        GEAR(a_submission_without_a_moment_leaves_an_epoch_job_as_it_is),
        GEAR(the_earlier_of_two_moments_counts),
        GEAR(a_buried_job_gives_up_its_unique),
        GEAR(a_long_workload_that_is_a_key_is_hashed_while_it_arrives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
