/* SPDX-License-Identifier: MIT */
#include "ctl/import_lines.h"

#include "ctl/print/need.h"
#include "ctl/print/text.h"
#include "transfer/beanstalkd/beanstalkd.h"
#include "transfer/gearmand/gearmand.h"
#include "transfer/job_line.h"
#include "transfer/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The kinds of stores to import from (transfer/source.h). NULL ends the list.
static const struct source_kind *const source_kinds[] = {
    &beanstalkd_source,
    &gearmand_sqlite_source,
    &gearmand_postgres_source,
    &gearmand_mysql_dump_source,
    NULL,
};

// The most damages to report in detail.
#define DAMAGES_TOLD 100

struct import_lines {
    FILE *file; // NULL: reads `source`
    const char *path;
    struct text line;
    struct source *source;
    char *made; // owned; the current line of `source`
    uint64_t size, read, damages;
};

//
// Files
//

static bool open_line_file(struct import_lines *lines, const char *from, struct problem *problem)
{
    struct stat about;

    if (strcmp(from, "-") == 0) {
        lines->file = stdin;
        return true;
    }
    lines->file = fopen(from, "re");
    if (!lines->file || fstat(fileno(lines->file), &about) != 0) {
        (void)problem_set(problem, OUTCOME_FAILED, "%s: %s", from, strerror(errno));
        return false;
    }
    if (S_ISREG(about.st_mode)) {
        lines->path = from;
        lines->size = (uint64_t)about.st_size;
    }
    return true;
}

static bool next_line_of_file(struct import_lines *lines, struct slice *line, bool *ended,
                              struct problem *problem)
{
    int c;

    text_cut(&lines->line, 0);
    while ((c = getc_unlocked(lines->file)) != EOF && c != '\n') {
        text_put_char(&lines->line, (char)c);
        if (lines->line.len > LINE_MOST) {
            (void)problem_set(problem, OUTCOME_FAILED, "a line is longer than any job");
            return false;
        }
    }
    if (ferror(lines->file)) {
        (void)problem_set(problem, OUTCOME_FAILED, "the lines cannot be read: %s", strerror(errno));
        return false;
    }
    *ended = c == EOF && lines->line.len == 0;
    *line = text_slice(&lines->line);
    lines->read += lines->line.len + 1;
    return true;
}

//
// Sources
//

// Reads the store once to find damages before anything is imported.
static bool survey_source(struct import_lines *lines, bool repair, struct problem *problem)
{
    struct source_news news;
    enum source_answer answer;

    while ((answer = source_survey(lines->source, &news)) != SOURCE_END) {
        if (answer == SOURCE_DAMAGE) {
            if (lines->damages++ < DAMAGES_TOLD) {
                (void)fprintf(stderr, "tandemctl: %s, at %" PRIu64 ": %s\n", news.where,
                              news.offset, news.what);
            }
        } else if (answer == SOURCE_FAILED) {
            (void)problem_set(problem, OUTCOME_FAILED, "%s", news.what);
            return false;
        }
    }
    if (lines->damages > 0 && !repair) {
        (void)problem_set(problem, OUTCOME_FAILED,
                          "the store is damaged in %" PRIu64
                          " places: nothing was imported; --repair imports the intact jobs",
                          lines->damages);
        return false;
    }
    return true;
}

static bool open_line_source(struct import_lines *lines, const char *from, bool repair,
                             struct problem *problem)
{
    struct source_news news;

    lines->source = source_open(source_kinds, from, &news);
    if (!lines->source) {
        (void)problem_set(problem, OUTCOME_FAILED, "%s", news.what);
        return false;
    }
    return survey_source(lines, repair, problem);
}

static bool next_line_of_source(struct import_lines *lines, struct slice *line, bool *ended,
                                struct problem *problem)
{
    struct source_news news;
    enum source_answer answer;

    while ((answer = source_next(lines->source, &news)) == SOURCE_MORE || answer == SOURCE_DAMAGE) {
    }
    *ended = answer == SOURCE_END;
    if (answer == SOURCE_FAILED) {
        (void)problem_set(problem, OUTCOME_FAILED, "%s", news.what);
        return false;
    }
    if (answer == SOURCE_JOB) {
        free(lines->made);
        lines->made = need(job_line_write(&news.image));
        *line = slice_str(lines->made);
    }
    return true;
}

//
// Both
//

static bool names_source_kind(const char *from)
{
    for (const struct source_kind *const *kind = source_kinds; *kind; kind++) {
        size_t len = strlen((*kind)->name);

        if (strncmp(from, (*kind)->name, len) == 0 && from[len] == ':') {
            return true;
        }
    }
    return false;
}

struct import_lines *import_lines_open(const char *from, bool repair, struct problem *problem)
{
    struct import_lines *lines = need(calloc(1, sizeof *lines));
    bool good = names_source_kind(from) ? open_line_source(lines, from, repair, problem)
                                        : open_line_file(lines, from, problem);

    if (!good) {
        import_lines_close(lines);
        return NULL;
    }
    return lines;
}

void import_lines_close(struct import_lines *lines)
{
    if (lines) {
        if (lines->file && lines->file != stdin) {
            (void)fclose(lines->file);
        }
        source_close(lines->source);
        free(lines->made);
        text_free(&lines->line);
        free(lines);
    }
}

const char *import_lines_path(const struct import_lines *lines)
{
    return lines->path;
}

bool import_lines_next(struct import_lines *lines, struct slice *line, bool *ended,
                       struct problem *problem)
{
    return lines->file ? next_line_of_file(lines, line, ended, problem)
                       : next_line_of_source(lines, line, ended, problem);
}

void import_lines_progress(const struct import_lines *lines, uint64_t *done, uint64_t *total)
{
    *done = lines->read;
    *total = lines->size;
}
