/* SPDX-License-Identifier: MIT */
// Shares of takes among queues with weights.
#include "tests/core/stage.h"
#include "tests/support/broker_check.h"
#include "tests/support/policies.h"

#include <stdio.h>
#include <string.h>

enum { TAKES = 1000, QUEUES = 4 };

static const char *const names[QUEUES] = {"a", "b", "c", "d"};

static struct policy_rule weight_rule(const char *glob, uint32_t weight)
{
    return (struct policy_rule){.glob = stage_slice(glob), .spec = {.weight = weight}};
}

// 0: no policy matches it.
static void set_weights(struct stage *s, const uint32_t weights[QUEUES])
{
    struct policy_rule rules[QUEUES];
    size_t count = 0;

    for (size_t i = 0; i < QUEUES; i++) {
        rules[count] = weight_rule(names[i], weights[i]);
        count += weights[i] > 0;
    }
    assert_status(STATUS_OK, set_policies(s->broker, rules, count));
    while (!check_policies_settled(s->broker)) {
        broker_tick(s->broker, s->now);
    }
}

static struct actor *worker(struct stage *s)
{
    struct actor *w = stage_open(s, "w");

    for (size_t i = 0; i < QUEUES; i++) {
        act_subscribe(w, names[i]);
    }
    return w;
}

static void put(struct stage *s, size_t queue, uint32_t pri)
{
    struct job_spec spec = {.pri = pri, .durable = true};
    struct submission submission;

    ENSURE(queue < QUEUES);
    s->recorded.len = 0;
    assert_status(STATUS_OK,
                  broker_submit_to(s->broker, stage_slice(names[queue]), &spec, NULL, &submission));
}

// Takes and completes a job. The job's queue; QUEUES for none.
static size_t take(struct actor *w)
{
    const struct job *job;
    size_t queue = 0;

    if (broker_take(w->session, &job) != STATUS_OK) {
        return QUEUES;
    }
    while (!slice_equal(queue_name(job_queue(w->stage->broker, job)), stage_slice(names[queue]))) {
        queue++;
    }
    assert_status(STATUS_OK, broker_complete(w->session, job_id(job), NULL));
    return queue;
}

// Of these takes, one queue has had `part` parts of `whole`, within 5 %.
static void assert_share(size_t count, size_t takes, size_t part, size_t whole)
{
    assert_true(count * whole * 100 >= takes * part * 95);
    assert_true(count * whole * 100 <= takes * part * 105);
}

static void count_takes(struct actor *w, size_t takes, size_t counts[QUEUES])
{
    memset(counts, 0, QUEUES * sizeof *counts);
    for (size_t i = 0; i < takes; i++) {
        size_t queue = take(w);

        assert_true(queue < QUEUES);
        counts[queue]++;
        put(w->stage, queue, 0); // no queue becomes empty
    }
}

static void fill(struct stage *s, size_t queues, int jobs)
{
    for (size_t i = 0; i < queues; i++) {
        for (int k = 0; k < jobs; k++) {
            put(s, i, 0);
        }
    }
}

static void shares_follow_the_weights(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {5, 3, 1, 1};
    struct actor *w = worker(s);
    size_t counts[QUEUES];

    set_weights(s, weights);
    fill(s, QUEUES, 3);
    count_takes(w, TAKES, counts);
    for (size_t i = 0; i < QUEUES; i++) {
        assert_share(counts[i], TAKES, weights[i], 10);
    }
}

static void largest_weight_is_as_exact(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {1000, 999, 500, 501};
    struct actor *w = worker(s);
    size_t counts[QUEUES];

    set_weights(s, weights);
    fill(s, QUEUES, 2);
    count_takes(w, 3 * TAKES, counts);
    for (size_t i = 0; i < QUEUES; i++) {
        assert_share(counts[i], 3 * TAKES, weights[i], 3000);
    }
}

static void several_sessions_share_the_same_turns(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {4, 2, 1, 1};
    struct actor *w[] = {worker(s), worker(s), worker(s)};
    size_t counts[QUEUES] = {0};

    set_weights(s, weights);
    fill(s, QUEUES, 3);
    for (size_t i = 0; i < TAKES; i++) {
        size_t queue = take(w[i % 3]);

        counts[queue]++;
        put(s, queue, 0);
    }
    for (size_t i = 0; i < QUEUES; i++) {
        assert_share(counts[i], TAKES, weights[i], 8);
    }
}

// Another session has its own queues and is much faster.
static void others_turns_change_nothing(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {3, 1, 1, 1};
    struct actor *v = stage_open(s, "v");
    struct actor *w = stage_open(s, "w");
    size_t counts[QUEUES] = {0};

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    act_subscribe(v, "c");
    act_subscribe(v, "d");
    set_weights(s, weights);
    fill(s, QUEUES, 3);
    for (size_t i = 0; i < TAKES; i++) {
        size_t queue = take(w);

        counts[queue]++;
        put(s, queue, 0);
        for (int k = 0; k < 7; k++) {
            put(s, take(v), 0);
        }
    }
    assert_share(counts[0], TAKES, 3, 4);
    assert_share(counts[1], TAKES, 1, 4);
}

static void queues_without_a_weight_count_as_one_in_which_the_oldest_goes_first(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {3, 0, 0, 0};
    struct actor *w = worker(s);
    size_t counts[QUEUES] = {0};
    size_t next = 0;

    set_weights(s, weights);
    fill(s, 1, 3);
    for (size_t i = 0; i < TAKES; i++) {
        put(s, 1 + i % 3, 0);
    }
    for (size_t i = 0; i < TAKES; i++) {
        size_t queue = take(w);

        counts[queue]++;
        if (queue == 0) {
            put(s, 0, 0);
        } else {
            assert_int_equal(queue, 1 + next++ % 3);
        }
    }
    assert_share(counts[0], TAKES, 3, 4);
}

static void empty_queue_saves_no_turns(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {1, 1, 0, 0};
    struct actor *w = worker(s);
    size_t counts[QUEUES] = {0};

    set_weights(s, weights);
    fill(s, 2, 500);
    for (int i = 0; i < 500; i++) {
        assert_true(take(w) < 2);
    }
    while (stage_queue(s, "b").jobs[JOB_READY] > 0) {
        assert_true(take(w) < 2);
        put(s, 0, 0);
    }
    for (int i = 0; i < 500; i++) {
        assert_int_equal(take(w), 0);
        put(s, 0, 0);
    }
    fill(s, 2, 500);
    for (int i = 0; i < 100; i++) {
        counts[take(w)]++;
    }
    assert_share(counts[0], 100, 1, 2);
}

static void lower_priority_number_goes_before_any_weight(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {1000, 1, 0, 0};
    struct actor *w = worker(s);

    set_weights(s, weights);
    put(s, 0, 5);
    put(s, 0, 5);
    put(s, 1, 4);
    put(s, 2, 3);
    put(s, 1, 2);
    assert_int_equal(take(w), 1);
    assert_int_equal(take(w), 2);
    assert_int_equal(take(w), 1);
    assert_int_equal(take(w), 0);
    assert_int_equal(take(w), 0);
    assert_int_equal(take(w), QUEUES);
}

static void closed_queue_is_skipped_and_saves_no_turns(void **state)
{
    struct stage *s = *state;
    const struct policy_rule rules[] = {
        {.glob = SLICE("a"), .spec = {.weight = 9, .max_running = 1}},
        {.glob = SLICE("b"), .spec = {.weight = 1}},
    };
    struct actor *w = worker(s);
    const struct job *held;
    size_t counts[QUEUES] = {0};

    assert_status(STATUS_OK, set_policies(s->broker, rules, 2));
    stage_settle(s);
    fill(s, 2, 300);
    assert_status(STATUS_OK, broker_take(w->session, &held));
    for (int i = 0; i < 50; i++) {
        assert_int_equal(take(w), 1);
    }
    assert_status(STATUS_OK, broker_complete(w->session, job_id(held), NULL));
    for (int i = 0; i < 100; i++) {
        counts[take(w)]++;
    }
    assert_share(counts[0], 100, 9, 10);
}

static void without_weights_the_oldest_goes_first(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {5, 1, 0, 0};
    const uint32_t none[QUEUES] = {0};
    struct actor *w = worker(s);

    set_weights(s, weights);
    set_weights(s, none);
    for (size_t i = 0; i < 40; i++) {
        put(s, i * 7 % QUEUES, 0);
    }
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(take(w), i * 7 % QUEUES);
    }
}

static void session_that_chooses_in_turn_ignores_weights(void **state)
{
    struct stage *s = *state;
    const uint32_t weights[QUEUES] = {9, 1, 0, 0};
    struct actor *w = stage_open_in_turn(s, "w");
    size_t counts[QUEUES];

    act_subscribe(w, "a");
    act_subscribe(w, "b");
    set_weights(s, weights);
    fill(s, 2, 3);
    count_takes(w, 100, counts);
    assert_int_equal(counts[0], 50);
}

// A choice examines a few queues, whichever other sessions take from them, and however many queues
// the session has.
static void choice_among_many_weighted_queues_examines_few(void **state)
{
    enum { MANY = 500 };

    struct stage *s = stage_new((struct broker_options){0}, false);
    struct actor *w = stage_open(s, "w");
    const struct policy_rule rule = weight_rule("*", 1);
    char name[16];

    (void)state;
    assert_status(STATUS_OK, set_policies(s->broker, &rule, 1));
    for (int i = 0; i < MANY; i++) {
        const struct subscription_terms terms = {.limit_for = 0};
        struct job_spec spec = {.durable = true};
        struct submission submission;

        (void)snprintf(name, sizeof name, "q%d", i);
        assert_status(STATUS_OK, broker_subscribe(w->session, stage_slice(name), &terms));
        assert_status(STATUS_OK,
                      broker_submit_to(s->broker, stage_slice(name), &spec, NULL, &submission));
    }
    for (int i = 0; i < 3 * MANY / 4; i++) {
        (void)broker_take_links(s->broker);
        assert_true(act_take(w) > 0);
        assert_true(broker_take_links(s->broker) < 10);
    }
    stage_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(shares_follow_the_weights),
        STORY(largest_weight_is_as_exact),
        STORY(several_sessions_share_the_same_turns),
        STORY(others_turns_change_nothing),
        STORY(queues_without_a_weight_count_as_one_in_which_the_oldest_goes_first),
        STORY(empty_queue_saves_no_turns),
        STORY(lower_priority_number_goes_before_any_weight),
        STORY(closed_queue_is_skipped_and_saves_no_turns),
        STORY(without_weights_the_oldest_goes_first),
        STORY(session_that_chooses_in_turn_ignores_weights),
        STORY(choice_among_many_weighted_queues_examines_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
