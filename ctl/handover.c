/* SPDX-License-Identifier: MIT */
#include "ctl/handover.h"

#include "ctl/api/call.h"
#include "ctl/print/text.h"

#include <poll.h>
#include <time.h>

// The interval between requests for the owner, and the time to wait for another owner.
#define AGAIN_MSEC 50
#define PATIENCE_SECONDS 60

static double now(void)
{
    struct timespec moment;

    (void)clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + (double)moment.tv_nsec / 1e9;
}

// Whether there is an owner of a later epoch: another broker, or this one again.
static bool is_over(const json_t *cluster, uint64_t epoch)
{
    return field_count(cluster, "epoch") > epoch && field_is_set(cluster, "owner");
}

// Waits until the handover has ended. A broker that hands over closes its connections, so that
// requests may fail for a moment.
static enum outcome wait_for_owner(struct context *context, uint64_t epoch, double began,
                                   struct reply *reply)
{
    while (now() - began < PATIENCE_SECONDS) {
        enum outcome outcome = ask(context, "GET", "/api/v1/cluster", NULL, reply);

        if (outcome == OUTCOME_DONE && is_over(reply->json, epoch)) {
            return OUTCOME_DONE;
        }
        if (outcome == OUTCOME_FORBIDDEN || outcome == OUTCOME_INTERRUPTED) {
            return outcome;
        }
        (void)poll(NULL, 0, AGAIN_MSEC);
    }
    return problem_set(context->problem, OUTCOME_NOT_NOW,
                       "nobody has taken over within %d s: tandemctl cluster says who waits for "
                       "what",
                       PATIENCE_SECONDS);
}

static enum outcome tell(struct context *context, const struct reply *reply, double took)
{
    struct text owner = {0};

    context->problem->why.text[0] = '\0';
    if (slice_equal(field_text(reply->json, "role"), SLICE("owner"))) {
        return problem_set(context->problem, OUTCOME_FAILED,
                           "nobody else has taken over: this broker owns the journal again");
    }
    if (context->options->json) {
        return print_json(context, reply);
    }
    text_add_escaped(&owner, field_text(reply->json, "owner"), false);
    text_format(&context->out, "%s owns the journal now (epoch %llu), after %.2f s.\n",
                text_string(&owner), (unsigned long long)field_count(reply->json, "epoch"), took);
    text_free(&owner);
    return print(context);
}

enum outcome run_handover(struct context *context)
{
    struct reply reply = {0};
    double began = now();
    enum outcome outcome = ask(context, "POST", "/api/v1/cluster/handover", NULL, &reply);

    if (outcome == OUTCOME_DONE) {
        outcome = wait_for_owner(context, field_count(reply.json, "epoch"), began, &reply);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = tell(context, &reply, now() - began);
    }
    reply_free(&reply);
    return outcome;
}
