/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "ctl/fact_lines.h"
#include "ctl/listing.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <string.h>

#define SCHEDULES "/api/v1/schedules"

static const struct grid_column schedule_columns[] = {
    {"SCHEDULE", false, true}, {"CRON", false, true},   {"ZONE", false, true},
    {"QUEUE", false, true},    {"NEXT", false, false},  {"LAST", false, false},
    {"FIRED", true, false},    {"FAILED", true, false}, {"NOTE", false, false},
    {NULL, false, false},
};

static bool has_outcome(const json_t *schedule, struct slice outcome)
{
    return slice_equal(field_text(schedule, "last.outcome"), outcome);
}

// Adds why the schedule is not running, or why the last occurrence did not submit a job.
static void add_schedule_note(struct grid *grid, const json_t *schedule)
{
    struct text words = {0};

    if (field_is_set(schedule, "silent_until")) {
        text_format(&words, "silent until %s: the clock was set back",
                    units_moment(field_number(schedule, "silent_until")).text);
    } else {
        text_put(&words, has_outcome(schedule, SLICE("refused"))      ? "refused, tried again"
                         : has_outcome(schedule, SLICE("given_up"))   ? "refused"
                         : has_outcome(schedule, SLICE("overlapped")) ? "previous job not done"
                         : has_outcome(schedule, SLICE("missed"))     ? "missed"
                                                                      : "");
    }
    grid_cell(grid, STYLE_ODD, text_slice(&words));
    text_free(&words);
}

static void add_moment(struct grid *grid, const json_t *schedule, const char *key)
{
    if (field_is_set(schedule, key)) {
        grid_string(grid, STYLE_PLAIN, units_moment(field_number(schedule, key)).text);
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
}

static void add_schedule_row(struct grid *grid, const json_t *schedule)
{
    struct slice zone = field_text(schedule, "timezone");

    grid_cell(grid, STYLE_PLAIN, field_text(schedule, "name"));
    grid_cell(grid, STYLE_PLAIN, field_text(schedule, "cron"));
    grid_cell(grid, zone.len ? STYLE_PLAIN : STYLE_FAINT, zone.len ? zone : SLICE("local"));
    grid_cell(grid, STYLE_PLAIN, field_text(schedule, "queue"));
    add_moment(grid, schedule, "next_at");
    add_moment(grid, schedule, "fired_at");
    grid_count(grid, STYLE_PLAIN, field_count(schedule, "counts.fired"));
    grid_count(grid, STYLE_BAD, field_count(schedule, "counts.given_up"));
    add_schedule_note(grid, schedule);
}

enum outcome run_schedules(struct context *context)
{
    const struct api_list listing = {
        .path = SCHEDULES,
        .key = "schedules",
        .columns = schedule_columns,
        .row = add_schedule_row,
        .empty = "No schedules, or you may not observe them.",
    };

    return listing_print(context, &listing);
}

//
// One schedule
//

#define COUNT(path) units_count(field_count(schedule, path)).text

static void add_moment_fact(struct context *context, const char *label, const json_t *schedule,
                            const char *key)
{
    if (field_is_set(schedule, key)) {
        fact(context, label, "%s", units_moment(field_number(schedule, key)).text);
    } else {
        fact(context, label, "none");
    }
}

static void add_last_run(struct context *context, const json_t *schedule)
{
    struct slice outcome = field_text(schedule, "last.outcome");
    struct text words = {0};

    if (has_outcome(schedule, SLICE("nothing"))) {
        return;
    }
    text_put(&words, units_moment(field_number(schedule, "last.at")).text);
    text_put(&words, ": ");
    text_add(&words, outcome);
    if (field_is_set(schedule, "last.job")) {
        text_format(&words, ", job %llu", (unsigned long long)field_count(schedule, "last.job"));
    }
    if (field_is_set(schedule, "last.why")) {
        text_put(&words, ", ");
        text_add(&words, field_text(schedule, "last.why"));
    }
    fact_text(context, "last", text_slice(&words));
    text_free(&words);
}

static void add_schedule(struct context *context, const json_t *schedule)
{
    struct slice zone = field_text(schedule, "timezone");

    fact_title(context, field_text(schedule, "name"));
    fact_text(context, "cron", field_text(schedule, "cron"));
    fact_text(context, "zone", zone.len ? zone : SLICE("local time of the broker"));
    add_moment_fact(context, "next", schedule, "next_at");
    if (field_is_set(schedule, "silent_until")) {
        fact(context, "silent",
             "until %s, since the clock was set back (schedule-replan ends that)",
             units_moment(field_number(schedule, "silent_until")).text);
    }
    add_moment_fact(context, "fired", schedule, "fired_at");
    add_last_run(context, schedule);
    fact_text(context, "queue", field_text(schedule, "queue"));
    fact_text(context, "body", field_text(schedule, "body"));
    fact(context, "job", "priority %s, time to run %s", COUNT("priority"),
         units_seconds(field_number(schedule, "ttr_seconds")).text);
    fact_text(context, "missed", field_text(schedule, "missed"));
    fact_text(context, "overlap", field_text(schedule, "overlap"));
    fact(context, "defined", "%s%s",
         field_true(schedule, "at_run_time") ? "at run time" : "in the configuration",
         field_true(schedule, "at_run_time") && field_true(schedule, "in_file")
             ? ", overrides the configuration"
             : "");
    fact(context, "so far", "%s fired, %s of them late; %s missed, %s overlapped, %s given up",
         COUNT("counts.fired"), COUNT("counts.late"), COUNT("counts.missed"),
         COUNT("counts.overlapped"), COUNT("counts.given_up"));
}

// Calls the API for the schedule that the first operand names. Takes ownership of `body`.
static enum outcome show_schedule(struct context *context, const char *method, const char *step,
                                  json_t *body,
                                  void (*add)(struct context *context, const json_t *reply))
{
    struct text path = {0};
    enum outcome outcome;

    text_put(&path, SCHEDULES);
    path_add_name(&path, context->words[0]);
    text_put(&path, step);
    outcome = command_show(context, method, text_string(&path), body, add);
    text_free(&path);
    return outcome;
}

enum outcome run_schedule(struct context *context)
{
    return show_schedule(context, "GET", "", NULL, add_schedule);
}

//
// Changes
//

static void add_next_run(struct context *context, const json_t *schedule)
{
    struct text words = {0};

    if (field_is_set(schedule, "next_at")) {
        text_format(&words, "runs next at %s",
                    units_moment(field_number(schedule, "next_at")).text);
    } else {
        text_put(&words, "never runs again");
    }
    command_add_sentence(context, context->words[0], text_string(&words));
    text_free(&words);
}

static void add_dropped(struct context *context, const json_t *reply)
{
    (void)reply;
    command_add_sentence(
        context, context->words[0],
        "is deleted; the schedule of that name in the configuration, if any, applies");
}

static void add_submitted_job(struct context *context, const json_t *reply)
{
    text_format(&context->out, "%llu\n", (unsigned long long)field_count(reply, "id"));
}

// Sets a member to a text from the command line. False with a problem.
static bool set_schedule_text(struct context *context, json_t *object, const char *key,
                              const char *text)
{
    json_t *value = text ? command_json_text(context, key, text) : NULL;

    if (value) {
        object_set(object, key, value);
    }
    return value || !text;
}

enum outcome run_schedule_put(struct context *context)
{
    const struct options *options = context->options;
    const char *body = context->count > 3 ? context->words[3] : NULL;
    json_t *schedule = need(json_object());

    object_set_count(schedule, "priority", options->new_priority);
    object_set_count(schedule, "ttr_seconds", options->ttr);
    if (!set_schedule_text(context, schedule, "cron", context->words[1]) ||
        !set_schedule_text(context, schedule, "queue", context->words[2]) ||
        !set_schedule_text(context, schedule, "body", body) ||
        !set_schedule_text(context, schedule, "timezone", options->timezone) ||
        !set_schedule_text(context, schedule, "missed", options->missed) ||
        !set_schedule_text(context, schedule, "overlap", options->overlap)) {
        json_decref(schedule);
        return OUTCOME_USAGE;
    }
    return show_schedule(context, "PUT", "", schedule, add_next_run);
}

enum outcome run_schedule_drop(struct context *context)
{
    return show_schedule(context, "DELETE", "", NULL, add_dropped);
}

enum outcome run_schedule_replan(struct context *context)
{
    return show_schedule(context, "POST", "/replan", NULL, add_next_run);
}

enum outcome run_schedule_run(struct context *context)
{
    return show_schedule(context, "POST", "/run", NULL, add_submitted_job);
}
