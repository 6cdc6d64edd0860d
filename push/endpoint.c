/* SPDX-License-Identifier: MIT */
#include "push/endpoint.h"

#include "core/base/log.h"
#include "push/push_private.h"

#include <stdlib.h>

// Jobs that one endpoint takes in a turn.
#define TAKES_AT_ONCE 16
// So long nothing is taken where memory did not suffice.
#define NO_MEMORY_FOR NSEC_PER_SEC
// How often queues that only the endpoint still refers to are given up, and how many are looked at
// in a turn.
#define SWEEP_EVERY (60 * NSEC_PER_SEC)
#define SWEEP_AT_ONCE 16
// How often what the store refused is tried again.
#define RETRY_EVERY NSEC_PER_SEC

static void on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE(); // it waits for a nudge, and takes
}

static void on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void on_nudged(void *owner)
{
    struct endpoint *endpoint = owner;

    endpoint->awaits = false;
    push_call_by(endpoint->push, endpoint, push_now(endpoint->push));
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE(); // it watches none
}

static const struct session_ops session_ops = {
    .leased = on_leased, .wait_over = on_wait_over, .nudged = on_nudged, .job_event = on_job_event};

static nsec_t multi_now(void *owner)
{
    struct push *push = ((struct endpoint *)owner)->push;

    push->host.tick(push->host.context);
    return push_now(push);
}

static bool multi_may_send(void *owner)
{
    const struct push *push = ((struct endpoint *)owner)->push;

    return push->host.may_send(push->host.context);
}

static void multi_changed(void *owner)
{
    struct endpoint *endpoint = owner;

    push_call_by(endpoint->push, endpoint,
                 list_empty(&endpoint->over) ? endpoint->multi.timer_at : 0);
}

static void multi_over(void *owner, CURL *transfer, CURLcode result)
{
    struct endpoint *endpoint = owner;
    struct request *request = NULL;

    (void)curl_easy_getinfo(transfer, CURLINFO_PRIVATE, &request);
    request_judge(request, result);
    list_remove(&request->step);
    list_append(&endpoint->over, &request->step);
}

static const struct multi_ops multi_ops = {
    .now = multi_now, .may_send = multi_may_send, .changed = multi_changed, .over = multi_over};

static bool open_requests(struct endpoint *endpoint)
{
    const struct push_spec *spec = endpoint->spec;

    endpoint->requests = calloc(spec->connections, sizeof *endpoint->requests);
    for (unsigned i = 0; endpoint->requests && i < spec->connections; i++) {
        if (!request_open(&endpoint->requests[i], spec)) {
            return false;
        }
        list_append(&endpoint->idle, &endpoint->requests[i].step);
    }
    return endpoint->requests != NULL;
}

struct endpoint *endpoint_new(struct push *push, struct push_spec *spec, struct error_text *why)
{
    struct endpoint *endpoint = calloc(1, sizeof *endpoint);

    if (!endpoint) {
        push_spec_free(spec);
        (void)error_set(why, "push: out of memory");
        return NULL;
    }
    *endpoint = (struct endpoint){.push = push, .spec = spec, .due_at = NSEC_NEVER};
    list_init(&endpoint->all);
    list_init(&endpoint->holding);
    list_init(&endpoint->idle);
    list_init(&endpoint->held);
    list_init(&endpoint->signing);
    list_init(&endpoint->sent);
    list_init(&endpoint->over);
    if (!multi_open(&endpoint->multi, push->base, spec->connections, &multi_ops, endpoint) ||
        !open_requests(endpoint) ||
        broker_session_open(push->broker, &session_ops, endpoint, CHOICE_OLDEST,
                            &endpoint->session) != STATUS_OK) {
        (void)error_set(why, "push: out of memory, or libcurl has no OpenSSL");
        endpoint_free(endpoint);
        return NULL;
    }
    return endpoint;
}

void endpoint_free(struct endpoint *endpoint)
{
    list_each (node, &endpoint->sent) {
        multi_take_off(&endpoint->multi, list_item(node, struct request, step)->transfer);
    }
    for (unsigned i = 0; endpoint->requests && i < endpoint->spec->connections; i++) {
        struct request *request = &endpoint->requests[i];

        if (request->busy) {
            // What the store has no room for now is ready after a restart in any case.
            (void)endpoint_give_back(endpoint, request->job_id);
        }
        if (request->transfer) {
            request_close(request);
        }
    }
    free(endpoint->requests);
    multi_close(&endpoint->multi);
    // Not before: libcurl sets its timer anew for each transfer that it loses.
    push_call_at(endpoint->push, endpoint, NSEC_NEVER);
    if (endpoint->sweeps) {
        subscription_walk_end(&endpoint->walk);
    }
    broker_session_close(endpoint->session);
    push_spec_free(endpoint->spec);
    free(endpoint);
}

void endpoint_leave(struct endpoint *endpoint)
{
    if (endpoint->leaving) {
        return;
    }
    endpoint->leaving = true;
    // It waits for a nudge at most, which can always be called off.
    (void)broker_unwait(endpoint->session);
    endpoint->awaits = false;
    push_call_by(endpoint->push, endpoint, push_now(endpoint->push));
}

bool endpoint_has_left(const struct endpoint *endpoint)
{
    return endpoint->leaving && endpoint->busy == 0;
}

// How many jobs it may have at a time, as things are.
static unsigned most_now(const struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->leaving || now_at < endpoint->paused_until) {
        return 0;
    }
    return breaker_most(&endpoint->breaker, now_at, endpoint->spec->connections);
}

// The job was taken. Should another request still be about it, that was taken away from the
// endpoint in between, and its answer would be taken for the word about this attempt.
static void begin(struct endpoint *endpoint, const struct job *job)
{
    struct list_node *first = list_first(&endpoint->idle);
    struct request *request;

    ENSURE(first);
    request = list_item(first, struct request, step);
    for (unsigned i = 0; i < endpoint->spec->connections; i++) {
        struct request *other = &endpoint->requests[i];

        other->stale = other->stale || (other->busy && other->job_id == job_id(job));
    }
    request->busy = true;
    endpoint->busy++;
    request->job_id = job_id(job);
    request->position = broker_job_position(endpoint->push->broker, job);
    request->began_at = push_now(endpoint->push);
    list_remove(&request->step);
    list_append(&endpoint->held, &request->step);
}

// Takes jobs while it may have more. What ends it without a word is a nudge, or the end of a
// request.
static void take(struct endpoint *endpoint)
{
    const struct job *job = NULL;

    for (unsigned i = 0; i < TAKES_AT_ONCE && endpoint->busy < most_now(endpoint); i++) {
        enum status status = broker_take(endpoint->session, &job);

        if (status == STATUS_OK) {
            begin(endpoint, job);
        } else if (status != STATUS_EMPTY) {
            endpoint_pause(endpoint, NO_MEMORY_FOR);
            return;
        } else if (broker_await_nudge(endpoint->session)) {
            endpoint->awaits = true;
            return;
        }
    }
}

static bool is_unused(const struct endpoint *endpoint, const struct queue *queue)
{
    struct queue_info info;
    uint64_t jobs = 0;

    broker_queue_info(endpoint->push->broker, queue, &info);
    for (unsigned i = 0; i < JOB_STATES; i++) {
        jobs += info.jobs[i];
    }
    return jobs == 0 && info.holders == 0 && info.subscriptions == 1 && !info.kept;
}

// A subscription keeps its queue. One that nobody else refers to goes, as it would without push; if
// it comes again, push is told of it like of any other.
static void sweep(struct endpoint *endpoint)
{
    if (!endpoint->sweeps) {
        subscription_walk_begin(&endpoint->walk, endpoint->session);
        endpoint->sweeps = subscription_walk_keep(&endpoint->walk);
    }
    for (unsigned i = 0; endpoint->sweeps && i < SWEEP_AT_ONCE; i++) {
        struct queue *queue = subscription_walk_next(&endpoint->walk);

        if (!queue) {
            subscription_walk_end(&endpoint->walk);
            endpoint->sweeps = false;
        } else if (is_unused(endpoint, queue)) {
            (void)broker_unsubscribe(endpoint->session, queue_name(queue), false);
        }
    }
    endpoint->sweep_at = push_now(endpoint->push) + (endpoint->sweeps ? 0 : SWEEP_EVERY);
}

static nsec_t earlier(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

// When there will be something to do that no event tells of.
static nsec_t next_due(const struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);
    nsec_t due_at = earlier(endpoint->multi.timer_at, endpoint->sweep_at);
    nsec_t pause_until = endpoint->paused_until > endpoint->breaker.open_until
                             ? endpoint->paused_until
                             : endpoint->breaker.open_until;

    if (!list_empty(&endpoint->signing)) {
        return now_at;
    }
    if (!list_empty(&endpoint->over) || !list_empty(&endpoint->held)) {
        // The store has no room, or has not reached what they wait for.
        due_at = earlier(due_at, now_at + RETRY_EVERY);
    }
    if (endpoint->leaving || endpoint->awaits) {
        return due_at;
    }
    if (pause_until > now_at) {
        return earlier(due_at, pause_until);
    }
    return endpoint->busy < most_now(endpoint) ? now_at : due_at;
}

void endpoint_work(struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->multi.timer_at <= now_at) {
        multi_run(&endpoint->multi);
    }
    endpoint_finish(endpoint);
    if (!endpoint->awaits && !endpoint->leaving) {
        take(endpoint);
    }
    endpoint_send(endpoint);
    // Those that cannot be sent after all.
    endpoint_finish(endpoint);
    if (endpoint->sweep_at <= now_at) {
        sweep(endpoint);
    }
    push_call_at(endpoint->push, endpoint, next_due(endpoint));
}
