/* SPDX-License-Identifier: MIT */
#include "ctl/import.h"

#include "ctl/facts.h"
#include "ctl/import_lines.h"
#include "ctl/import_send.h"
#include "ctl/import_state.h"
#include "ctl/print/need.h"
#include "ctl/print/screen.h"
#include "ctl/print/signals.h"
#include "ctl/print/units.h"

#include <inttypes.h>
#include <stdio.h>

struct import {
    struct context *context;
    struct import_lines *lines;
    struct import_send send;
};

// The first line to import: from the option, or the line at which the last run stopped.
static bool find_start(struct import *import, uint64_t *start)
{
    const struct options *options = import->context->options;
    const char *path = import_lines_path(import->lines);

    *start = options->from == NO_COUNT ? 1 : options->from;
    if (options->from == 0) {
        (void)problem_set(import->context->problem, OUTCOME_USAGE, "lines begin with 1");
        return false;
    }
    if (options->from != NO_COUNT || !path) {
        return true;
    }
    if (!import_state_load(path, start, import->context->problem)) {
        return false;
    }
    if (*start > 1) {
        (void)fprintf(stderr, "%s was brought in before, as far as line %" PRIu64 ".\n", path,
                      *start - 1);
    }
    return true;
}

static void show(const struct import *import)
{
    struct text words = {0};
    uint64_t done, total;

    if (import->context->screen.shows) {
        import_lines_progress(import->lines, &done, &total);
        add_number_of(&words, import->send.imported, "job");
        progress_draw(done, total, text_string(&words));
        text_free(&words);
    }
}

static enum outcome send(struct import *import)
{
    const char *path = import_lines_path(import->lines);
    enum outcome outcome = import_send_all(&import->send);

    // The progress is saved even if the rest fails.
    if (path && import->send.next > 1 &&
        !import_state_save(path, import->send.next, import->context->problem)) {
        return import->context->problem->outcome;
    }
    show(import);
    if (outcome == OUTCOME_DONE && signals_stop()) {
        outcome = problem_set(import->context->problem, OUTCOME_INTERRUPTED,
                              "interrupted: the next line is %" PRIu64, import->send.next);
    }
    return outcome;
}

static enum outcome bring_in(struct import *import)
{
    struct problem *problem = import->context->problem;
    enum outcome outcome = OUTCOME_DONE;
    struct slice line;
    uint64_t start;
    bool ended = false;

    if (!find_start(import, &start)) {
        return problem->outcome;
    }
    import->send.first = start;
    import->send.next = start;
    for (uint64_t number = 1; outcome == OUTCOME_DONE && !ended; number++) {
        if (!import_lines_next(import->lines, &line, &ended, problem)) {
            return problem->outcome;
        }
        if (!ended && number >= start) {
            import_send_add(&import->send, line);
        }
        if (ended || import_send_is_full(&import->send)) {
            outcome = send(import);
        }
    }
    return outcome;
}

static enum outcome tell(struct context *context, const struct import_send *send)
{
    struct text *out = &context->out;

    if (context->options->json) {
        text_format(out,
                    "{\"imported\": %" PRIu64 ", \"joined\": %" PRIu64 ", \"refused\": %" PRIu64
                    ", \"next\": %" PRIu64 "}\n",
                    send->imported, send->joined, send->refused, send->next);
    } else {
        add_number_of(out, send->imported, "job");
        text_format(out, " brought in, %s joined, %s refused.\n", units_count(send->joined).text,
                    units_count(send->refused).text);
    }
    return print(context);
}

static enum outcome finish(struct import *import, enum outcome outcome)
{
    const char *path = import_lines_path(import->lines);

    if (import->context->screen.shows) {
        progress_clear();
    }
    if (outcome == OUTCOME_USAGE) {
        return outcome;
    }
    if (outcome == OUTCOME_DONE && path) {
        import_state_forget(path);
    }
    if (tell(import->context, &import->send) != OUTCOME_DONE) {
        return import->context->problem->outcome;
    }
    if (outcome != OUTCOME_DONE) {
        (void)fprintf(stderr, "The next line is %" PRIu64 ".\n", import->send.next);
        return outcome;
    }
    return import->send.refused == 0
               ? OUTCOME_DONE
               : problem_set(import->context->problem, OUTCOME_FAILED,
                             "%" PRIu64 " lines were refused", import->send.refused);
}

enum outcome run_import(struct context *context)
{
    struct import import = {.context = context};
    enum outcome outcome;

    import.send = (struct import_send){.context = context, .from = context->words[0]};
    import.lines = import_lines_open(context->words[0], context->options->repair, context->problem);
    if (!import.lines) {
        return context->problem->outcome;
    }
    signals_catch_stops();
    outcome = finish(&import, bring_in(&import));
    signals_release_stops();
    import_lines_close(import.lines);
    text_free(&import.send.lines);
    return outcome;
}
