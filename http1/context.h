/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_CONTEXT_H
#define TANDEM_HTTP1_CONTEXT_H

// One connection on which requests come, what all of a front-end's share, and a request on its way.
// Requests are answered one after the other, in the order in which they came: while one waits for
// its answer, what follows it is kept by the host.
//
// A front-end (the user, user.h) has these as the first members of its own structs, so that a
// pointer to one is a pointer to the other. A connection without a request costs only its struct; a
// request on its way has one of its own until it is answered.

#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/intake.h"

#include "http1/answer.h"
#include "http1/chunk.h"
#include "http1/fields.h"
#include "http1/head.h"
#include "http1/options.h"

#include <stdbool.h>
#include <stdint.h>

struct access;
struct http1_user;

// A longer Host cannot be an address with a port.
#define HTTP1_HOST_KEPT 64

// All zero at first; http1_shared_begin() (conn.h) fills it in.
struct http1_shared {
    const struct http1_user *user;
    struct broker *broker;
    const struct http1_options *options;
    const struct process_facts *facts;
    struct http1_names names;   // of the headers that mean something
    struct access *tokens;      // the user's, beside those of the host; NULL: it has none
    char host[HTTP1_HOST_KEPT]; /* private: the last one that was an address or localhost */
    uint8_t host_len;           /* private */
    struct http1_common common; /* private: headers that every answer has */
    uint64_t requests;          /* private: so far */
};

// What is expected of the client.
enum http1_state {
    HTTP1_STATE_HEAD,     // the head of a request
    HTTP1_STATE_BODY,     // a body of a known length
    HTTP1_STATE_CHUNKS,   // a body in chunks
    HTTP1_STATE_WAITING,  // nothing is read: the request waits for its answer
    HTTP1_STATE_SLOWED,   // nothing is read: one wrong token too many waits for its answer
    HTTP1_STATE_LINGER,   // input is thrown away, so that the client reads the answer
    HTTP1_STATE_FINISHED, // nothing is read any more
    HTTP1_STATES
};

struct http1_conn {
    struct http1_shared *shared;
    struct wire *wire;
    struct session *session;       // owned; may do what the caller of the present request may
    struct http1_request *request; // owned; NULL between requests, and where memory lacks for one
    struct http1_head_scan scan;   /* private: HTTP1_STATE_HEAD */
    uint8_t state;                 /* private: enum http1_state */
    bool begun : 1;                /* private: HTTP1_STATE_HEAD: its first byte is there */
    bool unread : 1;               /* private: a part of the request is still to come */
    bool ruled : 1;                // there are rules that its callers have to fit
    bool body_begun : 1;           /* private: the body is not the one that the host was told of */
};

// Made when the head is there, and freed when the request is answered.
struct http1_request {
    enum http1_method method;
    bool version_1_0 : 1;
    bool keep_alive : 1;  // the connection stays behind the answer
    bool last : 1;        // it does not in any case; `accept` may say so (http1_request_last)
    bool proven : 1;      // the caller is somebody in particular, and not just an address
    bool body_is_key : 1; // its body is to be hashed as it comes; `accept` may say so
    bool slowed : 1;      /* private: it is answered 429 when wire->deadline_at has come */
    char *origin;         /* private: owned: the origin that may see the answer; NULL for none */
    uint64_t max_body;    // bytes; http1_options.max_body, which `accept` may lower
    struct intake body;   /* private */
    struct http1_chunks chunks; /* private */
};

// The answer to this request, which `accept` looks at, is the last one of its connection.
static inline void http1_request_last(struct http1_request *request)
{
    request->last = true;
    request->keep_alive = false;
}

#endif
