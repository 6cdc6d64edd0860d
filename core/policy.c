/* SPDX-License-Identifier: MIT */

#include "core/policy_private.h"

#include "core/base/glob.h"
#include "core/broker_private.h"
#include "core/gate.h"
#include "core/queue_private.h"

#include <stdlib.h>
#include <string.h>

static void policy_release(struct policy *policy)
{
    if (policy && --policy->users == 0) {
        free(policy);
    }
}

static struct slice policy_copy_text(struct policy *policy, size_t *at, struct slice text)
{
    char *to = policy->names + *at;

    if (text.len > 0) {
        memcpy(to, text.ptr, text.len);
    }
    *at += text.len;
    return slice_of(to, text.len);
}

// A copy of the rule, with one user; NULL without memory.
static struct policy *policy_new(const struct policy_rule *rule)
{
    size_t len =
        sizeof(struct policy) + rule->glob.len + rule->origin.len + rule->spec.dead_queue.len;
    struct policy *policy = malloc(len);
    size_t at = 0;

    if (policy) {
        policy->rule = *rule;
        policy->users = 1;
        policy->len = len;
        policy->rule.glob = policy_copy_text(policy, &at, rule->glob);
        policy->rule.origin = policy_copy_text(policy, &at, rule->origin);
        policy->rule.spec.dead_queue = policy_copy_text(policy, &at, rule->spec.dead_queue);
    }
    return policy;
}

// Empties the set; queues keep their policies until they get others.
static void policy_set_clear(struct policy_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        policy_release(set->all[i]);
    }
    free(set->all);
    *set = (struct policy_set){0};
}

struct policy *policy_for(const struct broker *broker, struct slice name)
{
    const struct policy_set *set = &broker->policies.set;

    for (size_t i = 0; i < set->count; i++) {
        if (glob_matches(set->all[i]->rule.glob, name)) {
            return set->all[i];
        }
    }
    return NULL;
}

static bool policy_notifies(const struct policy *policy)
{
    return policy && policy->rule.tell;
}

bool policy_attach(struct broker *broker, struct queue *queue, struct policy *policy)
{
    struct policy *before = queue->policy;
    nsec_t whole_before_for = before ? gate_recovery_for(queue) : 0;

    if (policy == before) {
        return true;
    }
    if (policy && gate_wanted(&policy->rule.spec) && !queue->gate && !gate_make(broker, queue)) {
        return false;
    }
    if ((policy_notifies(before) || policy_notifies(policy)) && !list_linked(&queue->policed)) {
        list_append(&broker->policies.news, &queue->policed);
    }
    if (policy) {
        policy->users++;
    }
    queue->policy = policy;
    if (queue->gate) {
        gate_set(broker, queue, whole_before_for);
    }
    policy_release(before);
    return true;
}

const struct policy_rule *queue_policy(const struct queue *queue)
{
    return queue->policy ? &queue->policy->rule : NULL;
}

void policies_init(struct policies *policies)
{
    list_init(&policies->news);
}

void policies_clear(struct broker *broker)
{
    policy_set_clear(&broker->policies.set);
}

// The globs whose comparison costs as much as one queue.
#define GLOBS_PER_QUEUE 16
// Without memory for the gate of a queue, its policy is tried again after this time.
#define POLICY_RETRY_FOR NSEC_PER_SEC

struct policy_copies {
    struct policy_set set;
};

void policies_discard(struct policy_copies *copies)
{
    if (copies) {
        policy_set_clear(&copies->set);
        free(copies);
    }
}

enum status policies_copy(const struct policy_rule *rules, size_t count,
                          struct policy_copies **copies)
{
    struct policy_copies *made;
    struct policy_set *set;

    if (count > POLICY_RULES_MAX) {
        return STATUS_TOO_LARGE;
    }
    made = calloc(1, sizeof *made);
    if (!made) {
        return STATUS_NO_MEMORY;
    }
    set = &made->set;
    set->all = calloc(count + 1, sizeof *set->all);
    while (set->all && set->count < count &&
           (set->all[set->count] = policy_new(&rules[set->count]))) {
        set->count++;
    }
    if (!set->all || set->count < count) {
        policies_discard(made);
        return STATUS_NO_MEMORY;
    }
    *copies = made;
    return STATUS_OK;
}

void broker_use_policies(struct broker *broker, struct policy_copies *copies)
{
    bool none = broker->policies.set.count == 0 && copies->set.count == 0;

    policy_set_clear(&broker->policies.set);
    broker->policies.set = copies->set;
    broker->policies.cursor = 0;
    broker->policies.changed = broker->policies.changed || !none;
    broker->rare = broker->rare || !none;
    broker->policies.again_at = 0;
    free(copies);
}

struct queue *policies_walk(struct broker *broker, unsigned *budget)
{
    struct policies *policies = &broker->policies;
    unsigned each = 1 + (unsigned)(policies->set.count / GLOBS_PER_QUEUE);

    while (*budget > 0) {
        uint32_t cursor = policies->cursor;
        struct queue *queue = table_next(&broker->index.queues, &policies->cursor);
        struct policy *before;

        if (queue && queue->gone) {
            continue;
        }
        if (!queue) {
            policies->changed = false;
            return NULL;
        }
        before = queue->policy;
        if (!policy_attach(broker, queue, policy_for(broker, queue_name_slice(queue)))) {
            policies->cursor = cursor;
            policies->again_at = nsec_add(broker->now.mono, POLICY_RETRY_FOR);
            return NULL;
        }
        *budget -= each < *budget ? each : *budget;
        if (queue->policy != before) {
            return queue;
        }
    }
    return NULL;
}

struct queue *broker_policy_changed_next(struct broker *broker)
{
    struct list_node *first = list_first(&broker->policies.news);

    if (!first) {
        return NULL;
    }
    list_remove(first);
    return list_item(first, struct queue, policed);
}

bool broker_policy_changed_pending(const struct broker *broker)
{
    return !list_empty(&broker->policies.news);
}

const struct policy_rule *broker_policy_fallback(const struct broker *broker,
                                                 const struct queue *queue)
{
    const struct policy_set *set = &broker->policies.set;

    for (size_t i = 0; i < set->count; i++) {
        const struct policy_rule *rule = &set->all[i]->rule;

        if (!rule->falls_through && glob_matches(rule->glob, queue_name_slice(queue))) {
            return rule;
        }
    }
    return NULL;
}
