/* SPDX-License-Identifier: MIT */
// The counters of a queue and of the broker, and of the kinds of sessions.
#include "tests/core/stage.h"

#include <string.h>

static struct counts counts_of(struct stage *s, const char *queue)
{
    const struct queue *found = stage_find(s, queue);
    struct counts counts;

    assert_non_null(found);
    queue_counts(found, &counts);
    return counts;
}

static struct counts totals(struct stage *s)
{
    struct counts counts;

    broker_counts(s->broker, &counts);
    return counts;
}

#define EXPECT_COUNTS(actual, ...)                                                                 \
    expect_counts((actual), (const struct counts){__VA_ARGS__}, __LINE__)

static void expect_counts(struct counts actual, struct counts expected, int line)
{
    if (memcmp(&actual, &expected, sizeof actual) != 0) {
        print_message("line %d: submitted %d completed %d failed %d buried %d timeouts %d retries "
                      "%d deleted %d unwanted %d releases %d kicks %d\n",
                      line, (int)actual.submitted, (int)actual.completed, (int)actual.failed,
                      (int)actual.buried, (int)actual.timeouts, (int)actual.retries,
                      (int)actual.deleted, (int)actual.unwanted, (int)actual.releases,
                      (int)actual.kicks);
        fail();
    }
}

static void worker_word_is_counted_as_completed_failed_or_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (uint64_t id = 1; id <= 4; id++) {
        PUT(s, .on_fail = id == 2 ? ON_FAIL_DROP : ON_FAIL_BURY);
        assert_int_equal(act_take(w), id);
    }
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 4, .completed = 1);
    assert_status(STATUS_OK, act_fail(w, 2, NULL));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 4, .completed = 1, .failed = 1);
    assert_status(STATUS_OK, act_fail(w, 3, NULL));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 4, .completed = 1, .failed = 2, .buried = 1);
    assert_status(STATUS_OK, act_bury(w, 4, 0));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 4, .completed = 1, .failed = 2, .buried = 2);
    assert_int_equal(stage_queue(s, "q").ended, 1);
}

static void burial_of_a_job_that_is_not_durable_is_a_failure(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .fleeting = true);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .failed = 1);
}

static void leases_that_end_by_time_are_timeouts_and_mostly_retries(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(1), .max_attempts = 2);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .timeouts = 1, .retries = 1);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .timeouts = 2, .retries = 1, .failed = 1,
                  .buried = 1);
}

static void jobs_that_come_back_from_their_worker_are_retries(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .retries = 1, .releases = 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(1)));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .retries = 2, .releases = 2);
    assert_int_equal(stage_kick(s, "q", 1), 1);
    assert_int_equal(act_take(w), 1);
    act_give_back(w, "q");
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .retries = 3, .releases = 2, .kicks = 1);
    act_subscribe(w, "q");
    assert_int_equal(act_take(w), 1);
    act_close(w);
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .retries = 4, .releases = 2, .kicks = 1);
}

static void jobs_that_go_without_having_been_done_are_deleted(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct submission submission;

    act_subscribe(c, "q");
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_cancel(s, 1));
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1, .deleted = 1);
    submission = SUBMIT(c, .fleeting = true);
    stage_unwatch(s, submission.watch);
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 2, .deleted = 2, .unwanted = 1);
    assert_int_equal(stage_queue(s, "q").ended, 1);
}

static void submission_that_joins_a_job_is_not_counted(void **state)
{
    struct stage *s = *state;

    PUT(s, .key = "k");
    PUT(s, .key = "k");
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1);
}

static void totals_keep_the_counts_of_removed_queues(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    assert_status(STATUS_OK, stage_cancel(s, 2));
    assert_null(stage_find(s, "r"));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    EXPECT_COUNTS(totals(s), .submitted = 2, .deleted = 1, .completed = 1);
    act_unsubscribe(w, "q");
    assert_null(stage_find(s, "q"));
    EXPECT_COUNTS(totals(s), .submitted = 2, .deleted = 1, .completed = 1);
    PUT(s, .queue = "q");
    EXPECT_COUNTS(counts_of(s, "q"), .submitted = 1);
}

static void job_has_been_kicked_a_million_times_at_most(void **state)
{
    static const struct session_ops ops = {0};
    struct stage *s = stage_new((struct broker_options){0}, false);
    struct broker *broker = s->broker;
    const struct job *job;
    struct job_info info;
    enum { TOO_OFTEN = (1 << 20) + 5 };

    (void)state;
    PUT(s, .delay_for = SEC(1));
    for (int i = 0; i < TOO_OFTEN; i++) {
        struct session *session;

        assert_status(STATUS_OK, broker_kick_id(broker, NULL, 1));
        assert_status(STATUS_OK, broker_session_open(broker, &ops, NULL, CHOICE_OLDEST, &session));
        assert_status(STATUS_OK, broker_take_id(session, 1, &job));
        assert_status(STATUS_OK, broker_release(session, 1, 0, SEC(1)));
        broker_session_close(session);
    }
    broker_job_info(broker, broker_find(broker, 1), &info);
    assert_int_equal(info.kicks, (1 << 20) - 1);
    assert_int_equal(info.releases, (1 << 20) - 1);
    assert_int_equal(info.reserves, TOO_OFTEN);
    assert_int_equal(totals(s).kicks, TOO_OFTEN);
    stage_free(s);
}

//
// The oldest ready job
//

static uint64_t oldest(struct stage *s, nsec_t *age_for)
{
    const struct queue *queue = stage_find(s, "q");
    const struct job *job = queue_oldest_ready(s->broker, queue, age_for);

    return job ? job_id(job) : 0;
}

// Ages are told in steps of about a millisecond.
static void expect_oldest(struct stage *s, uint64_t id, nsec_t age_for)
{
    nsec_t told_for;

    assert_int_equal(oldest(s, &told_for), id);
    assert_true(told_for > age_for - MSEC(2) && told_for < age_for + MSEC(2));
}

static void oldest_ready_job_is_found_behind_better_ones(void **state)
{
    struct stage *s = *state;

    PUT(s, .pri = 7);
    stage_advance(s, SEC(5));
    PUT(s, .pri = 3);
    stage_advance(s, SEC(5));
    PUT(s, .pri = 7);
    expect_oldest(s, 1, SEC(10));
    assert_status(STATUS_OK, stage_cancel(s, 1));
    expect_oldest(s, 2, SEC(5));
}

static void wait_of_a_job_begins_when_it_becomes_ready(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .delay_for = SEC(10));
    stage_advance(s, SEC(9));
    expect_oldest(s, 0, 0);
    stage_advance(s, SEC(1));
    stage_advance(s, SEC(2));
    expect_oldest(s, 1, SEC(2));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(3));
    expect_oldest(s, 0, 0);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    stage_advance(s, SEC(4));
    expect_oldest(s, 1, SEC(4));
}

// The 32 numbers at either end are looked at: with 64 all are, with one more the one in the middle
// is not.
static void oldest_of_many_priorities_is_among_the_first_and_the_last(void **state)
{
    struct stage *s = *state;

    PUT(s, .pri = 33);
    stage_advance(s, SEC(1));
    for (uint32_t pri = 1; pri <= 64; pri++) {
        if (pri != 33) {
            PUT(s, .pri = pri);
        }
    }
    stage_advance(s, SEC(1));
    expect_oldest(s, 1, SEC(2));
    PUT(s, .pri = 65);
    expect_oldest(s, 2, SEC(1));
}

static void oldest_ready_job_has_waited_for_weeks(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    stage_advance(s, SEC(50) * 86400);
    expect_oldest(s, 1, SEC(50) * 86400);
}

//
// Sessions
//

static void session_is_a_producer_or_worker_from_its_first_deed_on(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_open(s, "a");
    struct actor *b = stage_worker(s, "b", "q");
    struct session_info info;

    assert_int_equal(stage_info(s).producers + stage_info(s).workers, 0);
    SUBMIT(a, .queue = "q");
    SUBMIT(a, .queue = "q");
    assert_int_equal(stage_info(s).producers, 1);
    assert_int_equal(stage_info(s).workers, 0);
    assert_int_equal(act_take(b), 1);
    assert_int_equal(stage_info(s).workers, 1);
    session_info(a->session, &info);
    assert_true(info.producer && !info.worker);
    assert_int_equal(info.watches, 2);
    session_info(b->session, &info);
    assert_true(info.worker && !info.producer && !info.waits_for_job);
    assert_int_equal(info.held, 1);
    assert_int_equal(info.subscriptions, 1);
    act_close(a);
    act_close(b);
    assert_int_equal(stage_info(s).producers + stage_info(s).workers, 0);
}

static void waiting_for_a_job_or_a_nudge_makes_a_worker(void **state)
{
    struct stage *s = *state;
    struct actor *a = stage_worker(s, "a", "q");
    struct actor *b = stage_worker(s, "b", "q");
    struct session_info info;

    act_wait(a);
    session_info(a->session, &info);
    assert_true(info.worker && info.waits_for_job && !info.waits_for_nudge);
    act_await_nudge(b);
    session_info(b->session, &info);
    assert_true(info.worker && info.waits_for_nudge && !info.waits_for_job);
    assert_int_equal(stage_info(s).workers, 2);
    assert_int_equal(stage_info(s).waiting, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(worker_word_is_counted_as_completed_failed_or_buried),
        STORY(burial_of_a_job_that_is_not_durable_is_a_failure),
        STORY(leases_that_end_by_time_are_timeouts_and_mostly_retries),
        STORY(jobs_that_come_back_from_their_worker_are_retries),
        STORY(jobs_that_go_without_having_been_done_are_deleted),
        STORY(submission_that_joins_a_job_is_not_counted),
        STORY(totals_keep_the_counts_of_removed_queues),
        cmocka_unit_test(job_has_been_kicked_a_million_times_at_most),
        STORY(oldest_ready_job_is_found_behind_better_ones),
        STORY(wait_of_a_job_begins_when_it_becomes_ready),
        STORY(oldest_of_many_priorities_is_among_the_first_and_the_last),
        STORY(oldest_ready_job_has_waited_for_weeks),
        STORY(session_is_a_producer_or_worker_from_its_first_deed_on),
        STORY(waiting_for_a_job_or_a_nudge_makes_a_worker),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
