/* SPDX-License-Identifier: MIT */
// Unique jobs: a job is not made again while one of the same body or key lives, and for a while
// after it is done.
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"

#define DAY (24 * SEC(3600))

static struct submission put(struct stage *s, const struct plan *plan)
{
    struct submission submission;

    assert_status(STATUS_OK, stage_try_put(s, NULL, plan, &submission));
    return submission;
}

static void complete(struct actor *w, uint64_t id)
{
    assert_int_equal(act_take(w), id);
    assert_status(STATUS_OK, act_complete(w, id, "done"));
}

static void same_body_joins_where_the_policy_says_so(void **state)
{
    struct stage *s = *state;

    POLICY(s, "q", .unique_body = true);
    PUT(s, .body = "one");
    assert_int_equal(put(s, PLAN(.body = "one")).id, 1);
    assert_true(put(s, PLAN(.body = "one")).joined);
    assert_false(put(s, PLAN(.body = "two")).joined);
    assert_false(put(s, PLAN(.body = "one", .queue = "other")).joined);
    // An empty body is not a key.
    assert_false(put(s, PLAN(.pri = 1)).joined);
    assert_false(put(s, PLAN(.pri = 1)).joined);
}

static void contract_with_a_key_keeps_it(void **state)
{
    struct stage *s = *state;

    POLICY(s, "*", .unique_body = true);
    PUT(s, .body = "one", .key = "a");
    assert_false(put(s, PLAN(.body = "one", .key = "b")).joined);
    assert_false(put(s, PLAN(.body = "one")).joined);
    assert_int_equal(put(s, PLAN(.body = "two", .key = "a")).id, 1);
}

static void body_is_free_again_when_its_job_is_done(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .unique_body = true);
    PUT(s, .body = "one");
    complete(w, 1);
    assert_int_equal(put(s, PLAN(.body = "one")).id, 2);
}

static void key_stands_for_its_job_for_a_while_after_it_is_done(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .unique_body = true, .unique_for_for = SEC(60));
    PUT(s, .body = "one");
    PUT(s, .key = "k");
    complete(w, 1);
    complete(w, 2);
    stage_expect_recorded(
        s, "submit 1; submit 2; memo secret; memo unique; end 1; memo unique; end 2");
    stage_advance(s, SEC(60) - 1);
    assert_int_equal(put(s, PLAN(.body = "one")).id, 1);
    assert_int_equal(put(s, PLAN(.key = "k")).id, 2);
    assert_true(put(s, PLAN(.key = "k")).joined);
    // The answer about the job waits for the record of the memo.
    assert_int_equal(broker_position(s->broker), 6);
    // A key counts within its queue and its kind.
    assert_false(put(s, PLAN(.body = "k", .key = "one")).joined);
    assert_false(put(s, PLAN(.key = "k", .queue = "other")).joined);
    stage_advance(s, 1);
    assert_false(put(s, PLAN(.body = "one")).joined);
    assert_false(put(s, PLAN(.key = "k")).joined);
}

static void only_a_completion_counts(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .unique_for_for = SEC(60));
    PUT(s, .key = "failed", .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    PUT(s, .key = "deleted");
    assert_status(STATUS_OK, stage_cancel(s, 2));
    PUT(s, .key = "buried");
    assert_int_equal(act_take(w), 3);
    assert_status(STATUS_OK, act_bury(w, 3, 0));
    assert_false(put(s, PLAN(.key = "failed")).joined);
    assert_false(put(s, PLAN(.key = "deleted")).joined);
    assert_false(put(s, PLAN(.key = "buried")).joined);
}

static void watched_duplicate_is_a_job_of_its_own(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    POLICY(s, "*", .unique_for_for = SEC(60));
    PUT(s, .key = "k");
    complete(w, 1);
    assert_false(SUBMIT(c, .key = "k", .fleeting = true).joined);
    complete(w, 2);
    stage_expect(s, "c complete 2 done");
    // The key stands for the later one now.
    assert_int_equal(put(s, PLAN(.key = "k")).id, 2);
}

static void keys_of_jobs_that_are_done_outlive_the_process(void **state)
{
    struct stage *s = *state, *again;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .unique_body = true, .unique_for_for = DAY);
    PUT(s, .body = "one");
    complete(w, 1);
    again = stage_restart(s, DAY / 2);
    POLICY(again, "*", .unique_body = true, .unique_for_for = DAY);
    assert_int_equal(put(again, PLAN(.body = "one")).id, 1);
    // The memo ends by the wall clock.
    stage_step_wall(again, -DAY);
    assert_int_equal(put(again, PLAN(.body = "one")).id, 1);
    stage_step_wall(again, 2 * DAY);
    assert_false(put(again, PLAN(.body = "one")).joined);
    stage_free(again);
}

static void key_is_free_if_its_memo_cannot_be_kept(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .unique_for_for = SEC(60));
    s->refused = STORE_REFUSES(RECORD_MEMO);
    PUT(s, .key = "k");
    complete(w, 1);
    assert_false(put(s, PLAN(.key = "k")).joined);
    s->refused = 0;
    assert_int_equal(act_take(w), 2);
    nth_alloc_fail_from(1);
    assert_status(STATUS_OK, broker_complete(w->session, 2, NULL));
    nth_alloc_fail(0);
    stage_step(s);
    assert_false(put(s, PLAN(.key = "k")).joined);
}

static void a_job_that_has_moved_is_done_in_the_queue_where_it_is(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "there");

    POLICY(s, "*", .unique_for_for = SEC(60));
    PUT(s, .key = "k");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_MOVE, .to = SLICE("there"))));
    complete(w, 1);
    assert_int_equal(put(s, PLAN(.key = "k", .queue = "there")).id, 1);
    assert_false(put(s, PLAN(.key = "k")).joined);
}

#define LONG_LEN (BLOB_DIGEST_ABOVE + 1)

static struct blob *long_body(char last)
{
    struct blob *blob = blob_new(LONG_LEN);

    assert_non_null(blob);
    memset(blob->bytes, 'x', blob->len);
    blob->bytes[LONG_LEN - 1] = last;
    return blob;
}

static void long_bodies_are_compared_by_their_digests(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct blob *one = long_body('1'), *same = long_body('1'), *two = long_body('2');

    POLICY(s, "*", .unique_body = true, .unique_for_for = SEC(60));
    assert_false(put(s, PLAN(.blob = one)).joined);
    // A hashed body is not read again, neither to find the job nor to end it.
    (void)blob_digest(same);
    memset(same->bytes, 'y', same->len);
    memset(one->bytes, 'z', one->len);
    assert_int_equal(put(s, PLAN(.blob = same)).id, 1);
    assert_false(put(s, PLAN(.blob = two)).joined);
    complete(w, 1);
    assert_true(put(s, PLAN(.blob = same)).joined);
    blob_unref(one);
    blob_unref(same);
    blob_unref(two);
}

// Any client can compute the digest of a body.
static void a_body_that_is_the_digest_of_another_is_another(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct blob *one = long_body('1'), *digest = blob_copy(blob_digest(one));

    assert_non_null(digest);
    POLICY(s, "*", .unique_body = true, .unique_for_for = SEC(60));
    PUT(s, .blob = one);
    assert_false(put(s, PLAN(.blob = digest)).joined);
    complete(w, 1);
    complete(w, 2);
    assert_int_equal(put(s, PLAN(.blob = one)).id, 1);
    assert_int_equal(put(s, PLAN(.blob = digest)).id, 2);
    blob_unref(one);
    blob_unref(digest);
}

static void long_bodies_are_known_after_a_restart_and_a_move(void **state)
{
    struct stage *s = *state, *again;
    struct actor *w = stage_worker(s, "w", "q");
    struct blob *one = long_body('1'), *two = long_body('2');

    POLICY(s, "*", .unique_body = true, .unique_for_for = DAY);
    PUT(s, .blob = one);
    PUT(s, .blob = two);
    complete(w, 1);
    again = stage_restart(s, DAY / 2);
    POLICY(again, "*", .unique_body = true, .unique_for_for = DAY);
    assert_int_equal(put(again, PLAN(.blob = one)).id, 1);
    assert_int_equal(put(again, PLAN(.blob = two)).id, 2);
    assert_status(STATUS_OK,
                  stage_act(again, NULL, 2, ACT(.kind = ACT_MOVE, .to = SLICE("there"))));
    assert_int_equal(put(again, PLAN(.blob = two, .queue = "there")).id, 2);
    assert_false(put(again, PLAN(.blob = two)).joined);
    blob_unref(one);
    blob_unref(two);
    stage_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(same_body_joins_where_the_policy_says_so),
        STORY(contract_with_a_key_keeps_it),
        STORY(body_is_free_again_when_its_job_is_done),
        STORY(key_stands_for_its_job_for_a_while_after_it_is_done),
        STORY(only_a_completion_counts),
        STORY(watched_duplicate_is_a_job_of_its_own),
        STORY(keys_of_jobs_that_are_done_outlive_the_process),
        STORY(key_is_free_if_its_memo_cannot_be_kept),
        STORY(a_job_that_has_moved_is_done_in_the_queue_where_it_is),
        STORY(long_bodies_are_compared_by_their_digests),
        STORY(a_body_that_is_the_digest_of_another_is_another),
        STORY(long_bodies_are_known_after_a_restart_and_a_move),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
