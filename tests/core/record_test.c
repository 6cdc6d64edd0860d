/* SPDX-License-Identifier: MIT */
// The records of durable jobs, and a store without space.
#include "tests/core/stage.h"

static void each_lasting_change_is_one_record(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    stage_expect_recorded(s, "submit 1");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 3, SEC(5)));
    stage_expect_recorded(s, "release 1");
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    stage_expect_recorded(s, "kick 1");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_bury(w, 1, 3));
    stage_expect_recorded(s, "bury 1");
    assert_status(STATUS_OK, act_take_id(w, 1));
    stage_expect_recorded(s, "take 1");
    assert_status(STATUS_OK, act_bury(w, 1, 3));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    stage_expect_recorded(s, "bury 1; kick 1");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect_recorded(s, "end 1");
}

static void nothing_is_recorded_for_leases(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(5));
    PUT(s, .delay_for = SEC(1));
    stage_expect_recorded(s, "submit 1; submit 2");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_take_id(w, 2));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_status(STATUS_OK, act_data(w, 1, "part"));
    stage_advance(s, SEC(5));
    assert_int_equal(stage_job(s, 1).timeouts, 1);
    assert_int_equal(act_take(w), 1);
    act_give_back(w, "q");
    act_subscribe(w, "q");
    assert_int_equal(act_take(w), 1);
    act_wait(w);
    act_close(w);
    stage_settle(s);
    stage_expect_recorded(s, "");
    PUT(s, .delay_for = SEC(1));
    stage_expect_recorded(s, "submit 3");
    stage_advance(s, SEC(1));
    stage_expect_recorded(s, "");
}

static void nothing_is_recorded_for_jobs_that_are_not_durable(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    s->refused = STORE_REFUSES_ALL;
    SUBMIT(c, .fleeting = true);
    SUBMIT(c, .fleeting = true);
    SUBMIT(c, .fleeting = true, .delay_for = SEC(9));
    SUBMIT(c, .fleeting = true);
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    assert_status(STATUS_OK, act_bury(w, 2, 0));
    assert_status(STATUS_OK, stage_kick_id(s, 3));
    assert_status(STATUS_OK, stage_cancel(s, 3));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    stage_expect_recorded(s, "");
}

static void every_end_is_recorded(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    act_subscribe_on(w, "q", SEC(9), ON_LIMIT_FAIL);
    PUT(s, .on_fail = ON_FAIL_DROP);
    PUT(s, .on_fail = ON_FAIL_DROP, .ttr_for = SEC(1), .max_attempts = 1);
    PUT(s, .on_fail = ON_FAIL_BURY, .ttr_for = SEC(1), .max_attempts = 1);
    PUT(s, .on_fail = ON_FAIL_DROP);
    PUT(s, .on_fail = ON_FAIL_BURY, .max_attempts = 1);
    PUT(s, .queue = "other");
    stage_expect_recorded(s, "submit 1; submit 2; submit 3; submit 4; submit 5; submit 6");
    for (uint64_t id = 1; id <= 5; id++) {
        assert_int_equal(act_take(w), id);
    }
    // These may not be refused: their room was reserved.
    s->refused = STORE_REFUSES_ALL;
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_expect_recorded(s, "end 1");
    stage_advance(s, SEC(1));
    stage_expect_recorded(s, "end 2; bury 3");
    act_close(w);
    stage_settle(s);
    stage_expect_recorded(s, "bury 5");
    assert_int_equal(stage_state(s, 4), JOB_READY);
    assert_status(STATUS_OK, stage_cancel(s, 6));
    assert_status(STATUS_OK, stage_cancel(s, 5));
    assert_status(STATUS_OK, stage_cancel(s, 4));
    stage_expect_recorded(s, "end 6; end 5; end 4");
}

static void late_completion_is_recorded(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    stage_expect_recorded(s, "submit 1; end 1");
}

static void pause_is_recorded_by_its_queue(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    stage_expect_recorded(s, "submit 1");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    assert_status(STATUS_OK, stage_pause(s, "q", 0));
    stage_expect_recorded(s, "pause q; pause q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    stage_expect_recorded(s, "pause q");
    // The end of a pause is part of its record.
    stage_advance(s, SEC(5));
    stage_expect_recorded(s, "");
}

static void submission_without_room_changes_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "r");
    struct actor *c = stage_open(s, "c");
    uint64_t id;

    act_wait(w);
    s->refused = STORE_REFUSES(RECORD_SUBMIT);
    assert_status(STATUS_NO_SPACE, stage_try_put(s, c, PLAN(.queue = "q", .key = "k"), NULL));
    assert_status(STATUS_NO_SPACE, stage_try_put(s, NULL, PLAN(.queue = "r"), NULL));
    assert_null(stage_find(s, "q"));
    assert_int_equal(stage_info(s).total_jobs, 0);
    stage_expect(s, "");
    s->refused = 0;
    id = PUT(s, .queue = "q", .key = "k");
    assert_int_equal(stage_job(s, id).watches, 0);
    s->recorded.len = 0;
}

static void release_without_room_leaves_the_job_held(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 7, .ttr_for = SEC(9));
    assert_int_equal(act_take(w), 1);
    s->refused = STORE_REFUSES(RECORD_RELEASE);
    stage_advance(s, SEC(1));
    assert_status(STATUS_NO_SPACE, act_release(w, 1, 3, SEC(4)));
    assert_status(STATUS_NO_SPACE, act_release(w, 1, 3, 0));
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    assert_int_equal(stage_job(s, 1).pri, 7);
    assert_int_equal(stage_job(s, 1).delay_for, 0);
    assert_int_equal(stage_job(s, 1).releases, 0);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(8));
    stage_expect_recorded(s, "submit 1");
}

static void kick_without_room_leaves_the_rest(void **state)
{
    struct stage *s = *state;

    PUT_BURIED(s, .queue = "q");
    PUT_BURIED(s, .queue = "q");
    PUT(s, .delay_for = SEC(9), .queue = "r");
    s->refused = STORE_REFUSES(RECORD_KICK);
    assert_int_equal(stage_kick(s, "q", 5), 0);
    assert_int_equal(stage_kick(s, "r", 5), 0);
    assert_status(STATUS_NO_SPACE, stage_kick_id(s, 1));
    assert_status(STATUS_NO_SPACE, stage_kick_id(s, 3));
    stage_expect_jobs(s, "q", 0, 0, 0, 2);
    stage_expect_jobs(s, "r", 0, 1, 0, 0);
    assert_int_equal(stage_job(s, 1).kicks + stage_job(s, 3).kicks, 0);
}

static void taking_a_buried_job_needs_room(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    PUT_BURIED(s, .queue = "q");
    PUT(s, .queue = "q");
    PUT(s, .delay_for = SEC(9));
    s->refused = STORE_REFUSES(RECORD_TAKE);
    assert_status(STATUS_NO_SPACE, act_take_id(w, 1));
    assert_int_equal(stage_state(s, 1), JOB_BURIED);
    assert_int_equal(stage_job(s, 1).reserves, 1);
    // The others have their room.
    assert_status(STATUS_OK, act_take_id(w, 2));
    assert_status(STATUS_OK, act_take_id(w, 3));
}

static void pause_without_room_changes_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    s->refused = STORE_REFUSES(RECORD_PAUSE);
    assert_status(STATUS_NO_SPACE, stage_pause(s, "q", 0));
    assert_int_equal(stage_queue(s, "q").pause_remaining_for, SEC(5));
    assert_int_equal(stage_queue(s, "q").pauses, 1);
    stage_advance(s, SEC(5));
    assert_status(STATUS_NO_SPACE, stage_pause(s, "q", SEC(5)));
    assert_int_equal(act_take(w), 1);
}

static void a_duplicate_that_starts_a_job_earlier_is_not_a_release(void **state)
{
    struct stage *s = *state;

    PUT(s, .key = "k", .delay_for = SEC(60));
    stage_expect_recorded(s, "submit 1");
    PUT(s, .key = "k", .delay_for = SEC(20));
    stage_expect_recorded(s, "start 1");
    PUT(s, .key = "k");
    stage_expect_recorded(s, "start 1");
    PUT(s, .key = "k");
    stage_expect_recorded(s, "");
    assert_int_equal(stage_job(s, 1).releases, 0);
}

static void durable_duplicate_without_room_is_refused_alone(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct submission first = SUBMIT(c, .key = "k", .fleeting = true, .delay_for = SEC(9));

    s->refused = STORE_REFUSES(RECORD_SUBMIT);
    assert_status(STATUS_NO_SPACE, stage_try_put(s, c, PLAN(.key = "k"), NULL));
    assert_false(stage_job(s, 1).durable);
    assert_int_equal(stage_job(s, 1).watches, 1);
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(9));
    stage_expect_recorded(s, "");
    stage_unwatch(s, first.watch);
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void fleeting_job_made_durable_while_held_is_recorded_to_its_end(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .key = "k", .fleeting = true);
    assert_int_equal(act_take(w), 1);
    PUT(s, .key = "k");
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_status(STATUS_OK, stage_cancel(s, 1));
    stage_expect_recorded(s, "submit 1; bury 1; end 1");
}

// A store that reads what it is told, as it must to write it down.
struct reader {
    struct job_info info;
    struct broker *broker;
    unsigned count;
};

static bool always_room(void *store, const struct record *record)
{
    (void)store;
    (void)record;
    return true;
}

static uint64_t read_record(void *store, const struct record *record)
{
    struct reader *reader = store;

    reader->count++;
    broker_job_info(reader->broker, record->job, &reader->info);
    assert_true(job_body(record->job).len == 4);
    return 0;
}

static uint64_t no_position(const void *store, const struct job *job)
{
    (void)store;
    (void)job;
    return 0;
}

static void record_shows_the_job_as_it_is_after_the_change(void **state)
{
    static const struct recorder recorder = {
        .has_space = always_room, .append = read_record, .position = no_position};
    struct reader reader = {.count = 0};
    struct broker_options options = {.recorder = &recorder, .store = &reader};
    struct stage *s = stage_new(options, false);
    struct actor *w = stage_worker(s, "w", "q");

    (void)state;
    reader.broker = s->broker;
    PUT(s, .pri = 5, .body = "body", .key = "k", .ttr_for = SEC(1));
    assert_int_equal(reader.info.id, 1);
    assert_int_equal(reader.info.state, JOB_READY);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 6, SEC(3)));
    assert_int_equal(reader.info.state, JOB_DELAYED);
    assert_int_equal(reader.info.pri, 6);
    assert_int_equal(reader.info.remaining_for, SEC(3));
    assert_int_equal(reader.info.attempts, 1);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_status(STATUS_OK, act_bury(w, 1, 7));
    assert_int_equal(reader.info.state, JOB_BURIED);
    assert_int_equal(reader.info.pri, 7);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_int_equal(reader.info.state, JOB_READY);
    assert_int_equal(reader.info.attempts, 0);
    assert_status(STATUS_OK, stage_cancel(s, 1));
    assert_int_equal(reader.info.id, 1);
    assert_int_equal(reader.count, 5);
    stage_free(s);
}

static void record_says_whether_the_job_was_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    PUT(s, .delay_for = SEC(9));
    assert_false(s->room_was_buried || s->was_buried);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_false(s->room_was_buried || s->was_buried);
    PUT_BURIED(s, .queue = "q");
    assert_false(s->room_was_buried || s->was_buried);
    assert_status(STATUS_OK, act_take_id(w, 2));
    assert_true(s->room_was_buried && s->was_buried);
    assert_status(STATUS_OK, act_bury(w, 2, 0));
    assert_false(s->was_buried);
    assert_status(STATUS_OK, stage_kick_id(s, 2));
    assert_true(s->room_was_buried && s->was_buried);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(1)));
    assert_false(s->room_was_buried || s->was_buried);
}

static void marks_stay_with_their_jobs_and_queues(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    const struct job *job;

    PUT(s, .queue = "q", .body = "0123456789");
    job = broker_find(s->broker, 1);
    assert_int_equal(queue_mark(stage_find(s, "q")), 0);
    job_set_mark(job, UINT32_MAX);
    queue_set_mark(s->broker, stage_find(s, "q"), UINT32_MAX - 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 7, SEC(5)));
    assert_int_equal(job_mark(job), UINT32_MAX);
    assert_int_equal(queue_mark(stage_find(s, "q")), UINT32_MAX - 1);
    assert_true(slice_equal(job_body(job), SLICE("0123456789")));
    assert_int_equal(stage_job(s, 1).pri, 7);
    SUBMIT(w, .fleeting = true);
    assert_int_equal(job_mark(broker_find(s->broker, 2)), 0);
}

static void every_state_is_described(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "held");
    struct job_change change;

    PUT(s, .pri = 3, .key = "k");
    PUT(s, .delay_for = SEC(9));
    PUT(s, .at = STAGE_WALL_AT + SEC(4));
    PUT_BURIED(s, .key = "l");
    PUT_BURIED(s, .pri = 8);
    PUT(s, .queue = "held", .ttr_for = SEC(5));
    assert_int_equal(act_take(w), 6);
    stage_advance(s, SEC(1));
    s->recorded.len = 0;
    job_describe_change(s->broker, broker_find(s->broker, 1), &change);
    assert_int_equal(change.id, 1);
    assert_int_equal(change.state, JOB_READY);
    assert_int_equal(change.pri, 3);
    assert_true(change.keyed);
    job_describe_change(s->broker, broker_find(s->broker, 2), &change);
    assert_int_equal(change.state, JOB_DELAYED);
    assert_int_equal(change.due_at, STAGE_WALL_AT + SEC(9));
    assert_int_equal(change.delay, 9);
    assert_false(change.on_wall || change.keyed);
    job_describe_change(s->broker, broker_find(s->broker, 3), &change);
    assert_int_equal(change.due_at, STAGE_WALL_AT + SEC(4));
    assert_true(change.on_wall);
    job_describe_change(s->broker, broker_find(s->broker, 4), &change);
    assert_int_equal(change.state, JOB_BURIED);
    assert_int_equal(change.burial, 1);
    assert_false(change.keyed);
    job_describe_change(s->broker, broker_find(s->broker, 5), &change);
    assert_int_equal(change.burial, 2);
    job_describe_change(s->broker, broker_find(s->broker, 6), &change);
    assert_int_equal(change.state, JOB_READY);
    assert_int_equal(change.due_at, 0);
    assert_true(job_is_buried(broker_find(s->broker, 4)));
    assert_false(job_is_buried(broker_find(s->broker, 6)));
}

static void pause_is_described_by_the_wall_clock(void **state)
{
    struct stage *s = *state;
    nsec_t pause_for = 0, until_at = 0;

    PUT(s, .queue = "q");
    assert_false(queue_describe_pause(s->broker, stage_find(s, "q"), &pause_for, &until_at));
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(5)));
    stage_advance(s, SEC(2));
    stage_step_wall(s, SEC(100));
    assert_true(queue_describe_pause(s->broker, stage_find(s, "q"), &pause_for, &until_at));
    assert_int_equal(pause_for, SEC(5));
    assert_int_equal(until_at, STAGE_WALL_AT + SEC(105));
    stage_advance(s, SEC(3));
    assert_false(queue_describe_pause(s->broker, stage_find(s, "q"), &pause_for, &until_at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(each_lasting_change_is_one_record),
        STORY(nothing_is_recorded_for_leases),
        STORY(nothing_is_recorded_for_jobs_that_are_not_durable),
        STORY(every_end_is_recorded),
        STORY(late_completion_is_recorded),
        STORY(pause_is_recorded_by_its_queue),
        STORY(submission_without_room_changes_nothing),
        STORY(release_without_room_leaves_the_job_held),
        STORY(kick_without_room_leaves_the_rest),
        STORY(taking_a_buried_job_needs_room),
        STORY(pause_without_room_changes_nothing),
        STORY(a_duplicate_that_starts_a_job_earlier_is_not_a_release),
        STORY(durable_duplicate_without_room_is_refused_alone),
        STORY(fleeting_job_made_durable_while_held_is_recorded_to_its_end),
        cmocka_unit_test(record_shows_the_job_as_it_is_after_the_change),
        STORY(record_says_whether_the_job_was_buried),
        STORY(marks_stay_with_their_jobs_and_queues),
        STORY(every_state_is_described),
        STORY(pause_is_described_by_the_wall_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
