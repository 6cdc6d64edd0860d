/* SPDX-License-Identifier: MIT */
#include "transfer/members.h"

#include "core/base/base64.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void members_blame(struct members *members, const char *format, ...)
{
    va_list args;

    if (members->bad) {
        return;
    }
    members->bad = true;
    va_start(args, format);
    // The analyzer takes the list for uninitialized.
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
    (void)vsnprintf(members->why, members->why_size, format, args);
    va_end(args);
}

void members_known(struct members *members, const char *const *names)
{
    const char *key;
    json_t *value;

    json_object_foreach(members->object, key, value)
    {
        const char *const *name = names;

        while (*name && strcmp(*name, key) != 0) {
            name++;
        }
        if (!*name) {
            members_blame(members, "%s%.60s: there is no such member", members->of, key);
        }
    }
}

static json_t *member(const struct members *members, const char *name)
{
    json_t *value = members->bad ? NULL : json_object_get(members->object, name);

    return json_is_null(value) ? NULL : value;
}

bool members_number(struct members *members, const char *name, uint64_t most, uint64_t *number)
{
    json_t *value = member(members, name);

    if (!value) {
        return false;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most) {
        members_blame(members, "%s%s is no whole number from 0 to %" PRIu64, members->of, name,
                      most);
        return false;
    }
    *number = (uint64_t)json_integer_value(value);
    return true;
}

bool members_seconds(struct members *members, const char *name, double most, nsec_t *span)
{
    json_t *value = member(members, name);
    double seconds = json_number_value(value);

    if (!value) {
        return false;
    }
    if (!json_is_number(value) || !(seconds >= 0 && seconds <= most)) {
        members_blame(members, "%s%s is no number of seconds", members->of, name);
        return false;
    }
    *span = (nsec_t)llround(seconds * 1000) * NSEC_PER_MSEC;
    return true;
}

bool members_flag(struct members *members, const char *name, bool *flag)
{
    json_t *value = member(members, name);

    if (!value) {
        return false;
    }
    if (!json_is_boolean(value)) {
        members_blame(members, "%s%s is neither true nor false", members->of, name);
        return false;
    }
    *flag = json_is_true(value);
    return true;
}

bool members_word(struct members *members, const char *name, const char *const *words,
                  size_t *place)
{
    json_t *value = member(members, name);

    if (!value) {
        return false;
    }
    for (size_t i = 0; json_is_string(value) && words[i]; i++) {
        if (strcmp(json_string_value(value), words[i]) == 0) {
            *place = i;
            return true;
        }
    }
    members_blame(members, "%s%s is none of its words", members->of, name);
    return false;
}

static struct slice text_of(const json_t *value)
{
    return slice_of(json_string_value(value), json_string_length(value));
}

static bool read_encoded(struct members *members, const char *name, json_t *value,
                         struct slice *bytes)
{
    json_t *data = json_object_get(value, "data");
    const char *encoding = json_string_value(json_object_get(value, "encoding"));
    size_t len;

    if (!json_is_string(data) || !encoding) {
        members_blame(members, "%s%s is neither a text nor an object of encoding and data",
                      members->of, name);
    } else if (json_is_true(json_object_get(value, "truncated"))) {
        members_blame(members, "%s%s is truncated", members->of, name);
    } else if (strcmp(encoding, "text") == 0) {
        *bytes = text_of(data);
        return true;
    } else if (strcmp(encoding, "base64") != 0) {
        members_blame(members, "%s%s: its encoding is neither text nor base64", members->of, name);
    } else {
        char *at = (char *)(uintptr_t)json_string_value(data);

        if (base64_decode(text_of(data), at, &len)) {
            *bytes = slice_of(at, len);
            return true;
        }
        members_blame(members, "%s%s: its data is no base64", members->of, name);
    }
    return false;
}

bool members_bytes(struct members *members, const char *name, struct slice *bytes)
{
    json_t *value = member(members, name);

    if (!value) {
        return false;
    }
    if (json_is_string(value)) {
        *bytes = text_of(value);
        return true;
    }
    return read_encoded(members, name, value, bytes);
}

bool members_part(struct members *members, const char *name, struct members *part)
{
    json_t *value = member(members, name);

    if (!value) {
        return false;
    }
    if (!json_is_object(value)) {
        members_blame(members, "%s%s is no object", members->of, name);
        return false;
    }
    part->object = value;
    part->bad = false;
    part->why = members->why;
    part->why_size = members->why_size;
    return true;
}

void members_part_end(struct members *members, const struct members *part)
{
    members->bad = members->bad || part->bad;
}
