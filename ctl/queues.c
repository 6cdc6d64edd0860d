/* SPDX-License-Identifier: MIT */

// Queues and their policies.

#include "ctl/commands.h"

#include "core/base/digits.h"
#include "ctl/fact_lines.h"
#include "ctl/listing.h"
#include "ctl/operations.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <string.h>

//
// The list of queues
//

static const struct grid_column queue_columns[] = {
    {"QUEUE", false, true},    {"READY", true, false},   {"DELAYED", true, false},
    {"RESERVED", true, false}, {"BURIED", true, false},  {"OLDEST", true, false},
    {"WORKERS", true, false},  {"WAITING", true, false}, {"SUBMITTED", true, false},
    {"DONE", true, false},     {"FAILED", true, false},  {"NOTE", false, false},
    {NULL, false, false},
};

static void add_queue_row(struct grid *grid, const json_t *queue)
{
    bool unworked = field_count(queue, "jobs.ready") > 0 && field_count(queue, "workers") == 0;

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
    grid_string(grid, STYLE_ODD,
                field_true(queue, "paused") ? "paused"
                : unworked                  ? "unworked"
                                            : "");
}

enum outcome run_queues(struct context *context)
{
    const struct options *options = context->options;
    struct text path = {0};
    struct api_list listing = {.key = "queues",
                               .columns = queue_columns,
                               .row = add_queue_row,
                               .empty = "No queues match, or you may not observe them."};
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
// The settings of a policy
//

// Adds the settings, as "max_jobs = 5, rate = 5/m", or why the policy does not apply.
static void add_policy_settings(struct text *to, const json_t *policy)
{
    json_t *settings = json_object_get(policy, "settings");
    const char *between = "";
    const char *key;
    json_t *value;

    if (field_is_set(policy, "why_not")) {
        text_put(to, "does not apply: ");
        text_add(to, field_text(policy, "why_not"));
        return;
    }
    json_object_foreach(settings, key, value)
    {
        text_format(to, "%s%s = ", between, key);
        if (json_is_boolean(value)) {
            text_put(to, json_is_true(value) ? "true" : "false");
        } else if (json_is_integer(value)) {
            text_format(to, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        } else {
            text_add(to, slice_of(json_string_value(value), json_string_length(value)));
        }
        between = ", ";
    }
}

// Adds the settings and the source of a policy as facts of a queue; nothing if it is NULL or null.
static void add_policy_facts(struct context *context, const json_t *policy)
{
    struct text words = {0};

    if (!json_is_object(policy)) {
        return;
    }
    text_put(&words, "[queue ");
    text_add(&words, field_text(policy, "glob"));
    text_put(&words, "] of ");
    text_add(&words, field_text(policy, "origin"));
    fact_text(context, "policy", text_slice(&words));
    text_free(&words);
    add_policy_settings(&words, policy);
    if (words.len > 0) {
        fact_text(context, "", text_slice(&words));
    }
    text_free(&words);
}

//
// One queue
//

#define COUNT(path) units_count(field_count(queue, path)).text

static void add_queue_numbers(struct context *context, const json_t *queue)
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

static void add_queue_state(struct context *context, const json_t *queue)
{
    json_t *reasons = json_object_get(queue, "closed");
    const json_t *reason;
    size_t i;

    if (field_true(queue, "paused")) {
        fact_styled(context, "paused", STYLE_ODD, "for %s more",
                    units_seconds(field_number(queue, "pause_left_seconds")).text);
    }
    // The other reasons are those of the policy.
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
                            ? "the maximum number of jobs is running"
                            : "a job that has waited too long is about to be removed");
        }
    }
    fact(context, "kept", "%s",
         field_true(queue, "kept") ? "even when it is empty" : "only while it is in use");
    if (field_count(queue, "limits.high") + field_count(queue, "limits.normal") +
            field_count(queue, "limits.low") >
        0) {
        fact(context, "limits", "high %s, normal %s, low %s (0: none)", COUNT("limits.high"),
             COUNT("limits.normal"), COUNT("limits.low"));
    }
}

// Adds a quantile: the upper bound of the bucket in which `share` of the observations is reached.
static void add_quantile(struct text *to, const json_t *histogram, double share, const char *name)
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
        add_quantile(&words, histogram, 0.5, "half");
        add_quantile(&words, histogram, 0.95, "95 %");
        add_quantile(&words, histogram, 0.99, "99 %");
        fact_text(context, label, text_slice(&words));
        text_free(&words);
    }
}

// Calls the API for the queue that the first operand names. Takes ownership of `body`.
static enum outcome show_queue(struct context *context, const char *method, const char *step,
                               json_t *body,
                               void (*add)(struct context *context, const json_t *reply))
{
    struct text path = {0};
    enum outcome outcome;

    text_put(&path, "/api/v1/queues");
    path_add_name(&path, context->words[0]);
    text_put(&path, step);
    outcome = command_show(context, method, text_string(&path), body, add);
    text_free(&path);
    return outcome;
}

static void add_queue(struct context *context, const json_t *queue)
{
    fact_title(context, field_text(queue, "name"));
    add_queue_numbers(context, queue);
    add_queue_state(context, queue);
    add_policy_facts(context, field_get(queue, "policy"));
    add_distribution(context, "wait", field_get(queue, "wait"));
    add_distribution(context, "run", field_get(queue, "run"));
}

enum outcome run_queue(struct context *context)
{
    return show_queue(context, "GET", "", NULL, add_queue);
}

//
// Changes to a queue
//

static void add_kept(struct context *context, const json_t *queue)
{
    (void)queue;
    command_add_sentence(context, context->words[0], "is kept even when it is empty");
}

enum outcome run_keep(struct context *context)
{
    return show_queue(context, "PUT", "", NULL, add_kept);
}

static void add_forgotten(struct context *context, const json_t *queue)
{
    (void)queue;
    command_add_sentence(context, context->words[0], "is deleted when it is no longer in use");
}

enum outcome run_forget(struct context *context)
{
    return show_queue(context, "DELETE", "", NULL, add_forgotten);
}

static void add_limits(struct context *context, const json_t *queue)
{
    (void)queue;
    command_add_sentence(context, context->words[0], "has the new limits");
}

static json_int_t limit_or_none(uint64_t given)
{
    return given == NO_COUNT ? 0 : (json_int_t)given;
}

enum outcome run_limit(struct context *context)
{
    const struct options *options = context->options;
    json_t *limits = json_pack("{s:I, s:I, s:I}", "high", limit_or_none(options->high), "normal",
                               limit_or_none(options->normal), "low", limit_or_none(options->low));

    return show_queue(context, "PUT", "/limits", need(limits), add_limits);
}

// The default length of a pause, so that no pause is forgotten.
#define PAUSE_SECONDS 86400.0

static void add_paused(struct context *context, const json_t *queue)
{
    struct text words = {0};

    text_put(&words, "is paused");
    // The reply is empty if the queue is gone, or if the caller may not observe it.
    if (queue) {
        text_format(&words, " for %s",
                    units_seconds(field_number(queue, "pause_left_seconds")).text);
    }
    command_add_sentence(context, context->words[0], text_string(&words));
    text_free(&words);
}

static void add_resumed(struct context *context, const json_t *queue)
{
    (void)queue;
    command_add_sentence(context, context->words[0], "is not paused");
}

// Requires either the name of one queue or --queues.
static enum outcome check_pause_target(struct context *context)
{
    return bulk_is_meant(context) == (context->count > 0)
               ? problem_set(context->problem, OUTCOME_USAGE,
                             "give either one queue or --queues GLOB")
               : OUTCOME_DONE;
}

enum outcome run_pause(struct context *context)
{
    double given = context->options->pause_for;
    const struct bulk bulk = {.action = "pause", .pause_for = given < 0 ? PAUSE_SECONDS : given};
    enum outcome outcome = check_pause_target(context);

    if (outcome == OUTCOME_DONE && bulk.pause_for <= 0) {
        outcome = problem_set(context->problem, OUTCOME_USAGE,
                              "--for must be more than 0; resume ends a pause");
    }
    if (outcome != OUTCOME_DONE || context->count == 0) {
        return outcome == OUTCOME_DONE ? bulk_run(context, &bulk) : outcome;
    }
    return show_queue(context, "POST", "/pause",
                      need(json_pack("{s:f}", "seconds", bulk.pause_for)), add_paused);
}

enum outcome run_resume(struct context *context)
{
    static const struct bulk bulk = {.action = "resume"};
    enum outcome outcome = check_pause_target(context);

    if (outcome != OUTCOME_DONE || context->count == 0) {
        return outcome == OUTCOME_DONE ? bulk_run(context, &bulk) : outcome;
    }
    return show_queue(context, "POST", "/resume", NULL, add_resumed);
}

//
// The list of policies
//

#define POLICIES "/api/v1/policies"
// The member of a policy that is not a key of its section.
#define POSITION "position"
#define POSITION_MOST 1000000000

static const struct grid_column policy_columns[] = {
    {"GLOB", false, true},     {"POSITION", true, false}, {"ORIGIN", false, false},
    {"SETTINGS", false, true}, {NULL, false, false},
};

static void add_policies(struct context *context, const json_t *reply)
{
    const json_t *policies = field_get(reply, "policies");
    struct grid *grid;

    if (json_array_size(policies) == 0) {
        text_put(&context->out, "There are no policies.\n");
        return;
    }
    grid = grid_new(policy_columns, context->screen.width, context->screen.colour);
    for (size_t i = 0; i < json_array_size(policies); i++) {
        const json_t *policy = json_array_get(policies, i);
        bool applies = !field_is_set(policy, "why_not");
        struct text words = {0};

        add_policy_settings(&words, policy);
        grid_cell(grid, STYLE_PLAIN, field_text(policy, "glob"));
        if (field_is_set(policy, POSITION)) {
            grid_format(grid, STYLE_PLAIN, "%llu",
                        (unsigned long long)field_count(policy, POSITION));
        } else {
            grid_string(grid, STYLE_FAINT, "-");
        }
        grid_cell(grid, STYLE_PLAIN, field_text(policy, "origin"));
        grid_cell(grid, applies ? STYLE_PLAIN : STYLE_BAD, text_slice(&words));
        text_free(&words);
    }
    grid_write(grid, &context->out);
    grid_free(grid);
}

enum outcome run_policies(struct context *context)
{
    return command_show(context, "GET", POLICIES, NULL, add_policies);
}

//
// One policy
//

// Adds a setting KEY=VALUE of a policy to the object.
static enum outcome read_setting(struct context *context, const char *word, json_t *into)
{
    const char *sign = strchr(word, '=');
    size_t len = sign ? (size_t)(sign - word) : 0;
    struct text key = {0};
    uint64_t number;
    json_t *value = NULL;

    if (len == 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "\"%s\" is not KEY=VALUE", word);
    }
    text_add(&key, slice_of(word, len));
    if (strcmp(text_string(&key), POSITION) != 0) {
        value = command_json_text(context, "value", sign + 1);
    } else if (digits_read(slice_str(sign + 1), &number) && number <= POSITION_MOST) {
        value = need(json_integer((json_int_t)number));
    } else {
        (void)problem_set(context->problem, OUTCOME_USAGE,
                          "position: \"%s\" is not a number from 0 to %d", sign + 1, POSITION_MOST);
    }
    if (value && json_object_set_new(into, text_string(&key), value) != 0) {
        (void)problem_set(context->problem, OUTCOME_USAGE, "the key of \"%s\" is not valid UTF-8",
                          word);
        value = NULL;
    }
    text_free(&key);
    return value ? OUTCOME_DONE : context->problem->outcome;
}

static void add_policy(struct context *context, const json_t *policy)
{
    add_policy_facts(context, policy);
}

static void add_policy_set(struct context *context, const json_t *policy)
{
    (void)policy;
    command_add_sentence(context, context->words[1], "has the new policy");
}

static void add_policy_deleted(struct context *context, const json_t *policy)
{
    (void)policy;
    command_add_sentence(context, context->words[1], "has no run-time policy");
}

enum outcome run_policy(struct context *context)
{
    const char *action = context->words[0];
    bool sets = strcmp(action, "set") == 0;
    bool deletes = strcmp(action, "delete") == 0;
    json_t *body = NULL;
    struct text path = {0};
    enum outcome outcome;

    if (!sets && !deletes && strcmp(action, "show") != 0) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "unknown action of policy \"%s\": give show, set or delete", action);
    }
    if (!sets && context->count > 2) {
        return problem_set(context->problem, OUTCOME_USAGE, "policy %s takes only a glob", action);
    }
    if (sets) {
        body = need(json_object());
    }
    for (size_t i = 2; i < context->count; i++) {
        outcome = read_setting(context, context->words[i], body);
        if (outcome != OUTCOME_DONE) {
            json_decref(body);
            return outcome;
        }
    }
    text_put(&path, POLICIES);
    path_add_name(&path, context->words[1]);
    outcome = command_show(context,
                           sets      ? "PUT"
                           : deletes ? "DELETE"
                                     : "GET",
                           text_string(&path), body,
                           sets      ? add_policy_set
                           : deletes ? add_policy_deleted
                                     : add_policy);
    text_free(&path);
    return outcome;
}
