/* SPDX-License-Identifier: MIT */
#include "ctl/command.h"

#include "core/base/utf8.h"
#include "ctl/print/text.h"
#include "ctl/print/need.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum outcome print(struct context *context)
{
    if (screen_write(&context->out)) {
        return OUTCOME_DONE;
    }
    // A reader that closes the pipe has read enough: EPIPE is not reported.
    return problem_set(context->problem, OUTCOME_FAILED, "%s",
                       errno == EPIPE ? "" : "the output cannot be written");
}

enum outcome ask(struct context *context, const char *method, const char *path, json_t *body,
                 struct reply *reply)
{
    return call(context->client, method, path, body, reply, context->problem);
}

enum outcome print_json(struct context *context, const struct reply *reply)
{
    const struct text *body = &reply->answer.body;

    text_add(&context->out, text_slice(body));
    if (body->len > 0 && body->data[body->len - 1] != '\n') {
        text_put_char(&context->out, '\n');
    }
    return print(context);
}

enum outcome ask_stream(struct context *context, const struct request *request)
{
    struct answer answer = {0};
    enum outcome outcome = client_send(context->client, request, &answer, context->problem);

    if (outcome == OUTCOME_DONE && (answer.status < 200 || answer.status >= 300)) {
        outcome = call_refused(context->client, &answer, context->problem);
    }
    answer_free(&answer);
    return outcome;
}

static bool print_piece(void *context, struct slice bytes)
{
    struct context *ours = context;

    text_add(&ours->out, bytes);
    return print(ours) == OUTCOME_DONE;
}

enum outcome print_stream(struct context *context, const char *path, const char *accept)
{
    const struct request request = {
        .method = "GET", .path = path, .accept = accept, .take = print_piece, .context = context};
    enum outcome outcome = ask_stream(context, &request);

    // Writing the output can fail although the request succeeds.
    return outcome == OUTCOME_DONE ? context->problem->outcome : outcome;
}

void complain(const struct problem *problem)
{
    struct text escaped = {0};

    if (*problem->why.text) {
        text_add_escaped(&escaped, slice_str(problem->why.text), false);
        (void)fprintf(stderr, "tandemctl: %s\n", text_string(&escaped));
        text_free(&escaped);
    }
}

json_t *json_of(struct context *context, const char *what, const char *text)
{
    if (!utf8_valid(slice_str(text))) {
        (void)problem_set(context->problem, OUTCOME_USAGE, "%s \"%s\" is no UTF-8", what, text);
        return NULL;
    }
    return need(json_string(text));
}
