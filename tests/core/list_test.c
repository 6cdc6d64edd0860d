/* SPDX-License-Identifier: MIT */
// Walks over the jobs of one queue and state, and over the jobs of a session: they go on while jobs
// come and go, and their cursors may be saved in between.
#include "tests/core/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 200 };

struct list {
    struct stage *s;
    const char *queue;
    enum job_state state;
    struct job_cursor cursor;
};

// Advances by `most` jobs; each step begins with the saved cursor.
static void expect_next(struct list *list, size_t most, const char *ids)
{
    char seen[200] = "";
    size_t len = 0;
    const struct job *job = NULL;
    enum status status = STATUS_OK;

    while (most > 0 && status != STATUS_EMPTY) {
        struct job_cursor read = {.part = list->cursor.part};

        memcpy(read.at, list->cursor.at, sizeof read.at);
        status = queue_jobs_next(list->s->broker, stage_find(list->s, list->queue), list->state,
                                 &read, &job);
        list->cursor = read;
        if (status == STATUS_OK) {
            len += (size_t)snprintf(seen + len, sizeof seen - len, len ? " %" PRIu64 : "%" PRIu64,
                                    job_id(job));
            assert_true(len < sizeof seen);
            most--;
        }
    }
    assert_string_equal(seen, ids);
}

static void ready_jobs_are_listed_as_they_would_be_taken(void **state)
{
    struct list list = {*state, "q", JOB_READY, {{0}, 0}};

    PUT(list.s, .pri = 5);
    PUT(list.s, .pri = 1);
    PUT(list.s, .pri = 5);
    PUT(list.s, .queue = "r");
    PUT(list.s, .delay_for = SEC(1));
    expect_next(&list, 9, "2 1 3");
    expect_next(&list, 9, "");
}

static void ready_list_continues_at_the_place_of_the_last_job(void **state)
{
    struct list list = {*state, "q", JOB_READY, {{0}, 0}};

    for (uint32_t i = 0; i < 6; i++) {
        PUT(list.s, .pri = 3);
    }
    expect_next(&list, 2, "1 2");
    assert_status(STATUS_OK, stage_cancel(list.s, 2));
    assert_status(STATUS_OK, stage_cancel(list.s, 3));
    PUT(list.s, .pri = 1);
    PUT(list.s, .pri = 4);
    expect_next(&list, 9, "4 5 6 8");
}

static void delayed_jobs_are_listed_by_their_end_calendar_moments_last(void **state)
{
    struct list list = {*state, "q", JOB_DELAYED, {{0}, 0}};

    PUT(list.s, .delay_for = SEC(9));
    PUT(list.s, .at = STAGE_WALL_AT + SEC(3));
    PUT(list.s, .delay_for = SEC(4));
    PUT(list.s, .delay_for = SEC(9));
    PUT(list.s, .at = STAGE_WALL_AT + SEC(2));
    expect_next(&list, 1, "3");
    assert_int_equal(stage_kick(list.s, "q", 1), 1);
    expect_next(&list, 3, "1 4 2");
    expect_next(&list, 9, "");
}

static void buried_jobs_are_listed_longest_buried_first(void **state)
{
    struct list list = {*state, "q", JOB_BURIED, {{0}, 0}};

    for (int i = 0; i < 5; i++) {
        PUT_BURIED(list.s, .queue = "q");
    }
    expect_next(&list, 2, "1 2");
    assert_status(STATUS_OK, stage_cancel(list.s, 1));
    expect_next(&list, 1, "3");
    expect_next(&list, 9, "4 5");
    expect_next(&list, 1, "");
    PUT_BURIED(list.s, .queue = "q");
    expect_next(&list, 9, "6");
}

// The job that was seen last is gone, is elsewhere, or was buried again.
static void buried_list_continues_after_the_last_job_has_left(void **state)
{
    struct list list = {*state, "q", JOB_BURIED, {{0}, 0}};
    struct actor *w = stage_open(list.s, "w");

    for (int i = 0; i < 7; i++) {
        PUT_BURIED(list.s, .queue = "q");
    }
    expect_next(&list, 2, "1 2");
    assert_status(STATUS_OK, stage_cancel(list.s, 2));
    expect_next(&list, 1, "3");
    assert_status(STATUS_OK, stage_kick_id(list.s, 3));
    expect_next(&list, 1, "4");
    assert_status(STATUS_OK, act_take_id(w, 4));
    assert_status(STATUS_OK, act_bury(w, 4, 0));
    expect_next(&list, 9, "5 6 7 4");
}

// The search for the place of a buried job is done in slices.
static void long_buried_list_is_searched_in_slices(void **state)
{
    struct stage *s = *state;
    struct list list = {s, "q", JOB_BURIED, {{0}, 0}};
    const struct job *job = NULL;
    size_t slices = 0;

    for (int i = 0; i < MANY; i++) {
        PUT_BURIED(s, .queue = "q");
    }
    for (int i = 0; i < MANY - 10; i++) {
        assert_status(STATUS_OK, queue_jobs_next(s->broker, stage_find(s, "q"), JOB_BURIED,
                                                 &list.cursor, &job));
    }
    assert_status(STATUS_OK, stage_cancel(s, MANY - 10));
    while (queue_jobs_next(s->broker, stage_find(s, "q"), JOB_BURIED, &list.cursor, &job) ==
           STATUS_MORE) {
        slices++;
        if (slices == 2) {
            assert_int_equal(stage_kick(s, "q", 100), 100);
        }
    }
    assert_int_equal(job_id(job), MANY - 9);
    assert_true(slices > 1 && slices < 8);
}

static void held_jobs_are_listed_holder_by_holder(void **state)
{
    struct list list = {*state, "q", JOB_RESERVED, {{0}, 0}};
    struct actor *a = stage_worker(list.s, "a", "q");
    struct actor *b = stage_worker(list.s, "b", "q");
    struct actor *c = stage_worker(list.s, "c", "r");

    PUT(list.s, .ttr_for = SEC(9));
    PUT(list.s, .ttr_for = SEC(5));
    PUT(list.s, .ttr_for = SEC(5));
    PUT(list.s, .queue = "r");
    assert_int_equal(act_take(a), 1);
    assert_int_equal(act_take(b), 2);
    assert_int_equal(act_take(a), 3);
    assert_int_equal(act_take(c), 4);
    expect_next(&list, 2, "3 1");
    assert_status(STATUS_OK, act_complete(a, 1, NULL));
    expect_next(&list, 9, "2");
    expect_next(&list, 9, "");
}

static void session_at_the_place_of_another_is_listed_from_its_beginning(void **state)
{
    struct list list = {*state, "q", JOB_RESERVED, {{0}, 0}};
    struct actor *a = stage_worker(list.s, "a", "q");
    struct actor *b;

    PUT(list.s, .ttr_for = SEC(900));
    PUT(list.s, .ttr_for = SEC(5));
    assert_int_equal(act_take(a), 1);
    expect_next(&list, 1, "1");
    assert_status(STATUS_OK, act_complete(a, 1, NULL));
    act_close(a);
    b = stage_worker(list.s, "b", "q");
    assert_int_equal(act_take(b), 2);
    expect_next(&list, 9, "2");
}

static void sessions_without_leases_are_skipped_in_slices(void **state)
{
    static const struct session_ops ops = {0};
    struct stage *s = *state;
    struct session *sessions[MANY];
    struct job_cursor cursor = {{0}, 0};
    const struct job *job = NULL;
    size_t slices = 0;

    for (size_t i = 0; i < MANY; i++) {
        assert_status(STATUS_OK,
                      broker_session_open(s->broker, &ops, NULL, CHOICE_OLDEST, &sessions[i]));
    }
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, broker_take_id(sessions[MANY - 1], 1, &job));
    while (queue_jobs_next(s->broker, stage_find(s, "q"), JOB_RESERVED, &cursor, &job) ==
           STATUS_MORE) {
        slices++;
    }
    assert_int_equal(job_id(job), 1);
    assert_int_equal(slices, MANY / BROKER_SLICE);
    for (size_t i = 0; i < MANY; i++) {
        broker_session_close(sessions[i]);
    }
}

static void jobs_of_a_session_are_listed_soonest_lease_first(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct job_cursor cursor = {{0}, 0};
    const struct job *job = NULL;

    act_subscribe(w, "r");
    PUT(s, .ttr_for = SEC(9));
    PUT(s, .ttr_for = SEC(5), .queue = "r");
    PUT(s, .queue = "q");
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(act_take(w), id);
    }
    assert_status(STATUS_OK, session_jobs_next(w->session, &cursor, &job));
    assert_int_equal(job_id(job), 2);
    assert_status(STATUS_OK, act_complete(w, 2, NULL));
    assert_status(STATUS_OK, session_jobs_next(w->session, &cursor, &job));
    assert_int_equal(job_id(job), 1);
    assert_status(STATUS_OK, session_jobs_next(w->session, &cursor, &job));
    assert_int_equal(job_id(job), 3);
    assert_status(STATUS_EMPTY, session_jobs_next(w->session, &cursor, &job));
}

// A saved cursor may have any value when it is read again.
static void any_numbers_make_a_cursor(void **state)
{
    static const uint64_t numbers[] = {0, 1, 2, UINT32_MAX, INT64_MAX, UINT64_MAX};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .pri = 7);
    assert_int_equal(act_take(w), 1);
    PUT(s, .pri = 7);
    PUT(s, .delay_for = SEC(1));
    PUT_BURIED(s, .queue = "q");
    for (unsigned i = 0; i < COUNT * COUNT * COUNT * COUNT * JOB_STATES; i++) {
        unsigned n = i / JOB_STATES;
        struct job_cursor cursor = {
            {numbers[n % COUNT], numbers[n / COUNT % COUNT], numbers[n / COUNT / COUNT % COUNT], 0},
            (uint32_t)numbers[n / COUNT / COUNT / COUNT]};
        const struct job *job = NULL;
        enum status status;
        int steps = 0;

        while ((status = queue_jobs_next(s->broker, stage_find(s, "q"),
                                         (enum job_state)(i % JOB_STATES), &cursor, &job)) !=
               STATUS_EMPTY) {
            assert_true(status == STATUS_OK || status == STATUS_MORE);
            assert_true(++steps < 4);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(ready_jobs_are_listed_as_they_would_be_taken),
        STORY(ready_list_continues_at_the_place_of_the_last_job),
        STORY(delayed_jobs_are_listed_by_their_end_calendar_moments_last),
        STORY(buried_jobs_are_listed_longest_buried_first),
        STORY(buried_list_continues_after_the_last_job_has_left),
        STORY(long_buried_list_is_searched_in_slices),
        STORY(held_jobs_are_listed_holder_by_holder),
        STORY(session_at_the_place_of_another_is_listed_from_its_beginning),
        STORY(sessions_without_leases_are_skipped_in_slices),
        STORY(jobs_of_a_session_are_listed_soonest_lease_first),
        STORY(any_numbers_make_a_cursor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
