/* SPDX-License-Identifier: MIT */
#include "transfer/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum source_answer source_fail(struct source_news *news, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(news->what, sizeof news->what, format, args);
    va_end(args);
    return SOURCE_FAILED;
}

enum source_answer source_damage(struct source_news *news, const char *where, uint64_t offset,
                                 const char *format, ...)
{
    va_list args;

    (void)snprintf(news->where, sizeof news->where, "%s", where);
    news->offset = offset;
    va_start(args, format);
    (void)vsnprintf(news->what, sizeof news->what, format, args);
    va_end(args);
    return SOURCE_DAMAGE;
}

bool source_real_path(const char *path, char *to, size_t size)
{
    char *begin = strdup(path);
    size_t len = begin ? strlen(begin) : 0;
    char *real = begin ? realpath(begin, NULL) : NULL;
    size_t end = strlen(path);
    int needed = -1;

    while (begin && !real && len > 0) {
        // Remove the last name of the path.
        while (len > 0 && begin[len - 1] == '/') {
            len--;
        }
        while (len > 0 && begin[len - 1] != '/') {
            len--;
        }
        begin[len] = '\0';
        real = realpath(len > 0 ? begin : ".", NULL);
    }
    while (end > len && path[end - 1] == '/') {
        end--;
    }
    if (real) {
        bool slash = end > len && strcmp(real, "/") != 0;

        needed =
            snprintf(to, size, "%s%s%.*s", real, slash ? "/" : "", (int)(end - len), path + len);
    }
    free(real);
    free(begin);
    return needed >= 0 && (size_t)needed < size;
}

static void source_fail_kind(const struct source_kind *const *kinds, const char *text,
                             struct source_news *news)
{
    size_t len;

    // Without the place, which may contain a password.
    int shown = (int)strcspn(text, ":");

    (void)source_fail(news, "`%.*s%s` is not KIND:PLACE with one of these kinds:",
                      shown < 80 ? shown : 80, text, text[strcspn(text, ":")] ? ":..." : "");
    for (; *kinds; kinds++) {
        len = strlen(news->what);
        (void)snprintf(news->what + len, sizeof news->what - len, " %s", (*kinds)->name);
    }
}

static const struct source_kind *source_find_kind(const struct source_kind *const *kinds,
                                                  const char *text, struct source_news *news)
{
    size_t len = strcspn(text, ":");
    const struct source_kind *const *kind = kinds;

    while (*kind && (strlen((*kind)->name) != len || strncmp((*kind)->name, text, len) != 0)) {
        kind++;
    }
    if (!*kind || text[len] == '\0' || text[len + 1] == '\0') {
        source_fail_kind(kinds, text, news);
        return NULL;
    }
    return *kind;
}

bool source_check(const struct source_kind *const *kinds, const char *text,
                  struct source_news *news)
{
    return source_find_kind(kinds, text, news) != NULL;
}

struct source *source_open(const struct source_kind *const *kinds, const char *text,
                           struct source_news *news)
{
    const struct source_kind *kind = source_find_kind(kinds, text, news);

    return kind ? kind->open(text + strlen(kind->name) + 1, news) : NULL;
}

bool source_place(const struct source *source, char *to, size_t size)
{
    return source->ops->place && source->ops->place(source, to, size);
}

enum source_glance source_glance(struct source *source, struct slice old)
{
    return source->ops->glance ? source->ops->glance(source, old) : SOURCE_UNSURE;
}

enum source_answer source_survey(struct source *source, struct source_news *news)
{
    return source->ops->survey(source, news);
}

void source_progress(const struct source *source, struct source_progress *progress)
{
    source->ops->progress(source, progress);
}

struct slice source_fingerprint(const struct source *source)
{
    return source->ops->fingerprint(source);
}

bool source_same(const struct source *source, struct slice old)
{
    if (source->ops->same) {
        return source->ops->same(source, old);
    }
    return slice_equal(source->ops->fingerprint(source), old);
}

enum source_answer source_next(struct source *source, struct source_news *news)
{
    return source->ops->next(source, news);
}

void source_close(struct source *source)
{
    if (source) {
        source->ops->close(source);
    }
}
