/* SPDX-License-Identifier: MIT */
#include "ctl/many.h"

#include "core/base/utf8.h"
#include "ctl/api/call.h"
#include "ctl/confirm.h"
#include "ctl/facts.h"
#include "ctl/operation.h"
#include "ctl/print/need.h"
#include "ctl/print/signals.h"
#include "ctl/print/units.h"
#include "ctl/verbs.h"

#include <stdio.h>
#include <string.h>

bool many_is_meant(const struct context *context)
{
    return context->options->queue || context->options->queues;
}

//
// Request
//

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, need(value)) != 0) {
        (void)need(NULL);
    }
}

static void set_count(json_t *object, const char *key, uint64_t value)
{
    if (value != NO_COUNT) {
        set(object, key, json_integer((json_int_t)value));
    }
}

static void set_seconds(json_t *object, const char *key, double seconds)
{
    if (seconds >= 0) {
        set(object, key, json_real(seconds));
    }
}

static void set_contains(json_t *filter, const char *contains)
{
    struct slice bytes = slice_str(contains);
    struct text encoded = {0};

    if (utf8_valid(bytes)) {
        set(filter, "contains", json_string(contains));
    } else {
        base64_add(&encoded, bytes);
        set(filter, "contains_base64", json_string(text_string(&encoded)));
        text_free(&encoded);
    }
}

static json_t *make_states(const char *state)
{
    json_t *states = need(json_array());

    while (*state) {
        size_t len = strcspn(state, ",");

        if (json_array_append_new(states, need(json_stringn(state, len))) != 0) {
            (void)need(NULL);
        }
        state += len + (state[len] == ',');
    }
    return states;
}

static json_t *make_filter(const struct options *options)
{
    json_t *filter = need(json_object());
    uint64_t least = options->larger_than;
    uint64_t most = options->smaller_than;

    if (options->state) {
        set(filter, "states", make_states(options->state));
    }
    set_seconds(filter, "min_age_seconds", options->older_than);
    set_seconds(filter, "max_age_seconds", options->younger_than);
    set_count(filter, "min_priority", options->priority_least ? options->priority_least : NO_COUNT);
    set_count(filter, "max_priority", options->priority_most);
    set_count(filter, "min_bytes", least == NO_COUNT ? NO_COUNT : least + 1);
    set_count(filter, "max_bytes", most == NO_COUNT || most == 0 ? most : most - 1);
    if (options->contains) {
        set_contains(filter, options->contains);
    }
    return filter;
}

// NULL with a problem.
static json_t *make_request(struct context *context, const struct many *many)
{
    const struct options *options = context->options;
    const char *queue = many->queue ? many->queue : options->queue;
    json_t *request = need(json_object());
    json_t *target =
        queue ? json_of(context, "queue", queue) : json_of(context, "glob", options->queues);
    json_t *to = target && options->to ? json_of(context, "queue", options->to) : NULL;

    if (!target || (options->to && !to)) {
        json_decref(target);
        json_decref(request);
        return NULL;
    }
    set(request, "action", json_string(many->action));
    set(request, queue ? "queue" : "queues", target);
    if (to) {
        set(request, "to", to);
    }
    if (options->back) {
        set(request, "back", json_true());
    }
    if (!verb_is_of_queues(slice_str(many->action))) {
        set(request, "filter", make_filter(options));
    }
    set_count(request, "priority", options->new_priority);
    set_seconds(request, "delay_seconds", options->delay);
    if (many->pause_for > 0) {
        set_seconds(request, "pause_seconds", many->pause_for);
    }
    set_count(request, "max", options->max);
    return request;
}

//
// Count and confirmation
//

static enum outcome count(struct context *context, json_t *request, struct reply *reply)
{
    json_t *dry = need(json_deep_copy(request));

    set(dry, "dry_run", json_true());
    return operation_run(context, dry, reply);
}

static enum outcome ask_person(struct context *context, const struct many *many,
                               const json_t *counted)
{
    struct text question = {0};
    enum outcome outcome;

    text_put_char(&question, (char)(many->action[0] - 'a' + 'A'));
    text_format(&question, "%s ", many->action + 1);
    add_number_of(&question, field_count(counted, "touched"), "job");
    text_put(&question, " of ");
    text_add(&question, field_text(counted, "target"));
    if (context->options->to) {
        text_format(&question, " to %s", context->options->to);
    }
    text_put(&question, context->options->back ? " back" : "");
    text_put_char(&question, '?');
    outcome = confirm(context, text_string(&question));
    text_free(&question);
    return outcome;
}

// Takes ownership of `request`.
static enum outcome do_it(struct context *context, json_t *request, struct reply *reply)
{
    enum outcome outcome = operation_run(context, request, reply);

    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    return context->options->json ? print_json(context, reply)
                                  : operation_print(context, reply->json);
}

static enum outcome count_ask_do(struct context *context, const struct many *many, json_t *request,
                                 struct reply *reply)
{
    enum outcome outcome = count(context, request, reply);
    bool only_counts = context->options->dry_run;

    // A stop signal may arrive after the count was complete.
    if (outcome == OUTCOME_DONE && signals_stop()) {
        return problem_set(context->problem, OUTCOME_INTERRUPTED, "nothing was done");
    }
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    if (only_counts || field_count(reply->json, "touched") == 0) {
        return context->options->json ? print_json(context, reply)
                                      : operation_print(context, reply->json);
    }
    outcome = ask_person(context, many, reply->json);
    return outcome == OUTCOME_DONE ? do_it(context, json_incref(request), reply) : outcome;
}

enum outcome many_run(struct context *context, const struct many *many)
{
    const struct options *options = context->options;
    struct reply reply = {0};
    enum outcome outcome;
    json_t *request;

    if (options->queue && options->queues) {
        return problem_set(context->problem, OUTCOME_USAGE, "it is either --queue or --queues");
    }
    request = make_request(context, many);
    if (!request) {
        return OUTCOME_USAGE;
    }
    if (options->dry_run || (many->asks && !options->yes)) {
        outcome = count_ask_do(context, many, request, &reply);
    } else {
        outcome = do_it(context, json_incref(request), &reply);
    }
    json_decref(request);
    reply_free(&reply);
    return outcome;
}
