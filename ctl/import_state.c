/* SPDX-License-Identifier: MIT */
#include "ctl/import_state.h"

#include "ctl/print/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Longer than any valid line.
#define STATE_MAX 160

static bool fail(struct problem *problem, const char *path)
{
    (void)problem_set(problem, OUTCOME_FAILED, "%s: %s", path, strerror(errno));
    return false;
}

static struct text name_of(const char *path, const char *end)
{
    struct text name = {0};

    text_format(&name, "%s.imported%s", path, end);
    return name;
}

static bool look(const char *path, uint64_t *size, uint64_t *changed)
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
static bool read_number(const char **at, const char *before, uint64_t *number)
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

struct state {
    uint64_t line, size, changed;
};

static bool read_state(FILE *file, struct state *state)
{
    char text[STATE_MAX];
    const char *at = fgets(text, sizeof text, file);

    return at && read_number(&at, "tandem import: line ", &state->line) &&
           read_number(&at, " of ", &state->size) &&
           read_number(&at, " bytes of ", &state->changed) && state->line > 0;
}

static bool check_state(const char *path, const struct state *state, struct problem *problem)
{
    uint64_t size, changed;

    if (!look(path, &size, &changed)) {
        return fail(problem, path);
    }
    if (size != state->size || changed != state->changed) {
        (void)problem_set(problem, OUTCOME_FAILED,
                          "%s has changed since an import of it stopped at line %" PRIu64
                          ": remove %s.imported, or say --from",
                          path, state->line, path);
        return false;
    }
    return true;
}

bool import_state_load(const char *path, uint64_t *line, struct problem *problem)
{
    struct text name = name_of(path, "");
    FILE *file = fopen(text_string(&name), "re");
    struct state state = {.line = 1};
    bool good = true;

    if (!file) {
        good = errno == ENOENT || fail(problem, text_string(&name));
    } else if (!read_state(file, &state)) {
        good = false;
        (void)problem_set(problem, OUTCOME_FAILED, "%s says nothing of an import: remove it",
                          text_string(&name));
    } else {
        good = check_state(path, &state, problem);
    }
    if (file) {
        (void)fclose(file);
    }
    *line = state.line;
    text_free(&name);
    return good;
}

static bool write_state(const char *name, const char *path, uint64_t line)
{
    uint64_t size, changed;
    FILE *file;
    bool good;

    if (!look(path, &size, &changed)) {
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

bool import_state_save(const char *path, uint64_t line, struct problem *problem)
{
    struct text name = name_of(path, "");
    struct text made = name_of(path, ".new");
    bool good = write_state(text_string(&made), path, line) &&
                rename(text_string(&made), text_string(&name)) == 0;

    good = good || fail(problem, text_string(&name));
    text_free(&name);
    text_free(&made);
    return good;
}

void import_state_forget(const char *path)
{
    struct text name = name_of(path, "");

    (void)unlink(text_string(&name));
    text_free(&name);
}
