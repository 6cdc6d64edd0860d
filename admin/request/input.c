/* SPDX-License-Identifier: MIT */
#include "admin/request/input.h"

#include "core/base/digits.h"
#include "core/types.h"
#include "http1/request_target.h"

#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Maximum duration: a century.
#define SECONDS_MOST 3.2e9
// Maximum number of parts of a document.
#define DOCUMENT_PARTS_MOST 200

//
// Parsing of a query, without a request
//

enum query_found query_get(struct slice query, const char *name, struct query_value *value)
{
    struct slice found, text;

    while (http1_query_next(&query, &found, &text)) {
        if (slice_equal(found, slice_str(name))) {
            if (!http1_query_decode(text, value->text, &value->len)) {
                return QUERY_BAD;
            }
            value->text[value->len] = '\0';
            return QUERY_FOUND;
        }
    }
    return QUERY_ABSENT;
}

bool query_known(struct slice query, const char *const *names, struct slice *unknown)
{
    struct slice text;
    size_t place;

    while (http1_query_next(&query, unknown, &text)) {
        if (!json_list_find(*unknown, names, &place)) {
            return false;
        }
    }
    return true;
}

//
// Life
//

void input_blame(struct input *input, unsigned status, const char *format, ...)
{
    char why[JSON_READER_WHY];
    va_list args;

    if (!input_good(input)) {
        return;
    }
    input->status = status;
    va_start(args, format);
    // The analyzer takes the list for uninitialized.
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    json_reader_blame(&input->json, "%s", why);
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
    if (!json_parts_fit(body, DOCUMENT_PARTS_MOST)) {
        input_blame(input, 400, "the body has too many members");
        return;
    }
    input->body = json_loadb(body.ptr, body.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!input->body && json_error_code(&error) == json_error_out_of_memory) {
        input_blame(input, 503, "%s", status_text(STATUS_NO_MEMORY));
    } else if (!input->body) {
        input_blame(input, 400, "the body is not valid JSON: line %d: %s", error.line, error.text);
    } else if (!json_is_object(input->body)) {
        input_blame(input, 400, "the body is not an object");
    } else {
        input->json.object = input->body;
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
    input->json.object = NULL;
}

bool input_good(const struct input *input)
{
    return !input->json.bad;
}

enum http1_next input_refuse(const struct input *input)
{
    return admin_refuse_text(input->conn, input->status ? input->status : 400, input->json.why);
}

//
// The body
//

void input_members(struct input *input, const char *const *names)
{
    json_reader_known(&input->json, names);
}

// Clients write the names `.` and `..` with a leading NUL, which no name contains: HTTP clients
// would resolve the plain forms, and their escapes, as path steps.
static void drop_leading_nul(char *text, size_t *len)
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
    // Decoded in place, because the result is never longer.
    text = (char *)(uintptr_t)path.ptr;
    if (plain) {
        input_blame(input, 400, "give either queue or queue_path, not both");
    } else if (!http1_decode(path, text, &len)) {
        input_blame(input, 400, "queue_path is not percent-encoded");
    } else {
        drop_leading_nul(text, &len);
        *queue = slice_of(text, len);
        if (memchr(text, '\0', len)) {
            input_blame(input, 400, "queue_path contains a NUL");
        }
    }
    return true;
}

bool input_seconds(struct input *input, const char *name, nsec_t *span)
{
    double seconds;

    if (!json_reader_seconds(&input->json, name, SECONDS_MOST, &seconds)) {
        return false;
    }
    *span = (nsec_t)(seconds * (double)NSEC_PER_SEC);
    return true;
}

bool input_part(struct input *input, const char *name, struct input *part)
{
    input_begin_query(part, input->conn);
    return json_reader_part(&input->json, name, &part->json);
}

void input_part_end(struct input *input, const char *name, struct input *part)
{
    if (!input_good(part)) {
        input_blame(input, part->status ? part->status : 400, "%s: %s", name, part->json.why);
    }
}

//
// The query
//

void input_parameters(struct input *input, const char *const *names)
{
    struct slice unknown;

    if (input_good(input) && !query_known(admin_request(input->conn)->query, names, &unknown)) {
        input_blame(input, 400, "%.*s is not a known parameter",
                    unknown.len < 60 ? (int)unknown.len : 60, unknown.ptr);
    }
}

static bool input_parameter(struct input *input, const char *name, struct query_value *value)
{
    if (!input_good(input)) {
        return false;
    }
    switch (query_get(admin_request(input->conn)->query, name, value)) {
    case QUERY_FOUND:
        return true;
    case QUERY_BAD:
        input_blame(input, 400, "%s is too long or has an incomplete escape", name);
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

    if (!input_parameter(input, name, &value)) {
        return false;
    }
    if (!digits_read(query_slice(&value), &found) || found < least || found > most) {
        input_blame(input, 400, "%s is not an integer from %" PRIu64 " to %" PRIu64, name, least,
                    most);
        return false;
    }
    *number = found;
    return true;
}

bool input_query_text(struct input *input, const char *name, char *text, size_t size, size_t *len)
{
    struct query_value value;

    if (!input_parameter(input, name, &value)) {
        return false;
    }
    if (value.len >= size) {
        input_blame(input, 400, "%s is too long", name);
        return false;
    }
    memcpy(text, value.text, value.len + 1);
    *len = value.len;
    drop_leading_nul(text, len);
    return true;
}

bool input_query_word(struct input *input, const char *name, const char *const *words,
                      size_t *place)
{
    struct query_value value;

    return input_parameter(input, name, &value) &&
           json_reader_find(&input->json, name, query_slice(&value), words, place);
}

bool input_query_words(struct input *input, const char *name, const char *const *words,
                       unsigned *bits)
{
    struct query_value value;
    struct slice left;
    size_t place;

    if (!input_parameter(input, name, &value)) {
        return false;
    }
    left = query_slice(&value);
    *bits = 0;
    for (;;) {
        const char *comma = left.len ? memchr(left.ptr, ',', left.len) : NULL;
        size_t len = comma ? (size_t)(comma - left.ptr) : left.len;

        if (!json_reader_find(&input->json, name, slice_of(left.ptr, len), words, &place)) {
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
    // Each byte may be an escape.
    if (segment.len > sizeof decoded || !http1_decode(segment, decoded, len) || *len >= size) {
        input_blame(input, 404, "not found");
        return false;
    }
    drop_leading_nul(decoded, len);
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
        input_blame(input, 404, "not found");
        return false;
    }
    return true;
}
