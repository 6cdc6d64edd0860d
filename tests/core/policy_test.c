/* SPDX-License-Identifier: MIT */
// The rule of a queue is the first one that matches its name, for old and new queues and rules.
#include "tests/core/stage.h"
#include "tests/support/broker_check.h"
#include "tests/support/policies.h"

#include "core/policy.h"

#include <stdio.h>
#include <string.h>

static struct policy_rule rule(const char *glob, uint64_t tag, bool tell)
{
    return (struct policy_rule){
        .glob = slice_str(glob), .origin = slice_str(glob), .tag = tag, .tell = tell};
}

#define SET(s, rules) set_policies((s)->broker, rules, sizeof(rules) / sizeof *(rules))

static struct queue *hold(struct stage *s, const char *name)
{
    struct queue *queue = NULL;

    assert_status(STATUS_OK, broker_queue_hold(s->broker, slice_str(name), &queue));
    return queue;
}

static void assert_origin(const struct queue *queue, const char *origin)
{
    const struct policy_rule *rule = queue_policy(queue);

    assert_non_null(rule);
    assert_true(slice_equal(rule->origin, slice_str(origin)));
}

static void first_rule_that_matches_counts(void **state)
{
    struct stage *s = *state;
    const struct policy_rule rules[] = {rule("mail.*", 1, false), rule("*.late", 2, false)};
    struct queue *both, *late, *none;

    assert_status(STATUS_OK, SET(s, rules));
    both = hold(s, "mail.late");
    late = hold(s, "post.late");
    none = hold(s, "post");
    assert_origin(both, "mail.*");
    assert_origin(late, "*.late");
    assert_int_equal(queue_policy(late)->tag, 2);
    assert_null(queue_policy(none));
    broker_queue_drop(s->broker, both);
    broker_queue_drop(s->broker, late);
    broker_queue_drop(s->broker, none);
}

static void existing_queues_get_new_rules_in_the_next_ticks(void **state)
{
    struct stage *s = *state;
    const struct policy_rule first[] = {rule("*", 0, false)};
    const struct policy_rule second[] = {rule("q-1*", 0, false)};
    enum { QUEUES = 3 * BROKER_SLICE };

    struct queue *queues[QUEUES];
    size_t fit = 0;

    assert_status(STATUS_OK, SET(s, first));
    for (size_t i = 0; i < QUEUES; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "q-%zu", i);
        queues[i] = hold(s, name);
    }
    assert_status(STATUS_OK, SET(s, second));
    assert_false(check_policies_settled(s->broker));
    broker_tick(s->broker, s->now);
    assert_false(check_policies_settled(s->broker));
    assert_int_equal(broker_next_due(s->broker), s->now.mono);
    stage_settle(s);
    assert_true(check_policies_settled(s->broker));
    for (size_t i = 0; i < QUEUES; i++) {
        fit += queue_policy(queues[i]) != NULL;
        broker_queue_drop(s->broker, queues[i]);
    }
    assert_int_equal(fit, 1 + 10 + 92); // 1, 10 to 19, 100 to 191
}

static void host_is_told_of_queues_that_get_or_lose_a_rule_it_asked_about(void **state)
{
    struct stage *s = *state;
    const struct policy_rule rules[] = {rule("told", 0, true), rule("*", 0, false)};
    const struct policy_rule others[] = {rule("*", 0, false)};
    struct queue *told, *quiet;

    assert_status(STATUS_OK, SET(s, rules));
    told = hold(s, "told");
    quiet = hold(s, "quiet");
    assert_true(broker_policy_changed_pending(s->broker));
    assert_ptr_equal(broker_policy_changed_next(s->broker), told);
    assert_null(broker_policy_changed_next(s->broker));
    assert_status(STATUS_OK, SET(s, others));
    stage_settle(s);
    assert_ptr_equal(broker_policy_changed_next(s->broker), told);
    assert_false(broker_policy_changed_pending(s->broker));
    broker_queue_drop(s->broker, told);
    broker_queue_drop(s->broker, quiet);
}

static void rule_that_falls_through_leaves_the_settings_of_the_host_to_the_next(void **state)
{
    struct stage *s = *state;
    struct policy_rule rules[] = {rule("a.*", 0, true), rule("*.b", 1, true), rule("*", 2, false)};
    struct queue *both, *one;

    rules[0].falls_through = true;
    assert_status(STATUS_OK, SET(s, rules));
    both = hold(s, "a.b");
    one = hold(s, "a.c");
    assert_origin(both, "a.*");
    assert_int_equal(broker_policy_fallback(s->broker, both)->tag, 1);
    assert_int_equal(broker_policy_fallback(s->broker, one)->tag, 2);
    assert_ptr_equal(broker_policy_changed_next(s->broker), both);
    assert_ptr_equal(broker_policy_changed_next(s->broker), one);
    broker_queue_drop(s->broker, both);
    broker_queue_drop(s->broker, one);
}

static void removed_queue_is_not_reported(void **state)
{
    struct stage *s = *state;
    const struct policy_rule rules[] = {rule("*", 0, true)};

    assert_status(STATUS_OK, SET(s, rules));
    broker_queue_drop(s->broker, hold(s, "q"));
    assert_false(broker_policy_changed_pending(s->broker));
}

static void too_many_rules_change_nothing(void **state)
{
    struct stage *s = *state;
    const struct policy_rule rules[] = {rule("*", 0, false)};
    struct policy_rule many[POLICY_RULES_MAX + 1] = {{.glob = SLICE("x")}};
    struct queue *queue;

    assert_status(STATUS_OK, SET(s, rules));
    assert_status(STATUS_TOO_LARGE, SET(s, many));
    queue = hold(s, "q");
    assert_origin(queue, "*");
    broker_queue_drop(s->broker, queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(first_rule_that_matches_counts),
        STORY(existing_queues_get_new_rules_in_the_next_ticks),
        STORY(host_is_told_of_queues_that_get_or_lose_a_rule_it_asked_about),
        STORY(rule_that_falls_through_leaves_the_settings_of_the_host_to_the_next),
        STORY(removed_queue_is_not_reported),
        STORY(too_many_rules_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
