/* SPDX-License-Identifier: MIT */
#include "ctl/keep.h"

#include "ctl/api/call.h"
#include "ctl/print/text.h"
#include "ctl/print/need.h"

#include <string.h>

// Sends the request and prints the new state of the queue. Takes ownership of `body`.
static enum outcome change(struct context *context, const char *method, const char *step,
                           json_t *body, const char *now)
{
    const char *name = context->words[0];
    struct text path = {0};
    struct reply reply = {0};
    enum outcome outcome;

    text_put(&path, "/api/v1/queues");
    path_add_name(&path, name);
    text_put(&path, step);
    outcome = ask(context, method, text_string(&path), body, &reply);
    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        text_add_escaped(&context->out, slice_str(name), false);
        text_format(&context->out, " %s.\n", now);
        outcome = print(context);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}

enum outcome run_keep(struct context *context)
{
    return change(context, "PUT", "", NULL, "stays, also when it is empty");
}

enum outcome run_forget(struct context *context)
{
    return change(context, "DELETE", "", NULL, "goes when nothing refers to it");
}

static json_int_t limit(uint64_t given)
{
    return given == NO_COUNT ? 0 : (json_int_t)given;
}

enum outcome run_limit(struct context *context)
{
    const struct options *options = context->options;
    json_t *limits = json_pack("{s:I, s:I, s:I}", "high", limit(options->high), "normal",
                               limit(options->normal), "low", limit(options->low));

    return change(context, "PUT", "/limits", need(limits), "has these limits now");
}
