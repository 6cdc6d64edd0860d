/* SPDX-License-Identifier: MIT */
// Dead letters: jobs that the policy of their queue takes to another one.
#include "tests/core/stage_restart.h"

#include "tests/support/nth_alloc.h"

#include "core/dead_letter.h"

#include <stdlib.h>
#include <string.h>

#define MOVES .on_exhausted = ON_EXHAUSTED_MOVE, .dead_queue = SLICE("{queue}.dead")

static void expect_past(struct stage *s, uint64_t id, const char *queue, enum dead_reason why,
                        unsigned attempts)
{
    const struct job *job = broker_find(s->broker, id);
    struct dead_letter past;

    assert_non_null(job);
    assert_true(job_dead_letter(s->broker, job, &past));
    assert_true(slice_equal(past.queue, stage_slice(queue)));
    assert_string_equal(dead_reason_text(past.why), dead_reason_text(why));
    assert_int_equal(past.attempts, attempts);
    assert_int_equal(past.at_ms, s->now.wall / NSEC_PER_MSEC);
}

static void expect_no_past(struct stage *s, uint64_t id)
{
    struct dead_letter past;

    assert_false(job_dead_letter(s->broker, broker_find(s->broker, id), &past));
}

static void take_and_fail(struct actor *w, uint64_t id)
{
    assert_int_equal(act_take(w), id);
    assert_status(STATUS_OK, act_fail(w, id, NULL));
}

static void a_job_without_attempts_left_goes_to_the_dead_queue_in_one_record(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct counts counts;

    POLICY(s, "*", MOVES, .max_attempts = 2);
    PUT(s, .ttr_for = SEC(1), .pri = 7);
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    assert_int_equal(act_take(w), 1);
    stage_advance(s, SEC(1));
    stage_expect_recorded(s, "submit 1; set 1; move 1");
    stage_expect_jobs(s, "q", 0, 0, 0, 0);
    stage_expect_jobs(s, "q.dead", 1, 0, 0, 0);
    expect_past(s, 1, "q", DEAD_ATTEMPTS, 2);
    assert_int_equal(stage_job(s, 1).attempts, 2);
    assert_int_equal(stage_job(s, 1).pri, 7);
    broker_counts(s->broker, &counts);
    assert_int_equal(counts.dead, 1);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.buried, 0);
    queue_counts(stage_find(s, "q"), &counts);
    assert_int_equal(counts.dead, 1);
}

static void dead_letter_tells_whether_the_worker_gave_up(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", MOVES);
    PUT(s, .queue = "q");
    take_and_fail(w, 1);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, "oops"));
    expect_past(s, 1, "q", DEAD_FAILED, 1);
    expect_past(s, 2, "q", DEAD_EXCEPTION, 1);
}

static void a_release_that_was_the_last_attempt_takes_the_job_to_the_dead_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", MOVES, .max_attempts = 1, .count_releases = true);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 5, 0));
    stage_expect_jobs(s, "q.dead", 1, 0, 0, 0);
    assert_int_equal(stage_job(s, 1).pri, 5);
    expect_past(s, 1, "q", DEAD_ATTEMPTS, 1);
}

static void watchers_of_a_dead_letter_are_told_that_it_failed(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *d = stage_worker(s, "d", "q.dead");

    POLICY(s, "*", MOVES, .max_attempts = 3);
    PUT(s, .key = "k");
    SUBMIT(c, .key = "k", .fleeting = true);
    act_wait(d);
    take_and_fail(w, 1);
    stage_expect(s, "d leased 1; c failed 1");
    assert_int_equal(s->event_at, 2);
    assert_status(STATUS_OK, act_complete(d, 1, NULL));
    stage_expect(s, "");
}

static void a_job_that_is_not_durable_is_never_moved(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", MOVES, .max_attempts = 1);
    SUBMIT(c, .fleeting = true);
    take_and_fail(w, 1);
    stage_expect(s, "c failed 1");
    assert_int_equal(stage_state(s, 1), JOB_GONE);
    assert_null(stage_find(s, "q.dead"));
}

static void a_dead_letter_is_not_moved_again_but_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *d = stage_worker(s, "d", "q.dead");

    POLICY(s, "*", MOVES, .max_attempts = 1);
    PUT(s, .queue = "q");
    take_and_fail(w, 1);
    take_and_fail(d, 1);
    stage_expect_jobs(s, "q.dead", 0, 0, 0, 1);
    assert_null(stage_find(s, "q.dead.dead"));
    expect_past(s, 1, "q", DEAD_FAILED, 1);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    expect_past(s, 1, "q", DEAD_FAILED, 1);
}

// The contract of Gearman's and HTTP's background jobs.
static void a_dead_letter_is_buried_despite_its_contract(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *d = stage_worker(s, "d", "q.dead");

    POLICY(s, "q", MOVES, .max_attempts = 1);
    PUT(s, .on_fail = ON_FAIL_DROP);
    take_and_fail(w, 1);
    take_and_fail(d, 1);
    stage_expect_jobs(s, "q.dead", 0, 0, 0, 1);
    expect_past(s, 1, "q", DEAD_FAILED, 1);
    PUT(s, .on_fail = ON_FAIL_DROP, .max_attempts = 1);
    take_and_fail(w, 2);
    assert_int_equal(act_take(d), 2);
    act_close(d);
    stage_settle(s);
    stage_expect_jobs(s, "q.dead", 0, 0, 0, 2);
}

static void a_dead_letter_is_buried_despite_the_policy_of_the_dead_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *d = stage_worker(s, "d", "q.dead");

    POLICY(s, "q", MOVES, .max_attempts = 1);
    PUT(s, .queue = "q");
    take_and_fail(w, 1);
    PUT(s, .queue = "q");
    take_and_fail(w, 2);
    POLICY(s, "q.dead", .on_exhausted = ON_EXHAUSTED_DROP, .expire_after_for = SEC(60));
    take_and_fail(d, 1);
    stage_expect_jobs(s, "q.dead", 1, 0, 0, 1);
    stage_advance(s, SEC(61));
    stage_advance(s, SEC(61));
    stage_expect_jobs(s, "q.dead", 0, 0, 0, 2);
}

static void a_dead_letter_that_a_worker_holds_outlives_the_end_of_the_process(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *d = stage_worker(s, "d", "q.dead");

    POLICY(s, "q", MOVES);
    PUT(s, .on_fail = ON_FAIL_DROP, .max_attempts = 1);
    take_and_fail(w, 1);
    assert_int_equal(act_take(d), 1);
    broker_retire(s->broker);
    act_close(d);
    stage_settle(s);
    stage_expect_jobs(s, "q.dead", 1, 0, 0, 0);
    assert_int_equal(stage_job(s, 1).attempts, 1);
    stage_expect_recorded(s, "submit 1; move 1");
}

static void a_moved_dead_letter_is_an_ordinary_job(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    const struct job_act move = {.kind = ACT_MOVE, .to = SLICE("q")};

    POLICY(s, "*", MOVES, .max_attempts = 1);
    PUT(s, .queue = "q");
    take_and_fail(w, 1);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, &move));
    expect_no_past(s, 1);
    assert_int_equal(stage_job(s, 1).attempts, 0);
    take_and_fail(w, 1);
    stage_expect_jobs(s, "q.dead", 1, 0, 0, 0);
}

static void a_dead_letter_is_moved_back_to_its_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    const struct job_act back = {.kind = ACT_MOVE, .back = true};

    POLICY(s, "*", MOVES, .max_attempts = 1);
    PUT(s, .pri = 3);
    assert_status(STATUS_WRONG_STATE, stage_act(s, NULL, 1, &back));
    take_and_fail(w, 1);
    act_wait(w);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, &back));
    stage_expect(s, "w leased 1");
    stage_expect_recorded(s, "submit 1; move 1; move 1");
    expect_no_past(s, 1);
    assert_int_equal(stage_job(s, 1).attempts, 0);
    assert_status(STATUS_HELD, stage_act(s, NULL, 1, &back));
    assert_null(stage_find(s, "q.dead"));
}

static void a_buried_dead_letter_is_moved_back_buried(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *d = stage_worker(s, "d", "q.dead");

    POLICY(s, "*", MOVES, .max_attempts = 1);
    PUT(s, .queue = "q");
    take_and_fail(w, 1);
    take_and_fail(d, 1);
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_MOVE, .back = true)));
    stage_expect_jobs(s, "q", 0, 0, 0, 1);
    expect_no_past(s, 1);
}

// Puts `jobs` dead letters of each of the queues a and b into the queue of all dead letters.
static void fill_dead(struct stage *s, unsigned each)
{
    static const char *const queues[] = {"a", "b"};

    POLICY(s, "?", .on_exhausted = ON_EXHAUSTED_MOVE, .dead_queue = SLICE("dead"));
    for (size_t i = 0; i < 2; i++) {
        struct actor *w = stage_worker(s, "w", queues[i]);

        for (unsigned j = 0; j < each; j++) {
            take_and_fail(w, PUT(s, .queue = queues[i]));
        }
        act_close(w);
    }
}

static void sweep_back(struct stage *s, struct actor *by, struct sweep_counts *counts)
{
    struct sweep sweep = {
        .queue = SLICE("dead"), .filter = JOB_FILTER_ALL, .act = {.kind = ACT_MOVE, .back = true}};
    struct session *session = by ? by->session : NULL;
    enum status status = broker_sweep_begin(s->broker, session, &sweep);

    assert_status(STATUS_OK, status);
    do {
        status = broker_sweep(s->broker, session, &sweep);
        stage_step(s);
    } while (status == STATUS_MORE);
    assert_status(STATUS_OK, status);
    *counts = sweep.counts;
}

static void a_sweep_takes_each_job_of_a_dead_queue_to_its_own_origin(void **state)
{
    enum { EACH = 100 };

    struct stage *s = *state;
    struct sweep_counts counts;

    fill_dead(s, EACH);
    PUT(s, .queue = "dead");
    stage_expect_jobs(s, "dead", 2 * EACH + 1, 0, 0, 0);
    sweep_back(s, NULL, &counts);
    assert_int_equal(counts.looked, 2 * EACH + 1);
    assert_int_equal(counts.done, 2 * EACH);
    stage_expect_jobs(s, "a", EACH, 0, 0, 0);
    stage_expect_jobs(s, "b", EACH, 0, 0, 0);
    stage_expect_jobs(s, "dead", 1, 0, 0, 0);
}

static void a_sweep_leaves_dead_letters_of_queues_that_its_caller_may_not_submit_to(void **state)
{
    const struct grant grants[] = {{MAY_OPERATE | MAY_OBSERVE, SLICE("*")},
                                   {MAY_SUBMIT, SLICE("a")}};
    struct stage *s = *state;
    struct actor *o = stage_open(s, "o");
    struct sweep_counts counts;

    fill_dead(s, 1);
    (void)act_grant(o, grants, 2);
    assert_status(STATUS_FORBIDDEN, stage_act(s, o, 2, ACT(.kind = ACT_MOVE, .back = true)));
    sweep_back(s, o, &counts);
    assert_int_equal(counts.done, 1);
    assert_int_equal(counts.forbidden, 1);
    stage_expect_jobs(s, "a", 1, 0, 0, 0);
    stage_expect_jobs(s, "dead", 1, 0, 0, 0);
}

static void a_dead_letter_gives_up_its_key_where_another_has_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", MOVES, .max_attempts = 1);
    PUT(s, .key = "k");
    take_and_fail(w, 1);
    assert_true(stage_image(s, 1).now.keyed);
    PUT(s, .key = "k");
    assert_int_equal(stage_state(s, 2), JOB_READY);
    take_and_fail(w, 2);
    stage_expect_jobs(s, "q.dead", 2, 0, 0, 0);
    assert_true(stage_image(s, 1).now.keyed);
    assert_false(stage_image(s, 2).now.keyed);
}

//
// Dead queues that cannot be used
//

// The job fails in q, and is buried there.
static void expect_buried(struct stage *s, uint64_t id)
{
    struct actor *w = stage_worker(s, "w", "q");

    take_and_fail(w, id);
    assert_int_equal(stage_state(s, id), JOB_BURIED);
    assert_true(slice_equal(queue_name(stage_job(s, id).queue), stage_slice("q")));
    expect_no_past(s, id);
    act_close(w);
    stage_settle(s);
}

static void a_job_is_buried_where_it_is_without_a_dead_queue_that_can_be(void **state)
{
    static const char *const names[] = {"", "q", "{queue}"};
    struct stage *s = *state;
    char longest[QUEUE_NAME_MAX + 1];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        POLICY(s, "*", .on_exhausted = ON_EXHAUSTED_MOVE, .dead_queue = stage_slice(names[i]));
        expect_buried(s, PUT(s, .queue = "q"));
    }
    memset(longest, 'x', sizeof longest);
    POLICY(s, "*", .on_exhausted = ON_EXHAUSTED_MOVE,
           .dead_queue = slice_of(longest, sizeof longest));
    expect_buried(s, PUT(s, .queue = "q"));
    POLICY(s, "*", .on_exhausted = ON_EXHAUSTED_MOVE, .dead_queue = SLICE("a\0b"));
    expect_buried(s, PUT(s, .queue = "q"));
}

static void a_job_is_buried_where_it_is_when_there_would_be_too_many_queues(void **state)
{
    struct stage *s = *state;

    broker_set_max_queues(s->broker, 1);
    POLICY(s, "*", MOVES);
    expect_buried(s, PUT(s, .queue = "q"));
    assert_null(stage_find(s, "q.dead"));
}

static void a_job_is_buried_in_its_queue_when_the_store_has_no_room(void **state)
{
    struct stage *s = *state;

    POLICY(s, "*", MOVES);
    s->refused = STORE_REFUSES(RECORD_MOVE);
    expect_buried(s, PUT(s, .queue = "q"));
    assert_null(stage_find(s, "q.dead"));
}

static void each_placeholder_in_the_name_of_a_dead_queue_becomes_the_name_of_the_queue(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "*", .on_exhausted = ON_EXHAUSTED_MOVE, .dead_queue = SLICE("{queue}/{queu/{queue}"));
    PUT(s, .queue = "q");
    take_and_fail(w, 1);
    stage_expect_jobs(s, "q/{queu/q", 1, 0, 0, 0);
}

static void a_job_is_buried_where_it_is_when_memory_is_short_for_a_dead_queue(void **state)
{
    bool moved = false;

    (void)state;
    for (size_t n = 1; !moved; n++) {
        struct stage *s = stage_new((struct broker_options){0}, true);
        struct actor *w = stage_worker(s, "w", "q");

        POLICY(s, "*", MOVES);
        PUT(s, .queue = "q");
        assert_int_equal(act_take(w), 1);
        nth_alloc_fail(n);
        assert_status(STATUS_OK, act_fail(w, 1, NULL));
        moved = nth_alloc_count() < n;
        nth_alloc_fail(0);
        stage_step(s);
        if (stage_state(s, 1) == JOB_BURIED) {
            assert_null(stage_find(s, "q.dead"));
            expect_no_past(s, 1);
            stage_expect_recorded(s, "submit 1; bury 1");
        } else {
            expect_past(s, 1, "q", DEAD_FAILED, 1);
            stage_expect_recorded(s, "submit 1; move 1");
        }
        stage_free(s);
    }
}

//
// The store
//

static void a_dead_letter_keeps_its_record_over_a_restart(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct job_image before, after;
    struct stage *next;

    POLICY(s, "*", MOVES, .max_attempts = 1);
    PUT(s, .key = "k");
    take_and_fail(w, 1);
    before = stage_image(s, 1);
    stage_advance(s, SEC(5));
    next = stage_restart(s, SEC(3));
    after = stage_image(next, 1);
    stage_expect_same_image(&before, &after);
    assert_int_equal(after.dead_letter.why, DEAD_FAILED);
    stage_free(next);
}

static void records_of_moves_tell_whether_the_job_is_a_dead_letter(void **state)
{
    struct stage_tape *tape = calloc(1, sizeof *tape);
    struct broker_options options = {.recorder = &stage_tape_recorder, .store = tape};
    struct stage *s, *copy;
    struct actor *w;

    (void)state;
    assert_non_null(tape);
    s = stage_new(options, false);
    tape->broker = s->broker;
    tape->now = &s->now;
    w = stage_worker(s, "w", "q");
    POLICY(s, "*", MOVES);
    for (uint64_t id = 1; id <= 2; id++) {
        PUT(s, .queue = "q");
        take_and_fail(w, id);
    }
    assert_status(STATUS_OK, stage_act(s, NULL, 2, ACT(.kind = ACT_MOVE, .to = SLICE("z"))));
    copy = stage_tape_play(tape, s->now.wall);
    for (uint64_t id = 1; id <= 2; id++) {
        struct job_image was = stage_image(s, id);
        struct job_image is = stage_image(copy, id);

        assert_int_equal(was.dead_letter.why, id == 1 ? DEAD_FAILED : DEAD_NOT);
        assert_int_equal(is.dead_letter.why, was.dead_letter.why);
        assert_int_equal(is.dead_letter.attempts, was.dead_letter.attempts);
        assert_true(slice_equal(is.dead_letter.queue, was.dead_letter.queue));
        assert_true(slice_equal(is.queue, was.queue));
    }
    stage_free(copy);
    stage_free(s);
    free(tape);
}

static const struct job_image dead_image = {
    .now = {.id = 1, .state = JOB_READY},
    .queue = {"d", 1},
    .dead_letter = {.queue = {"q", 1}, .why = DEAD_EXPIRED, .attempts = 3, .at_ms = 4},
};

static void an_impossible_dead_letter_is_not_restored(void **state)
{
    struct stage *s = *state;
    struct job_image image = dead_image;
    struct dead_letter wrong[] = {dead_image.dead_letter, dead_image.dead_letter,
                                  dead_image.dead_letter, dead_image.dead_letter};
    const struct job *job;

    wrong[0].queue.len = 0;
    wrong[1].why = DEAD_REASONS;
    wrong[2].attempts = JOB_ATTEMPTS_MAX + 1;
    wrong[3].at_ms = UINT64_MAX;
    for (size_t i = 0; i < 4; i++) {
        image.dead_letter = wrong[i];
        assert_status(STATUS_BAD_NAME, broker_restore_job(s->broker, &image, &job));
    }
    assert_status(STATUS_OK, broker_restore_job(s->broker, &dead_image, &job));
    assert_status(STATUS_BAD_NAME, broker_restore_move(s->broker, &image.now, SLICE("e"), false,
                                                       &image.dead_letter));
    assert_status(STATUS_OK, broker_restore_finish(s->broker, 2));
}

static void restoring_a_dead_letter_may_fail_and_be_repeated(void **state)
{
    const struct dead_letter other = {.queue = SLICE("r"), .why = DEAD_FAILED};
    bool made = false;

    (void)state;
    for (size_t n = 1; !made; n++) {
        struct stage *s = stage_new((struct broker_options){0}, true);
        const struct job *job;
        struct dead_letter past;
        enum status first, second;

        nth_alloc_fail(n);
        first = broker_restore_job(s->broker, &dead_image, &job);
        if (first != STATUS_OK) {
            assert_status(STATUS_NO_MEMORY, first);
            assert_status(STATUS_OK, broker_restore_job(s->broker, &dead_image, &job));
        }
        second = broker_restore_move(s->broker, &dead_image.now, SLICE("e"), false, &other);
        made = nth_alloc_count() < n;
        nth_alloc_fail(0);
        if (second != STATUS_OK) {
            assert_status(STATUS_NO_MEMORY, second);
            assert_true(job_dead_letter(s->broker, job, &past) && past.why == DEAD_EXPIRED);
            assert_status(STATUS_OK, broker_restore_move(s->broker, &dead_image.now, SLICE("e"),
                                                         false, &other));
        }
        assert_true(job_dead_letter(s->broker, job, &past) && past.why == DEAD_FAILED);
        assert_status(STATUS_OK, broker_restore_finish(s->broker, 2));
        stage_step(s);
        stage_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_job_without_attempts_left_goes_to_the_dead_queue_in_one_record),
        STORY(dead_letter_tells_whether_the_worker_gave_up),
        STORY(a_release_that_was_the_last_attempt_takes_the_job_to_the_dead_queue),
        STORY(watchers_of_a_dead_letter_are_told_that_it_failed),
        STORY(a_job_that_is_not_durable_is_never_moved),
        STORY(a_dead_letter_is_not_moved_again_but_buried),
        STORY(a_dead_letter_is_buried_despite_its_contract),
        STORY(a_dead_letter_is_buried_despite_the_policy_of_the_dead_queue),
        STORY(a_dead_letter_that_a_worker_holds_outlives_the_end_of_the_process),
        STORY(a_moved_dead_letter_is_an_ordinary_job),
        STORY(a_dead_letter_is_moved_back_to_its_queue),
        STORY(a_buried_dead_letter_is_moved_back_buried),
        STORY(a_sweep_takes_each_job_of_a_dead_queue_to_its_own_origin),
        STORY(a_sweep_leaves_dead_letters_of_queues_that_its_caller_may_not_submit_to),
        STORY(a_dead_letter_gives_up_its_key_where_another_has_it),
        STORY(a_job_is_buried_where_it_is_without_a_dead_queue_that_can_be),
        STORY(a_job_is_buried_where_it_is_when_there_would_be_too_many_queues),
        STORY(a_job_is_buried_in_its_queue_when_the_store_has_no_room),
        STORY(a_job_is_buried_where_it_is_when_memory_is_short_for_a_dead_queue),
        STORY(a_dead_letter_keeps_its_record_over_a_restart),
        STORY(records_of_moves_tell_whether_the_job_is_a_dead_letter),
        STORY(an_impossible_dead_letter_is_not_restored),
        STORY(restoring_a_dead_letter_may_fail_and_be_repeated),
        STORY(each_placeholder_in_the_name_of_a_dead_queue_becomes_the_name_of_the_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
