/* SPDX-License-Identifier: MIT */
// The results of jobs that no client waited for, and sessions that follow such jobs.
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"

#include "core/base/memory.h"

#include <endian.h>
#include <stdio.h>

#define DAY (24 * SEC(3600))
#define KEEP(s) POLICY(s, "*", .keep_result_for = SEC(60))

static struct result get(struct stage *s, uint64_t id)
{
    struct result result;

    assert_true(broker_result(s->broker, id, &result));
    assert_int_equal(result.id, id);
    return result;
}

static void expect_result(struct stage *s, uint64_t id, enum result_end end, const char *data)
{
    struct result result = get(s, id);

    assert_int_equal(result.end, end);
    assert_int_equal(result.data_state, RESULT_WHOLE);
    assert_true(slice_equal(result.queue, SLICE("q")));
    assert_true(slice_equal(result.data, stage_slice(data)));
}

static void expect_none(struct stage *s, uint64_t id)
{
    struct result result;

    assert_false(broker_result(s->broker, id, &result));
}

static struct watch *follow(struct actor *a, uint64_t id)
{
    struct watch *watch = NULL;

    assert_status(STATUS_OK, broker_follow(a->session, id, &watch));
    stage_step(a->stage);
    return watch;
}

static void result_of_a_durable_job_is_kept_for_its_time(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    KEEP(s);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    expect_none(s, 1);
    assert_status(STATUS_OK, act_complete(w, 1, "done"));
    // The result is recorded before the end, so that no end is stored without its result.
    stage_expect_recorded(s, "submit 1; memo result; end 1");
    assert_int_equal(broker_results_position(s->broker), 2);
    expect_result(s, 1, RESULT_COMPLETE, "done");
    assert_int_equal(get(s, 1).ended_ms, STAGE_WALL_AT / NSEC_PER_MSEC);
    stage_advance(s, SEC(60) - 1);
    expect_result(s, 1, RESULT_COMPLETE, "done");
    stage_advance(s, 1);
    expect_none(s, 1);
}

static void no_result_is_kept_without_a_policy_or_of_a_job_that_is_not_durable(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "done"));
    KEEP(s);
    stage_settle(s);
    SUBMIT(c, .fleeting = true);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_complete(w, 2, "done"));
    expect_none(s, 1);
    expect_none(s, 2);
    stage_expect(s, "c complete 2 done");
}

static void failure_and_exception_are_results_once_they_are_final(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .keep_result_for = SEC(60), .max_attempts = 2);
    PUT(s, .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    expect_none(s, 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    expect_result(s, 1, RESULT_FAILED, "");
    PUT(s, .max_attempts = 1);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, "oops"));
    assert_int_equal(stage_state(s, 2), JOB_BURIED);
    expect_result(s, 2, RESULT_EXCEPTION, "oops");
    // The job is tried again: the later result counts.
    assert_status(STATUS_OK, stage_kick_id(s, 2));
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_complete(w, 2, "after all"));
    expect_result(s, 2, RESULT_COMPLETE, "after all");
}

static void cancelled_or_buried_job_has_no_result(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    KEEP(s);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_cancel(s, 1));
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_bury(w, 2, 0));
    expect_none(s, 1);
    expect_none(s, 2);
}

static void data_in_parts_is_a_result_without_watches(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    KEEP(s);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "one "));
    assert_status(STATUS_OK, act_data(w, 1, "two "));
    assert_status(STATUS_OK, act_complete(w, 1, "three"));
    expect_result(s, 1, RESULT_COMPLETE, "one two three");
}

static void result_has_no_parts_of_a_lost_attempt(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *v = stage_worker(s, "v", "q");

    KEEP(s);
    PUT(s, .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "released "));
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "too late "));
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(v), 1);
    assert_status(STATUS_OK, act_data(v, 1, "good "));
    assert_status(STATUS_OK, act_complete(v, 1, "end"));
    expect_result(s, 1, RESULT_COMPLETE, "good end");
}

static void expect_lost(struct stage *s, uint64_t id)
{
    struct result result;

    assert_true(broker_result(s->broker, id, &result));
    assert_int_equal(result.end, RESULT_COMPLETE);
    assert_int_equal(result.data_state, RESULT_LOST);
    assert_int_equal(result.data.len, 0);
}

static void result_whose_first_part_was_not_kept_is_lost(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "first "));
    KEEP(s);
    assert_status(STATUS_OK, act_data(w, 1, "second "));
    assert_status(STATUS_OK, act_complete(w, 1, "end"));
    expect_lost(s, 1);
    // The next attempt begins with nothing.
    POLICY(s, "other", .keep_result_for = 0);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_data(w, 2, "first "));
    assert_status(STATUS_OK, act_release(w, 2, 0, 0));
    KEEP(s);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_data(w, 2, "all "));
    assert_status(STATUS_OK, act_complete(w, 2, "of it"));
    expect_result(s, 2, RESULT_COMPLETE, "all of it");
}

static void result_of_a_job_that_was_moved_during_its_attempt_is_not_a_part_of_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    const struct job_act move = {.kind = ACT_MOVE, .to = SLICE("kept")};

    POLICY(s, "kept", .keep_result_for = SEC(60));
    PUT(s, .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "first "));
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, stage_act(s, NULL, 1, &move));
    assert_status(STATUS_OK, act_complete(w, 1, "end"));
    expect_lost(s, 1);
}

static void late_holder_completes_the_result_that_it_has_reported(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    KEEP(s);
    PUT(s, .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "late "));
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, act_data(w, 1, "but "));
    assert_status(STATUS_OK, act_complete(w, 1, "good"));
    expect_result(s, 1, RESULT_COMPLETE, "late but good");
}

static void result_that_is_too_large_is_marked(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct blob *large = blob_new(RESULT_MAX + 1);
    const struct job_event part = {.kind = JOB_EVENT_DATA, .data = large};

    assert_non_null(large);
    memset(large->bytes, 'x', large->len);
    KEEP(s);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, broker_complete(w->session, 1, large));
    assert_int_equal(get(s, 1).data_state, RESULT_TOO_LARGE);
    assert_int_equal(get(s, 1).data.len, 0);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, broker_report(w->session, 2, &part));
    assert_status(STATUS_OK, act_complete(w, 2, "end"));
    assert_int_equal(get(s, 2).data_state, RESULT_TOO_LARGE);
    assert_int_equal(get(s, 2).end, RESULT_COMPLETE);
    blob_unref(large);
}

static void long_result_is_kept_whole(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct blob *large = blob_new(RESULT_MAX);

    assert_non_null(large);
    memset(large->bytes, 'x', large->len);
    KEEP(s);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, broker_complete(w->session, 1, large));
    assert_int_equal(get(s, 1).data_state, RESULT_WHOLE);
    assert_true(slice_equal(get(s, 1).data, blob_slice(large)));
    blob_unref(large);
}

static void end_is_not_refused_for_its_result(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    KEEP(s);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    // No memory for anything.
    memory_set_limit(1);
    assert_status(STATUS_OK, act_complete(w, 1, "done"));
    memory_set_limit(0);
    expect_none(s, 1);
    // Room for a few bytes only: the result says that there was more.
    broker_memo_limit(s->broker, MEMO_RESULT, 300);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_data(w, 2, "0123456789012345678901234567890123456789"));
    assert_status(STATUS_OK, act_complete(w, 2,
                                          "01234567890123456789012345678901234567890123456789"
                                          "01234567890123456789012345678901234567890123456789"));
    assert_int_equal(get(s, 2).data_state, RESULT_TOO_LARGE);
}

static void without_memory_a_part_is_never_kept_as_the_whole(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct blob *some = blob_copy(SLICE("some "));
    struct blob *last = blob_copy(SLICE("thing"));
    const struct job_event part = {.kind = JOB_EVENT_DATA, .data = some};
    unsigned lost = 0;

    KEEP(s);
    for (size_t n = 1; n < 12; n++) {
        uint64_t id = PUT(s, .queue = "q");
        enum status status;
        struct result result;

        assert_int_equal(act_take(w), id);
        nth_alloc_fail(n);
        status = broker_report(w->session, id, &part);
        assert_status(STATUS_OK, broker_complete(w->session, id, last));
        nth_alloc_fail(0);
        stage_step(s);
        if (broker_result(s->broker, id, &result) && status == STATUS_OK) {
            assert_true(result.data_state != RESULT_WHOLE ||
                        slice_equal(result.data, SLICE("some thing")));
            lost += result.data_state == RESULT_LOST;
        }
    }
    assert_true(lost > 0);
    blob_unref(some);
    blob_unref(last);
}

static void results_come_back_and_are_listed_in_the_order_of_their_ends(void **state)
{
    struct stage *s = *state, *again;
    struct actor *w = stage_worker(s, "w", "q");
    struct result result;
    uint64_t cursor = 0;

    KEEP(s);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_complete(w, 2, "first"));
    assert_status(STATUS_OK, act_complete(w, 1, "second"));
    again = stage_restart(s, SEC(30));
    expect_result(again, 1, RESULT_COMPLETE, "second");
    assert_true(stage_result_next(again->broker, &cursor, &result) && result.id == 2);
    assert_true(stage_result_next(again->broker, &cursor, &result) && result.id == 1);
    assert_false(stage_result_next(again->broker, &cursor, &result));
    stage_step_wall(again, DAY);
    expect_none(again, 1);
    stage_free(again);
}

static void job_that_others_joined_has_one_result_and_all_are_told(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct actor *d = stage_open(s, "d");

    KEEP(s);
    PUT(s, .key = "k");
    assert_true(SUBMIT(c, .key = "k", .fleeting = true).joined);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_data(w, 1, "one "));
    assert_true(SUBMIT(d, .key = "k").joined);
    assert_status(STATUS_OK, act_complete(w, 1, "two"));
    stage_expect(s, "c data 1 one ; c complete 1 two; d complete 1 two");
    expect_result(s, 1, RESULT_COMPLETE, "one two");
}

static void follower_is_told_but_does_not_count_as_waiting(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *f = stage_open(s, "f");

    POLICY(s, "*", .keep_result_for = SEC(60), .max_attempts = 2);
    PUT(s, .on_fail = ON_FAIL_DROP);
    (void)follow(f, 1);
    assert_int_equal(stage_job(s, 1).watches, 0);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "done"));
    stage_expect(s, "f progress 1 1/2; f retried 1; f complete 1 done");
}

static void follower_keeps_no_job_that_its_submitter_has_left(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *f = stage_open(s, "f");
    struct submission submission = SUBMIT(c, .fleeting = true);

    (void)follow(f, submission.id);
    stage_unwatch(s, submission.watch);
    assert_int_equal(stage_state(s, submission.id), JOB_GONE);
    stage_expect(s, "f cancelled 1");
}

static void follower_that_leaves_changes_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *f = stage_open(s, "f");
    struct actor *g = stage_open(s, "g");

    PUT(s, .queue = "q");
    stage_unwatch(s, follow(f, 1));
    (void)follow(g, 1);
    act_close(g);
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    stage_expect(s, "");
}

static void following_a_buried_or_missing_job_is_refused(void **state)
{
    struct stage *s = *state;
    struct actor *f = stage_open(s, "f");
    const struct grant list[] = {{.rights = MAY_SUBMIT, .queues = SLICE("*")}};
    struct watch *watch;

    assert_status(STATUS_NOT_FOUND, broker_follow(f->session, 1, &watch));
    PUT_BURIED(s, .queue = "q");
    assert_status(STATUS_WRONG_STATE, broker_follow(f->session, 1, &watch));
    PUT(s, .queue = "q");
    (void)act_grant(f, list, 1);
    assert_status(STATUS_NOT_FOUND, broker_follow(f->session, 2, &watch));
    (void)act_grant(f, NULL, 0);
    for (size_t n = 1;; n++) {
        enum status status;

        nth_alloc_fail(n);
        status = broker_follow(f->session, 2, &watch);
        nth_alloc_fail(0);
        stage_step(s);
        if (status == STATUS_OK) {
            break;
        }
        assert_status(STATUS_NO_MEMORY, status);
    }
}

// A byte above 127 is negative where a plain char has a sign.
static void result_with_an_unknown_end_or_state_of_its_data_is_none(void **state)
{
    static const unsigned char unknown[] = {RESULT_EXCEPTION + 1, 127, 128, 255};
    struct stage *s = *state;
    uint64_t id = htole64(7);
    char value[16] = {0};
    const struct memo memo = {.kind = MEMO_RESULT,
                              .key = slice_of((const char *)&id, sizeof id),
                              .value = slice_of(value, sizeof value),
                              .until_at = NSEC_NEVER};

    assert_status(STATUS_OK, broker_memo_set(s->broker, &memo));
    (void)get(s, 7);
    for (size_t place = 0; place < 2; place++) {
        for (size_t i = 0; i < sizeof unknown; i++) {
            memset(value, 0, sizeof value);
            value[place] = (char)unknown[i];
            assert_status(STATUS_OK, broker_memo_set(s->broker, &memo));
            expect_none(s, 7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(result_of_a_durable_job_is_kept_for_its_time),
        STORY(no_result_is_kept_without_a_policy_or_of_a_job_that_is_not_durable),
        STORY(failure_and_exception_are_results_once_they_are_final),
        STORY(cancelled_or_buried_job_has_no_result),
        STORY(data_in_parts_is_a_result_without_watches),
        STORY(result_has_no_parts_of_a_lost_attempt),
        STORY(result_whose_first_part_was_not_kept_is_lost),
        STORY(result_of_a_job_that_was_moved_during_its_attempt_is_not_a_part_of_it),
        STORY(late_holder_completes_the_result_that_it_has_reported),
        STORY(result_that_is_too_large_is_marked),
        STORY(long_result_is_kept_whole),
        STORY(end_is_not_refused_for_its_result),
        STORY(without_memory_a_part_is_never_kept_as_the_whole),
        STORY(results_come_back_and_are_listed_in_the_order_of_their_ends),
        STORY(job_that_others_joined_has_one_result_and_all_are_told),
        STORY(follower_is_told_but_does_not_count_as_waiting),
        STORY(follower_keeps_no_job_that_its_submitter_has_left),
        STORY(follower_that_leaves_changes_nothing),
        STORY(following_a_buried_or_missing_job_is_refused),
        STORY(result_with_an_unknown_end_or_state_of_its_data_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
