/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_BODY_LINES_H
#define TANDEM_ADMIN_BODY_LINES_H

// The lines of a request's body, read in slices while the answer is made; and the answer that says
// of each line what became of it: an object with `lines`, an item for each line that is told of,
// then `counts`, and `stopped`, which says why the rest was not looked at, or is null.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "http1/user.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct body_lines {
    struct blob *blob; // owned
    size_t at;         // how far it was read
    uint64_t line;     // the number of the last line that was, from 1
};

// `blob` is what the body is in, NULL where that is none. False without memory.
bool body_lines_begin(struct body_lines *lines, struct slice body, struct blob *blob) MUST_USE;
void body_lines_end(struct body_lines *lines);
// The next line, without its end; false behind the last one.
bool body_lines_next(struct body_lines *lines, struct slice *text);

struct line_answer {
    struct body_lines lines;
    uint64_t refused;  // lines
    json_t *stopped;   /* private: owned */
    bool begun, wrote; /* private */
};

// Frees what the answer and its lines have.
void line_answer_end(struct line_answer *answer);

// How many bytes of memory the lines take up.
size_t line_answer_holds(const struct line_answer *answer);

// Writes the item of the line that was read last, which is taken over. Nothing of it leaves before
// the store has what was recorded for it (change_hold()).
void line_answer_write(struct http1_conn *conn, struct line_answer *answer, json_t *item);

// The same of a line that is refused, with a status of HTTP; or with what the broker says of it.
void line_answer_refuse(struct http1_conn *conn, struct line_answer *answer, unsigned status,
                        const char *why);
void line_answer_refuse_status(struct http1_conn *conn, struct line_answer *answer,
                               enum status status);

// The line is not at fault: no more are read, and it and all behind it may be sent again.
void line_answer_stop(struct http1_conn *conn, struct line_answer *answer, enum status status);

// What is done to each line that is not empty, and what is counted in the end, as an object. The
// struct line_answer is the first member of what `making` is.
struct line_answer_ops {
    void (*take)(struct http1_conn *conn, void *making, struct slice text);
    json_t *(*counts)(const void *making);
};

// A slice of the answer.
enum http1_progress line_answer_make(struct http1_conn *conn, void *making,
                                     const struct line_answer_ops *ops);

#endif
