/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_REPLY_H
#define TANDEM_HTTP1_REPLY_H

// Answers to the request of a connection. If there is no memory, the output remembers that, and the
// host closes the connection. The body of an answer begun by http1_reply_open() is written with
// http1_answer.h.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/http1_answer.h"
#include "http1/http1_conn.h"

#include <stdbool.h>
#include <stdint.h>

// The head of an answer, without the length of the body. All headers together fit HTTP1_ANSWER_MAX.
struct http1_reply {
    unsigned status;    // one of those in http1_answer.c
    const char *type;   // Content-Type, NULL for none
    const char *extra;  // more headers, each with its CRLF; NULL for none
    struct slice shown; // of an error: the invalid part of the request, for the log; may be empty
};

#define HTTP1_JSON "application/json"
#define HTTP1_BYTES "application/octet-stream"
// For errors that a retry may cure.
#define HTTP1_RETRY "Retry-After: 1\r\n"
// The error of a request that is refused because the process stops.
#define HTTP1_STOPS "the broker is stopping"

// Stages the head with Content-Length, and a copy of the body; only the head for a HEAD request.
void http1_reply(struct http1_conn *conn, const struct http1_reply *reply, struct slice body);

// The same, but refers to the body until it is sent instead of copying it.
void http1_reply_blob(struct http1_conn *conn, const struct http1_reply *reply, struct blob *body);

// Stages only the head, for a body of `len` bytes that follows.
void http1_reply_head(struct http1_conn *conn, const struct http1_reply *reply, uint64_t len);

// Stages the head for a body of unknown length. True: the body is chunked; false: on HTTP/1.0 it
// ends with the connection, and http1_request.keep_alive is cleared.
bool http1_reply_open(struct http1_conn *conn, const struct http1_reply *reply);

// Answers {"error": why}, and logs it at debug. `why` contains nothing that JSON would escape, and
// is shorter than 200 bytes.
void http1_refuse(struct http1_conn *conn, const struct http1_reply *reply, const char *why);
void http1_refuse_status(struct http1_conn *conn, unsigned status, const char *why);
// The same with 503 and Retry-After: the client may try again.
void http1_refuse_later(struct http1_conn *conn, const char *why);
// Answers that there is no memory for the request: 503, or the user's own answer.
void http1_refuse_memory(struct http1_conn *conn);

//
// Answers with further headers
//

// Begins the head; the caller then adds headers with http1_answer.h. False: no memory. The second
// two end the head with or without a length, as above. The last one stages the body, from bytes or
// a blob, except for a HEAD request.
bool http1_reply_begin(struct http1_conn *conn, unsigned status,
                       struct http1_answer *head) MUST_USE;
void http1_reply_end(struct http1_conn *conn, struct http1_answer *head, uint64_t len);
bool http1_reply_end_open(struct http1_conn *conn, struct http1_answer *head);
void http1_reply_body(struct http1_conn *conn, struct slice bytes, struct blob *blob);

// Formats the body of an error in `room`, of HTTP1_ERROR_MAX bytes, and logs the error.
#define HTTP1_ERROR_MAX 256
struct slice http1_error(const struct http1_conn *conn, unsigned status, struct slice shown,
                         const char *why, char *room);

#endif
