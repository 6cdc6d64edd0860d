/* SPDX-License-Identifier: MIT */
#include "server/process/cgroup.h"

#include "core/base/digits.h"
#include "core/base/slice.h"
#include "os/small_file.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Files of a group have one short line; the list of mounts can be long.
enum { GROUP_FILE_MOST = 4096, MOUNTS_MOST = 1 << 20 };

// Removes the next word, which a blank or the end of the line follows.
static struct slice cgroup_word(struct slice *line)
{
    size_t len = 0;
    struct slice word;

    while (len < line->len && line->ptr[len] != ' ' && line->ptr[len] != '\n') {
        len++;
    }
    word = slice_of(line->ptr, len);
    *line = slice_from(*line, len < line->len ? len + 1 : len);
    return word;
}

static struct slice cgroup_line(struct slice *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    size_t len = end ? (size_t)(end - text->ptr) : text->len;
    struct slice line = slice_of(text->ptr, len);

    *text = slice_from(*text, end ? len + 1 : len);
    return line;
}

static bool cgroup_read(const char *root, const char *path, size_t most, struct small_file *file)
{
    char whole[PATH_MAX];
    int len = snprintf(whole, sizeof whole, "%s%s", root, path);

    return len > 0 && (size_t)len < sizeof whole && small_file_read_any(file, whole, most) == 0;
}

static bool cgroup_copy(struct slice word, char text[PATH_MAX])
{
    if (word.len >= PATH_MAX) {
        return false;
    }
    memcpy(text, word.ptr, word.len);
    text[word.len] = '\0';
    return true;
}

// Finds where the hierarchy is mounted, and which of its groups is at that place: a line
// `ID PARENT DEVICE GROUP PLACE OPTIONS [TAGS...] - TYPE ...` (proc_pid_mountinfo(5)).
static bool cgroup_find_mount(const char *root, char place[PATH_MAX], char group[PATH_MAX])
{
    struct small_file file;
    struct slice text;
    bool found = false;

    if (!cgroup_read(root, "/proc/self/mountinfo", MOUNTS_MOST, &file)) {
        return false;
    }
    text = small_file_text(&file);
    while (!found && text.len > 0) {
        struct slice line = cgroup_line(&text);
        struct slice words[5];

        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            words[i] = cgroup_word(&line);
        }
        while (line.len > 0 && !slice_equal(cgroup_word(&line), SLICE("-"))) {
        }
        found = slice_equal(cgroup_word(&line), SLICE("cgroup2")) && cgroup_copy(words[3], group) &&
                cgroup_copy(words[4], place);
    }
    small_file_free(&file);
    return found;
}

// The path of the process's group: the line `0::PATH`.
static bool cgroup_find_own(const char *root, char path[PATH_MAX])
{
    static const char start[] = "0::";
    struct small_file file;
    struct slice text;
    bool found = false;

    if (!cgroup_read(root, "/proc/self/cgroup", GROUP_FILE_MOST, &file)) {
        return false;
    }
    text = small_file_text(&file);
    while (!found && text.len > 0) {
        struct slice line = cgroup_line(&text);

        found = line.len > strlen(start) && memcmp(line.ptr, start, strlen(start)) == 0 &&
                cgroup_copy(slice_from(line, strlen(start)), path);
    }
    small_file_free(&file);
    return found;
}

// memory.max: a number of bytes, or `max`.
static void cgroup_limit_memory(struct slice text, struct cgroup_limits *limits)
{
    uint64_t bytes;

    if (digits_read(cgroup_word(&text), &bytes) && bytes > 0 &&
        (limits->memory == 0 || bytes < limits->memory)) {
        limits->memory = bytes;
    }
}

// cpu.max: microseconds of processor time in each period, or `max`, and the length of the period.
static void cgroup_limit_processors(struct slice text, struct cgroup_limits *limits)
{
    uint64_t quota, period, whole;

    if (!digits_read(cgroup_word(&text), &quota) || !digits_read(cgroup_word(&text), &period) ||
        period == 0) {
        return;
    }
    whole = quota / period;
    whole = whole == 0 ? 1 : whole > UINT_MAX ? UINT_MAX : whole;
    if (limits->processors == 0 || whole < limits->processors) {
        limits->processors = (unsigned)whole;
    }
}

static void cgroup_limit(const char *root, const char *group, const char *name,
                         void (*limit)(struct slice text, struct cgroup_limits *limits),
                         struct cgroup_limits *limits)
{
    char path[PATH_MAX];
    struct small_file file;
    int len = snprintf(path, sizeof path, "%s/%s", group, name);

    if (len > 0 && (size_t)len < sizeof path && cgroup_read(root, path, GROUP_FILE_MOST, &file)) {
        limit(small_file_text(&file), limits);
        small_file_free(&file);
    }
}

// The part of the group's path below the mounted one. A path that begins with `/..` is outside of
// the namespace: only the mounted group can be seen.
static const char *cgroup_below(const char *own, const char *mounted)
{
    size_t len = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);

    if (strncmp(own, mounted, len) != 0 || (own[len] != '/' && own[len] != '\0') ||
        strncmp(own + len, "/..", 3) == 0 || strcmp(own + len, "/") == 0) {
        return "";
    }
    return own + len;
}

void cgroup_limits_read(const char *root, struct cgroup_limits *limits)
{
    char place[PATH_MAX], mounted[PATH_MAX], own[PATH_MAX], group[2 * PATH_MAX];
    size_t place_len;

    *limits = (struct cgroup_limits){0};
    if (!cgroup_find_mount(root, place, mounted) || !cgroup_find_own(root, own)) {
        return;
    }
    place_len = strlen(place);
    (void)snprintf(group, sizeof group, "%s%s", place, cgroup_below(own, mounted));
    for (;;) {
        char *slash = strrchr(group, '/');

        cgroup_limit(root, group, "memory.max", cgroup_limit_memory, limits);
        // Above it, the kernel slows the group down.
        cgroup_limit(root, group, "memory.high", cgroup_limit_memory, limits);
        cgroup_limit(root, group, "cpu.max", cgroup_limit_processors, limits);
        if (strlen(group) <= place_len || !slash) {
            return;
        }
        *slash = '\0';
    }
}
