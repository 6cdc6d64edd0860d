/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_PUSH_PRIVATE_H
#define TANDEM_PUSH_PUSH_PRIVATE_H

// Push and its endpoints. push.c assigns queues to endpoints, and endpoint.c does the work of each.
//
// An endpoint is a session of the core that takes jobs of its queues, as many at a time as it has
// requests. Endpoints share nothing but the turn: each has its own connections, and a limit of
// jobs.
//
// The lease of a job is not renewed while its request is sent: the request has the job's time to
// run, or the endpoint's timeout if that is shorter, and fails shortly before the lease ends. So no
// second request for a job begins while the first may still be answered.

#include "core/base/list.h"
#include "core/base/tree.h"
#include "core/broker.h"
#include "push/breaker.h"
#include "push/multi.h"
#include "push/push_request.h"

// How long requests have taken, counted in buckets.
#define PUSH_TIME_BUCKETS 12
struct push_times {
    uint64_t counts[PUSH_TIME_BUCKETS]; /* private */
    uint64_t sum;                       /* private: nanoseconds */
};

struct push {
    struct push_host host;
    struct broker *broker;
    struct event_base *base;
    struct list_node endpoints;
    struct list_node holding; // endpoints with requests that are held for the store
    struct tree due;          // endpoints by due_at
    uint64_t reached;         // the store's log position when `holding` was last handled
    nsec_t search_at;         // when all queues are assigned again; NSEC_NEVER: not needed
    uint32_t search_cursor;
    bool stops;
    struct push_times times; // of all requests that were answered
};

static inline nsec_t push_now(const struct push *push)
{
    return broker_now(push->broker).mono;
}

struct endpoint {
    struct push *push;
    struct list_node all;     // in push->endpoints, or in a plan
    struct list_node holding; // in push->holding, while requests are held
    struct tree_node due;     // in push->due, unless due_at is NSEC_NEVER
    nsec_t due_at;            // when endpoint_work() is called
    struct push_spec *spec;
    struct session *session;
    struct multi multi;
    struct breaker breaker;
    struct push_request *requests; // spec->connections of them
    // Requests by their step; an idle one has no job.
    struct list_node idle, held, signing, sent, over;
    uint32_t busy;       // requests that are not idle
    nsec_t paused_until; // because the endpoint asked for it, or for lack of memory
    nsec_t sweep_at;     // when unused queues are searched for
    bool sweeps;         // the search is in progress
    struct subscription_walk walk;
    bool deferred; // it has asked for a pause, and not answered otherwise since
    bool awaits;   // a nudge
    bool leaving;  // it takes no more jobs
    uint64_t outcomes[OUTCOME_KINDS];
    nsec_t failure_logged_at; // when a failure was last logged
    uint64_t unlogged;        // failures since then
    char last_failure[OUTCOME_WHY_MAX];
};

//
// When endpoints are called
//

// The endpoint that is called first; NULL: none.
struct endpoint *push_first_due(const struct push *push);

// Has the endpoint called at that moment, or before.
void push_call_by(struct push *push, struct endpoint *endpoint, nsec_t due_at);

void push_times_info(const struct push_times *times, struct introspect_distribution *info);

//
// Endpoints
//

// Takes ownership of the spec. NULL, with `*why`: a failure, and the spec is freed.
struct endpoint *endpoint_new(struct push *push, struct push_spec *spec,
                              struct error_text *why) MUST_USE;

// Gives its jobs back. The endpoint must be in no list.
void endpoint_free(struct endpoint *endpoint);

// Lets it take no more jobs.
void endpoint_leave(struct endpoint *endpoint);

// Whether it has no jobs after endpoint_leave(), and can be freed.
bool endpoint_has_left(const struct endpoint *endpoint);

// Does a limited part of the work that is due, and sets due_at.
void endpoint_work(struct endpoint *endpoint);

// Ends a pause, whatever its reason.
void endpoint_try_again(struct endpoint *endpoint);

// The same for an operator; logs it if the endpoint is paused.
void endpoint_resume(struct endpoint *endpoint);

// The info borrows from the endpoint.
void endpoint_info(const struct endpoint *endpoint, struct introspect_push *info);

#endif
