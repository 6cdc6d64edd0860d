/* SPDX-License-Identifier: MIT */
// A restarted broker gets its jobs back from the store: with their whole contract, in the state
// that a client would expect.
#include "tests/core/stage_restart.h"

#include <stdlib.h>
#include <string.h>

// An image of a plain ready job, for tests to change.
static struct job_image plain(uint64_t id)
{
    return (struct job_image){
        .now = {.id = id, .state = JOB_READY}, .queue = SLICE("q"), .body = SLICE("body")};
}

static struct job_image buried(uint64_t id, uint64_t burial)
{
    struct job_image image = plain(id);

    image.now.state = JOB_BURIED;
    image.now.burial = burial;
    return image;
}

static struct job_image named(uint64_t id, const char *queue, bool keyed)
{
    struct job_image image = plain(id);

    image.queue = stage_slice(queue);
    image.key_kind = KEY_NAME;
    image.key = SLICE("k");
    image.now.keyed = keyed;
    return image;
}

static void restore(struct stage *s, struct job_image image)
{
    const struct job *job = NULL;

    assert_status(STATUS_OK, broker_restore_job(s->broker, &image, &job));
    assert_int_equal(job_id(job), image.now.id);
    assert_int_equal(job_mark(job), 0);
}

static void change(struct stage *s, enum record_kind kind, struct job_change now)
{
    assert_status(STATUS_OK, broker_restore_change(s->broker, kind, &now));
}

static void finish(struct stage *s, uint64_t first_id)
{
    assert_status(STATUS_OK, broker_restore_finish(s->broker, first_id));
    stage_step(s);
    stage_expect_recorded(s, "");
}

static void every_field_comes_back(void **state)
{
    struct stage *s = *state;
    struct job_image image = stage_whole_image();
    struct job_info info;

    image.now.keyed = true;
    restore(s, image);
    finish(s, 65536);
    info = stage_job(s, 42);
    assert_int_equal(info.state, JOB_DELAYED);
    assert_int_equal(info.pri, 7);
    assert_int_equal(info.age_for, SEC(100));
    assert_int_equal(info.delay_for, SEC(60));
    assert_int_equal(info.ttr_for, SEC(30));
    assert_int_equal(info.remaining_for, SEC(9));
    assert_int_equal(info.reserves, 33);
    assert_int_equal(info.timeouts, 2);
    assert_int_equal(info.releases, 3);
    assert_int_equal(info.buries, 4);
    assert_int_equal(info.kicks, 6);
    assert_int_equal(info.attempts, 2);
    assert_int_equal(info.max_attempts, 5);
    assert_int_equal(info.on_fail, ON_FAIL_DROP);
    assert_int_equal(info.on_loss, ON_LOSS_BACK);
    assert_true(info.durable);
    assert_int_equal(info.key_kind, KEY_NAME);
    assert_true(slice_equal(info.key, SLICE("k")));
    assert_true(slice_equal(info.reducer, SLICE("reduce")));
    assert_true(slice_equal(job_body(broker_find(s->broker, 42)), SLICE("body")));
    assert_true(stage_queue(s, "mail").kept);
    // Jobs that were put before the restart are no longer counted.
    assert_int_equal(stage_info(s).total_jobs, 0);
    assert_int_equal(stage_queue(s, "mail").total_jobs, 0);
    assert_int_equal(PUT(s, .queue = "q"), 65536);
}

// A job in each state that one can be in, and with each part that one can have.
static void set_the_scene(struct stage *s)
{
    static char large[JOB_KEY_MAX * 10];
    struct actor *w = stage_worker(s, "w", "held");
    struct actor *u = stage_open(s, "u");

    memset(large, 'x', sizeof large - 1);
    PUT(s, .pri = 5, .body = "ready");
    PUT(s, .delay_for = SEC(20), .key = "k", .reducer = "r", .max_attempts = 3);
    PUT(s, .at = STAGE_WALL_AT + SEC(500), .key = "l");
    PUT(s, .queue = "held", .ttr_for = SEC(9), .on_fail = ON_FAIL_DROP, .on_loss = ON_LOSS_BACK);
    assert_int_equal(act_take(w), 4);
    PUT_BURIED(s, .key = "m", .body = "first");
    PUT_BURIED(s, .pri = 9, .by_content = true, .body = "second");
    PUT(s, .queue = "kicked", .by_content = true, .body = "content");
    assert_status(STATUS_OK, act_take_id(u, 7));
    assert_status(STATUS_OK, act_bury(u, 7, 1));
    assert_status(STATUS_OK, stage_kick_id(s, 7));
    PUT(s, .body = large);
    for (int i = 0; i < 20; i++) {
        assert_status(STATUS_OK, act_take_id(u, 8));
        assert_status(STATUS_OK, act_release(u, 8, 3, i == 19 ? SEC(30) : 0));
    }
    broker_queue_keep(s->broker, stage_find(s, "kicked"), true);
}

static void restored_jobs_are_described_as_they_were(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    set_the_scene(s);
    again = stage_restart(s, 0);
    assert_int_equal(stage_job(s, 4).state, JOB_RESERVED);
    assert_int_equal(stage_job(again, 4).state, JOB_READY);
    for (uint64_t id = 1; id <= 8; id++) {
        struct job_image before = stage_image(s, id);
        struct job_image after = stage_image(again, id);

        stage_expect_same_image(&before, &after);
    }
    stage_free(again);
}

static void held_job_is_described_as_ready(void **state)
{
    struct stage *s = *state;
    struct job_image image;

    set_the_scene(s);
    image = stage_image(s, 4);
    assert_int_equal(image.now.state, JOB_READY);
    assert_int_equal(image.now.due_at, 0);
    assert_int_equal(image.now.counters.reserves, 1);
    assert_int_equal(stage_image(s, 8).now.counters.reserves, 20);
}

static void moments_go_on_by_the_wall_clock(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    set_the_scene(s);
    again = stage_restart(s, SEC(15));
    assert_int_equal(stage_job(again, 2).remaining_for, SEC(5));
    assert_int_equal(stage_job(again, 3).remaining_for, SEC(485));
    // A calendar moment follows a clock that is set, a delay does not.
    stage_step_wall(again, SEC(480));
    assert_int_equal(stage_job(again, 2).remaining_for, SEC(5));
    assert_int_equal(stage_job(again, 3).remaining_for, SEC(5));
    stage_advance(again, SEC(5));
    assert_int_equal(stage_state(again, 2), JOB_READY);
    assert_int_equal(stage_state(again, 3), JOB_READY);
    stage_free(again);
}

static void a_delay_that_is_over_is_over(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    set_the_scene(s);
    again = stage_restart(s, SEC(20));
    assert_int_equal(stage_state(again, 2), JOB_READY);
    assert_int_equal(stage_state(again, 3), JOB_DELAYED);
    assert_int_equal(stage_job(again, 8).remaining_for, SEC(10));
    stage_free(again);
    again = stage_restart(s, SEC(10000));
    stage_expect_jobs(again, "q", 4, 0, 0, 2);
    stage_free(again);
}

static void equals_go_by_their_ids_and_new_jobs_behind_them(void **state)
{
    struct stage *s = *state;
    struct job_image best = plain(3);

    restore(s, plain(900));
    restore(s, plain(2));
    restore(s, best);
    best.now.id = 40;
    best.now.pri = 1;
    restore(s, best);
    finish(s, 1000);
    assert_int_equal(broker_next_id(s->broker), 1000);
    PUT(s, .body = "new");
    act_drain(stage_worker(s, "w", "q"), "2 3 900 1000 40");
}

static void buried_jobs_keep_their_order(void **state)
{
    static const uint64_t order[] = {7, 3, 9, 1, 8, 2};
    struct stage *s = *state;

    for (uint64_t id = 1; id <= 9; id++) {
        for (uint64_t burial = 0; burial < 6; burial++) {
            if (order[burial] == id) {
                restore(s, buried(id, 100 + burial));
            }
        }
    }
    finish(s, 10);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(job_id(queue_peek_buried(stage_find(s, "q"))), order[i]);
        assert_int_equal(stage_kick(s, "q", 1), 1);
    }
    // A job that is buried now comes behind them.
    PUT_BURIED(s, .queue = "q");
    assert_true(stage_image(s, 10).now.burial > 105);
    assert_int_equal(stage_kick(s, "q", 3), 3);
    assert_int_equal(job_id(queue_peek_buried(stage_find(s, "q"))), 10);
}

static void keys_are_held_again_when_all_are_back(void **state)
{
    struct stage *s = *state;
    const struct queue *q;

    restore(s, named(9, "q", true));
    restore(s, named(4, "r", true));
    restore(s, named(5, "s", false));
    finish(s, 10);
    q = stage_find(s, "q");
    assert_int_equal(job_id(broker_find_key(s->broker, q, SLICE("k"))), 9);
    assert_null(broker_find_key(s->broker, stage_find(s, "s"), SLICE("k")));
    // Of several queues, the job that was submitted first stands for the name.
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 4);
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 9);
    assert_int_equal(PUT(s, .queue = "s", .key = "k"), 10);
    assert_status(STATUS_OK, stage_cancel(s, 4));
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 9);
}

static void one_of_two_jobs_with_the_same_key_gets_it(void **state)
{
    struct stage *s = *state;

    restore(s, named(9, "q", true));
    restore(s, named(4, "q", true));
    finish(s, 10);
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 4);
    assert_status(STATUS_OK, stage_cancel(s, 4));
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 10);
}

static void buried_jobs_get_no_key(void **state)
{
    struct stage *s = *state;
    struct job_image image = named(4, "q", true);

    image.now.state = JOB_BURIED;
    restore(s, image);
    image = plain(5);
    image.now.state = JOB_BURIED;
    image.key_kind = KEY_CONTENT;
    restore(s, image);
    finish(s, 10);
    assert_null(broker_find_name(s->broker, SLICE("k")));
    // They claim it again as others do.
    assert_status(STATUS_OK, stage_kick_id(s, 4));
    assert_status(STATUS_OK, stage_kick_id(s, 5));
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 4);
    assert_int_equal(PUT(s, .queue = "q", .by_content = true, .body = "body"), 5);
}

static void contents_are_keys_again(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain(3);

    image.key_kind = KEY_CONTENT;
    image.now.keyed = true;
    restore(s, image);
    image.now.id = 4;
    image.body = SLICE("");
    restore(s, image);
    finish(s, 10);
    assert_int_equal(PUT(s, .queue = "q", .by_content = true, .body = "body"), 3);
    assert_int_equal(PUT(s, .queue = "q", .by_content = true, .body = ""), 10);
}

static void later_image_takes_the_place_of_the_earlier(void **state)
{
    struct stage *s = *state;
    struct job_image image = named(4, "other", true);

    restore(s, named(4, "q", true));
    restore(s, image);
    finish(s, 10);
    assert_null(stage_find(s, "q"));
    stage_expect_jobs(s, "other", 1, 0, 0, 0);
    assert_int_equal(stage_info(s).jobs[JOB_READY], 1);
    assert_int_equal(PUT(s, .queue = "other", .key = "k"), 4);
}

static void changes_are_made_to_restored_jobs(void **state)
{
    struct stage *s = *state;
    struct job_image image = named(4, "q", true);
    struct job_info info;

    restore(s, image);
    change(s, RECORD_RELEASE,
           (struct job_change){.id = 4,
                               .state = JOB_DELAYED,
                               .keyed = true,
                               .attempts = 2,
                               .pri = 8,
                               .delay = 5,
                               .due_at = STAGE_WALL_AT + SEC(5)});
    info = stage_job(s, 4);
    assert_int_equal(info.state, JOB_DELAYED);
    assert_int_equal(info.attempts, 2);
    assert_int_equal(info.pri, 8);
    assert_int_equal(info.delay_for, SEC(5));
    assert_int_equal(info.remaining_for, SEC(5));
    assert_int_equal(info.releases, 1);
    change(s, RECORD_BURY,
           (struct job_change){.id = 4, .state = JOB_BURIED, .pri = 9, .burial = 3});
    info = stage_job(s, 4);
    assert_int_equal(info.state, JOB_BURIED);
    assert_int_equal(info.pri, 9);
    assert_int_equal(info.buries, 1);
    assert_int_equal(info.delay_for, 0);
    change(s, RECORD_TAKE, (struct job_change){.id = 4, .state = JOB_READY, .pri = 9});
    assert_int_equal(stage_job(s, 4).state, JOB_READY);
    change(s, RECORD_BURY, (struct job_change){.id = 4, .state = JOB_BURIED, .burial = 4});
    change(s, RECORD_KICK, (struct job_change){.id = 4, .state = JOB_READY, .keyed = true});
    info = stage_job(s, 4);
    assert_int_equal(info.buries, 2);
    assert_int_equal(info.kicks, 1);
    finish(s, 10);
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 4);
}

static void counters_of_a_job_come_back_with_each_change(void **state)
{
    struct stage *s = *state;
    const struct job_counters counters = {
        .reserves = 40, .timeouts = 3, .releases = 7, .buries = 2, .kicks = 1};
    struct job_info info;

    restore(s, named(4, "q", true));
    change(s, RECORD_RELEASE,
           (struct job_change){.id = 4, .state = JOB_READY, .counted = true, .counters = counters});
    info = stage_job(s, 4);
    assert_int_equal(info.reserves, 40);
    assert_int_equal(info.timeouts, 3);
    assert_int_equal(info.releases, 7);
    assert_int_equal(info.buries, 2);
    assert_int_equal(info.kicks, 1);
    finish(s, 10);
}

static void reserves_are_at_least_the_leases_in_older_records(void **state)
{
    struct stage *s = *state;

    restore(s, named(4, "q", true));
    change(s, RECORD_SET, (struct job_change){.id = 4, .state = JOB_READY, .attempts = 20});
    change(s, RECORD_RELEASE, (struct job_change){.id = 4, .state = JOB_READY, .attempts = 20});
    assert_int_equal(stage_job(s, 4).releases, 1);
    assert_int_equal(stage_job(s, 4).reserves, 21);
    finish(s, 10);
}

static void expect_wait_of(struct stage *s, uint64_t id, nsec_t left_for)
{
    PUT(s, .key = "k");
    assert_int_equal(stage_job(s, id).remaining_for, left_for);
}

static void a_wait_that_was_imposed_is_not_ended_by_a_duplicate_after_a_restart(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *again;

    PUT(s, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(60)));
    again = stage_restart(s, SEC(10));
    expect_wait_of(again, 1, SEC(50));
    stage_free(again);
}

static void a_release_of_an_older_record_imposes_its_wait(void **state)
{
    struct stage *s = *state;

    restore(s, named(4, "q", true));
    change(s, RECORD_RELEASE,
           (struct job_change){.id = 4,
                               .state = JOB_DELAYED,
                               .keyed = true,
                               .delay = 60,
                               .due_at = STAGE_WALL_AT + SEC(60)});
    finish(s, 10);
    expect_wait_of(s, 4, SEC(60));
}

static void ended_jobs_are_gone_with_their_queue_and_key(void **state)
{
    struct stage *s = *state;

    restore(s, named(4, "q", true));
    restore(s, named(5, "r", true));
    assert_status(STATUS_OK, broker_restore_end(s->broker, 4));
    finish(s, 10);
    assert_null(stage_find(s, "q"));
    assert_int_equal(stage_state(s, 4), JOB_GONE);
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 5);
}

static void changes_of_missing_jobs_change_nothing(void **state)
{
    struct stage *s = *state;
    struct job_change now = {.id = 4, .state = JOB_READY};

    assert_status(STATUS_NOT_FOUND, broker_restore_change(s->broker, RECORD_KICK, &now));
    assert_status(STATUS_NOT_FOUND, broker_restore_end(s->broker, 4));
    finish(s, 1);
}

static void pauses_end_at_their_moment(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    PUT(s, .queue = "q");
    PUT(s, .queue = "r");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(60)));
    assert_status(STATUS_OK, stage_pause(s, "r", SEC(5)));
    again = stage_restart(s, SEC(20));
    assert_int_equal(stage_queue(again, "q").pause_for, SEC(60));
    assert_int_equal(stage_queue(again, "q").pause_remaining_for, SEC(40));
    assert_int_equal(stage_queue(again, "r").pause_remaining_for, 0);
    act_drain(stage_worker(again, "r", "r"), "2");
    act_wait(stage_worker(again, "w", "q"));
    stage_advance(again, SEC(39));
    stage_expect(again, "");
    stage_advance(again, SEC(1));
    stage_expect(again, "w leased 1");
    stage_free(again);
}

static void later_pause_takes_the_place_of_the_earlier(void **state)
{
    struct stage *s = *state;
    const struct queue *queue = NULL;

    restore(s, plain(1));
    assert_status(STATUS_OK, broker_restore_pause(s->broker, SLICE("q"), SEC(60),
                                                  STAGE_WALL_AT + SEC(60), &queue));
    assert_ptr_equal(queue, stage_find(s, "q"));
    assert_int_equal(queue_mark(queue), 0);
    queue_set_mark(s->broker, queue, 6);
    assert_int_equal(queue_mark(queue), 6);
    assert_status(STATUS_OK, broker_restore_pause(s->broker, SLICE("q"), 0, STAGE_WALL_AT, &queue));
    finish(s, 10);
    act_drain(stage_worker(s, "w", "q"), "1");
}

static void paused_queue_without_jobs_stays_until_its_pause_is_over(void **state)
{
    struct stage *s = *state;
    const struct queue *queue;

    assert_status(STATUS_OK, broker_restore_pause(s->broker, SLICE("q"), SEC(60),
                                                  STAGE_WALL_AT + SEC(60), &queue));
    assert_status(STATUS_OK, broker_restore_pause(s->broker, SLICE("r"), SEC(60),
                                                  STAGE_WALL_AT + SEC(60), &queue));
    assert_status(STATUS_OK,
                  broker_restore_pause(s->broker, SLICE("s"), SEC(60), STAGE_WALL_AT, &queue));
    finish(s, 1);
    assert_null(stage_find(s, "s"));
    assert_int_equal(stage_queue(s, "q").holders, 0);
    act_close(stage_worker(s, "w", "q"));
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(60));
    assert_status(STATUS_OK, stage_pause(s, "r", 0));
    assert_null(stage_find(s, "r"));
    stage_advance(s, SEC(60));
    assert_null(stage_find(s, "q"));
}

static void expect_refused(struct stage *s, enum status status, struct job_image image)
{
    const struct job *job = NULL;

    assert_status(status, broker_restore_job(s->broker, &image, &job));
    assert_null(job);
}

static void jobs_that_cannot_be_are_refused(void **state)
{
    static char long_name[QUEUE_NAME_MAX + 1];
    struct stage *s = *state;
    struct job_image image = plain(1);
    const struct queue *queue = NULL;

    memset(long_name, 'n', sizeof long_name);
    image.queue = SLICE("");
    expect_refused(s, STATUS_BAD_NAME, image);
    image.queue = SLICE("a\0b");
    expect_refused(s, STATUS_BAD_NAME, image);
    image.queue = slice_of(long_name, sizeof long_name);
    expect_refused(s, STATUS_TOO_LARGE, image);
    assert_status(STATUS_TOO_LARGE, broker_restore_pause(s->broker, image.queue, SEC(1),
                                                         STAGE_WALL_AT + SEC(1), &queue));
    image = plain(1);
    image.key_kind = KEY_NAME;
    image.key = slice_of(long_name, JOB_KEY_MAX + 1);
    expect_refused(s, STATUS_TOO_LARGE, image);
    image = plain(1);
    image.reducer = slice_of(long_name, JOB_KEY_MAX + 1);
    expect_refused(s, STATUS_TOO_LARGE, image);
    expect_refused(s, STATUS_BAD_NAME, plain(0));
    expect_refused(s, STATUS_BAD_NAME, plain(UINT64_MAX));
    image = plain(1);
    image.now.state = JOB_RESERVED;
    expect_refused(s, STATUS_BAD_NAME, image);
    image = plain(1);
    image.key_kind = KEY_CONTENT + 1;
    expect_refused(s, STATUS_BAD_NAME, image);
    image = plain(1);
    image.on_fail = 2;
    expect_refused(s, STATUS_BAD_NAME, image);
    image = plain(1);
    image.on_loss = 2;
    expect_refused(s, STATUS_BAD_NAME, image);
    image = plain(1);
    image.now.attempts = JOB_ATTEMPTS_MAX + 1;
    expect_refused(s, STATUS_BAD_NAME, image);
    expect_refused(s, STATUS_BAD_NAME, buried(1, UINT64_MAX));
    finish(s, 1);
    assert_int_equal(stage_info(s).queues, 0);
}

static void change_that_cannot_be_is_refused(void **state)
{
    struct stage *s = *state;
    struct job_change now = {.id = 1, .state = JOB_GONE};

    restore(s, plain(1));
    assert_status(STATUS_BAD_NAME, broker_restore_change(s->broker, RECORD_KICK, &now));
    assert_int_equal(stage_job(s, 1).kicks, 0);
    finish(s, 2);
}

static void large_bodies_are_referred_to_or_copied(void **state)
{
    struct stage *s = *state;
    struct blob *blob = blob_new(100000);
    struct job_image image = plain(1);

    memset(blob->bytes, 'b', blob->len);
    image.body = blob_slice(blob);
    image.blob = blob;
    restore(s, image);
    assert_ptr_equal(stage_image(s, 1).blob, blob);
    image.now.id = 2;
    image.blob = NULL;
    restore(s, image);
    assert_ptr_not_equal(stage_image(s, 2).blob, blob);
    finish(s, 10);
    blob_unref(blob);
    assert_int_equal(job_body(broker_find(s->broker, 1)).len, 100000);
    assert_true(
        slice_equal(job_body(broker_find(s->broker, 1)), job_body(broker_find(s->broker, 2))));
}

static void ids_beyond_the_places_among_equals_come_back(void **state)
{
    struct stage *s = *state;
    uint64_t id = UINT64_C(10000000000000000000);

    restore(s, plain(id));
    finish(s, id + 5);
    assert_int_equal(PUT(s, .queue = "q"), id + 5);
    assert_int_equal(stage_state(s, id), JOB_READY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(every_field_comes_back),
        STORY(restored_jobs_are_described_as_they_were),
        STORY(held_job_is_described_as_ready),
        STORY(moments_go_on_by_the_wall_clock),
        STORY(a_delay_that_is_over_is_over),
        STORY(equals_go_by_their_ids_and_new_jobs_behind_them),
        STORY(buried_jobs_keep_their_order),
        STORY(keys_are_held_again_when_all_are_back),
        STORY(one_of_two_jobs_with_the_same_key_gets_it),
        STORY(buried_jobs_get_no_key),
        STORY(contents_are_keys_again),
        STORY(later_image_takes_the_place_of_the_earlier),
        STORY(changes_are_made_to_restored_jobs),
        STORY(counters_of_a_job_come_back_with_each_change),
        STORY(reserves_are_at_least_the_leases_in_older_records),
        STORY(a_wait_that_was_imposed_is_not_ended_by_a_duplicate_after_a_restart),
        STORY(a_release_of_an_older_record_imposes_its_wait),
        STORY(ended_jobs_are_gone_with_their_queue_and_key),
        STORY(changes_of_missing_jobs_change_nothing),
        STORY(pauses_end_at_their_moment),
        STORY(later_pause_takes_the_place_of_the_earlier),
        STORY(paused_queue_without_jobs_stays_until_its_pause_is_over),
        STORY(jobs_that_cannot_be_are_refused),
        STORY(change_that_cannot_be_is_refused),
        STORY(large_bodies_are_referred_to_or_copied),
        STORY(ids_beyond_the_places_among_equals_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
