/* SPDX-License-Identifier: MIT */
// memmem is a GNU function.
#define _GNU_SOURCE
#include "server/config/conninfo.h"

#include "core/base/slice.h"
#include "server/config/setting.h"

#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\r\n\f\v";

// Names may be percent-encoded in a URI: then anything may be meant.
static bool is_secret(struct slice name)
{
    static const char *const parts[] = {"pass", "secret", "scram", "%"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (memmem(name.ptr, name.len, parts[i], strlen(parts[i]))) {
            return !slice_equal(name, slice_of("passfile", 8));
        }
    }
    return false;
}

static void hide(FILE *file)
{
    (void)fputs(SETTING_HIDDEN, file);
}

static void write_part(const char *from, const char *to, FILE *file)
{
    (void)fwrite(from, 1, (size_t)(to - from), file);
}

// The end of a value, which may be in quotes; NULL where a quote or an escape has no end.
static const char *value_end(const char *at)
{
    bool quoted = *at == '\'';

    for (at += quoted; *at; at++) {
        if (*at == '\\') {
            at++;
            if (*at == '\0') {
                return NULL;
            }
        } else if (quoted ? *at == '\'' : strchr(blanks, *at) != NULL) {
            return at + quoted;
        }
    }
    return quoted ? NULL : at;
}

// Behind the pair that begins there; NULL: there is none.
static const char *show_pair(const char *at, FILE *file)
{
    struct slice name = {at, strcspn(at, "= \t\r\n\f\v")};
    const char *value = at + name.len + strspn(at + name.len, blanks);
    const char *end;

    if (name.len == 0 || *value != '=') {
        return NULL;
    }
    value++;
    value += strspn(value, blanks);
    end = value_end(value);
    if (!end) {
        return NULL;
    }
    write_part(at, value, file);
    if (is_secret(name)) {
        hide(file);
    } else {
        write_part(value, end, file);
    }
    return end;
}

static void show_pairs(const char *at, FILE *file)
{
    while (at) {
        const char *next = at + strspn(at, blanks);

        write_part(at, next, file);
        if (*next == '\0') {
            return;
        }
        at = show_pair(next, file);
    }
    hide(file);
}

// user:password@ in front of the hosts. A password that should have been percent-encoded may have
// any byte: it goes as far as the last @.
static const char *show_credentials(const char *at, FILE *file)
{
    const char *end = strrchr(at, '@');
    const char *colon = end ? memchr(at, ':', (size_t)(end - at)) : NULL;

    if (!colon) {
        return at;
    }
    write_part(at, colon + 1, file);
    hide(file);
    return end;
}

static void show_uri(const char *text, FILE *file)
{
    const char *at = strstr(text, "://") + 3;

    write_part(text, at, file);
    at = show_credentials(at, file);
    while (*at) {
        const char *name = at + strcspn(at, "?&");
        const char *value = name + strcspn(name, "=");
        const char *end;

        name += *name ? 1 : 0;
        value += *value ? 1 : 0;
        end = value + strcspn(value, "&");
        if (*value && is_secret((struct slice){name, (size_t)(value - 1 - name)})) {
            write_part(at, value, file);
            hide(file);
        } else {
            write_part(at, end, file);
        }
        at = end;
    }
}

void conninfo_show(const char *text, FILE *file)
{
    if (strncmp(text, "postgres://", 11) == 0 || strncmp(text, "postgresql://", 13) == 0) {
        show_uri(text, file);
    } else {
        show_pairs(text, file);
    }
}
