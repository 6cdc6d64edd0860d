/* SPDX-License-Identifier: MIT */
#include "push/push.h"

#include "core/broker.h"
#include "core/policy.h"
#include "proto_common/introspect_queues.h"
#include "push/push_private.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

// The endpoints that are called in a turn.
#define CALLS_AT_ONCE 16
// The queues that are assigned in a turn.
#define QUEUES_AT_ONCE 32
// If a subscription fails for lack of memory, all queues are assigned again after this time.
#define SEARCH_AGAIN_FOR NSEC_PER_SEC

struct push_plan {
    struct list_node endpoints;
};

static struct endpoint *endpoint_in_list(const struct list_node *node)
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

static void push_discard(struct endpoint *endpoint)
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
        push_discard(endpoint_in_list(first));
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
        push_discard(endpoint_in_list(first));
    }
    free(plan);
}

// The endpoint of the plan with the same spec; NULL: none.
static struct endpoint *push_find_same(const struct push_plan *plan,
                                       const struct endpoint *endpoint)
{
    list_each (node, &plan->endpoints) {
        if (push_spec_equal(endpoint_in_list(node)->spec, endpoint->spec)) {
            return endpoint_in_list(node);
        }
    }
    return NULL;
}

void push_adopt(struct push *push, struct push_plan *plan)
{
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_in_list(node);
        struct endpoint *same = endpoint->leaving ? NULL : push_find_same(plan, endpoint);

        if (same) {
            push_discard(same);
            endpoint_try_again(endpoint);
        } else {
            endpoint_leave(endpoint);
        }
    }
    list_each (node, &plan->endpoints) {
        push_call_by(push, endpoint_in_list(node), push_now(push));
    }
    list_append_all(&push->endpoints, &plan->endpoints);
    push_plan_free(plan);
    if (push->stops) {
        // The new endpoints do not begin, and the old ones finish their requests.
        push_stop(push);
        return;
    }
    // Queues may have other endpoints now.
    push->search_at = push_now(push);
    push->search_cursor = 0;
}

// The endpoint of the queue; NULL: none.
static struct endpoint *push_find_endpoint(const struct push *push, const struct queue *queue)
{
    const struct policy_rule *rule = broker_policy_fallback(push->broker, queue);

    if (!rule || !rule->tell) {
        return NULL;
    }
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_in_list(node);
        const char *name = endpoint->spec->name;

        if (!endpoint->leaving && slice_equal(rule->glob, slice_str(name))) {
            return endpoint;
        }
    }
    return NULL;
}

// Lets only the endpoint of the queue take its jobs. False: no memory.
static bool push_assign(const struct push *push, struct queue *queue)
{
    static const struct subscription_terms terms = {.limit_for = 0};
    struct endpoint *mine = push_find_endpoint(push, queue);
    struct slice name = queue_name(queue);

    // Subscribes before it unsubscribes others, so that the queue and its name stay.
    if (mine && !session_subscribed(mine->session, name) &&
        broker_subscribe(mine->session, name, &terms) != STATUS_OK) {
        return false;
    }
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_in_list(node);

        if (mine && endpoint == mine) {
            continue;
        }
        if (session_subscribed(endpoint->session, name)) {
            (void)broker_unsubscribe(endpoint->session, name, false);
            if (!mine) {
                // The queue may be gone with its last subscription. Only one endpoint was
                // subscribed.
                return true;
            }
        }
    }
    return true;
}

static void push_assign_or_search(struct push *push, struct queue *queue)
{
    if (!push_assign(push, queue)) {
        push->search_at = push_now(push) + SEARCH_AGAIN_FOR;
        push->search_cursor = 0;
    }
}

static void push_search(struct push *push)
{
    push->search_at = NSEC_NEVER;
    for (unsigned i = 0; i < QUEUES_AT_ONCE; i++) {
        struct queue *queue = broker_queue_next(push->broker, &push->search_cursor);

        if (!queue) {
            return;
        }
        push_assign_or_search(push, queue);
    }
    if (push->search_at == NSEC_NEVER) {
        push->search_at = push_now(push);
    }
}

static void push_assign_changed(struct push *push)
{
    for (unsigned i = 0; i < QUEUES_AT_ONCE && broker_policy_changed_pending(push->broker); i++) {
        push_assign_or_search(push, broker_policy_changed_next(push->broker));
    }
    if (push->search_at <= push_now(push)) {
        push_search(push);
    }
}

static bool push_store_advanced(const struct push *push)
{
    return !list_empty(&push->holding) && push->host.reached(push->host.context) != push->reached;
}

nsec_t push_due(const struct push *push)
{
    const struct endpoint *first = push_first_due(push);
    nsec_t at = first ? first->due_at : NSEC_NEVER;

    if (broker_policy_changed_pending(push->broker) || push_store_advanced(push)) {
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
    push_assign_changed(push);
    if (push_store_advanced(push)) {
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
            push_discard(first);
        }
    }
}

void push_stop(struct push *push)
{
    push->stops = true;
    list_each (node, &push->endpoints) {
        endpoint_leave(endpoint_in_list(node));
    }
}

bool push_is_busy(const struct push *push)
{
    return !list_empty(&push->endpoints);
}

bool push_resume(struct push *push, struct slice section)
{
    list_each (node, &push->endpoints) {
        struct endpoint *endpoint = endpoint_in_list(node);

        if (!endpoint->leaving && slice_equal(section, slice_str(endpoint->spec->name))) {
            endpoint_resume(endpoint);
            return true;
        }
    }
    return false;
}

bool push_endpoint_info(const struct push *push, size_t place, struct introspect_push *info)
{
    list_each (node, &push->endpoints) {
        if (place-- == 0) {
            endpoint_info(endpoint_in_list(node), info);
            return true;
        }
    }
    return false;
}

bool push_queue_endpoint_info(const struct push *push, const struct queue *queue,
                              struct introspect_push *info)
{
    const struct endpoint *endpoint = push_find_endpoint(push, queue);

    if (endpoint) {
        endpoint_info(endpoint, info);
    }
    return endpoint != NULL;
}

void push_durations_info(const struct push *push, struct introspect_distribution *info)
{
    push_times_info(&push->times, info);
}
