/* SPDX-License-Identifier: MIT */
#include "push/push.h"

#include "core/broker.h"
#include "core/policy.h"
#include "proto_common/sight_push.h"
#include "push/push_private.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

// Endpoints that are called in a turn.
#define CALLS_AT_ONCE 16
// Queues that are looked at in a turn.
#define QUEUES_AT_ONCE 32
// After a subscription failed for lack of memory, all queues are looked through this much later.
#define SEARCH_AGAIN_FOR NSEC_PER_SEC

struct push_plan {
    struct list_node endpoints;
};

static struct endpoint *endpoint_at(const struct list_node *node)
{
    return list_item((struct list_node *)(uintptr_t)node, struct endpoint, all);
}

struct push *push_new(const struct push_host *host, struct broker *broker, struct event_base *base,
                      struct error_text *why)
{
    struct push *push;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        !(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS)) {
        (void)error_set(why, "push: this libcurl holds up its caller to look up names");
        return NULL;
    }
    push = calloc(1, sizeof *push);
    if (!push) {
        (void)error_set(why, "push: out of memory");
        return NULL;
    }
    *push = (struct push){.host = *host, .broker = broker, .base = base, .search_at = NSEC_NEVER};
    list_init(&push->endpoints);
    list_init(&push->holding);
    return push;
}

static void discard(struct endpoint *endpoint)
{
    list_remove(&endpoint->holding);
    list_remove(&endpoint->all);
    endpoint_free(endpoint);
}

void push_free(struct push *push)
{
    struct list_node *first;

    if (!push) {
        return;
    }
    while ((first = list_first(&push->endpoints))) {
        discard(endpoint_at(first));
    }
    free(push);
    curl_global_cleanup();
}

struct push_plan *push_plan_new(struct push *push, const struct push_settings *settings,
                                size_t count, struct error_text *why)
{
    struct push_plan *plan = calloc(1, sizeof *plan);

    if (!plan) {
        (void)error_set(why, "push: out of memory");
        return NULL;
    }
    list_init(&plan->endpoints);
    for (size_t i = 0; i < count; i++) {
        struct push_spec *spec = push_spec_new(&settings[i], why);
        struct endpoint *endpoint = spec ? endpoint_new(push, spec, why) : NULL;

        if (!endpoint) {
            push_plan_free(plan);
            return NULL;
        }
        list_append(&plan->endpoints, &endpoint->all);
    }
    return plan;
}

void push_plan_free(struct push_plan *plan)
{
    struct list_node *first;

    while (plan && (first = list_first(&plan->endpoints))) {
        discard(endpoint_at(first));
    }
    free(plan);
}

// The endpoint of the plan that is the same; NULL where it has none.
static struct endpoint *find_same(const struct push_plan *plan, const struct endpoint *endpoint)
{
    list_each (node, &plan->endpoints) {
        if (push_spec_equal(endpoint_at(node)->spec, endpoint->spec)) {
            return endpoint_at(node);
        }
    }
    return NULL;
}

void push_adopt(struct push *push, struct push_plan *plan)
{
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_at(node);
        struct endpoint *same = endpoint->leaving ? NULL : find_same(plan, endpoint);

        if (same) {
            discard(same);
            endpoint_try_again(endpoint);
        } else {
            endpoint_leave(endpoint);
        }
    }
    list_each (node, &plan->endpoints) {
        push_call_by(push, endpoint_at(node), push_now(push));
    }
    list_append_all(&push->endpoints, &plan->endpoints);
    push_plan_free(plan);
    if (push->stops) {
        // None begins any more; those that are leaving are waited for.
        push_stop(push);
        return;
    }
    // Which queues are whose may be another matter now.
    push->search_at = push_now(push);
    push->search_cursor = 0;
}

// The endpoint that the queue's jobs are for; NULL where they are for none.
static struct endpoint *endpoint_of(const struct push *push, const struct queue *queue)
{
    const struct policy_rule *rule = broker_policy_fallback(push->broker, queue);

    if (!rule || !rule->tell) {
        return NULL;
    }
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_at(node);
        const char *name = endpoint->spec->name;

        if (!endpoint->leaving && slice_equal(rule->glob, slice_str(name))) {
            return endpoint;
        }
    }
    return NULL;
}

// Sees to it that just the endpoint that the queue is for takes jobs from it. False without memory.
static bool assign(const struct push *push, struct queue *queue)
{
    static const struct subscription_terms terms = {.limit_for = 0};
    struct endpoint *mine = endpoint_of(push, queue);
    struct slice name = queue_name(queue);

    // First the subscription, so that the queue, and its name, stay.
    if (mine && !session_subscribed(mine->session, name) &&
        broker_subscribe(mine->session, name, &terms) != STATUS_OK) {
        return false;
    }
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_at(node);

        if (mine && endpoint == mine) {
            continue;
        }
        if (session_subscribed(endpoint->session, name)) {
            (void)broker_unsubscribe(endpoint->session, name, false);
            if (!mine) {
                // It may have been the last one to refer to the queue, or another has it.
                return true;
            }
        }
    }
    return true;
}

static void assign_or_search(struct push *push, struct queue *queue)
{
    if (!assign(push, queue)) {
        push->search_at = push_now(push) + SEARCH_AGAIN_FOR;
        push->search_cursor = 0;
    }
}

static void search(struct push *push)
{
    push->search_at = NSEC_NEVER;
    for (unsigned i = 0; i < QUEUES_AT_ONCE; i++) {
        struct queue *queue = broker_queue_next(push->broker, &push->search_cursor);

        if (!queue) {
            return;
        }
        assign_or_search(push, queue);
    }
    if (push->search_at == NSEC_NEVER) {
        push->search_at = push_now(push);
    }
}

static void hear_of_queues(struct push *push)
{
    for (unsigned i = 0; i < QUEUES_AT_ONCE && broker_policy_changed_pending(push->broker); i++) {
        assign_or_search(push, broker_policy_changed_next(push->broker));
    }
    if (push->search_at <= push_now(push)) {
        search(push);
    }
}

static bool store_got_on(const struct push *push)
{
    return !list_empty(&push->holding) && push->host.reached(push->host.context) != push->reached;
}

nsec_t push_due(const struct push *push)
{
    const struct endpoint *first = push_first_due(push);
    nsec_t at = first ? first->due_at : NSEC_NEVER;

    if (broker_policy_changed_pending(push->broker) || store_got_on(push)) {
        return 0;
    }
    return at < push->search_at ? at : push->search_at;
}

void push_work(struct push *push)
{
    nsec_t now_at = push_now(push);
    struct endpoint *first;

    if (!push->host.may_send(push->host.context)) {
        return;
    }
    hear_of_queues(push);
    if (store_got_on(push)) {
        push->reached = push->host.reached(push->host.context);
        list_each (node, &push->holding) {
            push_call_by(push, list_item(node, struct endpoint, holding), now_at);
        }
    }
    for (unsigned i = 0; i < CALLS_AT_ONCE; i++) {
        first = push_first_due(push);
        if (!first || first->due_at > now_at) {
            return;
        }
        endpoint_work(first);
        if (endpoint_has_left(first)) {
            discard(first);
        }
    }
}

void push_stop(struct push *push)
{
    push->stops = true;
    list_each (node, &push->endpoints) {
        endpoint_leave(endpoint_at(node));
    }
}

bool push_is_busy(const struct push *push)
{
    return !list_empty(&push->endpoints);
}

bool push_resume(struct push *push, struct slice section)
{
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_at(node);

        if (!endpoint->leaving && slice_equal(section, slice_str(endpoint->spec->name))) {
            endpoint_resume(endpoint);
            return true;
        }
    }
    return false;
}

bool push_show(const struct push *push, size_t place, struct sight_push *shown)
{
    list_each (node, &push->endpoints) {
        if (place-- == 0) {
            endpoint_show(endpoint_at(node), shown);
            return true;
        }
    }
    return false;
}

bool push_show_of(const struct push *push, const struct queue *queue, struct sight_push *shown)
{
    const struct endpoint *endpoint = endpoint_of(push, queue);

    if (endpoint) {
        endpoint_show(endpoint, shown);
    }
    return endpoint != NULL;
}

void push_show_seconds(const struct push *push, struct sight_distribution *shown)
{
    times_show(&push->times, shown);
}
