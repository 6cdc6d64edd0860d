/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_REPLY_H
#define TANDEM_HTTP1_REPLY_H

// What is sent back to the request of a connection. Where memory lacks, the output remembers it and
// the host closes the connection. The pieces of an answer that http1_reply_open() has begun are
// those of events.h.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/answer.h"
#include "http1/context.h"

#include <stdbool.h>
#include <stdint.h>

// The head of an answer, but for the length of what follows. All headers together fit
// HTTP1_ANSWER_MAX.
struct http1_reply {
    unsigned status;    // one of those in answer.c
    const char *type;   // Content-Type, NULL for none
    const char *extra;  // more headers, each with its CR LF; NULL for none
    struct slice shown; // of an error: what in the request was wrong, for the log; may be empty
};

#define HTTP1_JSON "application/json"
#define HTTP1_BYTES "application/octet-stream"
// The header of what may go better in a while.
#define HTTP1_RETRY "Retry-After: 1\r\n"
// Why a request is refused at the end of the process.
#define HTTP1_STOPS "the broker stops"

// Sends the head, Content-Length included, and a body that is copied; to a HEAD, the head alone.
void http1_reply(struct http1_conn *conn, const struct http1_reply *reply, struct slice body);

// The same with a body that is not copied, but referred to until it has left.
void http1_reply_blob(struct http1_conn *conn, const struct http1_reply *reply, struct blob *body);

// The head alone, for a body of so many bytes that follows.
void http1_reply_head(struct http1_conn *conn, const struct http1_reply *reply, uint64_t len);

// The head of a body whose end is not known: true: in chunks; false: on 1.0, until the connection
// ends, which http1_request.keep_alive says then.
bool http1_reply_open(struct http1_conn *conn, const struct http1_reply *reply);

// An answer with {"error": why}; `why` has nothing in it that would need an escape, and is less
// than 200 bytes. The log has a line of it at debug.
void http1_refuse(struct http1_conn *conn, const struct http1_reply *reply, const char *why);
void http1_refuse_status(struct http1_conn *conn, unsigned status, const char *why);
// Where memory lacks for the request, though not for this answer: 503, or what the user says.
void http1_refuse_memory(struct http1_conn *conn);

//
// For answers with more than that in their heads
//

// The head up to its own headers, which are put by answer.h; false without memory. Then its end,
// with a length or without, as above; and the body, bytes or all of a blob, but for a HEAD.
bool http1_reply_begin(struct http1_conn *conn, unsigned status,
                       struct http1_answer *head) MUST_USE;
void http1_reply_end(struct http1_conn *conn, struct http1_answer *head, uint64_t len);
bool http1_reply_end_open(struct http1_conn *conn, struct http1_answer *head);
void http1_reply_body(struct http1_conn *conn, struct slice bytes, struct blob *blob);

// The body of an error, in `room` of HTTP1_ERROR_MAX bytes, and its line in the log.
#define HTTP1_ERROR_MAX 256
struct slice http1_error(const struct http1_conn *conn, unsigned status, struct slice shown,
                         const char *why, char *room);

#endif
