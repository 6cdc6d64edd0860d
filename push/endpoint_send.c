/* SPDX-License-Identifier: MIT */
#include "push/endpoint.h"

#include "push/push_private.h"

#include <stdio.h>

// Bytes of bodies that one endpoint signs in a turn: less than a millisecond's work.
#define SIGNED_AT_ONCE ((size_t)256 << 10)
// A request ends so long before the lease of its job, or a tenth of it where that is less.
#define BEFORE_LEASE_END (100 * NSEC_PER_MSEC)

// It will not be sent: its job is given back.
static void keep_back(struct endpoint *endpoint, struct request *request, const char *why)
{
    request->outcome = (struct outcome){.kind = OUTCOME_UNSENT};
    (void)snprintf(request->outcome.why, sizeof request->outcome.why, "%s", why);
    list_remove(&request->step);
    list_append(&endpoint->over, &request->step);
}

static void lack_memory(struct endpoint *endpoint, struct request *request)
{
    endpoint_pause(endpoint, NSEC_PER_SEC);
    keep_back(endpoint, request, "out of memory");
}

// How long the request may take.
static nsec_t time_for(const struct endpoint *endpoint, const struct job_info *info)
{
    nsec_t margin = info->remaining_for / 10;
    nsec_t left;

    if (info->ttr_for == 0) {
        return endpoint->spec->timeout_for;
    }
    left = info->remaining_for - (margin < BEFORE_LEASE_END ? margin : BEFORE_LEASE_END);
    return left < endpoint->spec->timeout_for ? left : endpoint->spec->timeout_for;
}

// A large body is shared with the job, a small one copied. False without memory.
static bool body_of(const struct job *job, struct blob **body)
{
    struct slice bytes = job_body(job);

    *body = job_blob(job) ? blob_ref(job_blob(job)) : bytes.len > 0 ? blob_copy(bytes) : NULL;
    return *body || bytes.len == 0;
}

static bool prepare(struct endpoint *endpoint, struct request *request, const struct job *job)
{
    struct push *push = endpoint->push;
    struct instant now = broker_now(push->broker);
    struct parcel parcel;
    struct job_info info;
    struct blob *body;

    broker_job_info(push->broker, job, &info);
    parcel_name(&parcel, push->host.handles, info.id, info.created_at, queue_name(info.queue));
    parcel.attempt = info.attempts + 1;
    parcel.sent_at = now.wall;
    parcel.deadline_at = now.wall + time_for(endpoint, &info);
    return body_of(job, &body) && request_begin(request, &parcel, body, time_for(endpoint, &info));
}

// The job of a held request may leave now.
static void begin(struct endpoint *endpoint, struct request *request)
{
    struct push *push = endpoint->push;
    const struct job *job = broker_find(push->broker, request->job_id);

    // The time that it has waited for the store is not the endpoint's.
    if (!job || broker_touch(endpoint->session, request->job_id) != STATUS_OK) {
        endpoint_idle(endpoint, request);
        return;
    }
    if (!prepare(endpoint, request, job)) {
        lack_memory(endpoint, request);
        return;
    }
    list_remove(&request->step);
    list_append(&endpoint->signing, &request->step);
}

// Looks at each request that is held, of which there are as many as connections at most.
static void release_held(struct endpoint *endpoint)
{
    struct push *push = endpoint->push;
    nsec_t now_at = push_now(push);
    uint64_t reached = push->host.reached(push->host.context);

    for (struct list_node *node = endpoint->held.next, *next; node != &endpoint->held;
         node = next) {
        struct request *request = list_item(node, struct request, step);

        next = node->next;
        if (push->stops) {
            keep_back(endpoint, request, "the broker stops");
        } else if (request->position <= reached) {
            begin(endpoint, request);
        } else if (now_at - request->began_at > endpoint->spec->timeout_for) {
            keep_back(endpoint, request, "the store does not make the job safe");
        }
    }
    list_remove(&endpoint->holding);
    if (!list_empty(&endpoint->held)) {
        list_append(&push->holding, &endpoint->holding);
    }
}

static void post(struct endpoint *endpoint, struct request *request)
{
    if (!multi_add(&endpoint->multi, request->transfer)) {
        lack_memory(endpoint, request);
        return;
    }
    request->began_at = push_now(endpoint->push);
    list_remove(&request->step);
    list_append(&endpoint->sent, &request->step);
}

static void sign(struct endpoint *endpoint)
{
    size_t budget = SIGNED_AT_ONCE;
    struct list_node *first;

    while (budget > 0 && (first = list_first(&endpoint->signing))) {
        struct request *request = list_item(first, struct request, step);

        if (endpoint->push->stops) {
            keep_back(endpoint, request, "the broker stops");
            continue;
        }
        if (request->stale) {
            endpoint_idle(endpoint, request);
            continue;
        }
        switch (request_sign(request, &budget)) {
        case SIGNING_MORE:
            break;
        case SIGNING_FAILED:
            lack_memory(endpoint, request);
            break;
        case SIGNING_DONE:
            post(endpoint, request);
            break;
        }
    }
}

void endpoint_send(struct endpoint *endpoint)
{
    release_held(endpoint);
    sign(endpoint);
}
