/* SPDX-License-Identifier: MIT */
#include "ctl/operations.h"

#include "core/base/utf8.h"
#include "ctl/commands.h"
#include "ctl/print/grid.h"
#include "ctl/print/need.h"
#include "ctl/print/ctl_signals.h"
#include "ctl/print/units.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

// The first interval between polls is short, since most operations end at once.
#define WAIT_FIRST_MSEC 10
#define WAIT_MOST_MSEC 250

//
// Actions
//

static const struct {
    struct slice action;
    const char *past;
    bool queues;
} actions[] = {
    {{"delete", 6}, "deleted", false}, {{"kick", 4}, "kicked", false},
    {{"bury", 4}, "buried", false},    {{"release", 7}, "released", false},
    {{"move", 4}, "moved", false},     {{"change", 6}, "changed", false},
    {{"touch", 5}, "touched", false},  {{"pause", 5}, "paused", true},
    {{"resume", 6}, "resumed", true},
};

const char *action_past(struct slice action)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (slice_equal(actions[i].action, action)) {
            return actions[i].past;
        }
    }
    return "done";
}

// Whether the action applies to queues, and not to jobs.
static bool is_action_of_queues(struct slice action)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (slice_equal(actions[i].action, action)) {
            return actions[i].queues;
        }
    }
    return false;
}

//
// Running an operation
//

static bool operation_is(const json_t *operation, struct slice state)
{
    return slice_equal(field_text(operation, "state"), state);
}

static enum outcome ask_operation(struct context *context, const char *method, uint64_t id,
                                  struct reply *reply)
{
    struct text path = {0};
    enum outcome outcome;

    text_format(&path, "/api/v1/operations/%llu", (unsigned long long)id);
    outcome = command_ask(context, method, text_string(&path), NULL, reply);
    text_free(&path);
    return outcome;
}

static void show_operation_progress(const struct context *context, const json_t *operation)
{
    struct text words = {0};

    if (context->screen.shows_progress) {
        text_format(&words, "%s of %s, %s %s",
                    units_count(field_count(operation, "looked_at")).text,
                    units_count(field_count(operation, "total")).text,
                    units_count(field_count(operation, "touched")).text,
                    field_true(operation, "dry_run") ? "fit" : "changed");
        progress_draw(field_count(operation, "looked_at"), field_count(operation, "total"),
                      text_string(&words));
        text_free(&words);
    }
}

static enum outcome cancel_operation(struct context *context, uint64_t id, struct reply *reply)
{
    enum outcome outcome;

    client_watch(context->client, NULL, NULL, NULL);
    signals_forget_stop();
    outcome = ask_operation(context, "DELETE", id, reply);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    return problem_set(context->problem, OUTCOME_INTERRUPTED, "cancelled: %s of about %s jobs %s",
                       units_count(field_count(reply->json, "touched")).text,
                       units_count(field_count(reply->json, "total")).text,
                       field_true(reply->json, "dry_run") ? "were counted" : "were changed");
}

// The outcome of an operation that has ended.
static enum outcome operation_outcome(struct context *context, const json_t *operation)
{
    struct text error = {0};
    enum outcome outcome = OUTCOME_DONE;

    if (operation_is(operation, SLICE("cancelled"))) {
        outcome = problem_set(context->problem, OUTCOME_FAILED,
                              "another client has cancelled the operation; %s jobs were changed",
                              units_count(field_count(operation, "touched")).text);
    } else if (!operation_is(operation, SLICE("done"))) {
        text_add(&error, field_text(operation, "error"));
        outcome =
            problem_set(context->problem, OUTCOME_FAILED, "the operation failed after %s jobs: %s",
                        units_count(field_count(operation, "touched")).text,
                        error.len ? text_string(&error) : "the broker gives no reason");
        text_free(&error);
    }
    return outcome;
}

static enum outcome follow_operation(struct context *context, struct reply *reply)
{
    uint64_t id = field_count(reply->json, "id");
    int wait = WAIT_FIRST_MSEC;
    enum outcome outcome = OUTCOME_DONE;

    while (outcome == OUTCOME_DONE && operation_is(reply->json, SLICE("running"))) {
        struct pollfd woken = {.fd = signals_fd(), .events = POLLIN};

        show_operation_progress(context, reply->json);
        (void)poll(&woken, 1, wait);
        if (signals_stopped(NULL)) {
            outcome = cancel_operation(context, id, reply);
        } else {
            wait = wait * 2 < WAIT_MOST_MSEC ? wait * 2 : WAIT_MOST_MSEC;
            outcome = ask_operation(context, "GET", id, reply);
            outcome =
                outcome == OUTCOME_INTERRUPTED ? cancel_operation(context, id, reply) : outcome;
        }
    }
    if (context->screen.shows_progress) {
        progress_clear();
    }
    return outcome == OUTCOME_DONE ? operation_outcome(context, reply->json) : outcome;
}

// Starts the operation in `body`, of which it takes ownership, and waits for its end. OUTCOME_DONE:
// it has completed, and `reply` has its final state. Otherwise the problem says how it ended.
static enum outcome run_operation(struct context *context, json_t *body, struct reply *reply)
{
    enum outcome outcome;

    signals_catch_stops();
    client_watch(context->client, (const int[]){signals_fd(), -1}, signals_stopped, NULL);
    outcome = command_ask(context, "POST", "/api/v1/operations", body, reply);
    if (outcome == OUTCOME_DONE) {
        outcome = follow_operation(context, reply);
    } else if (outcome == OUTCOME_INTERRUPTED) {
        (void)problem_set(
            context->problem, outcome,
            "interrupted: the operation may have started; tandemctl operations shows it");
    }
    client_watch(context->client, NULL, NULL, NULL);
    signals_release_stops();
    return outcome;
}

static void add_skipped(struct text *to, uint64_t count, const char *why)
{
    if (count > 0) {
        text_format(to, "; %s %s", units_count(count).text, why);
    }
}

// Prints how many jobs a completed operation changed, and how many it skipped.
static enum outcome print_operation(struct context *context, const json_t *operation)
{
    struct text *out = &context->out;
    uint64_t touched = field_count(operation, "touched");
    bool queues = is_action_of_queues(field_text(operation, "action"));

    units_add_noun(out, touched, queues ? "queue" : "job");
    text_put(out, field_true(operation, "dry_run") ? " would be " : " ");
    text_put(out, action_past(field_text(operation, "action")));
    add_skipped(out, field_count(operation, "skipped.held"), "skipped: held by a worker");
    add_skipped(out, field_count(operation, "skipped.forbidden"), "skipped: access denied");
    add_skipped(out, field_count(operation, "skipped.refused"), "skipped: the target has no room");
    text_put(out, ".\n");
    return command_print(context);
}

//
// The request
//

static json_t *make_state_list(const char *state)
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

static json_t *make_job_filter(const struct options *options)
{
    json_t *filter = need(json_object());
    uint64_t least = options->larger_than;
    uint64_t most = options->smaller_than;

    if (options->state) {
        object_set(filter, "states", make_state_list(options->state));
    }
    object_set_seconds(filter, "min_age_seconds", options->older_than);
    object_set_seconds(filter, "max_age_seconds", options->younger_than);
    object_set_count(filter, "min_priority",
                     options->priority_least ? options->priority_least : NO_COUNT);
    object_set_count(filter, "max_priority", options->priority_most);
    object_set_count(filter, "min_bytes", least == NO_COUNT ? NO_COUNT : least + 1);
    object_set_count(filter, "max_bytes", most == NO_COUNT || most == 0 ? most : most - 1);
    if (options->contains) {
        struct slice bytes = slice_str(options->contains);
        struct text encoded = {0};

        if (utf8_valid(bytes)) {
            object_set(filter, "contains", json_string(options->contains));
        } else {
            base64_add(&encoded, bytes);
            object_set(filter, "contains_base64", json_string(text_string(&encoded)));
            text_free(&encoded);
        }
    }
    return filter;
}

// NULL with a problem.
static json_t *make_bulk_request(struct context *context, const struct bulk *bulk)
{
    const struct options *options = context->options;
    const char *queue = bulk->queue ? bulk->queue : options->queue;
    json_t *request = need(json_object());
    json_t *target = queue ? command_json_text(context, "queue", queue)
                           : command_json_text(context, "glob", options->queues);
    json_t *to = target && options->to ? command_json_text(context, "queue", options->to) : NULL;

    if (!target || (options->to && !to)) {
        json_decref(target);
        json_decref(request);
        return NULL;
    }
    object_set(request, "action", json_string(bulk->action));
    object_set(request, queue ? "queue" : "queues", target);
    if (to) {
        object_set(request, "to", to);
    }
    if (options->back) {
        object_set(request, "back", json_true());
    }
    if (!is_action_of_queues(slice_str(bulk->action))) {
        object_set(request, "filter", make_job_filter(options));
    }
    object_set_count(request, "priority", options->new_priority);
    object_set_seconds(request, "delay_seconds", options->delay);
    if (bulk->pause_for > 0) {
        object_set_seconds(request, "pause_seconds", bulk->pause_for);
    }
    object_set_count(request, "max", options->max);
    return request;
}

//
// Count and confirmation
//

static enum outcome count_jobs(struct context *context, const json_t *request, struct reply *reply)
{
    json_t *dry_run = need(json_deep_copy(request));
    enum outcome outcome;

    object_set(dry_run, "dry_run", json_true());
    outcome = run_operation(context, dry_run, reply);
    // A stop signal may arrive after the count was complete.
    if (outcome == OUTCOME_DONE && signals_stop()) {
        return problem_set(context->problem, OUTCOME_INTERRUPTED, "nothing was changed");
    }
    return outcome;
}

static enum outcome confirm_bulk(struct context *context, const struct bulk *bulk,
                                 const json_t *counted)
{
    struct text question = {0};
    enum outcome outcome;

    text_put_char(&question, (char)(bulk->action[0] - 'a' + 'A'));
    text_format(&question, "%s ", bulk->action + 1);
    units_add_noun(&question, field_count(counted, "touched"), "job");
    text_put(&question, " of ");
    text_add(&question, field_text(counted, "target"));
    if (context->options->to) {
        text_format(&question, " to %s", context->options->to);
    }
    text_put(&question, context->options->back ? " back" : "");
    text_put_char(&question, '?');
    outcome = command_confirm(context, text_string(&question));
    text_free(&question);
    return outcome;
}

bool bulk_is_meant(const struct context *context)
{
    return context->options->queue || context->options->queues;
}

enum outcome bulk_run(struct context *context, const struct bulk *bulk)
{
    const struct options *options = context->options;
    enum outcome outcome = OUTCOME_DONE;
    struct reply reply = {0};
    bool only_counts = false;
    json_t *request;

    if (options->queue && options->queues) {
        return problem_set(context->problem, OUTCOME_USAGE, "give either --queue or --queues");
    }
    request = make_bulk_request(context, bulk);
    if (!request) {
        return OUTCOME_USAGE;
    }
    if (options->dry_run || (bulk->asks && !options->yes)) {
        outcome = count_jobs(context, request, &reply);
        only_counts = options->dry_run || field_count(reply.json, "touched") == 0;
        if (outcome == OUTCOME_DONE && !only_counts) {
            outcome = confirm_bulk(context, bulk, reply.json);
        }
    }
    if (outcome == OUTCOME_DONE && !only_counts) {
        outcome = run_operation(context, json_incref(request), &reply);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = options->json ? command_print_json(context, &reply)
                                : print_operation(context, reply.json);
    }
    json_decref(request);
    reply_free(&reply);
    return outcome;
}

//
// The list of operations
//

static const struct grid_column operation_columns[] = {
    {"ID", true, false},     {"ACTION", false, false},  {"TARGET", false, true},
    {"STATE", false, false}, {"CHANGED", true, false},  {"EXAMINED", true, false},
    {"OF", true, false},     {"STARTED", false, false}, {"TOOK", true, false},
    {NULL, false, false},
};

static void add_operation_row(struct grid *grid, const json_t *operation)
{
    struct slice state = field_text(operation, "state");
    struct slice action = field_text(operation, "action");
    double ended = field_number(operation, "finished_at");

    grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(operation, "id"));
    grid_format(grid, STYLE_PLAIN, "%.*s%s", (int)action.len, action.ptr,
                field_true(operation, "dry_run") ? ", dry run" : "");
    grid_cell(grid, STYLE_PLAIN, field_text(operation, "target"));
    grid_cell(grid, slice_equal(state, SLICE("failed")) ? STYLE_BAD : STYLE_PLAIN, state);
    grid_count(grid, STYLE_PLAIN, field_count(operation, "touched"));
    grid_count(grid, STYLE_PLAIN, field_count(operation, "looked_at"));
    grid_count(grid, STYLE_PLAIN, field_count(operation, "total"));
    grid_string(grid, STYLE_PLAIN, units_moment(field_number(operation, "started_at")).text);
    if (ended > 0) {
        grid_seconds(grid, ended - field_number(operation, "started_at"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
}

static void add_operations(struct context *context, const json_t *reply)
{
    const json_t *operations = field_get(reply, "operations");
    struct grid *grid;

    if (json_array_size(operations) == 0) {
        (void)fputs("No operations.\n", stderr);
        return;
    }
    grid = grid_new(operation_columns, context->screen.width, context->screen.colour);
    for (size_t i = 0; i < json_array_size(operations); i++) {
        add_operation_row(grid, json_array_get(operations, i));
    }
    grid_write(grid, &context->out);
    grid_free(grid);
}

enum outcome run_operations(struct context *context)
{
    return command_show(context, "GET", "/api/v1/operations", NULL, add_operations);
}

static void add_cancelled(struct context *context, const json_t *operation)
{
    text_format(&context->out, "Operation %s is ", context->words[0]);
    text_add_escaped(&context->out, field_text(operation, "state"), false);
    text_put(&context->out, ": ");
    units_add_noun(&context->out, field_count(operation, "touched"), "job");
    text_put(&context->out, " changed.\n");
}

enum outcome run_cancel(struct context *context)
{
    struct text path = {0};
    uint64_t id;
    enum outcome outcome;

    if (!units_read_count(context->words[0], &id)) {
        return problem_set(context->problem, OUTCOME_USAGE, "\"%s\" is not an operation id",
                           context->words[0]);
    }
    text_format(&path, "/api/v1/operations/%llu", (unsigned long long)id);
    outcome = command_show(context, "DELETE", text_string(&path), NULL, add_cancelled);
    text_free(&path);
    return outcome;
}
