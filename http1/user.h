/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_USER_H
#define TANDEM_HTTP1_USER_H

// What a front-end makes of requests: a constant table of functions and facts, which its
// http1_shared points to. The connection (conn.h) reads heads and bodies, and calls these; what
// they answer is staged by reply.h. No function but `step`, `expired` and `stopping` is called
// while a request waits.

#include "core/base/blob.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/steps.h"

#include "http1/context.h"
#include "http1/fields.h"
#include "http1/framing.h"

#include <stdbool.h>
#include <stddef.h>

// What is to happen next with a request.
enum http1_next {
    HTTP1_NEXT_REQUEST, // it is answered: the next one may come
    HTTP1_NEXT_BODY,    // `accept`: it is taken; `complete` is to be called with its body
    HTTP1_NEXT_WAIT     // `complete`: the answer is to come, or has begun
};

// How a request that waits goes on.
enum http1_progress {
    HTTP1_BLOCKED, // nothing can be written until wire_wake()
    HTTP1_AGAIN,   // the turn is over (http1_slice_begins()), and there is more to write
    HTTP1_WROTE,   // a slice is written, and there may be more
    HTTP1_ENDED    // the answer is complete
};

// What is said for this front-end, whose section has the settings; static, and without anything
// that JSON would escape. HTTP1_TEXTS("http") is the first members.
struct http1_texts {
    const char *long_head, *slow_head, *idle, *long_body, *slow_body;
    const char *body_setting; // the name of the one that bounds a body
    const char *host, *origin, *site, *referer;
    const char *bad_token; // the token is none
    const char *forbidden; // of a caller who has shown who it is: no rule allows that
};
#define HTTP1_TEXTS(section)                                                                       \
    .long_head = "the head is longer than " section ".max_header_bytes, "                          \
                 "or has more than 100 headers",                                                   \
    .slow_head = "the head took longer than " section ".header_timeout to arrive",                 \
    .idle = "no request for " section ".idle_timeout",                                             \
    .long_body = "the body is larger than " section ".max_body",                                   \
    .body_setting = section ".max_body",                                                           \
    .slow_body = "a KiB of the body took longer than " section ".body_timeout to arrive",          \
    .host = "Host is no address, not localhost and not in " section ".hosts"
// And of one whose section has cors_origins.
#define HTTP1_ORIGIN_TEXTS(section)                                                                \
    .origin = "Origin is not in " section ".cors_origins",                                         \
    .site = "a page of another site calls without an Origin, which " section                       \
            ".cors_origins would have to name",                                                    \
    .referer = "Referer is a page of another site, and not in " section ".cors_origins"

struct http1_user {
    struct http1_texts texts;
    const char *exposed; // the headers that a page of an allowed origin may read; NULL: none
    bool has_pages;      // it serves pages itself: one of the request's own Host may call
    unsigned rights;     // of callers that have shown no token, those with none of these anywhere
                         // are refused at once (enum right)
    const struct session_ops *session; // of each connection's session; the owner is the http1_conn

    // The user's request, which begins with a struct http1_request: its size, and how much of its
    // beginning is zeroed for each.
    size_t request_size, request_cleared;

    // The method is none of ours: answers, 405 by its meaning. Nothing else of the head was read.
    void (*other_method)(struct http1_conn *conn, struct slice target);
    // A head is there, and its framing is good: decides about target, caller (caller.h) and
    // headers, and answers or takes the request. The slices are good during the call, and, where
    // there is no body, during `complete`, which follows at once then.
    enum http1_next (*accept)(struct http1_conn *conn, const struct http1_fields *fields,
                              const struct http1_framing *framing);
    // The body is there, in the blob, or, where that is NULL, in the input, and good during the
    // call; the blob may be referred to for longer.
    enum http1_next (*complete)(struct http1_conn *conn, struct slice body, struct blob *blob);
    // The request waits: writes a slice of its answer in the connection's turn. Asked at first when
    // `complete` has said so, and then after each wire_wake() and each slice. May be NULL where
    // nothing is written so: an event answers it, and calls http1_answered().
    enum http1_progress (*step)(struct http1_conn *conn, struct feed_turn *turn);
    // wire->deadline_at, which the user has set, has come while it waits. True: it is answered. May
    // be NULL where none is set.
    bool (*expired)(struct http1_conn *conn);
    // The process is about to stop while it waits: answers, or ends the answer; the connection is
    // closed behind it. May be NULL: the connection just ends.
    void (*stopping)(struct http1_conn *conn);
    // The connection closes, and what is staged is not sent any more. May be NULL.
    void (*closing)(struct http1_conn *conn);
    // Memory lacks for the request, though not for an answer. May be NULL: 503.
    void (*no_memory)(struct http1_conn *conn);
    // Frees the user's part of a request. May be NULL.
    void (*forget)(struct http1_request *request);
    // How many bytes that part keeps, beyond its own struct. In constant time. May be NULL.
    size_t (*holds)(const struct http1_request *request);
};

// For `step`: whether a slice may be written in this turn, and charges it.
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
