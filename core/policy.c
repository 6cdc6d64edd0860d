/* SPDX-License-Identifier: MIT */
#include "core/policy_private.h"

#include "core/base/glob.h"
#include "core/broker_private.h"
#include "core/gate.h"
#include "core/queue_private.h"

#include <stdlib.h>
#include <string.h>

static void release(struct policy *policy)
{
    if (policy && --policy->users == 0) {
        free(policy);
    }
}

static struct slice keep(struct policy *policy, size_t *at, struct slice text)
{
    char *to = policy->names + *at;

    if (text.len > 0) {
        memcpy(to, text.ptr, text.len);
    }
    *at += text.len;
    return slice_of(to, text.len);
}

struct policy *policy_new(const struct policy_rule *rule)
{
    size_t len =
        sizeof(struct policy) + rule->glob.len + rule->origin.len + rule->spec.dead_queue.len;
    struct policy *policy = malloc(len);
    size_t at = 0;

    if (policy) {
        policy->rule = *rule;
        policy->users = 1;
        policy->len = len;
        policy->rule.glob = keep(policy, &at, rule->glob);
        policy->rule.origin = keep(policy, &at, rule->origin);
        policy->rule.spec.dead_queue = keep(policy, &at, rule->spec.dead_queue);
    }
    return policy;
}

void policy_set_clear(struct policy_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        release(set->all[i]);
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

static bool tells(const struct policy *policy)
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
    if ((tells(before) || tells(policy)) && !list_linked(&queue->policed)) {
        list_append(&broker->policies.news, &queue->policed);
    }
    if (policy) {
        policy->users++;
    }
    queue->policy = policy;
    if (queue->gate) {
        gate_set(broker, queue, whole_before_for);
    }
    release(before);
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
