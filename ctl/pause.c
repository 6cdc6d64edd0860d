/* SPDX-License-Identifier: MIT */
#include "ctl/pause.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/many.h"
#include "ctl/print/text.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <string.h>

// The default length of a pause, so that no pause is forgotten.
#define PAUSE_SECONDS 86400.0

static enum outcome say(struct context *context, const struct reply *reply, bool paused)
{
    const char *name = context->words[0];

    if (context->options->json) {
        return print_json(context, reply);
    }
    text_add_escaped(&context->out, slice_str(name), false);
    // The reply is empty if the queue is gone, or if the caller may not observe it.
    if (paused && reply->json) {
        text_format(&context->out, " is paused for %s.\n",
                    units_seconds(field_number(reply->json, "pause_left_seconds")).text);
    } else {
        text_put(&context->out, paused ? " is paused.\n" : " is not paused.\n");
    }
    return print(context);
}

static enum outcome change(struct context *context, const char *step, double seconds)
{
    struct text path = {0};
    struct reply reply = {0};
    json_t *body = seconds >= 0 ? need(json_pack("{s:f}", "seconds", seconds)) : NULL;
    enum outcome outcome;

    text_put(&path, "/api/v1/queues");
    path_add_name(&path, context->words[0]);
    text_put(&path, step);
    outcome = ask(context, "POST", text_string(&path), body, &reply);
    if (outcome == OUTCOME_DONE) {
        outcome = say(context, &reply, seconds >= 0);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}

// Requires either the name of one queue or --queues.
static enum outcome check(struct context *context)
{
    bool many = many_is_meant(context);

    if (many == (context->count > 0)) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "name one queue, or several by --queues GLOB");
    }
    return OUTCOME_DONE;
}

enum outcome run_pause(struct context *context)
{
    double given = context->options->pause_for;
    const struct many many = {.action = "pause", .pause_for = given < 0 ? PAUSE_SECONDS : given};
    enum outcome outcome = check(context);

    if (outcome == OUTCOME_DONE && many.pause_for <= 0) {
        outcome = problem_set(context->problem, OUTCOME_USAGE,
                              "a pause takes some time; resume ends one");
    }
    if (outcome == OUTCOME_DONE) {
        outcome =
            context->count ? change(context, "/pause", many.pause_for) : many_run(context, &many);
    }
    return outcome;
}

enum outcome run_resume(struct context *context)
{
    static const struct many many = {.action = "resume"};
    enum outcome outcome = check(context);

    if (outcome == OUTCOME_DONE) {
        outcome =
            context->count ? change(context, "/resume", NO_SECONDS) : many_run(context, &many);
    }
    return outcome;
}
