/* SPDX-License-Identifier: MIT */
#include "ctl/switches.h"

#include "ctl/api/call.h"
#include "ctl/print/need.h"

#include <string.h>

static enum outcome say(struct context *context, const struct reply *reply, const char *words)
{
    if (context->options->json) {
        return print_json(context, reply);
    }
    text_format(&context->out, "%s\n", words);
    return print(context);
}

enum outcome run_drain(struct context *context)
{
    const char *word = context->count ? context->words[0] : "on";
    bool on = strcmp(word, "on") == 0;
    struct reply reply = {0};
    enum outcome outcome;

    if (!on && strcmp(word, "off") != 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "drain is on or off, not \"%s\"", word);
    }
    outcome = ask(context, "POST", "/api/v1/drain", need(json_pack("{s:b}", "draining", (int)on)),
                  &reply);
    if (outcome == OUTCOME_DONE) {
        outcome = say(context, &reply,
                      field_true(reply.json, "draining")
                          ? "Draining: new jobs are refused; drain off ends that."
                          : "Not draining: new jobs are taken.");
    }
    reply_free(&reply);
    return outcome;
}

enum outcome run_push_resume(struct context *context)
{
    struct text path = {0};
    struct reply reply = {0};
    enum outcome outcome;

    text_put(&path, "/api/v1/push");
    path_add_name(&path, context->words[0]);
    text_put(&path, "/resume");
    outcome = ask(context, "POST", text_string(&path), NULL, &reply);
    if (outcome == OUTCOME_DONE) {
        outcome = say(context, &reply, "It is tried again at once.");
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}

enum outcome run_log_commands(struct context *context)
{
    const char *whose = strcmp(context->words[0], "off") == 0 ? "" : context->words[0];
    struct reply reply = {0};
    enum outcome outcome = ask(context, "POST", "/api/v1/log-commands",
                               need(json_pack("{s:s}", "log_commands", whose)), &reply);

    if (outcome == OUTCOME_DONE) {
        outcome = say(context, &reply,
                      *whose ? "Its commands are logged: log-commands off ends that, and so does a "
                               "reload."
                             : "No client's commands are logged.");
    }
    reply_free(&reply);
    return outcome;
}

// Earlier versions of the broker do not report the error.
static enum outcome refuse_reload(struct context *context, const json_t *json)
{
    const char *why = json_string_value(json_object_get(json, "why"));

    return problem_set(context->problem, OUTCOME_FAILED,
                       "something in the configuration is wrong, and all stays as it was: %s",
                       why ? why : "the broker's log says what");
}

enum outcome run_reload(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = ask(context, "POST", "/api/v1/reload", NULL, &reply);

    if (outcome == OUTCOME_DONE && !field_true(reply.json, "reloaded")) {
        outcome = refuse_reload(context, reply.json);
    } else if (outcome == OUTCOME_DONE) {
        outcome = say(context, &reply, "The configuration was read again.");
    }
    reply_free(&reply);
    return outcome;
}
