/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "core/base/macros.h"
#include "ctl/fact_lines.h"
#include "ctl/operations.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <stdio.h>
#include <string.h>

struct act {
    const char *name;
    const char *method;
    const char *step;    // appended to the path of the job
    bool takes_change;   // the request has a body (make_job_change())
    bool asks;           // confirms acts on single jobs
    bool asks_many;      // confirms acts on all jobs that match a filter
    bool alone;          // acts on single jobs only
    const char *missing; // required option
};

static const struct act acts[] = {
    {"delete", "DELETE", "", false, true, true, false, NULL},
    {"kick", "POST", "/kick", false, false, false, false, NULL},
    {"bury", "POST", "/bury", true, false, true, false, NULL},
    {"release", "POST", "/release", true, false, false, false, NULL},
    {"touch", "POST", "/touch", false, false, false, true, NULL},
    {"move", "POST", "/move", true, false, true, false, "--to or --back"},
    {"change", "POST", "/change", true, false, true, false, "--new-priority or --delay"},
};

//
// Single jobs
//

// The members of a job to change. NULL with a problem.
static json_t *make_job_change(struct context *context)
{
    const struct options *options = context->options;
    json_t *change = need(json_object());

    if (options->new_priority != NO_COUNT) {
        object_set(change, "priority", json_integer((json_int_t)options->new_priority));
    }
    if (options->delay >= 0) {
        object_set(change, "delay_seconds", json_real(options->delay));
    }
    if (options->back) {
        object_set(change, "back", json_true());
    }
    if (options->to) {
        json_t *to = command_json_text(context, "queue", options->to);

        if (!to) {
            json_decref(change);
            return NULL;
        }
        object_set(change, "queue", to);
    }
    return change;
}

static enum outcome act_on_job(struct context *context, const struct act *act, uint64_t id,
                               struct reply *reply)
{
    json_t *change = NULL;
    struct text path = {0};
    enum outcome outcome;

    if (act->takes_change) {
        change = make_job_change(context);
        if (!change) {
            return OUTCOME_USAGE;
        }
    }
    text_format(&path, "/api/v1/jobs/%llu%s", (unsigned long long)id, act->step);
    outcome = command_ask(context, act->method, text_string(&path), change, reply);
    text_free(&path);
    return outcome;
}

// Adds the job as it is now to a list of answers, or its id alone if the job is gone.
static void add_job_answer(struct text *answers, uint64_t id, const struct reply *reply)
{
    text_put(answers, answers->len == 0 ? "[" : ",");
    if (reply->json) {
        text_add(answers, text_slice(&reply->answer.body));
    } else {
        text_format(answers, "{\"id\":%llu}", (unsigned long long)id);
    }
}

// Continues after a refusal and reports it at once. Returns the outcome of the first refusal.
static enum outcome act_on_jobs(struct context *context, const struct act *act, const uint64_t *ids)
{
    enum outcome first = OUTCOME_DONE;
    enum outcome printed;
    struct text answers = {0};
    struct reply reply = {0};
    size_t done = 0;

    for (size_t i = 0; i < context->count; i++) {
        enum outcome outcome = act_on_job(context, act, ids[i], &reply);

        if (outcome == OUTCOME_DONE && context->count > 1) {
            add_job_answer(&answers, ids[i], &reply);
        } else if (outcome == OUTCOME_DONE) {
            text_add(&answers, text_slice(&reply.answer.body));
        } else {
            struct problem problem;

            (void)problem_set(&problem, outcome, "job %llu: %s", (unsigned long long)ids[i],
                              context->problem->why.text);
            problem_print(&problem);
            first = first == OUTCOME_DONE ? outcome : first;
        }
        done += outcome == OUTCOME_DONE;
        if (outcome == OUTCOME_UNREACHABLE || outcome == OUTCOME_USAGE) {
            break;
        }
    }
    context->problem->why.text[0] = '\0';
    // With --json, a single answer is printed unchanged, and several as a list.
    if (context->options->json) {
        text_put(&context->out, done > 0 || context->count == 1 ? text_string(&answers) : "[");
        text_put(&context->out, context->count > 1 ? "]\n" : answers.len > 0 ? "\n" : "");
    } else if (done > 0) {
        units_add_noun(&context->out, done, "job");
        text_format(&context->out, " %s.\n", action_past(slice_str(act->name)));
    }
    printed = command_print(context);
    reply_free(&reply);
    text_free(&answers);
    return first == OUTCOME_DONE ? printed : first;
}

static enum outcome read_job_ids(struct context *context, uint64_t *ids)
{
    for (size_t i = 0; i < context->count; i++) {
        if (!units_read_count(context->words[i], &ids[i]) || ids[i] == 0) {
            return problem_set(context->problem, OUTCOME_USAGE,
                               "\"%s\" is not a job id; --queue names a queue", context->words[i]);
        }
    }
    return OUTCOME_DONE;
}

static enum outcome confirm_jobs(struct context *context, const struct act *act)
{
    struct text question = {0};
    enum outcome outcome;

    text_put_char(&question, (char)(act->name[0] - 'a' + 'A'));
    text_format(&question, "%s ", act->name + 1);
    if (context->count == 1) {
        text_format(&question, "job %s?", context->words[0]);
    } else {
        units_add_noun(&question, context->count, "job");
        text_put_char(&question, '?');
    }
    outcome = command_confirm(context, text_string(&question));
    text_free(&question);
    return outcome;
}

//
// Single jobs or a filter
//

static enum outcome check_act(struct context *context, const struct act *act)
{
    const struct options *options = context->options;
    bool bulk = bulk_is_meant(context);

    if (!bulk && context->count == 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "%s needs job ids%s", act->name,
                           act->alone ? "" : ", or a queue by --queue");
    }
    if (bulk && context->count > 0) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "give either job ids or a queue, not both");
    }
    if (options->to && options->back) {
        return problem_set(context->problem, OUTCOME_USAGE, "give either --to or --back");
    }
    if (act->missing && !options->to && !options->back && options->new_priority == NO_COUNT &&
        options->delay < 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "%s needs %s", act->name, act->missing);
    }
    if (!bulk && options->dry_run) {
        return problem_set(context->problem, OUTCOME_USAGE, "--dry-run needs --queue or --queues");
    }
    return OUTCOME_DONE;
}

enum outcome run_act(struct context *context)
{
    const struct act *act = acts;
    enum outcome outcome;
    uint64_t *ids;

    while (strcmp(act->name, context->command->name) != 0) {
        act++;
        ENSURE(act < acts + sizeof acts / sizeof *acts);
    }
    outcome = check_act(context, act);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    if (bulk_is_meant(context)) {
        return bulk_run(context, &(const struct bulk){.action = act->name, .asks = act->asks_many});
    }
    ids = need(calloc(context->count, sizeof *ids));
    outcome = read_job_ids(context, ids);
    if (outcome == OUTCOME_DONE && act->asks) {
        outcome = confirm_jobs(context, act);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = act_on_jobs(context, act, ids);
    }
    free(ids);
    return outcome;
}

enum outcome run_clear(struct context *context)
{
    const struct bulk bulk = {.action = "delete", .queue = context->words[0], .asks = true};

    if (bulk_is_meant(context)) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "clear takes the name of one queue; use delete with --queues");
    }
    return bulk_run(context, &bulk);
}
