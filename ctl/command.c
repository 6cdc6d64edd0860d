/* SPDX-License-Identifier: MIT */
#include "ctl/command.h"

#include "core/base/utf8.h"
#include "ctl/print/need.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

//
// Output
//

enum outcome command_print(struct context *context)
{
    if (screen_write(&context->out)) {
        return OUTCOME_DONE;
    }
    // A reader that closes the pipe has read enough: EPIPE is not reported.
    return problem_set(context->problem, OUTCOME_FAILED, "%s",
                       errno == EPIPE ? "" : "the output cannot be written");
}

enum outcome command_print_json(struct context *context, const struct reply *reply)
{
    const struct text *body = &reply->answer.body;

    text_add(&context->out, text_slice(body));
    if (body->len > 0 && body->data[body->len - 1] != '\n') {
        text_put_char(&context->out, '\n');
    }
    return command_print(context);
}

void command_add_sentence(struct context *context, const char *name, const char *words)
{
    text_add_escaped(&context->out, slice_str(name), false);
    text_format(&context->out, " %s.\n", words);
}

void problem_print(const struct problem *problem)
{
    struct text escaped = {0};

    if (*problem->why.text) {
        text_add_escaped(&escaped, slice_str(problem->why.text), false);
        (void)fprintf(stderr, "tandemctl: %s\n", text_string(&escaped));
        text_free(&escaped);
    }
}

enum outcome command_confirm(struct context *context, const char *question)
{
    struct text escaped = {0};
    bool yes = context->options->yes;

    if (yes) {
        return OUTCOME_DONE;
    }
    if (!context->screen.asks) {
        return problem_set(context->problem, OUTCOME_UNCONFIRMED,
                           "\"%s\" needs a confirmation: use a terminal, or --yes", question);
    }
    text_add_escaped(&escaped, slice_str(question), false);
    yes = prompt_confirms(text_string(&escaped));
    text_free(&escaped);
    return yes ? OUTCOME_DONE
               : problem_set(context->problem, OUTCOME_UNCONFIRMED, "nothing was changed");
}

//
// Calls
//

enum outcome command_ask(struct context *context, const char *method, const char *path,
                         json_t *body, struct reply *reply)
{
    return call(context->client, method, path, body, reply, context->problem);
}

enum outcome command_show(struct context *context, const char *method, const char *path,
                          json_t *body, void (*add)(struct context *context, const json_t *reply))
{
    struct reply reply = {0};
    enum outcome outcome = command_ask(context, method, path, body, &reply);

    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = command_print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        add(context, reply.json);
        outcome = command_print(context);
    }
    reply_free(&reply);
    return outcome;
}

enum outcome command_stream(struct context *context, const struct request *request)
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
    return command_print(ours) == OUTCOME_DONE;
}

enum outcome command_print_stream(struct context *context, const char *path, const char *accept)
{
    const struct request request = {
        .method = "GET", .path = path, .accept = accept, .take = print_piece, .context = context};
    enum outcome outcome = command_stream(context, &request);

    // Writing the output can fail although the request succeeds.
    return outcome == OUTCOME_DONE ? context->problem->outcome : outcome;
}

//
// Requests
//

json_t *command_json_text(struct context *context, const char *what, const char *text)
{
    if (!utf8_valid(slice_str(text))) {
        (void)problem_set(context->problem, OUTCOME_USAGE, "%s \"%s\" is not valid UTF-8", what,
                          text);
        return NULL;
    }
    return need(json_string(text));
}

void object_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, need(value)) != 0) {
        (void)need(NULL);
    }
}

void object_set_count(json_t *object, const char *key, uint64_t value)
{
    if (value != NO_COUNT) {
        object_set(object, key, json_integer((json_int_t)value));
    }
}

void object_set_seconds(json_t *object, const char *key, double seconds)
{
    if (seconds >= 0) {
        object_set(object, key, json_real(seconds));
    }
}
