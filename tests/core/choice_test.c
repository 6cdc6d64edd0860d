/* SPDX-License-Identifier: MIT */
// A session that takes from many queues: which queue serves it, and how many queues a take
// examines.
#include "tests/core/stage.h"

#include <stdio.h>

enum { MANY = 2000 };

// Steps over thousands of queues are not checked: broker_check() would walk all queues each time.
struct fair {
    struct stage *s;
    struct actor *w;
    size_t cost; // of all takes so far
};

static struct fair fair_new(enum choice choice)
{
    struct stage *s = stage_new((struct broker_options){0}, false);

    return (struct fair){
        .s = s,
        .w = choice == CHOICE_IN_TURN ? stage_open_in_turn(s, "w") : stage_open(s, "w"),
    };
}

static void fair_free(struct fair *f)
{
    stage_step(f->s);
    stage_free(f->s);
}

static struct slice name_of(char room[16], char letter, int number)
{
    return slice_of(room, (size_t)snprintf(room, 16, "%c%d", letter, number));
}

static void subscribe(struct fair *f, char letter, int number)
{
    const struct subscription_terms terms = {.limit_for = 0};
    char room[16];

    assert_status(STATUS_OK,
                  broker_subscribe(f->w->session, name_of(room, letter, number), &terms));
}

static void put(struct fair *f, char letter, int number, uint32_t pri)
{
    struct job_spec spec = {.pri = pri, .durable = true};
    struct submission submission;
    char room[16];

    assert_status(STATUS_OK,
                  broker_queue_hold(f->s->broker, name_of(room, letter, number), &spec.queue));
    assert_status(STATUS_OK, broker_submit(f->s->broker, &spec, NULL, &submission));
    broker_queue_drop(f->s->broker, spec.queue);
}

// Takes a job and completes it. The job's id, 0 for none.
static uint64_t serve(struct fair *f)
{
    const struct job *job;
    enum status status = broker_take(f->w->session, &job);
    uint64_t id;

    f->cost += broker_take_links(f->s->broker);
    if (status == STATUS_EMPTY) {
        return 0;
    }
    assert_status(STATUS_OK, status);
    id = job_id(job);
    assert_status(STATUS_OK, broker_complete(f->w->session, id, NULL));
    return id;
}

// Each of `takes` takes examines few queues, however many the first one examined.
static void expect_cheap(const struct fair *f, size_t takes)
{
    assert_true(f->cost <= 8 * takes);
}

static void thousands_of_queues_with_work_are_served_in_turn_at_little_cost(void **state)
{
    struct fair f = fair_new(CHOICE_IN_TURN);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        subscribe(&f, 'q', i);
    }
    for (int i = 0; i < 3 * MANY; i++) {
        put(&f, 'q', i % MANY, 5);
    }
    // Put from the first to the last, served from the last to the first.
    for (uint64_t i = 0; i < 3 * MANY; i++) {
        assert_int_equal(serve(&f), (i / MANY + 1) * MANY - i % MANY);
    }
    expect_cheap(&f, 3 * MANY);
    fair_free(&f);
}

static void oldest_of_thousands_of_queues_is_found_at_little_cost(void **state)
{
    struct fair f = fair_new(CHOICE_OLDEST);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        subscribe(&f, 'q', i);
    }
    for (int i = 0; i < 3 * MANY; i++) {
        put(&f, 'q', i * 7 % MANY, 5);
    }
    for (uint64_t id = 1; id <= 3 * MANY; id++) {
        assert_int_equal(serve(&f), id);
    }
    expect_cheap(&f, 3 * MANY);
    fair_free(&f);
}

// The queues that are never used have been served least recently, and come before all others.
static void idle_queues_are_examined_once(void **state)
{
    struct fair f = fair_new(CHOICE_IN_TURN);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        subscribe(&f, 'i', i);
        subscribe(&f, 'q', i);
    }
    for (int i = 0; i < 3 * MANY; i++) {
        put(&f, 'q', MANY - 1 - i % MANY, 5);
    }
    for (uint64_t id = 1; id <= 3 * MANY; id++) {
        assert_int_equal(serve(&f), id);
    }
    expect_cheap(&f, 3 * MANY);
    fair_free(&f);
}

static void urgent_jobs_of_others_cost_little(void **state)
{
    static const enum choice choices[] = {CHOICE_OLDEST, CHOICE_IN_TURN};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        struct fair f = fair_new(choices[c]);

        for (int i = 0; i < MANY; i++) {
            subscribe(&f, 'q', i);
            put(&f, 'q', i, 5);
        }
        put(&f, 'u', 1, 0);
        put(&f, 'u', 2, 1);
        for (uint64_t id = 1; id <= MANY; id++) {
            assert_int_equal(serve(&f), choices[c] == CHOICE_OLDEST ? id : MANY + 1 - id);
        }
        expect_cheap(&f, MANY);
        fair_free(&f);
    }
}

static void urgent_jobs_among_thousands_of_queues_cost_little(void **state)
{
    static const enum choice choices[] = {CHOICE_OLDEST, CHOICE_IN_TURN};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        struct fair f = fair_new(choices[c]);

        for (int i = 0; i < MANY; i++) {
            subscribe(&f, 'q', i);
            put(&f, 'q', i, 5);
        }
        for (uint64_t id = MANY + 1; id <= 2 * MANY; id++) {
            put(&f, 'q', (int)(id * 7 % MANY), 1);
            assert_int_equal(serve(&f), id);
        }
        expect_cheap(&f, MANY);
        fair_free(&f);
    }
}

static void trickle_over_thousands_of_queues_costs_little(void **state)
{
    struct fair f = fair_new(CHOICE_IN_TURN);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        subscribe(&f, 'q', i);
    }
    for (int i = 0; i < 3 * MANY; i++) {
        put(&f, 'q', i * 7 % MANY, 5);
        assert_int_equal(serve(&f), i + 1);
    }
    expect_cheap(&f, 3 * MANY);
    fair_free(&f);
}

static void failed_search_is_charged_for_each_queue(void **state)
{
    static const enum choice choices[] = {CHOICE_OLDEST, CHOICE_IN_TURN};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        struct fair f = fair_new(choices[c]);

        for (int i = 0; i < MANY; i++) {
            subscribe(&f, 'q', i);
            put(&f, 'x', i, 5);
        }
        assert_int_equal(serve(&f), 0);
        assert_true(f.cost >= MANY && f.cost <= 2 * MANY);
        fair_free(&f);
    }
}

static void search_where_nothing_is_ready_costs_nothing(void **state)
{
    struct fair f = fair_new(CHOICE_IN_TURN);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        subscribe(&f, 'q', i);
    }
    assert_int_equal(serve(&f), 0);
    assert_int_equal(f.cost, 0);
    fair_free(&f);
}

static void beginning_and_ending_a_wait_cost_their_subscriptions(void **state)
{
    enum { SOME = 1000 };
    struct fair f = fair_new(CHOICE_IN_TURN);

    (void)state;
    for (int i = 0; i < SOME; i++) {
        subscribe(&f, 'q', i);
    }
    broker_await_nudge(f.w->session);
    assert_int_equal(broker_take_links(f.s->broker), SOME);
    assert_int_equal(serve(&f), 0);
    act_wait(f.w);
    // It stopped waiting for a nudge first.
    assert_int_equal(broker_take_links(f.s->broker), 2 * SOME);
    assert_true(act_unwait(f.w));
    assert_int_equal(broker_take_links(f.s->broker), SOME);
    put(&f, 'q', 0, 5);
    broker_await_nudge(f.w->session);
    assert_true(broker_take_links(f.s->broker) <= 8);
    fair_free(&f);
}

static void waiting_for_a_nudge_with_many_subscriptions_is_charged_before(void **state)
{
    struct fair f = fair_new(CHOICE_IN_TURN);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        subscribe(&f, 'q', i);
    }
    broker_await_nudge(f.w->session);
    assert_int_equal(broker_take_links(f.s->broker), MANY);
    assert_int_equal(serve(&f), 0);
    act_wait(f.w);
    // It stopped waiting for a nudge first, which ticks complete.
    assert_int_equal(broker_take_links(f.s->broker), MANY);
    assert_true(act_unwait(f.w));
    assert_int_equal(broker_take_links(f.s->broker), 0);
    put(&f, 'q', 0, 5);
    broker_await_nudge(f.w->session);
    assert_true(broker_take_links(f.s->broker) <= 8);
    fair_free(&f);
}

//
// Searches after many changes
//

static struct actor *in_turn(struct stage *s, const char *queues)
{
    struct actor *w = stage_open_in_turn(s, "w");

    for (; *queues; queues++) {
        act_subscribe(w, (const char[]){*queues, '\0'});
    }
    return w;
}

static void idle_queue_keeps_its_turn(void **state)
{
    struct stage *s = *state;
    struct actor *w = in_turn(s, "abcd");

    PUT(s, .queue = "d");
    PUT(s, .queue = "d");
    act_drain(w, "1 2");
    PUT(s, .queue = "d");
    PUT(s, .queue = "c");
    PUT(s, .queue = "b");
    PUT(s, .queue = "a");
    act_drain(w, "4 5 6 3");
}

static void idle_queue_is_served_in_its_turn_though_many_others_open(void **state)
{
    struct stage *s = *state;
    struct actor *w = in_turn(s, "abc");

    PUT(s, .queue = "c");
    PUT(s, .queue = "c");
    assert_int_equal(act_take(w), 1);
    PUT(s, .queue = "b");
    PUT(s, .queue = "a");
    for (char name[] = "m"; *name <= 'z'; ++*name) {
        PUT(s, .queue = name);
    }
    act_drain(w, "3 4 2");
}

static void queue_that_was_paused_is_served_in_its_turn(void **state)
{
    struct stage *s = *state;
    struct actor *w = in_turn(s, "abc");

    for (int i = 0; i < 2; i++) {
        PUT(s, .queue = "a");
        PUT(s, .queue = "b");
        PUT(s, .queue = "c");
    }
    assert_status(STATUS_OK, stage_pause(s, "a", SEC(5)));
    assert_int_equal(act_take(w), 3);
    assert_int_equal(act_take(w), 2);
    stage_advance(s, SEC(5));
    act_drain(w, "1 6 5 4");
}

static void
subscription_that_ends_while_its_queue_is_idle_leaves_the_others_their_turn(void **state)
{
    struct stage *s = *state;
    struct actor *w = in_turn(s, "abc");

    PUT(s, .queue = "c");
    PUT(s, .queue = "c");
    assert_int_equal(act_take(w), 1);
    act_unsubscribe(w, "a");
    act_subscribe(w, "a");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    act_drain(w, "3 4 2");
}

static void wait_that_is_served_from_an_idle_queue_ends_its_turn(void **state)
{
    struct stage *s = *state;
    struct actor *w = in_turn(s, "ab");

    PUT(s, .queue = "b");
    act_drain(w, "1");
    act_wait(w);
    PUT(s, .queue = "a");
    stage_expect(s, "w leased 2");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    act_drain(w, "4 3");
}

// Takes by other sessions make the best job of a queue worse without an update of the index;
// releases make it better.
static void changes_behind_a_sessions_back_are_seen(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "a");
    struct actor *w = stage_worker(s, "w", "a");

    act_subscribe(w, "b");
    PUT(s, .queue = "a", .pri = 1);
    PUT(s, .queue = "a", .pri = 5);
    PUT(s, .queue = "b", .pri = 3);
    PUT(s, .queue = "b", .pri = 3);
    assert_int_equal(act_take(v), 1);
    assert_int_equal(act_take(w), 3);
    assert_status(STATUS_OK, act_release(v, 1, 2, 0));
    assert_status(STATUS_OK, act_release(w, 3, 9, 0));
    act_drain(w, "1 4 2 3");
}

static void job_that_comes_back_to_its_old_place_is_the_oldest_again(void **state)
{
    struct stage *s = *state;
    struct actor *v = stage_worker(s, "v", "a");
    struct actor *w = stage_worker(s, "w", "a");

    act_subscribe(w, "b");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    PUT(s, .queue = "a");
    PUT(s, .queue = "b");
    assert_int_equal(act_take(v), 1);
    assert_int_equal(act_take(w), 2);
    assert_int_equal(act_take(w), 3);
    assert_status(STATUS_OK, act_release(v, 1, 0, 0));
    assert_status(STATUS_OK, act_release(w, 3, 0, 0));
    act_drain(w, "1 3 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_queues_with_work_are_served_in_turn_at_little_cost),
        cmocka_unit_test(oldest_of_thousands_of_queues_is_found_at_little_cost),
        cmocka_unit_test(idle_queues_are_examined_once),
        cmocka_unit_test(urgent_jobs_of_others_cost_little),
        cmocka_unit_test(urgent_jobs_among_thousands_of_queues_cost_little),
        cmocka_unit_test(trickle_over_thousands_of_queues_costs_little),
        cmocka_unit_test(failed_search_is_charged_for_each_queue),
        cmocka_unit_test(search_where_nothing_is_ready_costs_nothing),
        cmocka_unit_test(beginning_and_ending_a_wait_cost_their_subscriptions),
        cmocka_unit_test(waiting_for_a_nudge_with_many_subscriptions_is_charged_before),
        STORY(idle_queue_keeps_its_turn),
        STORY(idle_queue_is_served_in_its_turn_though_many_others_open),
        STORY(queue_that_was_paused_is_served_in_its_turn),
        STORY(subscription_that_ends_while_its_queue_is_idle_leaves_the_others_their_turn),
        STORY(wait_that_is_served_from_an_idle_queue_ends_its_turn),
        STORY(changes_behind_a_sessions_back_are_seen),
        STORY(job_that_comes_back_to_its_old_place_is_the_oldest_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
