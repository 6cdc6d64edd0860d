/* SPDX-License-Identifier: MIT */
#include "ctl/export_sort.h"

#include "ctl/print/need.h"
#include "ctl/print/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPIED_AT_ONCE 65536
#define KEYS_FIRST 1024

struct key {
    bool buried;
    uint64_t order; // among the jobs with the same `buried`
    uint64_t offset;
    uint64_t len;
};

struct export_sort {
    FILE *file;
    uint64_t size;
    struct key *keys;
    size_t count, capacity;
};

static bool fail(struct problem *problem, const char *what)
{
    (void)problem_set(problem, OUTCOME_FAILED, "%s: %s", what, strerror(errno));
    return false;
}

// Opens a temporary file without a name, which closing it deletes.
static FILE *unnamed(const char *folder)
{
    struct text name = {0};
    FILE *file;
    int fd;

    text_format(&name, "%s/.tandem-export-XXXXXX", folder);
    fd = mkstemp(name.data);
    file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (fd >= 0) {
        (void)unlink(text_string(&name));
    }
    text_free(&name);
    return file;
}

struct export_sort *export_sort_new(const char *folder, struct problem *problem)
{
    struct export_sort *sort = need(calloc(1, sizeof *sort));

    sort->file = unnamed(folder);
    if (!sort->file) {
        (void)fail(problem, "no file for what comes can be made");
        free(sort);
        return NULL;
    }
    return sort;
}

void export_sort_free(struct export_sort *sort)
{
    if (sort) {
        (void)fclose(sort->file);
        free(sort->keys);
        free(sort);
    }
}

// Parses the number that follows `before` at `*at` in the line, and advances `*at`.
static bool read_number(struct slice line, size_t *at, const char *before, uint64_t *number)
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

bool export_sort_add(struct export_sort *sort, struct slice line, struct problem *problem)
{
    struct key key = {.offset = sort->size, .len = line.len};
    uint64_t burial;
    size_t at = 0;

    if (!read_number(line, &at, "{\"id\":", &key.order)) {
        (void)problem_set(problem, OUTCOME_FAILED, "the broker has sent a line that is no job");
        return false;
    }
    if (read_number(line, &at, ",\"burial\":", &burial)) {
        key.buried = true;
        key.order = burial;
    }
    if (fwrite(line.ptr, 1, line.len, sort->file) != line.len) {
        return fail(problem, "what comes cannot be kept");
    }
    if (sort->count == sort->capacity) {
        sort->capacity = sort->capacity ? sort->capacity * 2 : KEYS_FIRST;
        sort->keys = need(realloc(sort->keys, sort->capacity * sizeof *sort->keys));
    }
    sort->keys[sort->count++] = key;
    sort->size += line.len;
    return true;
}

uint64_t export_sort_count(const struct export_sort *sort)
{
    return sort->count;
}

static int compare(const void *left, const void *right)
{
    const struct key *a = left;
    const struct key *b = right;

    if (a->buried != b->buried) {
        return a->buried ? 1 : -1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

static bool copy(struct export_sort *sort, const struct key *key, FILE *to)
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

bool export_sort_write(struct export_sort *sort, FILE *to, struct problem *problem)
{
    if (sort->count > 0) {
        qsort(sort->keys, sort->count, sizeof *sort->keys, compare);
    }
    for (size_t i = 0; i < sort->count; i++) {
        if (!copy(sort, &sort->keys[i], to)) {
            return fail(problem, "the lines cannot be written");
        }
    }
    return fflush(to) == 0 || fail(problem, "the lines cannot be written");
}
