/* SPDX-License-Identifier: MIT */
// Acts of an operator on one job, whichever session holds it.
#include "tests/core/stage.h"

#include <string.h>

#define MOVE_TO(queue) ACT(.kind = ACT_MOVE, .to = SLICE(queue))

static void holder_no_longer_finds_a_deleted_job(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    stage_expect_recorded(s, "submit 1");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_DELETE)));
    stage_expect(s, "c cancelled 1");
    stage_expect_recorded(s, "end 1");
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    assert_status(STATUS_NOT_FOUND, stage_act(s, NULL, 1, ACT(.kind = ACT_DELETE)));
}

static void a_job_is_buried_in_any_state_without_spending_an_attempt(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    SUBMIT(c, .queue = "q", .pri = 4);
    PUT(s, .pri = 5);
    PUT(s, .pri = 6, .delay_for = SEC(5));
    assert_int_equal(act_take(w), 1);
    stage_expect_recorded(s, "submit 1; submit 2; submit 3");
    assert_status(STATUS_OK, stage_act(s, NULL, 3, ACT(.kind = ACT_BURY)));
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_BURY)));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, ACT(.kind = ACT_BURY, .sets_pri = true)));
    stage_expect(s, "c failed 1");
    stage_expect_recorded(s, "bury 3; bury 1; bury 2");
    stage_expect_jobs(s, "q", 0, 0, 0, 3);
    assert_int_equal(stage_job(s, 1).attempts, 0);
    assert_int_equal(stage_job(s, 1).pri, 4);
    assert_int_equal(stage_job(s, 2).pri, 0);
    assert_status(STATUS_NOT_FOUND, act_touch(w, 1));
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 1, ACT(.kind = ACT_BURY)));
    assert_int_equal(stage_kick(s, "q", 1), 1);
    assert_int_equal(stage_state(s, 3), JOB_READY);
    assert_status(STATUS_OK, stage_act(s, NULL, 2, ACT(.kind = ACT_KICK)));
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 2, ACT(.kind = ACT_KICK)));
}

static void a_job_that_is_not_durable_fails_when_it_is_buried(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q", .fleeting = true);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_BURY)));
    stage_expect(s, "c failed 1");
    stage_expect_recorded(s, "");
    assert_int_equal(stage_state(s, 1), JOB_GONE);
}

static void a_held_job_is_released_without_blame(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *v = stage_worker(s, "v", "q");

    SUBMIT(c, .queue = "q", .pri = 3, .max_attempts = 1);
    assert_int_equal(act_take(w), 1);
    act_wait(v);
    stage_expect_recorded(s, "submit 1");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_RELEASE)));
    stage_expect(s, "v leased 1; c retried 1");
    stage_expect_recorded(s, "release 1");
    assert_int_equal(stage_job(s, 1).attempts, 0);
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    assert_status(STATUS_OK, stage_act(s, NULL, 1,
                                       ACT(.kind = ACT_RELEASE, .sets_pri = true, .pri = 9,
                                           .sets_delay = true, .delay_for = SEC(2))));
    assert_int_equal(stage_state(s, 1), JOB_DELAYED);
    assert_int_equal(stage_job(s, 1).pri, 9);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_RELEASE)));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 1, ACT(.kind = ACT_RELEASE)));
    stage_expect_recorded(s, "release 1; set 1");
}

static void a_job_that_its_session_was_not_told_of_is_taken_from_it(void **state)
{
    static const enum act_kind kinds[] = {ACT_DELETE, ACT_BURY, ACT_RELEASE};
    static const char *const told[] = {"w leased 2", "w leased 4", "w leased 6"};
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (size_t i = 0; i < 3; i++) {
        uint64_t id;

        act_wait(w);
        id = PUT(s, .queue = "q");
        assert_int_equal(stage_state(s, id), JOB_RESERVED);
        assert_status(
            STATUS_OK,
            stage_act(s, NULL, id, ACT(.kind = kinds[i], .sets_delay = true, .delay_for = SEC(9))));
        stage_expect(s, "");
        id = PUT(s, .queue = "q");
        stage_expect(s, told[i]);
        assert_status(STATUS_OK, act_complete(w, id, NULL));
    }
}

static void the_time_to_run_of_a_held_job_is_renewed(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .ttr_for = SEC(10));
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 1, ACT(.kind = ACT_TOUCH)));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(6));
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_TOUCH)));
    assert_int_equal(stage_job(s, 1).remaining_for, SEC(10));
    stage_expect_recorded(s, "submit 1");
}

static void leases_of_a_closed_session_are_not_renewed(void **state)
{
    enum { HELD = 6 * BROKER_SLICE };
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct counts counts;

    for (uint64_t id = 1; id <= HELD; id++) {
        PUT(s, .ttr_for = SEC(1));
        assert_int_equal(act_take(w), id);
    }
    stage_advance(s, MSEC(100));
    act_close(w);
    assert_status(STATUS_OK, stage_act(s, NULL, HELD, ACT(.kind = ACT_TOUCH)));
    stage_advance(s, SEC(1));
    broker_counts(s->broker, &counts);
    assert_int_equal(counts.retries, HELD);
    assert_int_equal(counts.timeouts, 0);
    stage_expect_jobs(s, "q", HELD, 0, 0, 0);
}

//
// Changing
//

#define SET_PRI(n) ACT(.kind = ACT_CHANGE, .sets_pri = true, .pri = (n))
#define SET_DELAY(n) ACT(.kind = ACT_CHANGE, .sets_delay = true, .delay_for = (n))

static void another_priority_keeps_the_place_among_equals(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (int i = 0; i < 4; i++) {
        PUT(s, .pri = 5);
    }
    assert_status(STATUS_OK, stage_act(s, NULL, 3, SET_PRI(1)));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, SET_PRI(9)));
    assert_int_equal(job_id(queue_peek_ready(stage_find(s, "q"))), 3);
    assert_int_equal(stage_info(s).ready[BAND_HIGH], 4);
    assert_status(STATUS_OK, stage_act(s, NULL, 2, SET_PRI(5)));
    assert_status(STATUS_OK, stage_act(s, NULL, 4, SET_PRI(PRI_NORMAL)));
    assert_int_equal(stage_info(s).ready[BAND_NORMAL], 1);
    stage_expect_recorded(s, "submit 1; submit 2; submit 3; submit 4; set 3; set 2; set 2; set 4");
    act_drain(w, "3 1 2 4");
}

static void the_new_priority_of_a_held_job_counts_when_it_comes_back(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *v = stage_worker(s, "v", "q");

    PUT(s, .pri = 1);
    PUT(s, .pri = 2);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, SET_PRI(3)));
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 1, SET_DELAY(0)));
    act_close(w);
    act_drain(v, "2 1");
}

static void a_buried_job_keeps_its_place_with_another_priority(void **state)
{
    struct stage *s = *state;

    PUT_BURIED(s, .queue = "q");
    PUT_BURIED(s, .queue = "q");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, SET_PRI(3)));
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 1, SET_DELAY(SEC(1))));
    assert_int_equal(job_id(queue_peek_buried(stage_find(s, "q"))), 1);
    assert_int_equal(stage_job(s, 1).pri, 3);
}

static void a_delay_is_changed_or_ended(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .delay_for = SEC(5));
    PUT(s, .at = STAGE_WALL_AT + SEC(5));
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, SET_DELAY(SEC(8))));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, SET_DELAY(SEC(9))));
    assert_status(STATUS_OK, stage_act(s, NULL, 3, SET_DELAY(SEC(7))));
    stage_expect_jobs(s, "q", 0, 3, 0, 0);
    assert_int_equal(stage_job(s, 1).delay_for, SEC(8));
    stage_advance(s, SEC(7));
    act_drain(w, "3");
    act_wait(w);
    assert_status(STATUS_OK, stage_act(s, NULL, 2, SET_DELAY(0)));
    stage_expect(s, "w leased 2");
    assert_int_equal(stage_job(s, 2).attempts, 0);
    assert_int_equal(stage_job(s, 2).kicks, 0);
}

static void a_late_holder_may_not_complete_a_job_that_was_delayed_since(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    SUBMIT(c, .queue = "q", .ttr_for = SEC(1));
    SUBMIT(c, .queue = "q", .ttr_for = SEC(1));
    assert_int_equal(act_take(w), 1);
    assert_int_equal(act_take(w), 2);
    stage_advance(s, SEC(1));
    stage_expect(s, "");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, SET_DELAY(SEC(3))));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, SET_PRI(3)));
    stage_expect(s, "c retried 1");
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    assert_status(STATUS_OK, act_complete(w, 2, NULL));
}

//
// Moving
//

static void a_moved_job_keeps_all_but_its_queue_and_its_attempts(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *v = stage_open(s, "v");

    SUBMIT(c, .queue = "q", .pri = 2, .key = "k", .max_attempts = 3, .ttr_for = SEC(1));
    PUT(s, .queue = "other", .pri = 2);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(stage_job(s, 1).attempts, 1);
    stage_expect_recorded(s, "submit 1; submit 2");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("other")));
    stage_expect_recorded(s, "move 1");
    stage_expect(s, "");
    assert_int_equal(stage_job(s, 1).attempts, 0);
    assert_int_equal(stage_job(s, 1).age_for, SEC(1));
    assert_int_equal(job_id(broker_find_key(s->broker, stage_find(s, "other"), SLICE("k"))), 1);
    assert_null(broker_find_key(s->broker, stage_find(s, "q"), SLICE("k")));
    act_subscribe(v, "other");
    act_drain(v, "1 2");
    stage_expect(s, "c retried 1; c complete 1");
}

static void jobs_are_moved_in_the_state_in_which_they_are(void **state)
{
    struct stage *s = *state;

    PUT(s, .delay_for = SEC(5));
    PUT(s, .at = STAGE_WALL_AT + SEC(5));
    PUT_BURIED(s, .queue = "other");
    PUT_BURIED(s, .queue = "q");
    for (uint64_t id = 1; id <= 4; id++) {
        assert_status(STATUS_OK, stage_act(s, NULL, id, MOVE_TO("other")));
    }
    assert_null(stage_find(s, "q"));
    stage_expect_jobs(s, "other", 0, 2, 0, 2);
    assert_int_equal(job_id(queue_peek_buried(stage_find(s, "other"))), 3);
    stage_advance(s, SEC(5));
    stage_expect_jobs(s, "other", 2, 0, 0, 2);
}

static void a_job_gives_up_its_key_where_another_has_it(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "a", .key = "k");
    PUT(s, .queue = "b", .key = "k");
    PUT(s, .queue = "c", .key = "k");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("d")));
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 1);
    assert_status(STATUS_OK, stage_act(s, NULL, 2, MOVE_TO("e")));
    assert_int_equal(job_id(job_next_of_name(broker_find(s->broker, 1))), 2);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("e")));
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 2);
    assert_int_equal(job_id(broker_find_key(s->broker, stage_find(s, "e"), SLICE("k"))), 2);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("f")));
    assert_null(broker_find_key(s->broker, stage_find(s, "f"), SLICE("k")));
}

static void a_content_is_a_key_in_the_other_queue(void **state)
{
    struct stage *s = *state;
    struct submission submission;

    PUT(s, .queue = "a", .by_content = true, .body = "x");
    PUT_BURIED(s, .queue = "a", .by_content = true, .body = "y");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("b")));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, MOVE_TO("b")));
    assert_status(STATUS_OK, stage_kick_id(s, 2));
    for (uint64_t id = 1; id <= 2; id++) {
        const char *body = id == 1 ? "x" : "y";

        assert_status(STATUS_OK,
                      stage_try_put(s, NULL, PLAN(.queue = "b", .by_content = true, .body = body),
                                    &submission));
        assert_true(submission.joined && submission.id == id);
    }
}

static void a_moved_job_goes_to_a_waiting_session(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");
    struct actor *n = stage_worker(s, "n", "b");

    act_wait(w);
    act_await_nudge(n);
    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("a")));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, MOVE_TO("b")));
    stage_expect(s, "w leased 1; n nudged");
}

static void a_moved_job_waits_for_the_end_of_a_pause(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");

    assert_status(STATUS_OK, stage_pause(s, "a", SEC(3)));
    act_wait(w);
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("a")));
    stage_expect(s, "");
    stage_advance(s, SEC(3));
    stage_expect(s, "w leased 1");
}

// The search among queues uses the place of the best job that a queue had at some time.
static void the_place_of_a_moved_job_is_left_to_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "a");

    PUT(s, .queue = "a");
    PUT(s, .queue = "a");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(5)));
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("b")));
    stage_advance(s, SEC(5));
    act_subscribe(w, "b");
    act_drain(w, "1 2");
}

static void a_move_that_is_refused_changes_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    char longest[QUEUE_NAME_MAX + 1] = {0};

    memset(longest, 'n', sizeof longest);
    PUT(s, .queue = "q");
    s->refused = STORE_REFUSES(RECORD_MOVE);
    assert_status(STATUS_NO_SPACE, stage_act(s, NULL, 1, MOVE_TO("other")));
    s->refused = 0;
    assert_null(stage_find(s, "other"));
    assert_status(STATUS_BAD_NAME, stage_act(s, NULL, 1, MOVE_TO("")));
    assert_status(
        STATUS_TOO_LARGE,
        stage_act(s, NULL, 1, ACT(.kind = ACT_MOVE, .to = slice_of(longest, sizeof longest))));
    broker_set_max_queues(s->broker, 1);
    assert_status(STATUS_TOO_MANY_QUEUES, stage_act(s, NULL, 1, MOVE_TO("other")));
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("q")));
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_HELD, stage_act(s, NULL, 1, MOVE_TO("other")));
    stage_expect_recorded(s, "submit 1");
}

static void a_change_is_refused_if_the_store_has_no_room(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 1);
    PUT(s, .pri = 2);
    assert_int_equal(act_take(w), 1);
    s->refused = STORE_REFUSES_ALL;
    assert_status(STATUS_NO_SPACE, stage_act(s, NULL, 1, ACT(.kind = ACT_RELEASE)));
    assert_status(STATUS_NO_SPACE, stage_act(s, NULL, 1, SET_PRI(5)));
    assert_status(STATUS_NO_SPACE, stage_act(s, NULL, 2, SET_DELAY(SEC(1))));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, ACT(.kind = ACT_BURY)));
    assert_status(STATUS_NO_SPACE, stage_act(s, NULL, 2, ACT(.kind = ACT_KICK)));
    assert_status(STATUS_OK, stage_act(s, NULL, 2, ACT(.kind = ACT_DELETE)));
    assert_int_equal(stage_job(s, 1).pri, 1);
    assert_true(job_held_by(s->broker, broker_find(s->broker, 1), w->session));
}

static void the_answer_waits_for_the_record_of_the_act(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    assert_status(STATUS_OK, stage_act(s, NULL, 1, SET_PRI(5)));
    assert_int_equal(broker_position(s->broker), 2);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, MOVE_TO("other")));
    assert_int_equal(broker_position(s->broker), 3);
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 1, ACT(.kind = ACT_KICK)));
    assert_int_equal(broker_position(s->broker), 0);
}

static void operating_takes_the_right_to_both_queues(void **state)
{
    const struct grant list[] = {
        {MAY_OPERATE | MAY_OBSERVE, SLICE("q")},
        {MAY_OBSERVE, SLICE("seen")},
        {MAY_SUBMIT, SLICE("to")},
    };
    struct stage *s = *state;
    struct actor *o = stage_open(s, "o");

    act_grant(o, list, 3);
    PUT(s, .queue = "q");
    PUT(s, .queue = "seen");
    PUT(s, .queue = "hidden");
    for (enum act_kind kind = ACT_DELETE; kind <= ACT_MOVE; kind++) {
        const struct job_act act = {.kind = kind, .to = SLICE("to")};

        assert_status(STATUS_FORBIDDEN, stage_act(s, o, 2, &act));
        assert_status(STATUS_NOT_FOUND, stage_act(s, o, 3, &act));
    }
    assert_status(STATUS_FORBIDDEN, stage_act(s, o, 1, MOVE_TO("seen")));
    assert_null(stage_find(s, "to"));
    assert_status(STATUS_OK, stage_act(s, o, 1, MOVE_TO("to")));
    assert_status(STATUS_NOT_FOUND, stage_act(s, o, 1, MOVE_TO("q")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(holder_no_longer_finds_a_deleted_job),
        STORY(a_job_is_buried_in_any_state_without_spending_an_attempt),
        STORY(a_job_that_is_not_durable_fails_when_it_is_buried),
        STORY(a_held_job_is_released_without_blame),
        STORY(a_job_that_its_session_was_not_told_of_is_taken_from_it),
        STORY(the_time_to_run_of_a_held_job_is_renewed),
        STORY(leases_of_a_closed_session_are_not_renewed),
        STORY(another_priority_keeps_the_place_among_equals),
        STORY(the_new_priority_of_a_held_job_counts_when_it_comes_back),
        STORY(a_buried_job_keeps_its_place_with_another_priority),
        STORY(a_delay_is_changed_or_ended),
        STORY(a_late_holder_may_not_complete_a_job_that_was_delayed_since),
        STORY(a_moved_job_keeps_all_but_its_queue_and_its_attempts),
        STORY(jobs_are_moved_in_the_state_in_which_they_are),
        STORY(a_job_gives_up_its_key_where_another_has_it),
        STORY(a_content_is_a_key_in_the_other_queue),
        STORY(a_moved_job_goes_to_a_waiting_session),
        STORY(a_moved_job_waits_for_the_end_of_a_pause),
        STORY(the_place_of_a_moved_job_is_left_to_it),
        STORY(a_move_that_is_refused_changes_nothing),
        STORY(a_change_is_refused_if_the_store_has_no_room),
        STORY(the_answer_waits_for_the_record_of_the_act),
        STORY(operating_takes_the_right_to_both_queues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
