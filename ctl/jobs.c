/* SPDX-License-Identifier: MIT */
#include "ctl/jobs.h"

#include "ctl/api/call.h"
#include "ctl/listing.h"

#include <string.h>

// The default limit, since a queue may have a million jobs.
#define LIMIT 100

static const struct grid_column columns[] = {
    {"JOB", true, false},      {"STATE", false, false}, {"PRIORITY", true, false},
    {"AGE", true, false},      {"LEFT", true, false},   {"ATTEMPTS", true, false},
    {"RELEASES", true, false}, {"BYTES", true, false},  {"KEY", false, true},
    {"HOLDER", true, false},   {NULL, false, false},
};

static void add_left(struct grid *grid, const json_t *job)
{
    if (field_number(job, "left_seconds") > 0) {
        grid_seconds(grid, field_number(job, "left_seconds"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
}

static void add_attempts(struct grid *grid, const json_t *job)
{
    unsigned long long spent = field_count(job, "attempts");
    unsigned long long most = field_count(job, "max_attempts");

    if (most > 0) {
        grid_format(grid, STYLE_PLAIN, "%llu/%llu", spent, most);
    } else {
        grid_count(grid, STYLE_PLAIN, spent);
    }
}

static void add_row(struct grid *grid, const json_t *job)
{
    // Ids are copied into other commands, so that they have no thousands separators.
    grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(job, "id"));
    grid_cell(grid, STYLE_PLAIN, field_text(job, "state"));
    grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(job, "priority"));
    grid_seconds(grid, field_number(job, "age_seconds"));
    add_left(grid, job);
    add_attempts(grid, job);
    grid_count(grid, STYLE_PLAIN, field_count(job, "counts.releases"));
    grid_bytes(grid, field_count(job, "body_bytes"));
    if (field_is_set(job, "key")) {
        grid_cell(grid, STYLE_PLAIN, field_text(job, "key"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
    if (field_is_set(job, "holder")) {
        grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(job, "holder"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
}

enum outcome run_jobs(struct context *context)
{
    const char *state = context->options->state;
    struct text path = {0};
    struct listing listing = {.key = "jobs", .columns = columns, .row = add_row, .limit = LIMIT};
    enum outcome outcome;

    listing.empty = state && strchr(state, ',') ? "The queue has no job in these states."
                                                : "The queue has no job in that state.";
    text_put(&path, "/api/v1/queues");
    path_add_name(&path, context->words[0]);
    text_put(&path, "/jobs");
    path_add_text(&path, "state", state ? state : "ready");
    listing.path = text_string(&path);
    outcome = listing_print(context, &listing);
    text_free(&path);
    return outcome;
}
