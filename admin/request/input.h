/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_INPUT_H
#define TANDEM_ADMIN_REQUEST_INPUT_H

// What a request says: the object of its body, and its path and query. The first thing that is
// wrong is noted, and all that follows is left alone: a route reads all that it wants, and looks at
// the end whether anything was wrong (input_refuse()).

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "http1/user.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct input {
    struct http1_conn *conn;
    json_t *body;    // owned; an object, NULL where the body was not asked for or is empty
    unsigned status; /* private: 0: nothing is wrong so far */
    char why[160];   /* private */
};

// A document is read in one go, in which nobody else is served: 13 ms for each MiB. So no request
// has a longer one: that of a schedule, whose body may be written with an escape for each byte,
// fits. A job that is added has its whole body in it; what is more comes by POST /api/v1/import.
#define INPUT_BODY_MAX ((size_t)512 * 1024)
#define INPUT_JOB_MAX ((size_t)1024 * 1024)

// Reads the body, which is an object, or nothing where `optional`. There is no query beside it. One
// of more than INPUT_BODY_MAX bytes is refused (413).
void input_begin(struct input *input, struct http1_conn *conn, struct slice body, bool optional);

// The same for a job that is added: up to INPUT_JOB_MAX bytes.
void input_begin_job(struct input *input, struct http1_conn *conn, struct slice body);

// The same for a request without a body.
void input_begin_query(struct input *input, struct http1_conn *conn);

// Frees what was read. Texts that were borrowed are not valid afterwards.
void input_end(struct input *input);

// Whether nothing was wrong so far; and the answer, where something was.
bool input_good(const struct input *input);
enum http1_next input_refuse(const struct input *input);

// Something is wrong: the text, as for printf.
void input_blame(struct input *input, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// No other members than those of the list, which ends with NULL; the same of the query.
void input_members(struct input *input, const char *const *names);
void input_parameters(struct input *input, const char *const *names);

// A member of the body. Where it is not there, false, and the value stays as it was; where it is
// wrong, the same, and it is noted. Texts are borrowed from the body.
bool input_text(struct input *input, const char *name, struct slice *text);
bool input_number(struct input *input, const char *name, uint64_t most, uint64_t *number);
bool input_seconds(struct input *input, const char *name, nsec_t *span);
bool input_flag(struct input *input, const char *name, bool *flag);

// The queue that a body is about: the member `queue`, its name, or `queue_path`, the name as in
// paths, where it is no text. False where neither is there.
bool input_queue(struct input *input, struct slice *queue);

// The object that is a member, as an input of its own: to be read, and ended by input_part_end(),
// which notes in the whole what is wrong in it. Empty where it is not there: false then.
bool input_part(struct input *input, const char *name, struct input *part);
void input_part_end(struct input *input, const char *name, struct input *part);

// The word's place in the list, which ends with NULL; of a member. And of each text in a list that
// is a member, bits by their places.
bool input_word(struct input *input, const char *name, const char *const *words, size_t *place);
bool input_words(struct input *input, const char *name, const char *const *words, unsigned *bits);

// A parameter of the query, in the same way; a number is at least `least`. The text has room for
// `size` bytes with a NUL, more of them is wrong.
bool input_query_number(struct input *input, const char *name, uint64_t least, uint64_t most,
                        uint64_t *number);
bool input_query_text(struct input *input, const char *name, char *text, size_t size, size_t *len);
bool input_query_word(struct input *input, const char *name, const char *const *words,
                      size_t *place);
// Of words with commas between them.
bool input_query_words(struct input *input, const char *name, const char *const *words,
                       unsigned *bits);

// The segment of the path in the route's braces, by its place: decoded, with room for `size`
// bytes, or a number from 1 on. What is no number is 404: there is no such thing.
bool input_path_text(struct input *input, unsigned arg, char *text, size_t size, size_t *len);
bool input_path_number(struct input *input, unsigned arg, uint64_t *number);

#endif
