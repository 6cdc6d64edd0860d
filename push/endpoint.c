/* SPDX-License-Identifier: MIT */
#include "push/push_private.h"

#include "core/base/log.h"
#include "proto_common/introspect.h"
#include "proto_common/introspect_queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//
// When endpoints are called
//

static struct endpoint *endpoint_by_due(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct endpoint, due);
}

static bool endpoint_is_due_before(const struct tree_node *a, const struct tree_node *b)
{
    nsec_t a_at = endpoint_by_due(a)->due_at;
    nsec_t b_at = endpoint_by_due(b)->due_at;

    return a_at < b_at || (a_at == b_at && (uintptr_t)a < (uintptr_t)b);
}

struct endpoint *push_first_due(const struct push *push)
{
    const struct tree_node *first = tree_first(&push->due);

    return first ? endpoint_by_due(first) : NULL;
}

// Has the endpoint called at that moment; NSEC_NEVER: not at all.
static void push_call_at(struct push *push, struct endpoint *endpoint, nsec_t due_at)
{
    if (due_at == endpoint->due_at) {
        return;
    }
    if (endpoint->due_at != NSEC_NEVER) {
        tree_remove(&push->due, &endpoint->due, endpoint_is_due_before);
    }
    endpoint->due_at = due_at;
    if (due_at != NSEC_NEVER) {
        tree_insert(&push->due, &endpoint->due, endpoint_is_due_before);
    }
}

void push_call_by(struct push *push, struct endpoint *endpoint, nsec_t due_at)
{
    if (due_at < endpoint->due_at) {
        push_call_at(push, endpoint, due_at);
    }
}

//
// How long requests have taken
//

static const int64_t push_time_ends[PUSH_TIME_BUCKETS] = {
    5 * NSEC_PER_MSEC,   10 * NSEC_PER_MSEC,  25 * NSEC_PER_MSEC,  50 * NSEC_PER_MSEC,
    100 * NSEC_PER_MSEC, 250 * NSEC_PER_MSEC, 500 * NSEC_PER_MSEC, NSEC_PER_SEC,
    5 * NSEC_PER_SEC,    10 * NSEC_PER_SEC,   30 * NSEC_PER_SEC,   INT64_MAX};

static void push_times_add(struct push_times *times, nsec_t took_for)
{
    unsigned bucket = 0;

    while (took_for > push_time_ends[bucket]) {
        bucket++;
    }
    times->counts[bucket]++;
    times->sum += (uint64_t)took_for;
}

void push_times_info(const struct push_times *times, struct introspect_distribution *info)
{
    *info = (struct introspect_distribution){.ends = push_time_ends,
                                             .counts = times->counts,
                                             .buckets = PUSH_TIME_BUCKETS,
                                             .sum = times->sum};
    for (unsigned i = 0; i < PUSH_TIME_BUCKETS; i++) {
        info->count += times->counts[i];
    }
}

//
// Events
//

// The jobs that an endpoint takes in a turn.
#define TAKES_AT_ONCE 16
// After a lack of memory, no job is taken for this long.
#define NO_MEMORY_FOR NSEC_PER_SEC
// How often unused queues are given up, and how many are checked in a turn.
#define SWEEP_EVERY (60 * NSEC_PER_SEC)
#define SWEEP_AT_ONCE 16
// How often a change that the store refused is retried.
#define RETRY_EVERY NSEC_PER_SEC

static void endpoint_on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE(); // an endpoint waits for a nudge, and takes
}

static void endpoint_on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void endpoint_on_nudged(void *owner)
{
    struct endpoint *endpoint = owner;

    endpoint->awaits = false;
    push_call_by(endpoint->push, endpoint, push_now(endpoint->push));
}

static void endpoint_on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE(); // an endpoint watches no jobs
}

static const struct session_ops endpoint_session_ops = {.leased = endpoint_on_leased,
                                                        .wait_over = endpoint_on_wait_over,
                                                        .nudged = endpoint_on_nudged,
                                                        .job_event = endpoint_on_job_event};

static nsec_t endpoint_tick(void *owner)
{
    struct push *push = ((struct endpoint *)owner)->push;

    push->host.tick(push->host.context);
    return push_now(push);
}

static bool endpoint_may_send(void *owner)
{
    const struct push *push = ((struct endpoint *)owner)->push;

    return push->host.may_send(push->host.context);
}

static void endpoint_changed(void *owner)
{
    struct endpoint *endpoint = owner;

    push_call_by(endpoint->push, endpoint,
                 list_empty(&endpoint->over) ? endpoint->multi.timer_at : 0);
}

static void endpoint_over(void *owner, CURL *transfer, CURLcode result)
{
    struct endpoint *endpoint = owner;
    struct push_request *request = NULL;

    (void)curl_easy_getinfo(transfer, CURLINFO_PRIVATE, &request);
    push_request_judge(request, result);
    list_remove(&request->step);
    list_append(&endpoint->over, &request->step);
}

static const struct multi_ops endpoint_multi_ops = {.now = endpoint_tick,
                                                    .may_send = endpoint_may_send,
                                                    .changed = endpoint_changed,
                                                    .over = endpoint_over};

//
// Pauses
//

static void endpoint_idle(struct endpoint *endpoint, struct push_request *request)
{
    push_request_clear(request);
    list_remove(&request->step);
    list_append(&endpoint->idle, &request->step);
    request->busy = false;
    endpoint->busy--;
}

static void endpoint_pause(struct endpoint *endpoint, nsec_t pause_for)
{
    nsec_t until = nsec_add(push_now(endpoint->push), pause_for);

    if (until > endpoint->paused_until) {
        endpoint->paused_until = until;
    }
}

void endpoint_try_again(struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    endpoint->paused_until = 0;
    endpoint->breaker.open_until = 0;
    push_call_by(endpoint->push, endpoint, now_at);
}

void endpoint_resume(struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->paused_until > now_at || endpoint->breaker.open_until > now_at) {
        log_info("push_resuming", log_string("section", endpoint->spec->name),
                 log_string("endpoint", endpoint->spec->origin),
                 log_string("why", "an operator ends the pause"));
    }
    endpoint_try_again(endpoint);
}

static bool endpoint_give_back(struct endpoint *endpoint, uint64_t id)
{
    struct broker *broker = endpoint->push->broker;
    const struct job *job = broker_find(broker, id);
    const struct job_act act = {.kind = ACT_RELEASE};

    return !job || !job_held_by(broker, job, endpoint->session) ||
           broker_act(broker, NULL, id, &act) != STATUS_NO_SPACE;
}

//
// Life
//

static bool endpoint_open_requests(struct endpoint *endpoint)
{
    const struct push_spec *spec = endpoint->spec;

    endpoint->requests = calloc(spec->connections, sizeof *endpoint->requests);
    for (unsigned i = 0; endpoint->requests && i < spec->connections; i++) {
        if (!push_request_open(&endpoint->requests[i], spec)) {
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
    if (!multi_open(&endpoint->multi, push->base, spec->connections, &endpoint_multi_ops,
                    endpoint) ||
        !endpoint_open_requests(endpoint) ||
        broker_session_open(push->broker, &endpoint_session_ops, endpoint, CHOICE_OLDEST,
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
        multi_remove(&endpoint->multi, list_item(node, struct push_request, step)->transfer);
    }
    for (unsigned i = 0; endpoint->requests && i < endpoint->spec->connections; i++) {
        struct push_request *request = &endpoint->requests[i];

        if (request->busy) {
            // If the store has no room for this, the job is ready after the next start.
            (void)endpoint_give_back(endpoint, request->job_id);
        }
        if (request->transfer) {
            push_request_close(request);
        }
    }
    free(endpoint->requests);
    multi_close(&endpoint->multi);
    // Only now, because libcurl sets its timer for each transfer that is removed.
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
    // It can only be waiting for a nudge, and such a wait can always end.
    (void)broker_unwait(endpoint->session);
    endpoint->awaits = false;
    push_call_by(endpoint->push, endpoint, push_now(endpoint->push));
}

bool endpoint_has_left(const struct endpoint *endpoint)
{
    return endpoint->leaving && endpoint->busy == 0;
}

//
// Taking jobs
//

// The limit of jobs at this moment.
static unsigned endpoint_request_limit(const struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->leaving || now_at < endpoint->paused_until) {
        return 0;
    }
    return breaker_most(&endpoint->breaker, now_at, endpoint->spec->connections);
}

// The job was taken. If another request still has the same job, the endpoint has lost the job since
// then, and the response to that request must not count for this attempt.
static void endpoint_begin(struct endpoint *endpoint, const struct job *job)
{
    struct list_node *first = list_first(&endpoint->idle);
    struct push_request *request;

    ENSURE(first);
    request = list_item(first, struct push_request, step);
    for (unsigned i = 0; i < endpoint->spec->connections; i++) {
        struct push_request *other = &endpoint->requests[i];

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

// Takes jobs up to the limit. If there are no more jobs, a nudge calls the endpoint again; if the
// limit is reached, the end of a request does.
static void endpoint_take(struct endpoint *endpoint)
{
    const struct job *job = NULL;

    for (unsigned i = 0; i < TAKES_AT_ONCE && endpoint->busy < endpoint_request_limit(endpoint);
         i++) {
        enum status status = broker_take(endpoint->session, &job);

        if (status == STATUS_OK) {
            endpoint_begin(endpoint, job);
        } else if (status != STATUS_EMPTY) {
            endpoint_pause(endpoint, NO_MEMORY_FOR);
            return;
        } else if (broker_await_nudge(endpoint->session)) {
            endpoint->awaits = true;
            return;
        }
    }
}

//
// Sending
//

// The bytes of bodies that an endpoint signs in a turn: less than a millisecond of work.
#define SIGNED_AT_ONCE ((size_t)256 << 10)
// A request ends this long before the lease of its job, or a tenth of the lease before if that is
// less.
#define BEFORE_LEASE_END (100 * NSEC_PER_MSEC)

// The request is not sent: its job will be given back.
static void endpoint_hold_back(struct endpoint *endpoint, struct push_request *request,
                               const char *why)
{
    request->outcome = (struct push_outcome){.kind = OUTCOME_UNSENT};
    (void)snprintf(request->outcome.why, sizeof request->outcome.why, "%s", why);
    list_remove(&request->step);
    list_append(&endpoint->over, &request->step);
}

static void endpoint_out_of_memory(struct endpoint *endpoint, struct push_request *request)
{
    endpoint_pause(endpoint, NSEC_PER_SEC);
    endpoint_hold_back(endpoint, request, "out of memory");
}

// The time limit of the request.
static nsec_t endpoint_time_for(const struct endpoint *endpoint, const struct job_info *info)
{
    nsec_t margin = info->remaining_for / 10;
    nsec_t left;

    if (info->ttr_for == 0) {
        return endpoint->spec->timeout_for;
    }
    left = info->remaining_for - (margin < BEFORE_LEASE_END ? margin : BEFORE_LEASE_END);
    return left < endpoint->spec->timeout_for ? left : endpoint->spec->timeout_for;
}

// Shares a large body with the job, and copies a small one. False: no memory.
static bool push_copy_body(const struct job *job, struct blob **body)
{
    struct slice bytes = job_body(job);

    *body = job_blob(job) ? blob_ref(job_blob(job)) : bytes.len > 0 ? blob_copy(bytes) : NULL;
    return *body || bytes.len == 0;
}

static bool endpoint_prepare(struct endpoint *endpoint, struct push_request *request,
                             const struct job *job)
{
    struct push *push = endpoint->push;
    struct instant now = broker_now(push->broker);
    struct push_message message;
    struct job_info info;
    struct blob *body;

    broker_job_info(push->broker, job, &info);
    push_message_name(&message, push->host.handles, info.id, info.created_at,
                      queue_name(info.queue));
    message.attempt = info.attempts + 1;
    message.sent_at = now.wall;
    message.deadline_at = now.wall + endpoint_time_for(endpoint, &info);
    return push_copy_body(job, &body) &&
           push_request_begin(request, &message, body, endpoint_time_for(endpoint, &info));
}

// The job of a held request is stored, and may be sent.
static void endpoint_release(struct endpoint *endpoint, struct push_request *request)
{
    struct push *push = endpoint->push;
    const struct job *job = broker_find(push->broker, request->job_id);

    // The time to run begins again: the endpoint does not lose the time of the wait for the store.
    if (!job || broker_touch(endpoint->session, request->job_id) != STATUS_OK) {
        endpoint_idle(endpoint, request);
        return;
    }
    if (!endpoint_prepare(endpoint, request, job)) {
        endpoint_out_of_memory(endpoint, request);
        return;
    }
    list_remove(&request->step);
    list_append(&endpoint->signing, &request->step);
}

// Checks each held request; there are at most as many as connections.
static void endpoint_release_held(struct endpoint *endpoint)
{
    struct push *push = endpoint->push;
    nsec_t now_at = push_now(push);
    uint64_t reached = push->host.reached(push->host.context);

    for (struct list_node *node = endpoint->held.next, *next; node != &endpoint->held;
         node = next) {
        struct push_request *request = list_item(node, struct push_request, step);

        next = node->next;
        if (push->stops) {
            endpoint_hold_back(endpoint, request, "the broker stops");
        } else if (request->position <= reached) {
            endpoint_release(endpoint, request);
        } else if (now_at - request->began_at > endpoint->spec->timeout_for) {
            endpoint_hold_back(endpoint, request, "the store does not make the job safe");
        }
    }
    list_remove(&endpoint->holding);
    if (!list_empty(&endpoint->held)) {
        list_append(&push->holding, &endpoint->holding);
    }
}

static void endpoint_post(struct endpoint *endpoint, struct push_request *request)
{
    if (!multi_add(&endpoint->multi, request->transfer)) {
        endpoint_out_of_memory(endpoint, request);
        return;
    }
    request->began_at = push_now(endpoint->push);
    list_remove(&request->step);
    list_append(&endpoint->sent, &request->step);
}

static void endpoint_sign(struct endpoint *endpoint)
{
    size_t budget = SIGNED_AT_ONCE;
    struct list_node *first;

    while (budget > 0 && (first = list_first(&endpoint->signing))) {
        struct push_request *request = list_item(first, struct push_request, step);

        if (endpoint->push->stops) {
            endpoint_hold_back(endpoint, request, "the broker stops");
            continue;
        }
        if (request->stale) {
            endpoint_idle(endpoint, request);
            continue;
        }
        switch (push_request_sign(request, &budget)) {
        case SIGNING_MORE:
            break;
        case SIGNING_FAILED:
            endpoint_out_of_memory(endpoint, request);
            break;
        case SIGNING_DONE:
            endpoint_post(endpoint, request);
            break;
        }
    }
}

//
// Finishing
//

// A failure of an endpoint is logged at most once in this time; the next line has the number of the
// others.
#define FAILURE_LOG_EVERY (10 * NSEC_PER_SEC)

static void endpoint_log_failure(struct endpoint *endpoint, const struct push_request *request)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->failure_logged_at && now_at - endpoint->failure_logged_at < FAILURE_LOG_EVERY) {
        endpoint->unlogged++;
        return;
    }
    log_warn("push_failed", log_string("section", endpoint->spec->name),
             log_string("endpoint", endpoint->spec->origin),
             log_number("job", (int64_t)request->job_id),
             log_string("outcome", push_outcome_names[request->outcome.kind]),
             log_string("why", request->outcome.why),
             log_number("unlogged", (int64_t)endpoint->unlogged));
    endpoint->failure_logged_at = now_at;
    endpoint->unlogged = 0;
}

// The endpoint has answered. Logs the end of a pause.
static void endpoint_is_up(struct endpoint *endpoint)
{
    if (endpoint->breaker.failures >= BREAKER_FAILURES || endpoint->deferred) {
        log_info("push_resumed", log_string("section", endpoint->spec->name),
                 log_string("endpoint", endpoint->spec->origin));
    }
    endpoint->deferred = false;
    breaker_succeed(&endpoint->breaker);
}

// The endpoint asks for a pause. Several responses may ask for it at the same time, and each retry
// may ask again: it is logged once.
static void endpoint_is_deferred(struct endpoint *endpoint, const struct push_outcome *outcome)
{
    if (!endpoint->deferred) {
        log_warn(
            "push_paused", log_string("section", endpoint->spec->name),
            log_string("endpoint", endpoint->spec->origin), log_string("why", outcome->why),
            log_number("seconds", outcome->pause_for / NSEC_PER_SEC),
            log_string("note", "it asks for that by Retry-After; tandemctl push-resume ends it"));
    }
    endpoint->deferred = true;
    endpoint_pause(endpoint, outcome->pause_for);
}

static void endpoint_is_down(struct endpoint *endpoint, const char *why)
{
    bool open = endpoint->breaker.failures >= BREAKER_FAILURES;

    breaker_fail(&endpoint->breaker, push_now(endpoint->push));
    if (!open && endpoint->breaker.failures >= BREAKER_FAILURES) {
        log_warn("push_paused", log_string("section", endpoint->spec->name),
                 log_string("endpoint", endpoint->spec->origin), log_string("why", why),
                 log_string("note", "it is tried less and less often"));
    }
}

// Updates the state of the endpoint by the outcome, apart from the job.
static void endpoint_note(struct endpoint *endpoint, struct push_request *request)
{
    const struct push_outcome *outcome = &request->outcome;

    request->noted = true;
    endpoint->outcomes[outcome->kind]++;
    if (outcome->kind != OUTCOME_COMPLETED) {
        memcpy(endpoint->last_failure, outcome->why, sizeof endpoint->last_failure);
        endpoint_log_failure(endpoint, request);
    }
    if (outcome->kind == OUTCOME_UNSENT) {
        return;
    }
    if (outcome->status > 0) {
        push_times_add(&endpoint->push->times, push_now(endpoint->push) - request->began_at);
    }
    if (outcome->pause_for > 0) {
        endpoint_is_deferred(endpoint, outcome);
    } else if (outcome->down || outcome->kind == OUTCOME_DEFERRED) {
        endpoint_is_down(endpoint, outcome->why);
    } else {
        endpoint_is_up(endpoint);
    }
}

// Logs that the outcome is too late: the endpoint no longer holds the job, because a client has
// taken it away or its time to run has ended.
static void push_log_late(const struct push_request *request, enum status status)
{
    if (status != STATUS_OK) {
        log_debug("push_late", log_number("job", (int64_t)request->job_id),
                  log_string("outcome", push_outcome_names[request->outcome.kind]),
                  log_string("why", status_text(status)));
    }
}

static void endpoint_fail_job(struct endpoint *endpoint, const struct push_request *request)
{
    const char *why = request->outcome.why;
    struct blob *words = blob_copy(slice_str(why));

    // NULL, without memory: then the job fails without a text.
    push_log_late(request, broker_fail(endpoint->session, request->job_id, words));
    blob_unref(words);
}

// False: the store has no room for the change now.
static bool endpoint_carry_out(struct endpoint *endpoint, struct push_request *request)
{
    if (request->stale) {
        return true;
    }
    switch (request->outcome.kind) {
    case OUTCOME_COMPLETED:
        // After the job's time to run has ended, this counts if no other worker has taken the job.
        push_log_late(request,
                      broker_complete(endpoint->session, request->job_id, request->outcome.result));
        return true;
    case OUTCOME_DEFERRED:
    case OUTCOME_UNREACHABLE:
    case OUTCOME_UNSENT:
        return endpoint_give_back(endpoint, request->job_id);
    case OUTCOME_REFUSED:
    case OUTCOME_BROKEN:
    case OUTCOME_TIMED_OUT:
    case OUTCOME_TOO_LARGE:
        endpoint_fail_job(endpoint, request);
        return true;
    }
    UNREACHABLE();
}

static void endpoint_finish(struct endpoint *endpoint)
{
    for (struct list_node *node = endpoint->over.next, *next; node != &endpoint->over;
         node = next) {
        struct push_request *request = list_item(node, struct push_request, step);

        next = node->next;
        if (!request->noted) {
            endpoint_note(endpoint, request);
        }
        if (endpoint_carry_out(endpoint, request)) {
            endpoint_idle(endpoint, request);
        }
    }
}

//
// Subscriptions
//

static bool endpoint_queue_is_unused(const struct endpoint *endpoint, const struct queue *queue)
{
    struct queue_info info;
    uint64_t jobs = 0;

    broker_queue_info(endpoint->push->broker, queue, &info);
    for (unsigned i = 0; i < JOB_STATES; i++) {
        jobs += info.jobs[i];
    }
    return jobs == 0 && info.holders == 0 && info.subscriptions == 1 && !info.kept;
}

// A subscription keeps its queue. A queue to which nothing else refers is given up, as it would be
// removed without push; if it is created again, it is assigned like any other.
static void endpoint_sweep(struct endpoint *endpoint)
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
        } else if (endpoint_queue_is_unused(endpoint, queue)) {
            (void)broker_unsubscribe(endpoint->session, queue_name(queue), false);
        }
    }
    endpoint->sweep_at = push_now(endpoint->push) + (endpoint->sweeps ? 0 : SWEEP_EVERY);
}

//
// Work
//

static nsec_t endpoint_earlier(nsec_t a, nsec_t b)
{
    return a < b ? a : b;
}

// The next work for which there will be no event.
static nsec_t endpoint_next_due(const struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);
    nsec_t due_at = endpoint_earlier(endpoint->multi.timer_at, endpoint->sweep_at);
    nsec_t pause_until = endpoint->paused_until > endpoint->breaker.open_until
                             ? endpoint->paused_until
                             : endpoint->breaker.open_until;

    if (!list_empty(&endpoint->signing)) {
        return now_at;
    }
    if (!list_empty(&endpoint->over) || !list_empty(&endpoint->held)) {
        // The store has no room, or has not reached the log position of a held request.
        due_at = endpoint_earlier(due_at, now_at + RETRY_EVERY);
    }
    if (endpoint->leaving || endpoint->awaits) {
        return due_at;
    }
    if (pause_until > now_at) {
        return endpoint_earlier(due_at, pause_until);
    }
    return endpoint->busy < endpoint_request_limit(endpoint) ? now_at : due_at;
}

void endpoint_work(struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->multi.timer_at <= now_at) {
        multi_run(&endpoint->multi);
    }
    endpoint_finish(endpoint);
    if (!endpoint->awaits && !endpoint->leaving) {
        endpoint_take(endpoint);
    }
    endpoint_release_held(endpoint);
    endpoint_sign(endpoint);
    // Requests that could not be sent.
    endpoint_finish(endpoint);
    if (endpoint->sweep_at <= now_at) {
        endpoint_sweep(endpoint);
    }
    push_call_at(endpoint->push, endpoint, endpoint_next_due(endpoint));
}

//
// Introspection
//

static const char *endpoint_state(const struct endpoint *endpoint, nsec_t until)
{
    if (endpoint->leaving) {
        return "leaving";
    }
    if (until > push_now(endpoint->push)) {
        return "paused";
    }
    return endpoint->breaker.failures < BREAKER_FAILURES ? "open" : "trying";
}

void endpoint_info(const struct endpoint *endpoint, struct introspect_push *info)
{
    nsec_t now_at = push_now(endpoint->push);
    nsec_t until = endpoint->paused_until > endpoint->breaker.open_until
                       ? endpoint->paused_until
                       : endpoint->breaker.open_until;

    *info = (struct introspect_push){
        .section = endpoint->spec->name,
        .endpoint = endpoint->spec->origin,
        .state = endpoint_state(endpoint, until),
        .paused_for = until > now_at ? until - now_at : 0,
        .connections = endpoint->spec->connections,
        .in_flight = endpoint->busy,
        .outcome_words = push_outcome_names,
        .outcomes = endpoint->outcomes,
        .outcome_count = OUTCOME_KINDS,
        .last_failure = endpoint->last_failure,
    };
}
