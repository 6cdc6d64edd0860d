/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/tubes.h"

#include "core/base/glob.h"
#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/print/need.h"

#define TUBES_ASKED_TOGETHER 512

static int tubes_compare(const void *a, const void *b)
{
    const struct tube *one = a;
    const struct tube *other = b;

    return strcmp(one->name, other->name);
}

static bool tubes_read_names(struct migration *migration, struct slice list)
{
    struct tubes *tubes = migration->tubes;
    const char *glob = migration->settings->tubes;
    size_t capacity = 0;
    struct slice name;

    while (yaml_item(&list, &name)) {
        if (!is_tube(name)) {
            return remote_fail(migration->source, OUTCOME_FAILED,
                               "is not a beanstalk server: it lists a tube with an invalid name");
        }
        if (glob && !glob_matches(slice_str(glob), name)) {
            continue;
        }
        if (tubes->count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            tubes->list = need(reallocarray(tubes->list, capacity, sizeof *tubes->list));
        }
        tubes->list[tubes->count] = (struct tube){0};
        memcpy(tubes->list[tubes->count++].name, name.ptr, name.len);
    }
    if (tubes->count > 0) {
        qsort(tubes->list, tubes->count, sizeof *tubes->list, tubes_compare);
    }
    return true;
}

// A number may be missing, but not malformed: jobs that are not counted would be left behind.
static bool tubes_read_count(struct migration *migration, struct slice document, const char *key,
                             uint64_t *number)
{
    struct slice name = slice_str(key);
    struct slice text;

    if (yaml_text(document, name, &text) && !yaml_count(document, name, number)) {
        return remote_fail(migration->source, OUTCOME_FAILED,
                           "answers stats-tube with a %s that is not a number", key);
    }
    return true;
}

static bool tubes_read_counts(struct migration *migration, struct tube *tube, struct slice document)
{
    struct tubes *tubes = migration->tubes;
    uint64_t pause = 0;

    if (!tubes_read_count(migration, document, "current-jobs-ready", &tube->ready) ||
        !tubes_read_count(migration, document, "current-jobs-delayed", &tube->delayed) ||
        !tubes_read_count(migration, document, "current-jobs-buried", &tube->buried) ||
        !tubes_read_count(migration, document, "current-jobs-reserved", &tube->reserved) ||
        !tubes_read_count(migration, document, "pause-time-left", &pause)) {
        return false;
    }
    tube->paused = pause > 0;
    tubes->ready += tube->ready;
    tubes->delayed += tube->delayed;
    tubes->buried += tube->buried;
    tubes->reserved += tube->reserved;
    tubes->in_paused += tube->paused ? tube->ready : 0;
    return true;
}

static bool tubes_ask_counts(struct migration *migration, size_t first, size_t end)
{
    struct tubes *tubes = migration->tubes;
    struct slice document;
    bool found;

    for (size_t i = first; i < end; i++) {
        remote_put(migration->source, "stats-tube %s", tubes->list[i].name);
    }
    for (size_t i = first; i < end; i++) {
        if (!remote_reply_document(migration->source, "stats-tube", &document, &found)) {
            return false;
        }
        if (found && !tubes_read_counts(migration, &tubes->list[i], document)) {
            return false;
        }
    }
    return true;
}

bool tubes_ask(struct migration *migration)
{
    struct tubes *tubes = migration->tubes;
    struct slice document;
    bool found;

    tubes_free(tubes);
    remote_put(migration->source, "list-tubes");
    if (!remote_reply_document(migration->source, "list-tubes", &document, &found) ||
        !tubes_read_names(migration, document)) {
        return false;
    }
    for (size_t i = 0; i < tubes->count; i += TUBES_ASKED_TOGETHER) {
        size_t end =
            tubes->count - i > TUBES_ASKED_TOGETHER ? i + TUBES_ASKED_TOGETHER : tubes->count;

        if (!tubes_ask_counts(migration, i, end)) {
            return false;
        }
    }
    return true;
}

struct tube *tubes_make(struct tubes *tubes, struct slice name)
{
    struct tube *tube;

    for (size_t i = 0; i < tubes->count; i++) {
        if (slice_equal(slice_str(tubes->list[i].name), name)) {
            return &tubes->list[i];
        }
    }
    tubes->list = need(reallocarray(tubes->list, tubes->count + 1, sizeof *tubes->list));
    tube = &tubes->list[tubes->count++];
    *tube = (struct tube){0};
    memcpy(tube->name, name.ptr, name.len);
    return tube;
}

struct tube *tubes_find(const struct tubes *tubes, struct slice name)
{
    struct tube key = {0};

    if (!is_tube(name) || tubes->count == 0) {
        return NULL;
    }
    memcpy(key.name, name.ptr, name.len);
    return bsearch(&key, tubes->list, tubes->count, sizeof *tubes->list, tubes_compare);
}

void tubes_free(struct tubes *tubes)
{
    free(tubes->list);
    *tubes = (struct tubes){0};
}
