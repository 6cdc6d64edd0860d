/* SPDX-License-Identifier: MIT */
#include "json/json_reader.h"

#include "core/base/base64.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void json_reader_blame(struct json_reader *reader, const char *format, ...)
{
    va_list args;

    if (reader->bad) {
        return;
    }
    reader->bad = true;
    va_start(args, format);
    // The analyzer takes the list for uninitialized.
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
    (void)vsnprintf(reader->why, sizeof reader->why, format, args);
    va_end(args);
}

bool json_list_find(struct slice text, const char *const *list, size_t *place)
{
    for (size_t i = 0; list[i]; i++) {
        if (slice_equal(text, slice_str(list[i]))) {
            *place = i;
            return true;
        }
    }
    return false;
}

void json_reader_known(struct json_reader *reader, const char *const *names)
{
    const char *key;
    json_t *value;

    json_object_foreach(reader->object, key, value)
    {
        size_t place;

        if (!json_list_find(slice_str(key), names, &place)) {
            json_reader_blame(reader, "%.60s is not a known member", key);
        }
    }
}

static json_t *json_reader_member(const struct json_reader *reader, const char *name)
{
    json_t *value = reader->bad ? NULL : json_object_get(reader->object, name);

    return reader->null_is_missing && json_is_null(value) ? NULL : value;
}

static struct slice json_text(const json_t *value)
{
    return slice_of(json_string_value(value), json_string_length(value));
}

bool json_reader_number(struct json_reader *reader, const char *name, uint64_t most,
                        uint64_t *number)
{
    json_t *value = json_reader_member(reader, name);

    if (!value) {
        return false;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most) {
        json_reader_blame(reader, "%s is not an integer from 0 to %" PRIu64, name, most);
        return false;
    }
    *number = (uint64_t)json_integer_value(value);
    return true;
}

bool json_reader_seconds(struct json_reader *reader, const char *name, double most, double *seconds)
{
    json_t *value = json_reader_member(reader, name);
    double found = json_number_value(value);

    if (!value) {
        return false;
    }
    if (!json_is_number(value) || !(found >= 0 && found <= most)) {
        json_reader_blame(reader, "%s is not a number of seconds from 0 to %.0f", name, most);
        return false;
    }
    *seconds = found;
    return true;
}

bool json_reader_flag(struct json_reader *reader, const char *name, bool *flag)
{
    json_t *value = json_reader_member(reader, name);

    if (!value) {
        return false;
    }
    if (!json_is_boolean(value)) {
        json_reader_blame(reader, "%s is not true or false", name);
        return false;
    }
    *flag = json_is_true(value);
    return true;
}

bool json_reader_text(struct json_reader *reader, const char *name, struct slice *text)
{
    json_t *value = json_reader_member(reader, name);

    if (!value) {
        return false;
    }
    if (!json_is_string(value)) {
        json_reader_blame(reader, "%s is not a string", name);
        return false;
    }
    *text = json_text(value);
    return true;
}

bool json_reader_find(struct json_reader *reader, const char *name, struct slice text,
                      const char *const *words, size_t *place)
{
    char allowed[JSON_READER_WHY] = "";
    size_t len = 0;

    if (json_list_find(text, words, place)) {
        return true;
    }
    for (size_t i = 0; words[i] && len < sizeof allowed; i++) {
        len += (size_t)snprintf(allowed + len, sizeof allowed - len, "%s%s", i > 0 ? ", " : "",
                                words[i]);
    }
    json_reader_blame(reader, "%s: %.*s is not one of the allowed values: %s", name,
                      text.len < 60 ? (int)text.len : 60, text.ptr, allowed);
    return false;
}

bool json_reader_word(struct json_reader *reader, const char *name, const char *const *words,
                      size_t *place)
{
    struct slice text;

    return json_reader_text(reader, name, &text) &&
           json_reader_find(reader, name, text, words, place);
}

bool json_reader_words(struct json_reader *reader, const char *name, const char *const *words,
                       unsigned *bits)
{
    json_t *list = json_reader_member(reader, name);
    json_t *text;
    size_t i;

    if (!list) {
        return false;
    }
    if (!json_is_array(list)) {
        json_reader_blame(reader, "%s is not a list", name);
        return false;
    }
    *bits = 0;
    json_array_foreach(list, i, text)
    {
        size_t place;

        if (!json_is_string(text)) {
            json_reader_blame(reader, "%s is not a list of strings", name);
        } else if (json_reader_find(reader, name, json_text(text), words, &place)) {
            *bits |= 1u << place;
        }
    }
    return !reader->bad;
}

bool json_reader_bytes(struct json_reader *reader, const char *name, struct slice *bytes)
{
    json_t *value = json_reader_member(reader, name);
    json_t *data = json_object_get(value, "data");
    const char *encoding = json_string_value(json_object_get(value, "encoding"));

    if (!value) {
        return false;
    }
    if (json_is_string(value)) {
        *bytes = json_text(value);
    } else if (!json_is_string(data) || !encoding) {
        json_reader_blame(reader, "%s is not a string or an object with encoding and data", name);
    } else if (json_is_true(json_object_get(value, "truncated"))) {
        json_reader_blame(reader, "%s is truncated", name);
    } else if (strcmp(encoding, "text") == 0) {
        *bytes = json_text(data);
    } else if (strcmp(encoding, "base64") != 0) {
        json_reader_blame(reader, "%s: the encoding is not text or base64", name);
    } else {
        char *at = (char *)(uintptr_t)json_string_value(data);
        size_t len;

        if (base64_decode(json_text(data), at, &len)) {
            *bytes = slice_of(at, len);
        } else {
            json_reader_blame(reader, "%s: the data is not valid base64", name);
        }
    }
    return !reader->bad;
}

bool json_reader_part(struct json_reader *reader, const char *name, struct json_reader *part)
{
    json_t *value = json_reader_member(reader, name);

    *part = (struct json_reader){.null_is_missing = reader->null_is_missing};
    if (!value) {
        return false;
    }
    if (!json_is_object(value)) {
        json_reader_blame(reader, "%s is not an object", name);
        return false;
    }
    part->object = value;
    return true;
}

void json_reader_part_end(struct json_reader *reader, const char *name,
                          const struct json_reader *part)
{
    if (part->bad) {
        json_reader_blame(reader, "%s: %s", name, part->why);
    }
}

// Returns the end of the string that begins here, or the end of the text.
static const char *json_skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end) {
            at++;
        }
    }
    return at < end ? at + 1 : end;
}

bool json_parts_fit(struct slice text, size_t most)
{
    const char *at = text.ptr;
    const char *end = slice_end(text);
    size_t parts = 1;

    while (at < end && parts <= most) {
        // Each of these is followed by another part.
        parts += *at == ',' || *at == ':' || *at == '[' || *at == '{';
        at = *at == '"' ? json_skip_string(at, end) : at + 1;
    }
    return parts <= most;
}
