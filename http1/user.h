/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_USER_H
#define TANDEM_HTTP1_USER_H

// The interface of a front-end: a constant table of functions and data, to which http1_shared
// points. The connection (http1_conn.h) reads heads and bodies and calls these functions, which
// answer with reply.h. `other_method`, `accept` and `complete` are never called while a request
// waits.

#include "core/base/blob.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/steps.h"

#include "http1/head.h"
#include "http1/http1_conn.h"

#include <stdbool.h>
#include <stddef.h>

// The next step of a request.
enum http1_next {
    HTTP1_NEXT_REQUEST, // it is answered: the next one may be read
    HTTP1_NEXT_BODY,    // `accept`: it is accepted, and `complete` will be called with its body
    HTTP1_NEXT_WAIT     // `complete`: the answer is made later, or has begun
};

// The progress of a waiting request.
enum http1_progress {
    HTTP1_BLOCKED, // no output is possible until wire_wake()
    HTTP1_AGAIN,   // the turn has ended (http1_slice_begins()), with more to write
    HTTP1_WROTE,   // a slice was written, and there may be more
    HTTP1_ENDED    // the answer is complete
};

// Error texts of this front-end, which name its section of the configuration; static, and without
// characters that JSON would escape. HTTP1_TEXTS("http") sets the first members.
struct http1_texts {
    const char *long_head, *slow_head, *idle, *long_body, *slow_body;
    const char *body_setting; // the name of the setting that limits a body
    const char *host, *origin, *site, *referer;
    const char *bad_token; // the token is not valid
    const char *forbidden; // for an authenticated caller: no rule allows the request
};
#define HTTP1_TEXTS(section)                                                                       \
    .long_head = "the head is longer than " section ".max_header_bytes, "                          \
                 "or has more than 100 headers",                                                   \
    .slow_head = "the head took longer than " section ".header_timeout to arrive",                 \
    .idle = "no request for " section ".idle_timeout",                                             \
    .long_body = "the body is larger than " section ".max_body",                                   \
    .body_setting = section ".max_body",                                                           \
    .slow_body = "a KiB of the body took longer than " section ".body_timeout to arrive",          \
    .host = "Host is not an IP address, localhost or in " section ".hosts"
// For a section with cors_origins.
#define HTTP1_ORIGIN_TEXTS(section)                                                                \
    .origin = "Origin is not in " section ".cors_origins",                                         \
    .site =                                                                                        \
        "a page of another site sent this request without an Origin in " section ".cors_origins",  \
    .referer = "Referer is a page of another site that is not in " section ".cors_origins"

struct http1_user {
    struct http1_texts texts;
    const char *exposed; // the headers that a page of an allowed origin may read; NULL: none
    bool has_pages;      // it serves pages: a page of the request's own Host may call
    unsigned rights;     // of callers without a token: a caller that has none of these rights
                         // on any object is refused at once (enum right)
    const struct session_ops *session; // of each connection's session; the owner is the http1_conn

    // The user's request, which begins with a struct http1_request: its size, and the number of
    // bytes at its beginning that are zeroed.
    size_t request_size, request_cleared;

    // The method is HTTP1_OTHER_METHOD: answers, normally 405. The rest of the head was not parsed.
    void (*other_method)(struct http1_conn *conn, struct slice target);
    // A head with valid framing is complete: checks target, caller (caller.h) and headers, and
    // answers or accepts the request. The slices are valid during the call, and, without a body,
    // during `complete`, which then follows at once.
    enum http1_next (*accept)(struct http1_conn *conn, const struct http1_fields *fields,
                              const struct http1_framing *framing);
    // The body is complete. It is in the blob, which may be referenced for longer, or, if that is
    // NULL, in the input, and valid during the call.
    enum http1_next (*complete)(struct http1_conn *conn, struct slice body, struct blob *blob);
    // Writes a slice of the answer of a waiting request, in the connection's turn. Called after
    // `complete` has returned HTTP1_NEXT_WAIT, and after each wire_wake() and each slice. NULL: an
    // event makes the answer, and calls http1_answered().
    enum http1_progress (*step)(struct http1_conn *conn, struct feed_turn *turn);
    // The user's wire->deadline_at has expired while the request waits. True: it is answered. May
    // be NULL if the user sets no deadline.
    bool (*expired)(struct http1_conn *conn);
    // The process stops while the request waits: answers, or ends the answer; then the connection
    // is closed. NULL: the connection is closed without an answer.
    void (*stopping)(struct http1_conn *conn);
    // The connection closes, and staged output will not be sent. May be NULL.
    void (*closing)(struct http1_conn *conn);
    // There is no memory for the request, but for an answer. NULL: 503.
    void (*no_memory)(struct http1_conn *conn);
    // Frees the user's part of a request. May be NULL.
    void (*forget)(struct http1_request *request);
    // The bytes that this part uses beyond its struct, in constant time. May be NULL.
    size_t (*holds)(const struct http1_request *request);
};

// For `step`: whether a slice may be written in this turn; if so, charges it to the budget.
#define HTTP1_SLICE_COST 8
static inline bool http1_slice_begins(const struct http1_conn *conn, struct feed_turn *turn)
{
    if (feed_turn_is_over(turn, conn->wire)) {
        return false;
    }
    turn->budget -= HTTP1_SLICE_COST < turn->budget ? HTTP1_SLICE_COST : turn->budget;
    return true;
}

#endif
