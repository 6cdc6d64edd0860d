/* SPDX-License-Identifier: MIT */
#include "admin/json/json_values.h"

#include "core/base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"
// The maximum number of bytes that one byte becomes.
#define GROWTH_MAX 3

static size_t put_replaced(char *to, struct slice bytes)
{
    size_t len = 0;
    size_t sequence;

    for (size_t i = 0; i < bytes.len; i += sequence ? sequence : 1) {
        const char *at = bytes.ptr + i;

        sequence = *at ? utf8_sequence((const unsigned char *)at, bytes.len - i) : 0;
        memcpy(to + len, sequence ? at : REPLACEMENT, sequence ? sequence : GROWTH_MAX);
        len += sequence ? sequence : GROWTH_MAX;
    }
    return len;
}

static bool is_unreserved(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

static size_t put_encoded(char *to, struct slice bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = 0;

    // HTTP clients would treat these as path steps. The input drops the NUL again.
    if (slice_equal(bytes, SLICE(".")) || slice_equal(bytes, SLICE(".."))) {
        to[len++] = '%';
        to[len++] = '0';
        to[len++] = '0';
    }
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];

        if (is_unreserved(byte)) {
            to[len++] = (char)byte;
        } else {
            to[len++] = '%';
            to[len++] = digits[byte >> 4];
            to[len++] = digits[byte & 15];
        }
    }
    return len;
}

static json_t *converted_json(struct slice bytes, size_t (*put)(char *to, struct slice bytes))
{
    char *text = malloc(GROWTH_MAX * bytes.len + GROWTH_MAX);
    json_t *value = text ? json_stringn_nocheck(text, put(text, bytes)) : NULL;

    free(text);
    return value;
}

json_t *text_json(struct slice bytes)
{
    return converted_json(bytes, put_replaced);
}

json_t *text_or_null_json(struct slice bytes)
{
    return bytes.len > 0 ? text_json(bytes) : json_null();
}

json_t *path_json(struct slice name)
{
    return converted_json(name, put_encoded);
}

json_t *seconds_json(nsec_t span)
{
    return json_real((double)span / (double)NSEC_PER_SEC);
}

void json_list_add(json_t **list, json_t *item)
{
    if (!*list) {
        json_decref(item);
    } else if (json_array_append_new(*list, item) != 0) {
        json_decref(*list);
        *list = NULL;
    }
}

void json_member_add(json_t **object, const char *name, json_t *value)
{
    if (!*object) {
        json_decref(value);
    } else if (json_object_set_new(*object, name, value) != 0) {
        json_decref(*object);
        *object = NULL;
    }
}

json_t *json_merge(json_t *document, json_t *more)
{
    if (!document || !more || json_object_update(document, more) != 0) {
        json_decref(document);
        document = NULL;
    }
    json_decref(more);
    return document;
}

json_t *jobs_json(const uint64_t jobs[JOB_STATES])
{
    return json_pack("{s:I, s:I, s:I, s:I}", "ready", json_int_of(jobs[JOB_READY]), "delayed",
                     json_int_of(jobs[JOB_DELAYED]), "reserved", json_int_of(jobs[JOB_RESERVED]),
                     "buried", json_int_of(jobs[JOB_BURIED]));
}

json_t *bands_json(const uint64_t bands[BAND_COUNT])
{
    return json_pack("{s:I, s:I, s:I}", "high", json_int_of(bands[BAND_HIGH]), "normal",
                     json_int_of(bands[BAND_NORMAL]), "low", json_int_of(bands[BAND_LOW]));
}

json_t *totals_json(const struct counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "submitted",
                     json_int_of(counts->submitted), "completed", json_int_of(counts->completed),
                     "failed", json_int_of(counts->failed), "buried", json_int_of(counts->buried),
                     "timeouts", json_int_of(counts->timeouts), "retries",
                     json_int_of(counts->retries), "deleted", json_int_of(counts->deleted),
                     "released", json_int_of(counts->releases), "kicked",
                     json_int_of(counts->kicks), "expired", json_int_of(counts->expired), "dead",
                     json_int_of(counts->dead));
}
