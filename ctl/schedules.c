/* SPDX-License-Identifier: MIT */
#include "ctl/schedules.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/listing.h"
#include "ctl/print/text.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <string.h>

#define PATH "/api/v1/schedules"

static const struct grid_column columns[] = {
    {"SCHEDULE", false, true}, {"CRON", false, true},   {"ZONE", false, true},
    {"QUEUE", false, true},    {"NEXT", false, false},  {"LAST", false, false},
    {"FIRED", true, false},    {"FAILED", true, false}, {"NOTE", false, false},
    {NULL, false, false},
};

static bool has_outcome(const json_t *schedule, struct slice outcome)
{
    return slice_equal(field_text(schedule, "last.outcome"), outcome);
}

// Why the last occurrence did not submit a job.
static const char *note_of(const json_t *schedule)
{
    return has_outcome(schedule, SLICE("refused"))      ? "refused, tried again"
           : has_outcome(schedule, SLICE("given_up"))   ? "refused"
           : has_outcome(schedule, SLICE("overlapped")) ? "the job before is not done"
           : has_outcome(schedule, SLICE("missed"))     ? "missed"
                                                        : "";
}

// Adds why the schedule is not running, or why the last occurrence did not submit a job.
static void add_note(struct grid *grid, const json_t *schedule)
{
    struct text words = {0};

    if (field_is_set(schedule, "silent_until")) {
        text_format(&words, "silent until %s: the clock was set back",
                    moment_of(field_number(schedule, "silent_until")).text);
    } else {
        text_put(&words, note_of(schedule));
    }
    grid_cell(grid, STYLE_ODD, text_slice(&words));
    text_free(&words);
}

static void add_moment(struct grid *grid, const json_t *schedule, const char *key)
{
    if (field_is_set(schedule, key)) {
        grid_string(grid, STYLE_PLAIN, moment_of(field_number(schedule, key)).text);
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
}

static void add_row(struct grid *grid, const json_t *schedule)
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
    add_note(grid, schedule);
}

enum outcome run_schedules(struct context *context)
{
    const struct listing listing = {
        .path = PATH,
        .key = "schedules",
        .columns = columns,
        .row = add_row,
        .empty = "There is no schedule, or none that you may observe.",
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
        fact(context, label, "%s", moment_of(field_number(schedule, key)).text);
    } else {
        fact(context, label, "none");
    }
}

static void add_last(struct context *context, const json_t *schedule)
{
    struct slice outcome = field_text(schedule, "last.outcome");
    struct text words = {0};

    if (has_outcome(schedule, SLICE("nothing"))) {
        return;
    }
    text_put(&words, moment_of(field_number(schedule, "last.at")).text);
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

static void add_facts(struct context *context, const json_t *schedule)
{
    struct slice zone = field_text(schedule, "timezone");

    fact_title(context, field_text(schedule, "name"));
    fact_text(context, "cron", field_text(schedule, "cron"));
    fact_text(context, "zone", zone.len ? zone : SLICE("local time of the broker"));
    add_moment_fact(context, "next", schedule, "next_at");
    if (field_is_set(schedule, "silent_until")) {
        fact(context, "silent",
             "until %s, since the clock was set back (schedule-replan ends that)",
             moment_of(field_number(schedule, "silent_until")).text);
    }
    add_moment_fact(context, "fired", schedule, "fired_at");
    add_last(context, schedule);
    fact_text(context, "queue", field_text(schedule, "queue"));
    fact_text(context, "body", field_text(schedule, "body"));
    fact(context, "job", "priority %s, time to run %s", COUNT("priority"),
         units_seconds(field_number(schedule, "ttr_seconds")).text);
    fact_text(context, "missed", field_text(schedule, "missed"));
    fact_text(context, "overlap", field_text(schedule, "overlap"));
    fact(context, "said", "%s%s",
         field_true(schedule, "at_run_time") ? "at run time" : "in the configuration",
         field_true(schedule, "at_run_time") && field_true(schedule, "in_file")
             ? ", over the configuration"
             : "");
    fact(context, "so far", "%s fired, %s of them late; %s missed, %s overlapped, %s given up",
         COUNT("counts.fired"), COUNT("counts.late"), COUNT("counts.missed"),
         COUNT("counts.overlapped"), COUNT("counts.given_up"));
}

// Sends a request about the schedule in the first operand. `print_it` prints the reply as text.
// Takes ownership of `body`.
static enum outcome ask_of(struct context *context, const char *method, const char *step,
                           json_t *body,
                           void (*print_it)(struct context *context, const json_t *reply))
{
    struct text path = {0};
    struct reply reply = {0};
    enum outcome outcome;

    text_put(&path, PATH);
    path_add_name(&path, context->words[0]);
    text_put(&path, step);
    outcome = ask(context, method, text_string(&path), body, &reply);
    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        print_it(context, reply.json);
        outcome = print(context);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}

enum outcome run_schedule(struct context *context)
{
    return ask_of(context, "GET", "", NULL, add_facts);
}

//
// Changes
//

// Prints "NAME WHAT".
static void say(struct context *context, const char *what)
{
    const char *name = context->words[0];

    text_add_escaped(&context->out, slice_str(name), false);
    text_format(&context->out, " %s\n", what);
}

static void say_next(struct context *context, const json_t *schedule)
{
    struct text words = {0};

    text_format(&words, "comes next at %s.",
                field_is_set(schedule, "next_at")
                    ? moment_of(field_number(schedule, "next_at")).text
                    : "no moment");
    say(context, text_string(&words));
    text_free(&words);
}

static void say_dropped(struct context *context, const json_t *reply)
{
    (void)reply;
    say(context, "is what the configuration says of it, if it says anything.");
}

static void say_job(struct context *context, const json_t *reply)
{
    text_format(&context->out, "%llu\n", (unsigned long long)field_count(reply, "id"));
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (value && json_object_set_new(object, key, value) != 0) {
        (void)need(NULL);
    }
}

// Sets a member to a text from the command line. False with a problem.
static bool set_text(struct context *context, json_t *object, const char *key, const char *text)
{
    json_t *value = text ? json_of(context, key, text) : NULL;

    set(object, key, value);
    return value || !text;
}

static bool fill(struct context *context, json_t *schedule)
{
    const struct options *options = context->options;

    if (options->new_priority != NO_COUNT) {
        set(schedule, "priority", need(json_integer((json_int_t)options->new_priority)));
    }
    if (options->ttr != NO_COUNT) {
        set(schedule, "ttr_seconds", need(json_integer((json_int_t)options->ttr)));
    }
    return set_text(context, schedule, "cron", context->words[1]) &&
           set_text(context, schedule, "queue", context->words[2]) &&
           set_text(context, schedule, "body", context->count > 3 ? context->words[3] : NULL) &&
           set_text(context, schedule, "timezone", options->timezone) &&
           set_text(context, schedule, "missed", options->missed) &&
           set_text(context, schedule, "overlap", options->overlap);
}

enum outcome run_schedule_put(struct context *context)
{
    json_t *schedule = need(json_object());

    if (!fill(context, schedule)) {
        json_decref(schedule);
        return OUTCOME_USAGE;
    }
    return ask_of(context, "PUT", "", schedule, say_next);
}

enum outcome run_schedule_drop(struct context *context)
{
    return ask_of(context, "DELETE", "", NULL, say_dropped);
}

enum outcome run_schedule_replan(struct context *context)
{
    return ask_of(context, "POST", "/replan", NULL, say_next);
}

enum outcome run_schedule_run(struct context *context)
{
    return ask_of(context, "POST", "/run", NULL, say_job);
}
