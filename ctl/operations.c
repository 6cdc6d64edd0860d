/* SPDX-License-Identifier: MIT */
#include "ctl/operations.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/print/grid.h"
#include "ctl/print/text.h"
#include "ctl/print/units.h"

#include <stdio.h>

static const struct grid_column columns[] = {
    {"ID", true, false},     {"ACTION", false, false},  {"TARGET", false, true},
    {"STATE", false, false}, {"TOUCHED", true, false},  {"LOOKED AT", true, false},
    {"OF", true, false},     {"STARTED", false, false}, {"TOOK", true, false},
    {NULL, false, false},
};

static void add_row(struct grid *grid, const json_t *operation)
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
    grid_string(grid, STYLE_PLAIN, moment_of(field_number(operation, "started_at")).text);
    if (ended > 0) {
        grid_seconds(grid, ended - field_number(operation, "started_at"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
}

static enum outcome print_all(struct context *context, const json_t *operations)
{
    struct grid *grid;
    enum outcome outcome;

    if (json_array_size(operations) == 0) {
        (void)fputs("There was none.\n", stderr);
        return OUTCOME_DONE;
    }
    grid = grid_new(columns, context->screen.width, context->screen.colour);
    for (size_t i = 0; i < json_array_size(operations); i++) {
        add_row(grid, json_array_get(operations, i));
    }
    grid_write(grid, &context->out);
    outcome = print(context);
    grid_free(grid);
    return outcome;
}

enum outcome run_operations(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = ask(context, "GET", "/api/v1/operations", NULL, &reply);

    if (outcome == OUTCOME_DONE) {
        outcome = context->options->json ? print_json(context, &reply)
                                         : print_all(context, field_get(reply.json, "operations"));
    }
    reply_free(&reply);
    return outcome;
}

enum outcome run_cancel(struct context *context)
{
    struct text path = {0};
    struct reply reply = {0};
    uint64_t id;
    enum outcome outcome;

    if (!units_read_count(context->words[0], &id)) {
        return problem_set(context->problem, OUTCOME_USAGE, "\"%s\" is no number of an operation",
                           context->words[0]);
    }
    text_format(&path, "/api/v1/operations/%llu", (unsigned long long)id);
    outcome = ask(context, "DELETE", text_string(&path), NULL, &reply);
    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        text_format(&context->out, "Operation %llu is ", (unsigned long long)id);
        text_add_escaped(&context->out, field_text(reply.json, "state"), false);
        text_format(&context->out, ", with %s jobs touched.\n",
                    units_count(field_count(reply.json, "touched")).text);
        outcome = print(context);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}
