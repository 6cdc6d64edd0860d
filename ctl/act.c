/* SPDX-License-Identifier: MIT */
#include "ctl/act.h"

#include "core/base/macros.h"
#include "ctl/confirm.h"
#include "ctl/facts.h"
#include "ctl/many.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"
#include "ctl/verbs.h"

#include <stdio.h>
#include <string.h>

struct act {
    const char *name;
    const char *method;
    const char *step;    // appended to the path of the job
    bool asks;           // confirms acts on single jobs
    bool asks_many;      // confirms acts on all jobs that match a filter
    bool alone;          // acts on single jobs only
    const char *missing; // required option
};

static const struct act acts[] = {
    {"delete", "DELETE", "", true, true, false, NULL},
    {"kick", "POST", "/kick", false, false, false, NULL},
    {"bury", "POST", "/bury", false, true, false, NULL},
    {"release", "POST", "/release", false, false, false, NULL},
    {"touch", "POST", "/touch", false, false, true, NULL},
    {"move", "POST", "/move", false, true, false, "--to or --back"},
    {"change", "POST", "/change", false, true, false, "--new-priority or --delay"},
};

static const struct act *find(const char *name)
{
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (strcmp(acts[i].name, name) == 0) {
            return &acts[i];
        }
    }
    UNREACHABLE();
}

//
// Single jobs
//

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, need(value)) != 0) {
        (void)need(NULL);
    }
}

// The members of a job to change. NULL with a problem.
static json_t *make_change(struct context *context)
{
    const struct options *options = context->options;
    json_t *change = need(json_object());

    if (options->new_priority != NO_COUNT) {
        set(change, "priority", json_integer((json_int_t)options->new_priority));
    }
    if (options->delay >= 0) {
        set(change, "delay_seconds", json_real(options->delay));
    }
    if (options->back) {
        set(change, "back", json_true());
    }
    if (options->to) {
        json_t *to = json_of(context, "queue", options->to);

        if (!to) {
            json_decref(change);
            return NULL;
        }
        set(change, "queue", to);
    }
    return change;
}

static bool takes_change(const struct act *act)
{
    return *act->step && strcmp(act->step, "/kick") != 0 && strcmp(act->step, "/touch") != 0;
}

static enum outcome act_on(struct context *context, const struct act *act, uint64_t id,
                           struct reply *reply)
{
    json_t *change = takes_change(act) ? make_change(context) : NULL;
    struct text path = {0};
    enum outcome outcome;

    if (takes_change(act) && !change) {
        return OUTCOME_USAGE;
    }
    text_format(&path, "/api/v1/jobs/%llu%s", (unsigned long long)id, act->step);
    outcome = ask(context, act->method, text_string(&path), change, reply);
    text_free(&path);
    return outcome;
}

// Adds the job as it is now to a list of answers, or its id alone if the job is gone.
static void add_json(struct text *out, uint64_t id, const struct reply *reply, bool first)
{
    text_put(out, first ? "[" : ",");
    if (reply->json) {
        text_add(out, text_slice(&reply->answer.body));
    } else {
        text_format(out, "{\"id\":%llu}", (unsigned long long)id);
    }
}

// With --json prints a single answer unchanged and several as a list, otherwise their number.
static enum outcome print_answers(struct context *context, const struct act *act, size_t done,
                                  const struct text *answers)
{
    if (context->options->json) {
        text_put(&context->out, done > 0 || context->count == 1 ? text_string(answers) : "[");
        text_put(&context->out, context->count > 1 ? "]\n" : answers->len > 0 ? "\n" : "");
    } else if (done > 0) {
        add_number_of(&context->out, done, "job");
        text_format(&context->out, " %s.\n", verb_past(slice_str(act->name)));
    }
    return print(context);
}

static void complain_of(const struct context *context, uint64_t id)
{
    struct problem problem;

    (void)problem_set(&problem, context->problem->outcome, "job %llu: %s", (unsigned long long)id,
                      context->problem->why.text);
    complain(&problem);
}

// Continues after a refusal and reports it at once. Returns the outcome of the first refusal.
static enum outcome act_on_all(struct context *context, const struct act *act, const uint64_t *ids)
{
    enum outcome first = OUTCOME_DONE;
    enum outcome printed;
    struct text answers = {0};
    struct reply reply = {0};
    size_t done = 0;

    for (size_t i = 0; i < context->count; i++) {
        enum outcome outcome = act_on(context, act, ids[i], &reply);

        if (outcome == OUTCOME_DONE && context->count > 1) {
            add_json(&answers, ids[i], &reply, done == 0);
        } else if (outcome == OUTCOME_DONE) {
            text_add(&answers, text_slice(&reply.answer.body));
        } else {
            complain_of(context, ids[i]);
            first = first == OUTCOME_DONE ? outcome : first;
        }
        done += outcome == OUTCOME_DONE;
        if (outcome == OUTCOME_UNREACHABLE || outcome == OUTCOME_USAGE) {
            break;
        }
    }
    context->problem->why.text[0] = '\0';
    printed = print_answers(context, act, done, &answers);
    reply_free(&reply);
    text_free(&answers);
    return first == OUTCOME_DONE ? printed : first;
}

static enum outcome read_ids(struct context *context, uint64_t *ids)
{
    for (size_t i = 0; i < context->count; i++) {
        if (!units_read_count(context->words[i], &ids[i]) || ids[i] == 0) {
            return problem_set(context->problem, OUTCOME_USAGE,
                               "\"%s\" is no number of a job; --queue names a queue",
                               context->words[i]);
        }
    }
    return OUTCOME_DONE;
}

static enum outcome ask_person(struct context *context, const struct act *act)
{
    struct text question = {0};
    enum outcome outcome;

    text_put_char(&question, (char)(act->name[0] - 'a' + 'A'));
    text_format(&question, "%s ", act->name + 1);
    if (context->count == 1) {
        text_format(&question, "job %s?", context->words[0]);
    } else {
        add_number_of(&question, context->count, "job");
        text_put_char(&question, '?');
    }
    outcome = confirm(context, text_string(&question));
    text_free(&question);
    return outcome;
}

//
// Single jobs or a filter
//

static enum outcome check(struct context *context, const struct act *act)
{
    const struct options *options = context->options;
    bool many = many_is_meant(context);

    if (!many && context->count == 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "%s what? Name jobs by their numbers%s",
                           act->name, act->alone ? "" : ", or a queue by --queue");
    }
    if (many && context->count > 0) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "either jobs by their numbers, or a queue: not both");
    }
    if (options->to && options->back) {
        return problem_set(context->problem, OUTCOME_USAGE, "it is either --to or --back");
    }
    if (act->missing && !options->to && !options->back && options->new_priority == NO_COUNT &&
        options->delay < 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "%s needs %s", act->name, act->missing);
    }
    if (!many && options->dry_run) {
        return problem_set(context->problem, OUTCOME_USAGE, "--dry-run is for --queue");
    }
    return OUTCOME_DONE;
}

enum outcome run_act(struct context *context)
{
    const struct act *act = find(context->command->name);
    const struct many many = {.action = act->name, .asks = act->asks_many};
    enum outcome outcome = check(context, act);
    uint64_t *ids;

    if (outcome != OUTCOME_DONE || many_is_meant(context)) {
        return outcome == OUTCOME_DONE ? many_run(context, &many) : outcome;
    }
    ids = need(calloc(context->count, sizeof *ids));
    outcome = read_ids(context, ids);
    if (outcome == OUTCOME_DONE && act->asks) {
        outcome = ask_person(context, act);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = act_on_all(context, act, ids);
    }
    free(ids);
    return outcome;
}

enum outcome run_clear(struct context *context)
{
    const struct many many = {.action = "delete", .queue = context->words[0], .asks = true};

    if (many_is_meant(context)) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "clear takes the name of one queue; delete takes --queues");
    }
    return many_run(context, &many);
}
