/* SPDX-License-Identifier: MIT */

// The rules are set anew: which queues that brings to another policy.

#include "core/base/glob.h"
#include "core/broker_private.h"
#include "core/policy_private.h"
#include "core/queue_private.h"

#include <stdlib.h>

// So many globs are matched in the place of one queue that is looked at.
#define GLOBS_AT_ONCE 16
// Where there is no memory for what a queue needs, its policy is tried again after so long.
#define AGAIN_FOR NSEC_PER_SEC

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

// False without memory; the set is to be cleared in any case.
static bool set_fill(struct policy_set *set, const struct policy_rule *rules, size_t count)
{
    set->all = calloc(count + 1, sizeof *set->all);
    for (; set->all && set->count < count; set->count++) {
        set->all[set->count] = policy_new(&rules[set->count]);
        if (!set->all[set->count]) {
            return false;
        }
    }
    return set->all;
}

enum status policies_copy(const struct policy_rule *rules, size_t count,
                          struct policy_copies **copies)
{
    struct policy_copies *made;

    if (count > POLICY_RULES_MAX) {
        return STATUS_TOO_LARGE;
    }
    made = calloc(1, sizeof *made);
    if (!made || !set_fill(&made->set, rules, count)) {
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

enum status broker_set_policies(struct broker *broker, const struct policy_rule *rules,
                                size_t count)
{
    struct policy_copies *copies = NULL;
    enum status status = policies_copy(rules, count, &copies);

    if (status == STATUS_OK) {
        broker_use_policies(broker, copies);
    }
    return status;
}

bool broker_policies_settled(const struct broker *broker)
{
    return !broker->policies.changed;
}

// The place that the walk looks at next; NULL after the last.
static struct queue *next_queue(struct broker *broker)
{
    struct queue *queue;

    do {
        queue = table_next(&broker->index.queues, &broker->policies.cursor);
    } while (queue && queue->gone);
    return queue;
}

struct queue *policies_walk(struct broker *broker, unsigned *budget)
{
    struct policies *policies = &broker->policies;
    unsigned each = 1 + (unsigned)(policies->set.count / GLOBS_AT_ONCE);

    while (*budget > 0) {
        uint32_t cursor = policies->cursor;
        struct queue *queue = next_queue(broker);
        struct policy *before = queue ? queue->policy : NULL;

        if (!queue) {
            policies->changed = false;
            return NULL;
        }
        if (!policy_attach(broker, queue, policy_for(broker, queue_name(queue)))) {
            policies->cursor = cursor;
            policies->again_at = nsec_add(broker->now.mono, AGAIN_FOR);
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

        if (!rule->falls_through && glob_matches(rule->glob, queue_name(queue))) {
            return rule;
        }
    }
    return NULL;
}
