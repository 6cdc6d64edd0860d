/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "ctl/fact_lines.h"
#include "ctl/import_lines.h"
#include "ctl/print/need.h"
#include "ctl/print/ctl_signals.h"
#include "ctl/print/units.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Jobs per request.
#define PAGE 2000
// The longest line that is not a job: it has a cursor.
#define END_MOST ((size_t)4096)

#define COPIED_AT_ONCE 65536
#define KEYS_FIRST 1024

struct sort_key {
    bool buried;
    uint64_t order; // among the jobs with the same `buried`
    uint64_t offset;
    uint64_t len;
};

// The lines of jobs in a temporary file, to be written in the order in which a restart would
// restore the jobs: by id, with buried jobs last, and among these the longest buried first. Memory
// grows with the number of lines, not with their length.
struct export_sort {
    FILE *file;
    uint64_t size;
    struct sort_key *keys;
    size_t count, capacity;
};

struct export
{
    struct context *context;
    struct export_sort *sort;
    struct text line; // incomplete line
    struct text next; // cursor of the next page; empty: none
    bool ended;       // the last line of the page has arrived
    uint64_t total;   // estimated number of jobs
};

//
// Sorting
//

static bool sort_fail(struct problem *problem, const char *what)
{
    (void)problem_set(problem, OUTCOME_FAILED, "%s: %s", what, strerror(errno));
    return false;
}

// The stream of a descriptor, which is closed if there is no memory for a stream. NULL with errno.
static FILE *open_stream(int fd, const char *mode)
{
    FILE *stream = fd >= 0 ? fdopen(fd, mode) : NULL;

    if (!stream && fd >= 0) {
        int error = errno;

        (void)close(fd);
        errno = error;
    }
    return stream;
}

// Makes the temporary file in `folder`, without a name, so that closing it deletes it. NULL with a
// problem.
static struct export_sort *sort_new(const char *folder, struct problem *problem)
{
    struct export_sort *sort = need(calloc(1, sizeof *sort));
    struct text name = {0};
    int fd;

    text_format(&name, "%s/.tandem-export-XXXXXX", folder);
    fd = mkstemp(name.data);
    if (fd >= 0) {
        (void)unlink(text_string(&name));
    }
    text_free(&name);
    sort->file = open_stream(fd, "w+");
    if (!sort->file) {
        (void)sort_fail(problem, "a temporary file cannot be created");
        free(sort);
        return NULL;
    }
    return sort;
}

static void sort_free(struct export_sort *sort)
{
    if (sort) {
        (void)fclose(sort->file);
        free(sort->keys);
        free(sort);
    }
}

// Parses the number that follows `before` at `*at` in the line, and advances `*at`.
static bool read_key_number(struct slice line, size_t *at, const char *before, uint64_t *number)
{
    size_t len = strlen(before);
    size_t from = *at + len;

    if (line.len < from || memcmp(line.ptr + *at, before, len) != 0) {
        return false;
    }
    *number = 0;
    for (*at = from; *at < line.len && line.ptr[*at] >= '0' && line.ptr[*at] <= '9'; (*at)++) {
        *number = *number * 10 + (uint64_t)(line.ptr[*at] - '0');
    }
    return *at > from;
}

// Adds a line, including its line feed. False with a problem.
static bool sort_add(struct export_sort *sort, struct slice line, struct problem *problem)
{
    struct sort_key key = {.offset = sort->size, .len = line.len};
    uint64_t burial;
    size_t at = 0;

    if (!read_key_number(line, &at, "{\"id\":", &key.order)) {
        (void)problem_set(problem, OUTCOME_FAILED, "the broker has sent a line that is not a job");
        return false;
    }
    if (read_key_number(line, &at, ",\"burial\":", &burial)) {
        key.buried = true;
        key.order = burial;
    }
    if (fwrite(line.ptr, 1, line.len, sort->file) != line.len) {
        return sort_fail(problem, "the temporary file cannot be written");
    }
    if (sort->count == sort->capacity) {
        sort->capacity = sort->capacity ? sort->capacity * 2 : KEYS_FIRST;
        sort->keys = need(realloc(sort->keys, sort->capacity * sizeof *sort->keys));
    }
    sort->keys[sort->count++] = key;
    sort->size += line.len;
    return true;
}

static int compare_sort_keys(const void *left, const void *right)
{
    const struct sort_key *a = left;
    const struct sort_key *b = right;

    if (a->buried != b->buried) {
        return a->buried ? 1 : -1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

static bool copy_line(struct export_sort *sort, const struct sort_key *key, FILE *to)
{
    char bytes[COPIED_AT_ONCE];
    uint64_t left = key->len;

    if (fseeko(sort->file, (off_t)key->offset, SEEK_SET) != 0) {
        return false;
    }
    while (left > 0) {
        size_t most = left < sizeof bytes ? (size_t)left : sizeof bytes;

        if (fread(bytes, 1, most, sort->file) != most || fwrite(bytes, 1, most, to) != most) {
            return false;
        }
        left -= most;
    }
    return true;
}

// Writes all lines in order. False with a problem.
static bool sort_write(struct export_sort *sort, FILE *to, struct problem *problem)
{
    if (sort->count > 0) {
        qsort(sort->keys, sort->count, sizeof *sort->keys, compare_sort_keys);
    }
    for (size_t i = 0; i < sort->count; i++) {
        if (!copy_line(sort, &sort->keys[i], to)) {
            return sort_fail(problem, "the jobs cannot be written");
        }
    }
    return fflush(to) == 0 || sort_fail(problem, "the jobs cannot be written");
}

//
// Input
//

static bool begins_with(struct slice line, struct slice words)
{
    return line.len >= words.len && memcmp(line.ptr, words.ptr, words.len) == 0;
}

static bool take_export_line(struct export *export)
{
    struct slice line = text_slice(&export->line);
    bool taken;

    if (begins_with(line, SLICE("{\"next\":"))) {
        // The last line of a page has the cursor of the next page.
        json_t *end = json_loadb(export->line.data, export->line.len, 0, NULL);

        text_cut(&export->next, 0);
        text_add(&export->next, field_text(end, "next"));
        export->ended = json_object_get(end, "next") != NULL;
        json_decref(end);
        taken = export->ended;
    } else {
        taken = sort_add(export->sort, line, export->context->problem);
    }
    text_cut(&export->line, 0);
    return taken;
}

// Whether an incomplete line may grow further. A broker that never ends a line must not use up the
// memory.
static bool may_grow(struct export *export)
{
    struct slice line = text_slice(&export->line);

    if (line.len <= (begins_with(line, SLICE("{\"id\":")) ? LINE_MOST : END_MOST)) {
        return true;
    }
    (void)problem_set(export->context->problem, OUTCOME_FAILED,
                      "the broker has sent a line that is longer than any job");
    return false;
}

static bool take_export(void *context, struct slice bytes)
{
    struct export *export = context;

    while (bytes.len > 0) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = end ? (size_t)(end - bytes.ptr) + 1 : bytes.len;

        text_add(&export->line, slice_of(bytes.ptr, len));
        bytes = slice_from(bytes, len);
        if (!(end ? take_export_line(export) : may_grow(export))) {
            return false;
        }
    }
    return true;
}

static enum outcome fetch_export_page(struct export *export)
{
    struct context *context = export->context;
    struct text path = {0};
    struct request request = {
        .method = "GET", .accept = "*/*", .take = take_export, .context = export};
    enum outcome outcome;

    text_put(&path, "/api/v1/export");
    path_add_text(&path, "queue", context->options->queues);
    path_add_number(&path, "limit", PAGE);
    path_add_text(&path, "cursor", export->next.len ? text_string(&export->next) : NULL);
    request.path = text_string(&path);
    request.endless = true;
    export->ended = false;
    outcome = command_stream(context, &request);
    text_free(&path);
    if (outcome == OUTCOME_DONE && context->problem->outcome != OUTCOME_DONE) {
        outcome = context->problem->outcome;
    }
    if (outcome == OUTCOME_DONE && !export->ended) {
        outcome =
            problem_set(context->problem, OUTCOME_FAILED, "the answer of the broker is incomplete");
    }
    return outcome;
}

static enum outcome estimate_total(struct export *export)
{
    struct reply reply = {0};
    enum outcome outcome = OUTCOME_DONE;

    if (export->context->screen.shows_progress && !export->context->options->queues) {
        outcome = command_ask(export->context, "GET", "/api/v1/process", NULL, &reply);
        export->total =
            field_count(reply.json, "jobs.ready") + field_count(reply.json, "jobs.delayed") +
            field_count(reply.json, "jobs.reserved") + field_count(reply.json, "jobs.buried");
        reply_free(&reply);
    }
    return outcome == OUTCOME_FORBIDDEN ? OUTCOME_DONE : outcome;
}

static enum outcome fetch_all(struct export *export)
{
    enum outcome outcome = estimate_total(export);

    while (outcome == OUTCOME_DONE) {
        outcome = fetch_export_page(export);
        if (outcome != OUTCOME_DONE || export->next.len == 0) {
            break;
        }
        if (export->context->screen.shows_progress) {
            uint64_t count = export->sort->count;
            struct text words = {0};

            units_add_noun(&words, count, "job");
            progress_draw(count, export->total > count ? export->total : count,
                          text_string(&words));
            text_free(&words);
        }
        if (signals_stop()) {
            outcome = problem_set(export->context->problem, OUTCOME_INTERRUPTED,
                                  "interrupted: nothing was written");
        }
    }
    if (export->context->screen.shows_progress) {
        progress_clear();
    }
    return outcome;
}

//
// Output
//

// The output file, after following symbolic links.
struct output_file {
    char *path; // owned; NULL: standard output
    char *copy; // owned, for dirname()
    const char *folder;
    mode_t mode;  // of the existing file; 0: there is none
    bool special; // exists and is not a regular file
};

static enum outcome fail_output(struct context *context, const char *path)
{
    return problem_set(context->problem, OUTCOME_FAILED, "%s: %s", path, strerror(errno));
}

// A symbolic link is not replaced: its target is.
static enum outcome find_output(struct context *context, const char *path, struct output_file *to)
{
    const char *temporary = getenv("TMPDIR");
    struct stat about;

    to->folder = temporary ? temporary : "/tmp";
    if (!path) {
        return OUTCOME_DONE;
    }
    if (lstat(path, &about) == 0) {
        to->path = realpath(path, NULL);
        if (!to->path || stat(to->path, &about) != 0) {
            return fail_output(context, path);
        }
        to->special = !S_ISREG(about.st_mode);
        to->mode = about.st_mode & 07777;
    } else if (errno == ENOENT) {
        to->path = need(strdup(path));
    } else {
        return fail_output(context, path);
    }
    if (to->special && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return fail_output(context, path);
    }
    if (!to->special) {
        to->copy = need(strdup(to->path));
        to->folder = dirname(to->copy);
    }
    return OUTCOME_DONE;
}

static bool sync_directory(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0) {
        (void)close(fd);
    }
    return done;
}

// Writes a new file and, once it is complete, renames it to the final name.
static enum outcome write_new_file(struct export *export, const struct output_file *to)
{
    struct context *context = export->context;
    struct text name = {0};
    enum outcome outcome = OUTCOME_DONE;
    FILE *file;
    int fd;

    text_format(&name, "%s.XXXXXX", to->path);
    fd = mkstemp(name.data);
    file = open_stream(fd, "w");
    if (file && !sort_write(export->sort, file, context->problem)) {
        outcome = context->problem->outcome;
    } else if (!file || (to->mode != 0 && fchmod(fd, to->mode) != 0) || fsync(fd) != 0 ||
               rename(text_string(&name), to->path) != 0 || !sync_directory(to->folder)) {
        outcome = fail_output(context, to->path);
    }
    if (file) {
        (void)fclose(file);
    }
    if (outcome != OUTCOME_DONE && fd >= 0) {
        (void)unlink(text_string(&name));
    }
    text_free(&name);
    return outcome;
}

// A device or a pipe is written to directly and not replaced.
static enum outcome write_special_file(struct export *export, const struct output_file *to)
{
    struct context *context = export->context;
    FILE *file = open_stream(open(to->path, O_WRONLY | O_CLOEXEC | O_NOCTTY), "w");
    bool written;

    if (!file) {
        return fail_output(context, to->path);
    }
    written = sort_write(export->sort, file, context->problem);
    if (fclose(file) != 0 && written) {
        return fail_output(context, to->path);
    }
    return written ? OUTCOME_DONE : context->problem->outcome;
}

enum outcome run_export(struct context *context)
{
    const char *path =
        context->count > 0 && strcmp(context->words[0], "-") != 0 ? context->words[0] : NULL;
    struct export export = {.context = context};
    struct output_file to = {0};
    struct text summary = {0};
    enum outcome outcome = find_output(context, path, &to);

    if (outcome == OUTCOME_DONE) {
        export.sort = sort_new(to.folder, context->problem);
        outcome = export.sort ? OUTCOME_DONE : context->problem->outcome;
    }
    if (outcome != OUTCOME_DONE) {
        free(to.path);
        free(to.copy);
        return outcome;
    }
    signals_catch_stops();
    outcome = fetch_all(&export);
    if (outcome == OUTCOME_DONE && to.path) {
        outcome = to.special ? write_special_file(&export, &to) : write_new_file(&export, &to);
    } else if (outcome == OUTCOME_DONE && !sort_write(export.sort, stdout, context->problem)) {
        outcome = context->problem->outcome;
    }
    if (outcome == OUTCOME_DONE) {
        units_add_noun(&summary, export.sort->count, "job");
        (void)fprintf(stderr, "%s exported.\n", text_string(&summary));
    }
    signals_release_stops();
    sort_free(export.sort);
    text_free(&export.line);
    text_free(&export.next);
    text_free(&summary);
    free(to.path);
    free(to.copy);
    return outcome;
}
