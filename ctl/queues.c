/* SPDX-License-Identifier: MIT */
#include "ctl/queues.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/listing.h"
#include "ctl/policies.h"
#include "ctl/print/units.h"

#include <string.h>

//
// The list
//

static const struct grid_column columns[] = {
    {"QUEUE", false, true},    {"READY", true, false},   {"DELAYED", true, false},
    {"RESERVED", true, false}, {"BURIED", true, false},  {"OLDEST", true, false},
    {"WORKERS", true, false},  {"WAITING", true, false}, {"SUBMITTED", true, false},
    {"DONE", true, false},     {"FAILED", true, false},  {"NOTE", false, false},
    {NULL, false, false},
};

static const char *note_of(const json_t *queue)
{
    if (field_true(queue, "paused")) {
        return "paused";
    }
    return field_count(queue, "jobs.ready") > 0 && field_count(queue, "workers") == 0 ? "unworked"
                                                                                      : "";
}

static void add_row(struct grid *grid, const json_t *queue)
{
    grid_cell(grid, STYLE_PLAIN, field_text(queue, "name"));
    grid_count(grid, STYLE_PLAIN, field_count(queue, "jobs.ready"));
    grid_count(grid, STYLE_PLAIN, field_count(queue, "jobs.delayed"));
    grid_count(grid, STYLE_PLAIN, field_count(queue, "jobs.reserved"));
    grid_count(grid, STYLE_BAD, field_count(queue, "jobs.buried"));
    if (field_is_set(queue, "oldest_ready_seconds")) {
        grid_seconds(grid, field_number(queue, "oldest_ready_seconds"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
    grid_count(grid, STYLE_PLAIN, field_count(queue, "workers"));
    grid_count(grid, STYLE_PLAIN, field_count(queue, "waiting"));
    grid_count(grid, STYLE_PLAIN, field_count(queue, "totals.submitted"));
    grid_count(grid, STYLE_PLAIN, field_count(queue, "totals.completed"));
    grid_count(grid, STYLE_BAD, field_count(queue, "totals.failed"));
    grid_string(grid, STYLE_ODD, note_of(queue));
}

enum outcome run_queues(struct context *context)
{
    const struct options *options = context->options;
    struct text path = {0};
    struct listing listing = {.key = "queues",
                              .columns = columns,
                              .row = add_row,
                              .empty = "There is no such queue, or none that you may observe."};
    enum outcome outcome;

    text_put(&path, "/api/v1/queues");
    path_add_text(&path, "search", options->search);
    path_add_text(&path, "name", options->name);
    path_add_text(&path, "with", options->with);
    path_add_text(&path, "sort", options->sort);
    listing.path = text_string(&path);
    outcome = listing_print(context, &listing);
    text_free(&path);
    return outcome;
}

//
// One queue
//

#define COUNT(path) units_count(field_count(queue, path)).text

static void add_numbers(struct context *context, const json_t *queue)
{
    fact(context, "jobs", "%s ready, %s delayed, %s reserved, %s buried", COUNT("jobs.ready"),
         COUNT("jobs.delayed"), COUNT("jobs.reserved"), COUNT("jobs.buried"));
    fact(context, "ready", "%s of high priority, %s normal, %s low", COUNT("bands.high"),
         COUNT("bands.normal"), COUNT("bands.low"));
    if (field_is_set(queue, "oldest_ready_seconds")) {
        fact(context, "oldest", "ready for %s",
             units_seconds(field_number(queue, "oldest_ready_seconds")).text);
    }
    fact(context, "so far", "%s submitted, %s completed, %s failed, %s deleted",
         COUNT("totals.submitted"), COUNT("totals.completed"), COUNT("totals.failed"),
         COUNT("totals.deleted"));
    fact(context, "", "%s retries, %s timeouts, %s burials, %s kicks, %s releases",
         COUNT("totals.retries"), COUNT("totals.timeouts"), COUNT("totals.buried"),
         COUNT("totals.kicked"), COUNT("totals.released"));
    fact(context, "", "%s expired, %s to a dead queue", COUNT("totals.expired"),
         COUNT("totals.dead"));
    fact(context, "workers", "%s, %s of them waiting", COUNT("workers"), COUNT("waiting"));
}

// Adds the reasons other than a pause for which the policy closes the queue.
static void add_gates(struct context *context, const json_t *queue)
{
    json_t *reasons = json_object_get(queue, "closed");
    const json_t *reason;
    size_t i;

    json_array_foreach(reasons, i, reason)
    {
        const char *word = json_string_value(reason);

        if (!word || strcmp(word, "paused") == 0) {
            continue;
        }
        if (strcmp(word, "rate") == 0) {
            fact_styled(context, "closed", STYLE_ODD, "by its rate, for %s more",
                        units_seconds(field_number(queue, "rate_left_seconds")).text);
        } else {
            fact_styled(context, "closed", STYLE_ODD, "%s",
                        strcmp(word, "running") == 0
                            ? "as many jobs are held as may be"
                            : "a job that has waited too long is about to go");
        }
    }
}

static void add_state(struct context *context, const json_t *queue)
{
    if (field_true(queue, "paused")) {
        fact_styled(context, "paused", STYLE_ODD, "for %s more",
                    units_seconds(field_number(queue, "pause_left_seconds")).text);
    }
    add_gates(context, queue);
    fact(context, "kept", "%s",
         field_true(queue, "kept") ? "stays when it is empty" : "goes when nothing refers to it");
    if (field_count(queue, "limits.high") + field_count(queue, "limits.normal") +
            field_count(queue, "limits.low") >
        0) {
        fact(context, "limits", "high %s, normal %s, low %s (0: none)", COUNT("limits.high"),
             COUNT("limits.normal"), COUNT("limits.low"));
    }
}

// Adds a quantile: the upper bound of the bucket in which `share` of the observations is reached.
static void add_share(struct text *to, const json_t *histogram, double share, const char *name)
{
    const json_t *buckets = field_get(histogram, "buckets");
    double wanted = share * (double)field_count(histogram, "count");
    double so_far = 0;

    for (size_t i = 0; i < json_array_size(buckets); i++) {
        const json_t *bucket = json_array_get(buckets, i);

        so_far += (double)field_count(bucket, "count");
        if (so_far >= wanted) {
            if (field_is_set(bucket, "le_seconds")) {
                text_format(to, ", %s within %s", name,
                            units_seconds(field_number(bucket, "le_seconds")).text);
            }
            return;
        }
    }
}

static void add_distribution(struct context *context, const char *label, const json_t *histogram)
{
    uint64_t count = field_count(histogram, "count");
    struct text words = {0};

    if (count > 0) {
        text_format(&words, "%s on average",
                    units_seconds(field_number(histogram, "sum_seconds") / (double)count).text);
        add_share(&words, histogram, 0.5, "half");
        add_share(&words, histogram, 0.95, "95 %");
        add_share(&words, histogram, 0.99, "99 %");
        fact_text(context, label, text_slice(&words));
        text_free(&words);
    }
}

enum outcome run_queue(struct context *context)
{
    struct text path = {0};
    struct reply reply = {0};
    enum outcome outcome;

    text_put(&path, "/api/v1/queues");
    path_add_name(&path, context->words[0]);
    outcome = ask(context, "GET", text_string(&path), NULL, &reply);
    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        fact_title(context, field_text(reply.json, "name"));
        add_numbers(context, reply.json);
        add_state(context, reply.json);
        policy_facts(context, field_get(reply.json, "policy"));
        add_distribution(context, "wait", field_get(reply.json, "wait"));
        add_distribution(context, "run", field_get(reply.json, "run"));
        outcome = print(context);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}
