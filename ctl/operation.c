/* SPDX-License-Identifier: MIT */
#include "ctl/operation.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/print/screen.h"
#include "ctl/print/signals.h"
#include "ctl/print/units.h"
#include "ctl/verbs.h"

#include <poll.h>
#include <stdio.h>

// The first interval between polls is short, since most operations end at once.
#define WAIT_FIRST_MSEC 10
#define WAIT_MOST_MSEC 250

static bool is_state(const json_t *operation, struct slice state)
{
    return slice_equal(field_text(operation, "state"), state);
}

static enum outcome look(struct context *context, const char *method, uint64_t id,
                         struct reply *reply)
{
    struct text path = {0};
    enum outcome outcome;

    text_format(&path, "/api/v1/operations/%llu", (unsigned long long)id);
    outcome = ask(context, method, text_string(&path), NULL, reply);
    text_free(&path);
    return outcome;
}

static void show(const struct context *context, const json_t *operation)
{
    struct text words = {0};

    if (context->screen.shows) {
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

// True if a stop signal arrived during the pause.
static bool pause_between(int milliseconds)
{
    struct pollfd woken = {.fd = signals_fd(), .events = POLLIN};

    (void)poll(&woken, 1, milliseconds);
    return signals_stopped(NULL);
}

static enum outcome cancel(struct context *context, uint64_t id, struct reply *reply)
{
    enum outcome outcome;

    client_watch(context->client, NULL, NULL, NULL);
    signals_forget_stop();
    outcome = look(context, "DELETE", id, reply);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    return problem_set(context->problem, OUTCOME_INTERRUPTED, "cancelled: %s of about %s jobs %s",
                       units_count(field_count(reply->json, "touched")).text,
                       units_count(field_count(reply->json, "total")).text,
                       field_true(reply->json, "dry_run") ? "were counted"
                                                          : "are done, and stay so");
}

static enum outcome judge(struct context *context, const json_t *operation)
{
    struct text error = {0};
    enum outcome outcome = OUTCOME_DONE;

    if (is_state(operation, SLICE("cancelled"))) {
        outcome = problem_set(context->problem, OUTCOME_FAILED,
                              "somebody has cancelled it; %s jobs are done",
                              units_count(field_count(operation, "touched")).text);
    } else if (!is_state(operation, SLICE("done"))) {
        text_add(&error, field_text(operation, "error"));
        outcome = problem_set(context->problem, OUTCOME_FAILED, "it failed after %s jobs: %s",
                              units_count(field_count(operation, "touched")).text,
                              error.len ? text_string(&error) : "the broker does not say why");
        text_free(&error);
    }
    return outcome;
}

static enum outcome follow(struct context *context, struct reply *reply)
{
    uint64_t id = field_count(reply->json, "id");
    int wait = WAIT_FIRST_MSEC;
    enum outcome outcome = OUTCOME_DONE;

    while (outcome == OUTCOME_DONE && is_state(reply->json, SLICE("running"))) {
        show(context, reply->json);
        if (pause_between(wait)) {
            outcome = cancel(context, id, reply);
        } else {
            wait = wait * 2 < WAIT_MOST_MSEC ? wait * 2 : WAIT_MOST_MSEC;
            outcome = look(context, "GET", id, reply);
            outcome = outcome == OUTCOME_INTERRUPTED ? cancel(context, id, reply) : outcome;
        }
    }
    if (context->screen.shows) {
        progress_clear();
    }
    return outcome == OUTCOME_DONE ? judge(context, reply->json) : outcome;
}

enum outcome operation_run(struct context *context, json_t *body, struct reply *reply)
{
    enum outcome outcome;

    signals_catch_stops();
    client_watch(context->client, (const int[]){signals_fd(), -1}, signals_stopped, NULL);
    outcome = ask(context, "POST", "/api/v1/operations", body, reply);
    if (outcome == OUTCOME_DONE) {
        outcome = follow(context, reply);
    } else if (outcome == OUTCOME_INTERRUPTED) {
        (void)problem_set(context->problem, outcome,
                          "interrupted: it may have begun, which tandemctl operations shows");
    }
    client_watch(context->client, NULL, NULL, NULL);
    signals_release_stops();
    return outcome;
}

static void add_left(struct text *to, uint64_t count, const char *why)
{
    if (count > 0) {
        text_format(to, "; %s %s", units_count(count).text, why);
    }
}

enum outcome operation_print(struct context *context, const json_t *operation)
{
    struct text *out = &context->out;
    uint64_t touched = field_count(operation, "touched");
    bool queues = verb_is_of_queues(field_text(operation, "action"));

    if (field_true(operation, "dry_run")) {
        add_number_of(out, touched, queues ? "queue" : "job");
        text_put(out, " would be ");
    } else {
        add_number_of(out, touched, queues ? "queue" : "job");
        text_put_char(out, ' ');
    }
    text_put(out, verb_past(field_text(operation, "action")));
    add_left(out, field_count(operation, "skipped.held"), "are held by workers, and left");
    add_left(out, field_count(operation, "skipped.forbidden"), "you may not change");
    add_left(out, field_count(operation, "skipped.refused"), "were refused for want of room");
    text_put(out, ".\n");
    return print(context);
}
