/* SPDX-License-Identifier: MIT */
// Keys: submissions of one key join one job, as long as that job lives.
#include "tests/core/stage.h"

#include <string.h>

static void expect_join(struct actor *c, uint64_t id, const struct plan *plan)
{
    struct submission submission = act_submit(c, plan);

    assert_true(submission.joined);
    assert_int_equal(submission.id, id);
}

static void expect_new(struct actor *c, const struct plan *plan)
{
    assert_false(act_submit(c, plan).joined);
}

static void second_submission_joins_the_live_job(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    expect_new(c, PLAN(.key = "k", .pri = 5, .body = "first", .ttr_for = SEC(7)));
    expect_join(c, 1, PLAN(.key = "k", .pri = 1, .body = "second", .ttr_for = SEC(8)));
    assert_int_equal(stage_job(s, 1).pri, 5);
    assert_int_equal(stage_job(s, 1).ttr_for, SEC(7));
    assert_memory_equal(job_body(broker_find(s->broker, 1)).ptr, "first", 5);
    assert_int_equal(stage_queue(s, "q").jobs[JOB_READY], 1);
    assert_int_equal(act_take(w), 1);
    expect_join(c, 1, PLAN(.key = "k"));
    assert_int_equal(stage_job(s, 1).watches, 3);
    assert_int_equal(act_take(w), 0);
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "c complete 1 r; c complete 1 r; c complete 1 r");
}

static void delayed_job_is_joined_and_the_earlier_start_wins(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    expect_new(c, PLAN(.key = "k", .delay_for = SEC(20)));
    expect_join(c, 1, PLAN(.key = "k", .delay_for = SEC(30)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(20));
    expect_join(c, 1, PLAN(.key = "k", .delay_for = SEC(10)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    expect_join(c, 1, PLAN(.key = "k", .at = STAGE_WALL_AT + SEC(15)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    expect_join(c, 1, PLAN(.key = "k", .at = STAGE_WALL_AT + SEC(5)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(5));
    expect_join(c, 1, PLAN(.key = "k", .delay_for = SEC(2)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(2));
    expect_join(c, 1, PLAN(.key = "k"));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    expect_join(c, 1, PLAN(.key = "k", .delay_for = SEC(10)));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void a_duplicate_without_a_start_does_not_change_a_calendar_moment(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    expect_new(c, PLAN(.key = "k", .at = STAGE_WALL_AT + SEC(60)));
    expect_join(c, 1, PLAN(.key = "k"));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(60));
    expect_join(c, 1, PLAN(.key = "k", .at = STAGE_WALL_AT + SEC(30)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(30));
    expect_join(c, 1, PLAN(.key = "k"));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(30));
}

static void join_that_makes_a_job_ready_serves_a_waiter(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .key = "k", .delay_for = SEC(20));
    act_wait(w);
    PUT(s, .key = "k");
    stage_expect(s, "w leased 1");
    stage_advance(s, SEC(30));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
}

// The job is delayed for nine seconds by a wait that no submitter asked for.
static void expect_no_duplicate_ends_the_wait(struct stage *s, struct actor *c)
{
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    expect_join(c, 1, PLAN(.key = "k"));
    expect_join(c, 1, PLAN(.key = "k", .delay_for = SEC(4)));
    expect_join(c, 1, PLAN(.key = "k", .at = STAGE_WALL_AT + SEC(3)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(9));
}

static void a_duplicate_does_not_end_the_wait_that_a_worker_imposed(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    PUT(s, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(9)));
    expect_no_duplicate_ends_the_wait(s, c);
    stage_advance(s, SEC(9));
    assert_int_equal(act_take(w), 1);
}

static void a_duplicate_does_not_end_a_backoff(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    POLICY(s, "*", .max_attempts = 4, .backoff = BACKOFF_FIXED, .backoff_min_for = SEC(9));
    PUT(s, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    expect_no_duplicate_ends_the_wait(s, c);
}

static void a_duplicate_does_not_end_the_wait_that_an_operator_imposed(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    const struct job_act wait = {.kind = ACT_CHANGE, .sets_delay = true, .delay_for = SEC(9)};

    PUT(s, .key = "k");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, &wait));
    expect_no_duplicate_ends_the_wait(s, c);
    assert_status(STATUS_OK,
                  stage_act(s, NULL, 1, ACT(.kind = ACT_MOVE, .to = stage_slice("other"))));
    assert_true(stage_try_put(s, NULL, PLAN(.key = "k", .queue = "other"), NULL) == STATUS_OK);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(9));
}

// A delay that a submitter asks for afterwards is not imposed.
static void a_delay_that_is_over_is_no_longer_imposed(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(9)));
    stage_advance(s, SEC(9));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    PUT(s, .key = "k", .delay_for = SEC(9));
    PUT(s, .key = "k", .delay_for = SEC(4));
    assert_int_equal(stage_job(s, 2).remaining_for, SEC(4));
}

static void keys_belong_to_their_queue(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    expect_new(c, PLAN(.key = "k", .queue = "a"));
    expect_new(c, PLAN(.key = "k", .queue = "b"));
    expect_new(c, PLAN(.key = "l", .queue = "a"));
    expect_join(c, 2, PLAN(.key = "k", .queue = "b"));
    assert_int_equal(job_id(broker_find_key(s->broker, stage_find(s, "a"), SLICE("k"))), 1);
    assert_int_equal(job_id(broker_find_key(s->broker, stage_find(s, "b"), SLICE("k"))), 2);
    assert_null(broker_find_key(s->broker, stage_find(s, "b"), SLICE("l")));
}

static void key_is_free_the_moment_its_job_is_gone(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    expect_new(c, PLAN(.key = "k"));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_null(broker_find_key(s->broker, stage_find(s, "q"), SLICE("k")));
    expect_new(c, PLAN(.key = "k"));
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, NULL));
    expect_new(c, PLAN(.key = "k"));
    assert_status(STATUS_OK, stage_cancel(s, 3));
    expect_new(c, PLAN(.key = "k"));
    assert_int_equal(stage_state(s, 4), JOB_READY);
}

static void buried_job_gives_up_its_key(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT_BURIED(s, .key = "k");
    assert_null(broker_find_key(s->broker, stage_find(s, "q"), SLICE("k")));
    expect_new(c, PLAN(.key = "k"));
    assert_int_equal(job_id(broker_find_key(s->broker, stage_find(s, "q"), SLICE("k"))), 2);
}

static void kick_claims_a_free_key_again(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT_BURIED(s, .key = "k");
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    expect_join(c, 1, PLAN(.key = "k"));
    assert_int_equal(stage_job(s, 1).key_kind, KEY_NAME);
}

static void kick_leaves_the_key_to_a_newer_job(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT_BURIED(s, .key = "k");
    expect_new(c, PLAN(.key = "k"));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    expect_join(c, 2, PLAN(.key = "k"));
    assert_status(STATUS_OK, stage_cancel(s, 2));
    expect_new(c, PLAN(.key = "k"));
    stage_expect_jobs(s, "q", 2, 0, 0, 0);
}

static void taking_by_id_claims_a_free_key_again(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    struct actor *c = stage_open(s, "c");

    PUT_BURIED(s, .key = "k");
    PUT_BURIED(s, .key = "l");
    expect_new(c, PLAN(.key = "l"));
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_status(STATUS_OK, act_take_id(w, 2));
    expect_join(c, 1, PLAN(.key = "k"));
    expect_join(c, 3, PLAN(.key = "l"));
    assert_status(STATUS_OK, act_release(w, 2, 0, 0));
    expect_join(c, 3, PLAN(.key = "l"));
}

static void equal_bodies_join_if_the_content_is_the_key(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    expect_new(c, PLAN(.by_content = true, .body = "abc"));
    expect_join(c, 1, PLAN(.by_content = true, .body = "abc"));
    expect_new(c, PLAN(.by_content = true, .body = "abd"));
    expect_new(c, PLAN(.by_content = true, .body = "ab"));
    expect_new(c, PLAN(.by_content = true, .body = "abc", .queue = "r"));
    assert_int_equal(stage_job(s, 1).key_kind, KEY_CONTENT);
}

static void kick_claims_a_free_content_key_again(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT_BURIED(s, .by_content = true, .body = "abc");
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    expect_join(c, 1, PLAN(.by_content = true, .body = "abc"));
    PUT_BURIED(s, .by_content = true, .body = "abd");
    expect_new(c, PLAN(.by_content = true, .body = "abd"));
    assert_status(STATUS_OK, stage_kick_id(s, 2));
    assert_status(STATUS_OK, stage_cancel(s, 3));
    expect_new(c, PLAN(.by_content = true, .body = "abd"));
}

static void content_keys_never_equal_names(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    expect_new(c, PLAN(.key = "abc", .body = "abc"));
    expect_new(c, PLAN(.by_content = true, .body = "abc"));
    expect_new(c, PLAN(.body = "abc"));
    expect_join(c, 1, PLAN(.key = "abc"));
    expect_join(c, 2, PLAN(.by_content = true, .body = "abc"));
}

static void empty_body_is_not_a_key(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    expect_new(c, PLAN(.by_content = true));
    expect_new(c, PLAN(.by_content = true));
}

static void large_contents_join_too(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct blob *one = blob_new(100000);
    struct blob *two = blob_new(100000);
    struct blob *other = blob_new(100000);

    assert_true(one && two && other);
    memset(one->bytes, 'x', one->len);
    memset(two->bytes, 'x', two->len);
    memset(other->bytes, 'x', other->len);
    other->bytes[99999] = 'y';
    expect_new(c, PLAN(.by_content = true, .blob = one));
    expect_join(c, 1, PLAN(.by_content = true, .blob = two));
    expect_new(c, PLAN(.by_content = true, .blob = other));
    blob_unref(one);
    blob_unref(two);
    blob_unref(other);
}

static void durable_duplicate_makes_the_job_durable(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct submission first = SUBMIT(c, .key = "k", .fleeting = true);

    stage_expect_recorded(s, "");
    assert_false(stage_job(s, 1).durable);
    PUT(s, .key = "k");
    assert_true(stage_job(s, 1).durable);
    stage_expect_recorded(s, "submit 1");
    PUT(s, .key = "k");
    stage_expect_recorded(s, "");
    stage_unwatch(s, first.watch);
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void duplicate_that_is_not_durable_leaves_the_job_durable(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT(s, .key = "k");
    stage_unwatch(s, SUBMIT(c, .key = "k", .fleeting = true).watch);
    assert_true(stage_job(s, 1).durable);
}

static void long_keys_and_reducers_are_refused(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    char text[JOB_KEY_MAX + 2];

    memset(text, 'k', sizeof text - 1);
    text[JOB_KEY_MAX + 1] = '\0';
    assert_status(STATUS_TOO_LARGE, stage_try_put(s, c, PLAN(.key = text), NULL));
    assert_status(STATUS_TOO_LARGE, stage_try_put(s, c, PLAN(.reducer = text), NULL));
    assert_null(stage_find(s, "q"));
    text[JOB_KEY_MAX] = '\0';
    expect_new(c, PLAN(.key = text, .reducer = text));
    expect_join(c, 1, PLAN(.key = text));
    assert_int_equal(stage_job(s, 1).key.len, JOB_KEY_MAX);
    assert_int_equal(stage_job(s, 1).reducer.len, JOB_KEY_MAX);
    assert_memory_equal(stage_job(s, 1).reducer.ptr, text, JOB_KEY_MAX);
}

static void keys_are_bytes(void **state)
{
    struct stage *s = *state;
    struct job_spec spec = {.key_kind = KEY_NAME, .key = slice_of("a\0b", 3), .durable = true};
    struct submission first;
    struct submission second;

    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), &spec.queue));
    assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &first));
    spec.key = slice_of("a\0c", 3);
    assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &second));
    assert_false(second.joined);
    assert_int_equal(job_id(broker_find_key(s->broker, spec.queue, slice_of("a\0b", 3))), first.id);
    broker_queue_drop(s->broker, spec.queue);
    stage_step(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(second_submission_joins_the_live_job),
        STORY(delayed_job_is_joined_and_the_earlier_start_wins),
        STORY(join_that_makes_a_job_ready_serves_a_waiter),
        STORY(a_duplicate_without_a_start_does_not_change_a_calendar_moment),
        STORY(a_duplicate_does_not_end_the_wait_that_a_worker_imposed),
        STORY(a_duplicate_does_not_end_a_backoff),
        STORY(a_duplicate_does_not_end_the_wait_that_an_operator_imposed),
        STORY(a_delay_that_is_over_is_no_longer_imposed),
        STORY(keys_belong_to_their_queue),
        STORY(key_is_free_the_moment_its_job_is_gone),
        STORY(buried_job_gives_up_its_key),
        STORY(kick_claims_a_free_key_again),
        STORY(kick_leaves_the_key_to_a_newer_job),
        STORY(taking_by_id_claims_a_free_key_again),
        STORY(equal_bodies_join_if_the_content_is_the_key),
        STORY(kick_claims_a_free_content_key_again),
        STORY(content_keys_never_equal_names),
        STORY(empty_body_is_not_a_key),
        STORY(large_contents_join_too),
        STORY(durable_duplicate_makes_the_job_durable),
        STORY(duplicate_that_is_not_durable_leaves_the_job_durable),
        STORY(long_keys_and_reducers_are_refused),
        STORY(keys_are_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
