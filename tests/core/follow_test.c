/* SPDX-License-Identifier: MIT */
// A standby restores a store while another process goes on writing it, for long: pauses and memos
// that end by time end there, too, and the standby has no more than a restart would find.
#include "core/base/memory.h"
#include "tests/core/stage_restart.h"

#include <stdio.h>
#include <string.h>

#define ALL 1000000

static struct job_image plain(uint64_t id, const char *queue)
{
    return (struct job_image){
        .now = {.id = id, .state = JOB_READY}, .queue = stage_slice(queue), .body = SLICE("body")};
}

static void restore(struct stage *s, struct job_image image)
{
    const struct job *job = NULL;

    assert_status(STATUS_OK, broker_restore_job(s->broker, &image, &job));
}

static void end(struct stage *s, uint64_t id)
{
    assert_status(STATUS_OK, broker_restore_end(s->broker, id));
}

static void pause_until(struct stage *s, const char *name, nsec_t pause_for, nsec_t until_at)
{
    const struct queue *queue;

    assert_status(STATUS_OK,
                  broker_restore_pause(s->broker, stage_slice(name), pause_for, until_at, &queue));
}

static void remember(struct stage *s, enum memo_kind kind, const char *key, nsec_t until_at)
{
    const struct memo memo = {.kind = kind,
                              .key = stage_slice(key),
                              .value = SLICE("value"),
                              .until_at = until_at,
                              .number = 1};
    const struct memo *restored;

    assert_status(STATUS_OK, broker_restore_memo(s->broker, &memo, &restored));
}

static uint64_t memos(struct stage *s, enum memo_kind kind)
{
    struct memo_usage usage;

    broker_memo_usage(s->broker, kind, &usage);
    return usage.count;
}

// Time passes for the standby: nothing falls due.
static void pass(struct stage *s, nsec_t by_for)
{
    s->now.mono += by_for;
    s->now.wall += by_for;
    broker_restore_now(s->broker, s->now);
}

static void tidy(struct stage *s)
{
    assert_true(broker_restore_tidy(s->broker, ALL));
}

static void finish(struct stage *s, uint64_t first_id)
{
    assert_status(STATUS_OK, broker_restore_finish(s->broker, first_id));
    stage_step(s);
    stage_expect_recorded(s, "");
}

static void empty_queues_go_when_the_broker_tidies_up(void **state)
{
    struct stage *s = *state;

    restore(s, plain(1, "q"));
    restore(s, plain(2, "r"));
    end(s, 1);
    assert_non_null(stage_find(s, "q"));
    tidy(s);
    assert_null(stage_find(s, "q"));
    restore(s, plain(3, "q"));
    finish(s, 10);
    act_drain(stage_worker(s, "w", "q"), "3");
    act_drain(stage_worker(s, "v", "r"), "2");
}

static void queue_whose_last_job_has_moved_goes(void **state)
{
    struct stage *s = *state;
    const struct job_change now = {.id = 1, .state = JOB_READY};
    const struct dead_letter past = {.why = DEAD_NOT};

    restore(s, plain(1, "q"));
    assert_status(STATUS_OK, broker_restore_move(s->broker, &now, SLICE("r"), false, &past));
    tidy(s);
    assert_null(stage_find(s, "q"));
    finish(s, 10);
    act_drain(stage_worker(s, "w", "r"), "1");
}

static void job_that_comes_back_in_another_queue_leaves_none_behind(void **state)
{
    struct stage *s = *state;

    restore(s, plain(1, "q"));
    restore(s, plain(2, "s"));
    restore(s, plain(3, "s"));
    restore(s, plain(1, "r"));
    restore(s, plain(2, "t"));
    stage_step(s);
    tidy(s);
    assert_null(stage_find(s, "q"));
    finish(s, 10);
    act_drain(stage_worker(s, "w", "r"), "1");
    act_drain(stage_worker(s, "u", "t"), "2");
    act_drain(stage_worker(s, "v", "s"), "3");
}

// No stored record marks the queue as kept any more.
static void kept_queue_goes_with_its_last_job(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain(1, "q");

    image.queue_kept = true;
    restore(s, image);
    tidy(s);
    end(s, 1);
    tidy(s);
    assert_null(stage_find(s, "q"));
    image.now.id = 2;
    restore(s, image);
    finish(s, 10);
    assert_true(stage_queue(s, "q").kept);
}

static void queue_that_has_a_job_again_stays(void **state)
{
    struct stage *s = *state;

    restore(s, plain(1, "q"));
    end(s, 1);
    restore(s, plain(2, "q"));
    tidy(s);
    end(s, 2);
    restore(s, plain(3, "q"));
    finish(s, 10);
    act_drain(stage_worker(s, "w", "q"), "3");
}

static void paused_queue_stays_until_its_pause_is_over(void **state)
{
    struct stage *s = *state;

    pause_until(s, "q", SEC(60), STAGE_WALL_AT + SEC(60));
    pause_until(s, "r", SEC(60), STAGE_WALL_AT + SEC(60));
    restore(s, plain(1, "r"));
    pass(s, SEC(59));
    tidy(s);
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(1));
    pass(s, SEC(1));
    tidy(s);
    assert_null(stage_find(s, "q"));
    assert_int_equal(stage_queue(s, "r").pause_for, 0);
    finish(s, 10);
    act_drain(stage_worker(s, "w", "r"), "1");
}

static void queue_goes_when_a_record_ends_its_pause(void **state)
{
    struct stage *s = *state;

    pause_until(s, "q", SEC(60), STAGE_WALL_AT + SEC(60));
    tidy(s);
    pause_until(s, "q", 0, STAGE_WALL_AT);
    tidy(s);
    assert_null(stage_find(s, "q"));
    finish(s, 1);
}

static void pause_outlives_the_restart(void **state)
{
    struct stage *s = *state;

    pause_until(s, "q", SEC(60), STAGE_WALL_AT + SEC(60));
    pass(s, SEC(10));
    tidy(s);
    finish(s, 1);
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(50));
    stage_advance(s, SEC(50));
    assert_null(stage_find(s, "q"));
}

static void memos_end_at_their_moment(void **state)
{
    struct stage *s = *state;

    remember(s, MEMO_RESULT, "a", STAGE_WALL_AT + SEC(5));
    remember(s, MEMO_SCHEDULE, "b", NSEC_NEVER);
    pass(s, SEC(4));
    tidy(s);
    assert_int_equal(memos(s, MEMO_RESULT), 1);
    pass(s, SEC(1));
    tidy(s);
    assert_int_equal(memos(s, MEMO_RESULT), 0);
    finish(s, 1);
    assert_int_equal(memos(s, MEMO_SCHEDULE), 1);
}

// If the wall clock is set ahead, memos end, as in any broker, but pauses do not.
static void clock_that_is_set_is_obeyed(void **state)
{
    struct stage *s = *state;

    remember(s, MEMO_RESULT, "a", STAGE_WALL_AT + SEC(500));
    pause_until(s, "q", SEC(500), STAGE_WALL_AT + SEC(500));
    s->now.wall += SEC(500);
    pass(s, 0);
    tidy(s);
    assert_int_equal(memos(s, MEMO_RESULT), 0);
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(500));
    finish(s, 1);
}

static void delays_count_from_the_present(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain(1, "q");

    pass(s, SEC(1000));
    image.now.state = JOB_DELAYED;
    image.now.delay = 60;
    image.now.due_at = s->now.wall + SEC(60);
    restore(s, image);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(60));
    pass(s, SEC(59));
    finish(s, 10);
    stage_advance(s, MSEC(999));
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    stage_advance(s, MSEC(1));
    assert_int_equal(stage_state(s, 1), JOB_READY);
}

static void delay_that_is_over_ends_with_the_first_tick(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain(1, "q");

    image.now.state = JOB_DELAYED;
    image.now.delay = 60;
    image.now.due_at = s->now.wall + SEC(60);
    restore(s, image);
    pass(s, SEC(3600));
    tidy(s);
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    finish(s, 10);
    stage_settle(s);
    act_drain(stage_worker(s, "w", "q"), "1");
}

// The time for which a job was held is not recorded, however old the job is.
static void no_job_expires_at_once(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain(1, "q");

    POLICY(s, "q", .expire_after_for = SEC(3600));
    image.created_ms = (uint64_t)(STAGE_WALL_AT / NSEC_PER_MSEC);
    image.now.ready_at = STAGE_WALL_AT;
    restore(s, image);
    pass(s, SEC(7200));
    image.now.id = 2;
    restore(s, image);
    finish(s, 10);
    stage_advance(s, SEC(600));
    stage_expect_jobs(s, "q", 2, 0, 0, 0);
    stage_advance(s, SEC(60)); // the index is examined at intervals
    assert_null(stage_find(s, "q"));
    stage_expect_recorded(s, "end 1; end 2");
}

static struct job_image named(uint64_t id, const char *queue)
{
    struct job_image image = plain(id, queue);

    image.key_kind = KEY_NAME;
    image.key = SLICE("k");
    image.now.keyed = true;
    return image;
}

// A store that compacts rewrites jobs, at any time and in any order.
static void jobs_that_are_restored_twice_keep_their_order(void **state)
{
    struct stage *s = *state;

    for (uint64_t id = 1; id <= 20; id++) {
        struct job_image image = plain(1 + id * 7 % 20, "q");

        image.now.state = JOB_BURIED;
        image.now.burial = 100 - image.now.id;
        restore(s, image);
        if (id > 10) {
            restore(s, image);
        }
        stage_step(s);
    }
    end(s, 5);
    assert_status(STATUS_OK,
                  broker_restore_change(s->broker, RECORD_KICK,
                                        &(struct job_change){.id = 6, .state = JOB_READY}));
    stage_step(s);
    finish(s, 21);
    for (uint64_t id = 20; id > 0; id--) {
        if (id != 5 && id != 6) {
            assert_int_equal(job_id(queue_peek_buried(stage_find(s, "q"))), id);
            assert_status(STATUS_OK, stage_cancel(s, id));
        }
    }
}

static void first_of_a_name_is_the_one_that_was_submitted_first(void **state)
{
    struct stage *s = *state;

    restore(s, named(9, "c"));
    restore(s, named(4, "a"));
    restore(s, named(6, "b"));
    restore(s, named(4, "a"));
    stage_step(s);
    finish(s, 10);
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 4);
    assert_status(STATUS_OK, stage_cancel(s, 4));
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 6);
    assert_status(STATUS_OK, stage_cancel(s, 6));
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 9);
}

static void key_goes_to_the_later_job_when_its_holder_has_ended(void **state)
{
    struct stage *s = *state;
    struct job_image content = plain(3, "q");

    content.key_kind = KEY_CONTENT;
    content.now.keyed = true;
    restore(s, content);
    content.now.id = 4;
    restore(s, content);
    restore(s, named(8, "q"));
    restore(s, named(5, "q"));
    restore(s, named(7, "q"));
    stage_step(s);
    end(s, 3);
    end(s, 5);
    end(s, 7);
    stage_step(s);
    finish(s, 10);
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 8);
    assert_int_equal(PUT(s, .queue = "q", .by_content = true, .body = "body"), 4);
}

static void key_goes_with_the_job_that_moves(void **state)
{
    struct stage *s = *state;
    const struct job_change now = {.id = 1, .state = JOB_READY, .keyed = true};
    const struct dead_letter past = {.why = DEAD_NOT};

    restore(s, named(1, "q"));
    assert_status(STATUS_OK, broker_restore_move(s->broker, &now, SLICE("r"), false, &past));
    stage_step(s);
    restore(s, named(2, "q"));
    finish(s, 10);
    assert_int_equal(PUT(s, .queue = "r", .key = "k"), 1);
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 2);
}

static void tidying_goes_in_slices(void **state)
{
    struct stage *s = *state;

    for (uint64_t id = 1; id <= 10; id++) {
        char name[8];

        (void)snprintf(name, sizeof name, "q%d", (int)id);
        restore(s, plain(id, name));
        end(s, id);
    }
    assert_false(broker_restore_tidy(s->broker, 4));
    assert_int_equal(stage_info(s).queues, 6);
    assert_false(broker_restore_tidy(s->broker, 6));
    assert_int_equal(stage_info(s).queues, 0);
    assert_true(broker_restore_tidy(s->broker, 1));
    finish(s, 11);
}

// Limits that keep clients out refuse nothing that a client was told is safe.
static void limits_do_not_refuse_jobs_that_come_back(void **state)
{
    struct stage *s = *state;

    broker_set_max_queues(s->broker, 1);
    memory_set_limit(1);
    restore(s, plain(1, "q"));
    restore(s, plain(2, "r"));
    pause_until(s, "s", SEC(60), STAGE_WALL_AT + SEC(60));
    remember(s, MEMO_ANSWER, "a", NSEC_NEVER);
    memory_set_limit(0);
    finish(s, 10);
    assert_int_equal(stage_info(s).queues, 3);
    assert_int_equal(memos(s, MEMO_ANSWER), 1);
}

static void broker_that_follows_can_be_given_up(void **state)
{
    struct stage *s = *state;

    restore(s, plain(1, "q"));
    restore(s, plain(2, "r"));
    end(s, 2);
    pause_until(s, "q", SEC(60), STAGE_WALL_AT + SEC(60));
    remember(s, MEMO_RESULT, "a", STAGE_WALL_AT + SEC(5));
    pass(s, SEC(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(empty_queues_go_when_the_broker_tidies_up),
        STORY(queue_whose_last_job_has_moved_goes),
        STORY(job_that_comes_back_in_another_queue_leaves_none_behind),
        STORY(kept_queue_goes_with_its_last_job),
        STORY(queue_that_has_a_job_again_stays),
        STORY(paused_queue_stays_until_its_pause_is_over),
        STORY(queue_goes_when_a_record_ends_its_pause),
        STORY(pause_outlives_the_restart),
        STORY(memos_end_at_their_moment),
        STORY(clock_that_is_set_is_obeyed),
        STORY(delays_count_from_the_present),
        STORY(delay_that_is_over_ends_with_the_first_tick),
        STORY(no_job_expires_at_once),
        STORY(jobs_that_are_restored_twice_keep_their_order),
        STORY(first_of_a_name_is_the_one_that_was_submitted_first),
        STORY(key_goes_to_the_later_job_when_its_holder_has_ended),
        STORY(key_goes_with_the_job_that_moves),
        STORY(tidying_goes_in_slices),
        STORY(limits_do_not_refuse_jobs_that_come_back),
        STORY(broker_that_follows_can_be_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
