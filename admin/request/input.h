/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_INPUT_H
#define TANDEM_ADMIN_REQUEST_INPUT_H

// The input of a request: the JSON object in its body (json/json_reader.h), its path and its query.
// The first error is noted, and later calls do nothing: a route reads everything and then checks
// for an error (input_good(), input_refuse()).

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "http1/request_target.h"
#include "http1/user.h"
#include "json/json_reader.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
    struct http1_conn *conn;
    struct json_reader json; // of the body, and the first error
    json_t *body;            /* private: owned; NULL if there is none */
    unsigned status;         /* private: of the error, 400 if 0 */
};

// Maximum size of a JSON document. It is parsed in one go, in about 13 ms per MiB, during which no
// other client is served. The first one is enough for a schedule whose body has an escape for each
// byte; a new job contains its whole body. Larger jobs use POST /api/v1/import.
#define INPUT_BODY_MAX ((size_t)512 * 1024)
#define INPUT_JOB_MAX ((size_t)1024 * 1024)

// Parses the body, which must be an object, and may be missing if `optional`. There must be no
// query. A body of more than INPUT_BODY_MAX bytes is refused with 413.
void input_begin(struct input *input, struct http1_conn *conn, struct slice body, bool optional);

// The same for a new job, with INPUT_JOB_MAX.
void input_begin_job(struct input *input, struct http1_conn *conn, struct slice body);

// The same for a request without a body; it needs no input_end().
void input_begin_query(struct input *input, struct http1_conn *conn);

// Frees the body. Borrowed texts become invalid.
void input_end(struct input *input);

// Whether there is no error so far; and the reply to an error.
bool input_good(const struct input *input);
enum http1_next input_refuse(const struct input *input);

// Notes an error, with an HTTP status and a message as for printf.
void input_blame(struct input *input, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Refuses members, or parameters, that are not in the list, which ends with NULL.
void input_members(struct input *input, const char *const *names);
void input_parameters(struct input *input, const char *const *names);

// These read a member of the body. If the member is missing or invalid, they return false and leave
// the value unchanged. Texts are borrowed from the body.
static inline bool input_text(struct input *input, const char *name, struct slice *text)
{
    return json_reader_text(&input->json, name, text);
}

static inline bool input_number(struct input *input, const char *name, uint64_t most,
                                uint64_t *number)
{
    return json_reader_number(&input->json, name, most, number);
}

static inline bool input_flag(struct input *input, const char *name, bool *flag)
{
    return json_reader_flag(&input->json, name, flag);
}

// A duration of a century at most.
bool input_seconds(struct input *input, const char *name, nsec_t *span);

// Reads the queue of a request: the member `queue`, or `queue_path` with the percent-encoded name.
// False if both are missing.
bool input_queue(struct input *input, struct slice *queue);

// Begins an input for the object in a member; false if the member is missing, then it is empty. It
// must be ended with input_part_end(), which notes its error in the whole.
bool input_part(struct input *input, const char *name, struct input *part);
void input_part_end(struct input *input, const char *name, struct input *part);

// Reads a member with a value from the list, which ends with NULL, as its index; and a member with
// an array of such values, as bits by index.
static inline bool input_word(struct input *input, const char *name, const char *const *words,
                              size_t *place)
{
    return json_reader_word(&input->json, name, words, place);
}

static inline bool input_words(struct input *input, const char *name, const char *const *words,
                               unsigned *bits)
{
    return json_reader_words(&input->json, name, words, bits);
}

// The same for parameters of the query. A number has a minimum, too. A text must fit into `size`
// bytes with a NUL.
bool input_query_number(struct input *input, const char *name, uint64_t least, uint64_t most,
                        uint64_t *number);
bool input_query_text(struct input *input, const char *name, char *text, size_t size, size_t *len);
bool input_query_word(struct input *input, const char *name, const char *const *words,
                      size_t *place);
// Values separated by commas.
bool input_query_words(struct input *input, const char *name, const char *const *words,
                       unsigned *bits);

// Reads the segment of the path for the route's braces number `arg`: the decoded text, which must
// fit into `size` bytes with a NUL, or a number from 1. Another segment is an error 404.
bool input_path_text(struct input *input, unsigned arg, char *text, size_t size, size_t *len);
bool input_path_number(struct input *input, unsigned arg, uint64_t *number);

//
// Parsing of a query, without a request
//

#define QUERY_VALUE_MAX HTTP1_QUERY_VALUE_MAX

// A decoded value.
struct query_value {
    char text[QUERY_VALUE_MAX + 1]; // with a NUL
    size_t len;
};

enum query_found {
    QUERY_ABSENT,
    QUERY_FOUND,
    QUERY_BAD // invalid escapes, or longer than QUERY_VALUE_MAX
};

// Decodes the value of the parameter; the first one counts.
enum query_found query_get(struct slice query, const char *name,
                           struct query_value *value) MUST_USE;

// Whether all parameters are in the list, which ends with NULL; otherwise `*unknown` is the first
// other one, still encoded.
bool query_known(struct slice query, const char *const *names, struct slice *unknown);

static inline struct slice query_slice(const struct query_value *value)
{
    return slice_of(value->text, value->len);
}

#endif
