/* SPDX-License-Identifier: MIT */
#include "admin/request/input.h"

#include "core/base/digits.h"
#include "core/types.h"
#include "http1/target.h"

#include "admin/request/admin_context.h"
#include "admin/request/parts.h"
#include "admin/request/query.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// No span is longer: a century.
#define SECONDS_MOST 3.2e9
// Whatever can be asked for has fewer members, words and lists.
#define PARTS_MOST 200

void input_blame(struct input *input, unsigned status, const char *format, ...)
{
    va_list args;

    if (input->status) {
        return;
    }
    input->status = status;
    va_start(args, format);
    // The analyzer takes the list for uninitialized.
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
    (void)vsnprintf(input->why, sizeof input->why, format, args);
    va_end(args);
}

void input_begin_query(struct input *input, struct http1_conn *conn)
{
    memset(input, 0, sizeof *input);
    input->conn = conn;
}

static void read_document(struct input *input, struct slice body, size_t most)
{
    json_error_t error;

    if (body.len > most) {
        input_blame(input, 413, "the body has more than %zu KiB of JSON", most / 1024);
        return;
    }
    if (!parts_fit(body, PARTS_MOST)) {
        input_blame(input, 400, "the body has too many members");
        return;
    }
    input->body = json_loadb(body.ptr, body.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!input->body && json_error_code(&error) == json_error_out_of_memory) {
        input_blame(input, 503, "%s", status_text(STATUS_NO_MEMORY));
    } else if (!input->body) {
        input_blame(input, 400, "the body is no JSON: line %d: %s", error.line, error.text);
    } else if (!json_is_object(input->body)) {
        input_blame(input, 400, "the body is no object");
    }
}

void input_begin(struct input *input, struct http1_conn *conn, struct slice body, bool optional)
{
    static const char *const no_parameters[] = {NULL};

    input_begin_query(input, conn);
    input_parameters(input, no_parameters);
    if (body.len > 0 || !optional) {
        read_document(input, body, INPUT_BODY_MAX);
    }
}

void input_begin_job(struct input *input, struct http1_conn *conn, struct slice body)
{
    static const char *const no_parameters[] = {NULL};

    input_begin_query(input, conn);
    input_parameters(input, no_parameters);
    read_document(input, body, INPUT_JOB_MAX);
}

void input_end(struct input *input)
{
    json_decref(input->body);
    input->body = NULL;
}

bool input_good(const struct input *input)
{
    return input->status == 0;
}

enum http1_next input_refuse(const struct input *input)
{
    return admin_refuse_text(input->conn, input->status, input->why);
}

//
// The body
//

void input_members(struct input *input, const char *const *names)
{
    const char *key;
    json_t *value;

    if (!input_good(input) || !input->body) {
        return;
    }
    json_object_foreach(input->body, key, value)
    {
        const char *const *name = names;

        while (*name && strcmp(*name, key) != 0) {
            name++;
        }
        if (!*name) {
            input_blame(input, 400, "%.60s: there is no such member", key);
        }
    }
}

static json_t *member(const struct input *input, const char *name)
{
    return input_good(input) ? json_object_get(input->body, name) : NULL;
}

bool input_text(struct input *input, const char *name, struct slice *text)
{
    json_t *value = member(input, name);

    if (!value) {
        return false;
    }
    if (!json_is_string(value)) {
        input_blame(input, 400, "%s is no text", name);
        return false;
    }
    *text = slice_of(json_string_value(value), json_string_length(value));
    return true;
}

// As a segment of a path, `.` and `..` have a NUL in front, which is in no name: as they are, or
// with escapes, clients take them for steps, which they walk before they ask.
static void drop_guard(char *text, size_t *len)
{
    if (*len >= 2 && *len <= 3 && text[0] == '\0' && text[1] == '.' && text[*len - 1] == '.') {
        memmove(text, text + 1, --*len);
    }
}

bool input_queue(struct input *input, struct slice *queue)
{
    bool plain = input_text(input, "queue", queue);
    struct slice path;
    char *text;
    size_t len;

    if (!input_text(input, "queue_path", &path)) {
        return plain;
    }
    // What it says is not longer than it is: it is decoded in its place.
    text = (char *)(uintptr_t)path.ptr;
    if (plain) {
        input_blame(input, 400, "there is either queue or queue_path");
    } else if (!http1_decode(path, text, &len)) {
        input_blame(input, 400, "queue_path is not percent-encoded");
    } else {
        drop_guard(text, &len);
        *queue = slice_of(text, len);
        if (memchr(text, '\0', len)) {
            input_blame(input, 400, "queue_path has a NUL in it");
        }
    }
    return true;
}

bool input_number(struct input *input, const char *name, uint64_t most, uint64_t *number)
{
    json_t *value = member(input, name);

    if (!value) {
        return false;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most) {
        input_blame(input, 400, "%s is no whole number from 0 to %" PRIu64, name, most);
        return false;
    }
    *number = (uint64_t)json_integer_value(value);
    return true;
}

bool input_seconds(struct input *input, const char *name, nsec_t *span)
{
    json_t *value = member(input, name);
    double seconds;

    if (!value) {
        return false;
    }
    seconds = json_number_value(value);
    if (!json_is_number(value) || !(seconds >= 0 && seconds <= SECONDS_MOST)) {
        input_blame(input, 400, "%s is no number of seconds", name);
        return false;
    }
    *span = (nsec_t)(seconds * (double)NSEC_PER_SEC);
    return true;
}

bool input_flag(struct input *input, const char *name, bool *flag)
{
    json_t *value = member(input, name);

    if (!value) {
        return false;
    }
    if (!json_is_boolean(value)) {
        input_blame(input, 400, "%s is neither true nor false", name);
        return false;
    }
    *flag = json_is_true(value);
    return true;
}

static bool find_word(struct input *input, const char *name, struct slice text,
                      const char *const *words, size_t *place)
{
    for (size_t i = 0; words[i]; i++) {
        if (slice_equal(text, slice_str(words[i]))) {
            *place = i;
            return true;
        }
    }
    input_blame(input, 400, "%s: %.*s is none of its words", name,
                text.len < 60 ? (int)text.len : 60, text.ptr);
    return false;
}

bool input_word(struct input *input, const char *name, const char *const *words, size_t *place)
{
    struct slice text;

    return input_text(input, name, &text) && find_word(input, name, text, words, place);
}

bool input_words(struct input *input, const char *name, const char *const *words, unsigned *bits)
{
    json_t *list = member(input, name);
    json_t *text;
    size_t i;

    if (!list) {
        return false;
    }
    if (!json_is_array(list)) {
        input_blame(input, 400, "%s is no list", name);
        return false;
    }
    *bits = 0;
    json_array_foreach(list, i, text)
    {
        size_t place;

        if (!json_is_string(text)) {
            input_blame(input, 400, "%s is no list of words", name);
        } else if (find_word(input, name,
                             slice_of(json_string_value(text), json_string_length(text)), words,
                             &place)) {
            *bits |= 1u << place;
        }
    }
    return input_good(input);
}

bool input_part(struct input *input, const char *name, struct input *part)
{
    json_t *value = member(input, name);

    input_begin_query(part, input->conn);
    if (!value) {
        return false;
    }
    if (!json_is_object(value)) {
        input_blame(input, 400, "%s is no object", name);
        return false;
    }
    part->body = json_incref(value);
    return true;
}

void input_part_end(struct input *input, const char *name, struct input *part)
{
    if (!input_good(part)) {
        input_blame(input, part->status, "%s: %s", name, part->why);
    }
    input_end(part);
}

//
// The query
//

void input_parameters(struct input *input, const char *const *names)
{
    struct slice unknown;

    if (input_good(input) && !query_known(admin_request(input->conn)->query, names, &unknown)) {
        input_blame(input, 400, "%.*s: there is no such parameter",
                    unknown.len < 60 ? (int)unknown.len : 60, unknown.ptr);
    }
}

static bool parameter(struct input *input, const char *name, struct query_value *value)
{
    if (!input_good(input)) {
        return false;
    }
    switch (query_get(admin_request(input->conn)->query, name, value)) {
    case QUERY_FOUND:
        return true;
    case QUERY_BAD:
        input_blame(input, 400, "%s is too long, or has an escape that is not complete", name);
        return false;
    case QUERY_ABSENT:
        break;
    }
    return false;
}

bool input_query_number(struct input *input, const char *name, uint64_t least, uint64_t most,
                        uint64_t *number)
{
    struct query_value value;
    uint64_t found;

    if (!parameter(input, name, &value)) {
        return false;
    }
    if (!digits_read(query_slice(&value), &found) || found < least || found > most) {
        input_blame(input, 400, "%s is no whole number from %" PRIu64 " to %" PRIu64, name, least,
                    most);
        return false;
    }
    *number = found;
    return true;
}

bool input_query_text(struct input *input, const char *name, char *text, size_t size, size_t *len)
{
    struct query_value value;

    if (!parameter(input, name, &value)) {
        return false;
    }
    if (value.len >= size) {
        input_blame(input, 400, "%s is too long", name);
        return false;
    }
    memcpy(text, value.text, value.len + 1);
    *len = value.len;
    drop_guard(text, len);
    return true;
}

bool input_query_word(struct input *input, const char *name, const char *const *words,
                      size_t *place)
{
    struct query_value value;

    return parameter(input, name, &value) &&
           find_word(input, name, query_slice(&value), words, place);
}

bool input_query_words(struct input *input, const char *name, const char *const *words,
                       unsigned *bits)
{
    struct query_value value;
    struct slice left;
    size_t place;

    if (!parameter(input, name, &value)) {
        return false;
    }
    left = query_slice(&value);
    *bits = 0;
    for (;;) {
        const char *comma = left.len ? memchr(left.ptr, ',', left.len) : NULL;
        size_t len = comma ? (size_t)(comma - left.ptr) : left.len;

        if (!find_word(input, name, slice_of(left.ptr, len), words, &place)) {
            return false;
        }
        *bits |= 1u << place;
        if (!comma) {
            return true;
        }
        left = slice_from(left, len + 1);
    }
}

//
// The path
//

bool input_path_text(struct input *input, unsigned arg, char *text, size_t size, size_t *len)
{
    struct slice segment = admin_request(input->conn)->args[arg];
    char decoded[3 * QUEUE_NAME_MAX];

    if (!input_good(input)) {
        return false;
    }
    // Each byte of it may be an escape.
    if (segment.len > sizeof decoded || !http1_decode(segment, decoded, len) || *len >= size) {
        input_blame(input, 404, "there is no such thing");
        return false;
    }
    drop_guard(decoded, len);
    memcpy(text, decoded, *len);
    text[*len] = '\0';
    return true;
}

bool input_path_number(struct input *input, unsigned arg, uint64_t *number)
{
    struct slice segment = admin_request(input->conn)->args[arg];

    if (!input_good(input)) {
        return false;
    }
    if (!digits_read(segment, number) || *number == 0) {
        input_blame(input, 404, "there is no such thing");
        return false;
    }
    return true;
}
