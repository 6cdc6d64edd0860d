/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HTTP1_CONN_H
#define TANDEM_HTTP1_HTTP1_CONN_H

// A connection, the state that all connections of a front-end share, and a request in progress.
// Requests are answered in the order in which they arrived: while one waits for its answer, the
// host stores the input after it.
//
// A front-end (the user, user.h) has these as the first members of its own structs, so that a
// pointer to one is a pointer to the other. An idle connection needs no memory but its struct; a
// request is allocated from the end of its head until it is answered.

#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/intake.h"

#include "http1/chunk.h"
#include "http1/head.h"
#include "http1/http1_answer.h"
#include "http1/http1_options.h"

#include <stdbool.h>
#include <stdint.h>

struct access;
struct http1_user;

// A longer Host cannot be an address with a port.
#define HTTP1_HOST_MAX 64

// Initialized to zero; http1_shared_begin() sets the members.
struct http1_shared {
    const struct http1_user *user;
    struct broker *broker;
    const struct http1_options *options;
    const struct process_facts *facts;
    struct http1_names names;   // of the headers that are read
    struct access *tokens;      // the user's tokens, in addition to the host's; NULL: none
    char host[HTTP1_HOST_MAX];  /* private: the last Host that was an address or localhost */
    uint8_t host_len;           /* private */
    struct http1_common common; /* private: the common headers of answers */
    uint64_t requests;          /* private: received since the start */
};

// What the next input is.
enum http1_state {
    HTTP1_STATE_HEAD,     // the head of a request
    HTTP1_STATE_BODY,     // a body of a known length
    HTTP1_STATE_CHUNKS,   // a body in chunks
    HTTP1_STATE_WAITING,  // input is not read: the request waits for its answer
    HTTP1_STATE_SLOWED,   // input is not read: the answer to a wrong token is delayed
    HTTP1_STATE_LINGER,   // input is discarded, so that the client can read the answer
    HTTP1_STATE_FINISHED, // no further input is read
    HTTP1_STATES
};

struct http1_conn {
    struct http1_shared *shared;
    struct wire *wire;
    struct session *session; // owned; has the rights of the current request's caller
    struct http1_request
        *request;                // owned; NULL between requests, and if there is no memory for one
    struct http1_head_scan scan; /* private: HTTP1_STATE_HEAD */
    uint8_t state;               /* private: enum http1_state */
    bool begun : 1;              /* private: HTTP1_STATE_HEAD: its first byte has arrived */
    bool unread : 1;             /* private: a part of the request has not arrived yet */
    bool ruled : 1;              // access rules apply to its callers
    bool body_begun : 1; /* private: a new body has begun since the host last asked for the pace */
};

struct http1_request {
    enum http1_method method;
    bool version_1_0 : 1;
    bool keep_alive : 1;  // the connection stays open after the answer
    bool last : 1;        // it closes in any case; `accept` may set it (http1_request_last)
    bool proven : 1;      // the caller is authenticated, not only an address
    bool body_is_key : 1; // its body is hashed as it arrives; `accept` may set it
    bool slowed : 1;      /* private: it is answered 429 at wire->deadline_at */
    char *origin;         /* private: owned: the origin that may read the answer; NULL: none */
    uint64_t max_body;    // bytes; http1_options.max_body, which `accept` may lower
    struct intake body;   /* private */
    struct http1_chunks chunks; /* private */
};

// Closes the connection after the answer to this request. Called by `accept`.
static inline void http1_request_last(struct http1_request *request)
{
    request->last = true;
    request->keep_alive = false;
}

//
// Functions
//

// Initializes the state that all connections share, in the front-end's `start`. `own` are the names
// of its `count` headers, numbered from HTTP1_FIELD_COUNT. All arguments must stay valid.
void http1_shared_begin(struct http1_shared *shared, const struct http1_user *user,
                        struct broker *broker, const struct http1_options *options,
                        const struct process_facts *facts, const char *const *own, unsigned count);

// Ends a waiting request that was answered by something other than `step`, and frees it. The next
// request is read once the connection is woken (wire_wake()).
void http1_answered(struct http1_conn *conn);

// The front-end functions of the same names, for a connection that begins with a struct http1_conn.
enum status http1_open(void *conn, void *shared, struct wire *wire);
enum grant_progress http1_granted(void *conn, struct grants *grants);
struct feed http1_feed(void *conn, struct slice input, unsigned budget);
struct feed http1_filled(void *conn, size_t len, unsigned budget);
bool http1_eof(void *conn);
void http1_expired(void *conn);
struct pace http1_pace(void *conn);
void http1_overdue(void *conn, enum pace_result result, struct slice kept);
void http1_stopping(void *conn);
size_t http1_holds(const void *conn);
struct frontend_facts http1_facts(const void *conn);
uint64_t http1_commands(const void *shared);
void http1_close(void *conn);

#endif
