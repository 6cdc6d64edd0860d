/* SPDX-License-Identifier: MIT */
#include "push/endpoint.h"

#include "core/base/log.h"
#include "push/push_private.h"

#include <string.h>

// One failure of an endpoint is logged in so long; the next line says how many were not.
#define COMPLAIN_EVERY (10 * NSEC_PER_SEC)

static void complain(struct endpoint *endpoint, const struct request *request)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->complained_at && now_at - endpoint->complained_at < COMPLAIN_EVERY) {
        endpoint->unlogged++;
        return;
    }
    log_warn("push_failed", log_string("section", endpoint->spec->name),
             log_string("endpoint", endpoint->spec->origin),
             log_number("job", (int64_t)request->job_id),
             log_string("outcome", outcome_word(request->outcome.kind)),
             log_string("why", request->outcome.why),
             log_number("unlogged", (int64_t)endpoint->unlogged));
    endpoint->complained_at = now_at;
    endpoint->unlogged = 0;
}

// The endpoint has answered. That it takes jobs again is told once.
static void note_up(struct endpoint *endpoint)
{
    if (endpoint->breaker.failures >= BREAKER_FAILURES || endpoint->deferred) {
        log_info("push_resumed", log_string("section", endpoint->spec->name),
                 log_string("endpoint", endpoint->spec->origin));
    }
    endpoint->deferred = false;
    breaker_succeed(&endpoint->breaker);
}

// The endpoint has asked to be left alone. Several of its answers may say so at about the same
// time, and each time that it is tried again it may say so again: one line tells.
static void note_deferred(struct endpoint *endpoint, const struct outcome *outcome)
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

static void note_down(struct endpoint *endpoint, const char *why)
{
    bool open = endpoint->breaker.failures >= BREAKER_FAILURES;

    breaker_fail(&endpoint->breaker, push_now(endpoint->push));
    if (!open && endpoint->breaker.failures >= BREAKER_FAILURES) {
        log_warn("push_paused", log_string("section", endpoint->spec->name),
                 log_string("endpoint", endpoint->spec->origin), log_string("why", why),
                 log_string("note", "it is tried less and less often"));
    }
}

// What the outcome says of the endpoint, whatever becomes of the job.
static void note(struct endpoint *endpoint, struct request *request)
{
    const struct outcome *outcome = &request->outcome;

    request->noted = true;
    endpoint->outcomes[outcome->kind]++;
    if (outcome->kind != OUTCOME_COMPLETED) {
        memcpy(endpoint->last_failure, outcome->why, sizeof endpoint->last_failure);
        complain(endpoint, request);
    }
    if (outcome->kind == OUTCOME_UNSENT) {
        return;
    }
    if (outcome->status > 0) {
        times_add(&endpoint->push->times, push_now(endpoint->push) - request->began_at);
    }
    if (outcome->pause_for > 0) {
        note_deferred(endpoint, outcome);
    } else if (outcome->down || outcome->kind == OUTCOME_DEFERRED) {
        note_down(endpoint, outcome->why);
    } else {
        note_up(endpoint);
    }
}

// What the broker says to an outcome. Where the job is no longer the endpoint's, somebody has taken
// it back, or its time ran out: nothing is left to do.
static void report(const struct request *request, enum status status)
{
    if (status != STATUS_OK) {
        log_debug("push_late", log_number("job", (int64_t)request->job_id),
                  log_string("outcome", outcome_word(request->outcome.kind)),
                  log_string("why", status_text(status)));
    }
}

static void fail(struct endpoint *endpoint, const struct request *request)
{
    const char *why = request->outcome.why;
    struct blob *words = blob_copy(slice_str(why));

    // Without memory for the words it fails without.
    report(request, broker_fail(endpoint->session, request->job_id, words));
    blob_unref(words);
}

// False where the store has no room for it now.
static bool carry_out(struct endpoint *endpoint, struct request *request)
{
    if (request->stale) {
        return true;
    }
    switch (request->outcome.kind) {
    case OUTCOME_COMPLETED:
        // Should its time have run out meanwhile, this counts as long as nobody else has the job.
        report(request,
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
        fail(endpoint, request);
        return true;
    }
    UNREACHABLE();
}

void endpoint_finish(struct endpoint *endpoint)
{
    for (struct list_node *node = endpoint->over.next, *next; node != &endpoint->over;
         node = next) {
        struct request *request = list_item(node, struct request, step);

        next = node->next;
        if (!request->noted) {
            note(endpoint, request);
        }
        if (carry_out(endpoint, request)) {
            endpoint_idle(endpoint, request);
        }
    }
}
