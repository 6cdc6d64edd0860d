/* SPDX-License-Identifier: MIT */
#include "ctl/export.h"

#include "ctl/api/call.h"
#include "ctl/export_sort.h"
#include "ctl/facts.h"
#include "ctl/import_lines.h"
#include "ctl/print/need.h"
#include "ctl/print/screen.h"
#include "ctl/print/signals.h"
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
// Input
//

static bool begins_with(struct slice line, struct slice words)
{
    return line.len >= words.len && memcmp(line.ptr, words.ptr, words.len) == 0;
}

// Takes the last line of a page, which has the cursor of the next page.
static bool take_end(struct export *export)
{
    json_t *end = json_loadb(export->line.data, export->line.len, 0, NULL);

    text_cut(&export->next, 0);
    text_add(&export->next, field_text(end, "next"));
    export->ended = json_object_get(end, "next") != NULL;
    json_decref(end);
    return export->ended;
}

static bool take_line(struct export *export)
{
    struct slice line = text_slice(&export->line);
    bool taken;

    if (begins_with(line, SLICE("{\"next\":"))) {
        taken = take_end(export);
    } else {
        taken = export_sort_add(export->sort, line, export->context->problem);
    }
    text_cut(&export->line, 0);
    return taken;
}

// Whether an incomplete line may grow further. A broker that never ends a line must not use up the
// memory.
static bool may_go_on(struct export *export)
{
    struct slice line = text_slice(&export->line);

    if (line.len <= (begins_with(line, SLICE("{\"id\":")) ? LINE_MOST : END_MOST)) {
        return true;
    }
    (void)problem_set(export->context->problem, OUTCOME_FAILED,
                      "the broker has sent a line that is longer than any job");
    return false;
}

static bool take(void *context, struct slice bytes)
{
    struct export *export = context;

    while (bytes.len > 0) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = end ? (size_t)(end - bytes.ptr) + 1 : bytes.len;

        text_add(&export->line, slice_of(bytes.ptr, len));
        bytes = slice_from(bytes, len);
        if (!(end ? take_line(export) : may_go_on(export))) {
            return false;
        }
    }
    return true;
}

static enum outcome ask_page(struct export *export)
{
    struct context *context = export->context;
    struct text path = {0};
    struct request request = {.method = "GET", .accept = "*/*", .take = take, .context = export};
    enum outcome outcome;

    text_put(&path, "/api/v1/export");
    path_add_text(&path, "queue", context->options->queues);
    path_add_number(&path, "limit", PAGE);
    path_add_text(&path, "cursor", export->next.len ? text_string(&export->next) : NULL);
    request.path = text_string(&path);
    request.endless = true;
    export->ended = false;
    outcome = ask_stream(context, &request);
    text_free(&path);
    if (outcome == OUTCOME_DONE && context->problem->outcome != OUTCOME_DONE) {
        outcome = context->problem->outcome;
    }
    if (outcome == OUTCOME_DONE && !export->ended) {
        outcome = problem_set(context->problem, OUTCOME_FAILED, "the answer has no end");
    }
    return outcome;
}

static void show(const struct export *export)
{
    uint64_t count = export_sort_count(export->sort);

    if (export->context->screen.shows) {
        struct text words = {0};

        add_number_of(&words, count, "job");
        progress_draw(count, export->total > count ? export->total : count, text_string(&words));
        text_free(&words);
    }
}

static enum outcome find_total(struct export *export)
{
    struct reply reply = {0};
    enum outcome outcome = OUTCOME_DONE;

    if (export->context->screen.shows && !export->context->options->queues) {
        outcome = ask(export->context, "GET", "/api/v1/process", NULL, &reply);
        export->total =
            field_count(reply.json, "jobs.ready") + field_count(reply.json, "jobs.delayed") +
            field_count(reply.json, "jobs.reserved") + field_count(reply.json, "jobs.buried");
        reply_free(&reply);
    }
    return outcome == OUTCOME_FORBIDDEN ? OUTCOME_DONE : outcome;
}

static enum outcome gather(struct export *export)
{
    enum outcome outcome = find_total(export);

    while (outcome == OUTCOME_DONE) {
        outcome = ask_page(export);
        if (outcome != OUTCOME_DONE || export->next.len == 0) {
            break;
        }
        show(export);
        if (signals_stop()) {
            outcome = problem_set(export->context->problem, OUTCOME_INTERRUPTED,
                                  "interrupted: nothing was written");
        }
    }
    if (export->context->screen.shows) {
        progress_clear();
    }
    return outcome;
}

//
// Output
//

// The output file, after following symbolic links.
struct place_to {
    char *path; // owned; NULL: standard output
    char *copy; // owned, for dirname()
    const char *folder;
    mode_t mode;  // of the existing file; 0: there is none
    bool special; // exists and is not a regular file
};

static enum outcome fail(struct context *context, const char *path)
{
    return problem_set(context->problem, OUTCOME_FAILED, "%s: %s", path, strerror(errno));
}

// A symbolic link is not replaced: its target is.
static enum outcome find_place(struct context *context, const char *path, struct place_to *to)
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
            return fail(context, path);
        }
        to->special = !S_ISREG(about.st_mode);
        to->mode = about.st_mode & 07777;
    } else if (errno == ENOENT) {
        to->path = need(strdup(path));
    } else {
        return fail(context, path);
    }
    if (to->special && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return fail(context, path);
    }
    if (!to->special) {
        to->copy = need(strdup(to->path));
        to->folder = dirname(to->copy);
    }
    return OUTCOME_DONE;
}

static bool sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0) {
        (void)close(fd);
    }
    return done;
}

// Writes a new file and, once it is complete, renames it to the final name.
static enum outcome write_anew(struct export *export, const struct place_to *to)
{
    struct context *context = export->context;
    struct text name = {0};
    enum outcome outcome = OUTCOME_DONE;
    FILE *file;
    int fd;

    text_format(&name, "%s.XXXXXX", to->path);
    fd = mkstemp(name.data);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        outcome = fail(context, to->path);
        text_free(&name);
        return outcome;
    }
    if (!export_sort_write(export->sort, file, context->problem)) {
        outcome = context->problem->outcome;
    } else if ((to->mode != 0 && fchmod(fd, to->mode) != 0) || fsync(fd) != 0 ||
               rename(text_string(&name), to->path) != 0 || !sync_folder(to->folder)) {
        outcome = fail(context, to->path);
    }
    (void)fclose(file);
    if (outcome != OUTCOME_DONE) {
        (void)unlink(text_string(&name));
    }
    text_free(&name);
    return outcome;
}

// A device or a pipe is written to directly and not replaced.
static enum outcome write_into(struct export *export, const struct place_to *to)
{
    struct context *context = export->context;
    int fd = open(to->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool written;

    if (!file) {
        return fail(context, to->path);
    }
    written = export_sort_write(export->sort, file, context->problem);
    if (fclose(file) != 0 && written) {
        return fail(context, to->path);
    }
    return written ? OUTCOME_DONE : context->problem->outcome;
}

static enum outcome write_named(struct export *export, const struct place_to *to)
{
    return to->special ? write_into(export, to) : write_anew(export, to);
}

static enum outcome write_all(struct export *export, const struct place_to *to)
{
    struct text said = {0};
    enum outcome outcome;

    if (to->path) {
        outcome = write_named(export, to);
    } else {
        outcome = export_sort_write(export->sort, stdout, export->context->problem)
                      ? OUTCOME_DONE
                      : export->context->problem->outcome;
    }
    if (outcome == OUTCOME_DONE) {
        add_number_of(&said, export_sort_count(export->sort), "job");
        (void)fprintf(stderr, "%s.\n", text_string(&said));
        text_free(&said);
    }
    return outcome;
}

enum outcome run_export(struct context *context)
{
    const char *path =
        context->count > 0 && strcmp(context->words[0], "-") != 0 ? context->words[0] : NULL;
    struct export export = {.context = context};
    struct place_to to = {0};
    enum outcome outcome = find_place(context, path, &to);

    if (outcome == OUTCOME_DONE) {
        export.sort = export_sort_new(to.folder, context->problem);
        outcome = export.sort ? OUTCOME_DONE : context->problem->outcome;
    }
    if (outcome != OUTCOME_DONE) {
        free(to.path);
        free(to.copy);
        return outcome;
    }
    signals_catch_stops();
    outcome = gather(&export);
    if (outcome == OUTCOME_DONE) {
        outcome = write_all(&export, &to);
    }
    signals_release_stops();
    export_sort_free(export.sort);
    text_free(&export.line);
    text_free(&export.next);
    free(to.path);
    free(to.copy);
    return outcome;
}
