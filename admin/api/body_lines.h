/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_API_BODY_LINES_H
#define TANDEM_ADMIN_API_BODY_LINES_H

// Requests whose body is a list of lines, which are read in slices while the reply is made. The
// reply is an object with `lines`, which has the outcomes of lines, `counts`, and `stopped`: the
// reason why the remaining lines were not processed, or null.

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
    size_t at;         // the number of bytes that were read
    uint64_t line;     // the number of the last line that was read, from 1
};

// `blob` contains the body, or is NULL. False if there is no memory.
bool body_lines_begin(struct body_lines *lines, struct slice body, struct blob *blob) MUST_USE;
void body_lines_end(struct body_lines *lines);

// Gets the next line without its end; false after the last one.
bool body_lines_next(struct body_lines *lines, struct slice *text);

struct line_reply {
    struct body_lines lines;
    uint64_t refused;  // number of refused lines
    json_t *stopped;   /* private: owned */
    bool begun, wrote; /* private */
};

// Frees the memory of the reply and its lines.
void line_reply_end(struct line_reply *reply);

// The memory of the lines in bytes.
size_t line_reply_holds(const struct line_reply *reply);

// Writes the outcome of the last line, whose ownership passes. It leaves only when the change is as
// durable as configured.
void line_reply_write(struct http1_conn *conn, struct line_reply *reply, json_t *outcome);

// Writes that the last line was refused, with an HTTP status or with an error of the broker.
void line_reply_refuse(struct http1_conn *conn, struct line_reply *reply, unsigned status,
                       const char *why);
void line_reply_refuse_status(struct http1_conn *conn, struct line_reply *reply,
                              enum status status);

// Stops the processing because of an error that is not the fault of the last line. The client may
// send that line and all following ones again.
void line_reply_stop(struct http1_conn *conn, struct line_reply *reply, enum status status);

// `take` processes a line that is not empty; `counts` makes the object of that name. A struct
// line_reply is the first member of the struct that `making` points to.
struct line_reply_ops {
    void (*take)(struct http1_conn *conn, void *making, struct slice text);
    json_t *(*counts)(const void *making);
};

// Makes a slice of the reply.
enum http1_progress line_reply_make(struct http1_conn *conn, void *making,
                                    const struct line_reply_ops *ops);

#endif
