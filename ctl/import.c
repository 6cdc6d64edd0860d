/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "ctl/import_lines.h"
#include "ctl/print/ctl_signals.h"
#include "ctl/print/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Longer than any valid line of a state file.
#define STATE_MAX 160
// The size of a request, less than the default of admin.max_body.
#define BYTES_MOST ((size_t)512 * 1024)
#define LINES_MOST 2000
// The most refused lines to report.
#define REFUSALS_TOLD 100

struct import {
    struct context *context;
    struct import_lines *source;
    struct text lines; // collected for the next request, each with its line feed
    uint64_t first;    // number of the first of them
    uint64_t count;    // number of collected lines
    uint64_t next;     // all lines before this one are imported or refused
    uint64_t imported, joined, refused;
};

//
// Progress
//
// While the import of FILE is incomplete, FILE.imported has the next line. Loading fails if the
// size or the modification time of FILE has changed.
//

static bool import_state_fail(struct problem *problem, const char *path)
{
    (void)problem_set(problem, OUTCOME_FAILED, "%s: %s", path, strerror(errno));
    return false;
}

static struct text state_file_name(const char *path, const char *end)
{
    struct text name = {0};

    text_format(&name, "%s.imported%s", path, end);
    return name;
}

static bool stat_file(const char *path, uint64_t *size, uint64_t *changed)
{
    struct stat about;

    if (stat(path, &about) != 0) {
        return false;
    }
    *size = (uint64_t)about.st_size;
    *changed = (uint64_t)about.st_mtim.tv_sec;
    return true;
}

// Parses the number that follows `before` at `*at`, and advances `*at`.
static bool read_state_number(const char **at, const char *before, uint64_t *number)
{
    size_t len = strlen(before);
    char *end;

    if (strncmp(*at, before, len) != 0 || (*at)[len] < '0' || (*at)[len] > '9') {
        return false;
    }
    *number = strtoull(*at + len, &end, 10);
    *at = end;
    return true;
}

struct import_state {
    uint64_t line, size, changed;
};

static bool read_import_state(FILE *file, struct import_state *state)
{
    char text[STATE_MAX];
    const char *at = fgets(text, sizeof text, file);

    return at && read_state_number(&at, "tandem import: line ", &state->line) &&
           read_state_number(&at, " of ", &state->size) &&
           read_state_number(&at, " bytes of ", &state->changed) && state->line > 0;
}

static bool check_import_state(const char *path, const struct import_state *state,
                               struct problem *problem)
{
    uint64_t size, changed;

    if (!stat_file(path, &size, &changed)) {
        return import_state_fail(problem, path);
    }
    if (size != state->size || changed != state->changed) {
        (void)problem_set(problem, OUTCOME_FAILED,
                          "%s has changed since an import of it stopped at line %" PRIu64
                          ": remove %s.imported, or give --from",
                          path, state->line, path);
        return false;
    }
    return true;
}

// Sets the first line to import; 1 if there is no state. False with a problem.
static bool import_state_load(const char *path, uint64_t *line, struct problem *problem)
{
    struct text name = state_file_name(path, "");
    FILE *file = fopen(text_string(&name), "re");
    struct import_state state = {.line = 1};
    bool good = true;

    if (!file) {
        good = errno == ENOENT || import_state_fail(problem, text_string(&name));
    } else if (!read_import_state(file, &state)) {
        good = false;
        (void)problem_set(problem, OUTCOME_FAILED, "%s is not the state of an import: remove it",
                          text_string(&name));
    } else {
        good = check_import_state(path, &state, problem);
    }
    if (file) {
        (void)fclose(file);
    }
    *line = state.line;
    text_free(&name);
    return good;
}

static bool write_import_state(const char *name, const char *path, uint64_t line)
{
    uint64_t size, changed;
    FILE *file;
    bool good;

    if (!stat_file(path, &size, &changed)) {
        return false;
    }
    file = fopen(name, "we");
    if (!file) {
        return false;
    }
    good = fprintf(file, "tandem import: line %" PRIu64 " of %" PRIu64 " bytes of %" PRIu64 "\n",
                   line, size, changed) > 0;
    return (fclose(file) == 0) && good;
}

// Saves that all lines before `line` are imported. False with a problem.
static bool import_state_save(const char *path, uint64_t line, struct problem *problem)
{
    struct text name = state_file_name(path, "");
    struct text made = state_file_name(path, ".new");
    bool good = write_import_state(text_string(&made), path, line) &&
                rename(text_string(&made), text_string(&name)) == 0;

    good = good || import_state_fail(problem, text_string(&name));
    text_free(&name);
    text_free(&made);
    return good;
}

// Removes the state after a complete import.
static void import_state_forget(const char *path)
{
    struct text name = state_file_name(path, "");

    (void)unlink(text_string(&name));
    text_free(&name);
}

//
// Requests
//

static void report_refused_line(struct import *import, uint64_t line, struct slice why)
{
    struct text escaped = {0};

    if (import->refused++ < REFUSALS_TOLD) {
        text_add_escaped(&escaped, why, false);
        (void)fprintf(stderr, "tandemctl: %s, line %" PRIu64 ": %s\n", import->context->words[0],
                      line, text_string(&escaped));
    }
    text_free(&escaped);
}

// Consecutive lines of a request.
struct line_range {
    const char *text;
    uint64_t first, count;
};

static enum outcome take_import_reply(struct import *import, const struct line_range *range,
                                      const struct answer *answer)
{
    struct problem *problem = import->context->problem;
    json_t *reply = json_loadb(text_string(&answer->body), answer->body.len, 0, NULL);
    enum outcome outcome = OUTCOME_DONE;
    json_t *line;
    size_t i;

    import->next = range->first + range->count;
    if (!field_is_set(reply, "counts")) {
        outcome = problem_set(problem, OUTCOME_FAILED,
                              "the answer to the request from line %" PRIu64 " on is incomplete",
                              range->first);
        import->next = range->first;
    }
    json_array_foreach(json_object_get(reply, "lines"), i, line)
    {
        if (field_is_set(line, "error")) {
            report_refused_line(import, range->first + field_count(line, "line") - 1,
                                field_text(line, "error"));
        }
    }
    import->imported += field_count(reply, "counts.imported");
    import->joined += field_count(reply, "counts.joined");
    if (field_is_set(reply, "stopped")) {
        struct slice why = field_text(reply, "stopped.error");

        import->next = range->first + field_count(reply, "stopped.line") - 1;
        outcome = problem_set(problem, OUTCOME_NOT_NOW, "line %" PRIu64 " was not imported: %.*s",
                              import->next, (int)why.len, why.ptr);
    }
    json_decref(reply);
    return outcome;
}

static enum outcome send_range(struct import *import, const struct line_range *range);

// Splits a range that is too large for the broker. A single line that is too large is refused.
static enum outcome send_range_in_halves(struct import *import, const struct line_range *range)
{
    struct line_range half = {.first = range->first, .count = range->count / 2};
    const char *end = range->text;
    struct text text = {0};
    enum outcome outcome;

    if (range->count == 1) {
        report_refused_line(import, range->first,
                            SLICE("it is larger than the broker's admin.max_body"));
        import->next = range->first + 1;
        return OUTCOME_DONE;
    }
    for (uint64_t i = 0; i < half.count; i++) {
        end = strchr(end, '\n') + 1;
    }
    text_add(&text, slice_of(range->text, (size_t)(end - range->text)));
    half.text = text_string(&text);
    outcome = send_range(import, &half);
    text_free(&text);
    if (outcome == OUTCOME_DONE) {
        half = (struct line_range){
            .text = end, .first = range->first + half.count, .count = range->count - half.count};
        outcome = send_range(import, &half);
    }
    return outcome;
}

// The depth is at most the number of bits of `count`.
// NOLINTNEXTLINE(misc-no-recursion)
static enum outcome send_range(struct import *import, const struct line_range *range)
{
    struct context *context = import->context;
    const struct request request = {
        .method = "POST", .path = "/api/v1/import", .body = range->text, .endless = true};
    struct answer answer = {0};
    enum outcome outcome = client_send(context->client, &request, &answer, context->problem);

    if (outcome == OUTCOME_DONE && answer.status == 413) {
        outcome = send_range_in_halves(import, range);
    } else if (outcome == OUTCOME_DONE && answer.status != 200) {
        outcome = call_refused(context->client, &answer, context->problem);
    } else if (outcome == OUTCOME_DONE) {
        outcome = take_import_reply(import, range, &answer);
    }
    answer_free(&answer);
    return outcome;
}

//
// The command
//

// The first line to import: from the option, or the line at which the last run stopped.
static bool find_first_line(struct import *import, uint64_t *start)
{
    const struct options *options = import->context->options;
    const char *path = import_lines_path(import->source);

    *start = options->from == NO_COUNT ? 1 : options->from;
    if (options->from == 0) {
        (void)problem_set(import->context->problem, OUTCOME_USAGE, "--from: the first line is 1");
        return false;
    }
    if (options->from != NO_COUNT || !path) {
        return true;
    }
    if (!import_state_load(path, start, import->context->problem)) {
        return false;
    }
    if (*start > 1) {
        (void)fprintf(stderr, "%s is already imported up to line %" PRIu64 ".\n", path, *start - 1);
    }
    return true;
}

static enum outcome send_collected(struct import *import)
{
    const char *path = import_lines_path(import->source);
    const struct line_range range = {
        .text = text_string(&import->lines), .first = import->first, .count = import->count};
    enum outcome outcome = import->count > 0 ? send_range(import, &range) : OUTCOME_DONE;

    text_cut(&import->lines, 0);
    import->first += import->count;
    import->count = 0;

    // The progress is saved even if the rest fails.
    if (path && import->next > 1 &&
        !import_state_save(path, import->next, import->context->problem)) {
        return import->context->problem->outcome;
    }
    if (import->context->screen.shows_progress) {
        struct text words = {0};
        uint64_t done, total;

        import_lines_progress(import->source, &done, &total);
        units_add_noun(&words, import->imported, "job");
        progress_draw(done, total, text_string(&words));
        text_free(&words);
    }
    if (outcome == OUTCOME_DONE && signals_stop()) {
        outcome = problem_set(import->context->problem, OUTCOME_INTERRUPTED,
                              "interrupted: the next line is %" PRIu64, import->next);
    }
    return outcome;
}

static enum outcome import_all(struct import *import)
{
    struct problem *problem = import->context->problem;
    enum outcome outcome = OUTCOME_DONE;
    struct slice line;
    uint64_t start;
    bool ended = false;

    if (!find_first_line(import, &start)) {
        return problem->outcome;
    }
    import->first = start;
    import->next = start;
    for (uint64_t number = 1; outcome == OUTCOME_DONE && !ended; number++) {
        if (!import_lines_next(import->source, &line, &ended, problem)) {
            return problem->outcome;
        }
        if (!ended && number >= start) {
            // A NUL would end the body of the request, and the lines after it would be lost.
            if (line.len > 0 && memchr(line.ptr, '\0', line.len)) {
                report_refused_line(import, import->first + import->count,
                                    SLICE("it has a NUL byte"));
                line = SLICE("");
            }
            text_add(&import->lines, line);
            text_put_char(&import->lines, '\n');
            import->count++;
        }
        if (ended || import->lines.len >= BYTES_MOST || import->count >= LINES_MOST) {
            outcome = send_collected(import);
        }
    }
    return outcome;
}

static enum outcome print_import_counts(const struct import *import)
{
    struct context *context = import->context;
    struct text *out = &context->out;

    if (context->options->json) {
        text_format(out,
                    "{\"imported\": %" PRIu64 ", \"joined\": %" PRIu64 ", \"refused\": %" PRIu64
                    ", \"next\": %" PRIu64 "}\n",
                    import->imported, import->joined, import->refused, import->next);
    } else {
        units_add_noun(out, import->imported, "job");
        text_format(out, " imported, %s joined, %s refused.\n", units_count(import->joined).text,
                    units_count(import->refused).text);
    }
    return command_print(context);
}

static enum outcome finish_import(struct import *import, enum outcome outcome)
{
    const char *path = import_lines_path(import->source);

    if (import->context->screen.shows_progress) {
        progress_clear();
    }
    if (outcome == OUTCOME_USAGE) {
        return outcome;
    }
    if (outcome == OUTCOME_DONE && path) {
        import_state_forget(path);
    }
    if (print_import_counts(import) != OUTCOME_DONE) {
        return import->context->problem->outcome;
    }
    if (outcome != OUTCOME_DONE) {
        // 0 if it is not known where the import begins.
        if (import->next > 0) {
            (void)fprintf(stderr, "The next line is %" PRIu64 ".\n", import->next);
        }
        return outcome;
    }
    return import->refused == 0 ? OUTCOME_DONE
                                : problem_set(import->context->problem, OUTCOME_FAILED,
                                              "%" PRIu64 " lines were refused", import->refused);
}

enum outcome run_import(struct context *context)
{
    struct import import = {.context = context};
    enum outcome outcome;

    import.source =
        import_lines_open(context->words[0], context->options->repair, context->problem);
    if (!import.source) {
        return context->problem->outcome;
    }
    signals_catch_stops();
    outcome = finish_import(&import, import_all(&import));
    signals_release_stops();
    import_lines_close(import.source);
    text_free(&import.lines);
    return outcome;
}
