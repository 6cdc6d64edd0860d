/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_CONTEXT_H
#define TANDEM_PROTO_HTTP_CONTEXT_H

// One HTTP connection, what all of them share, and how the parts of the flow tell conn.c to go on.
// Requests are answered one after the other, in the order in which they came: while one waits for
// its job, what follows it is kept by the host.
//
// A connection without a request costs only this struct; a request on its way has a struct of its
// own (request.h) until it is answered.

#include "core/broker.h"
#include "proto_common/frontend.h"
#include "proto_common/handle.h"
#include "proto_common/http1/answer.h"
#include "proto_common/http1/fields.h"
#include "proto_common/http1/head.h"

#include "proto_http/http.h"

#include <stdbool.h>
#include <stdint.h>

struct web_tokens;
struct web_request;

// A longer Host cannot be an address with a port.
#define WEB_HOST_KEPT 64

struct web_shared {
    struct broker *broker;
    const struct web_options *options;
    const struct process_facts *facts;
    struct handles handles;
    struct http1_names names;  // of the headers that mean something
    struct web_tokens *tokens; // owned; NULL where everybody may call
    char host[WEB_HOST_KEPT];  // the last one that was an address or localhost
    uint8_t host_len;
    struct http1_common common; // headers that every answer has
};

// What is expected of the client.
enum web_state {
    WEB_HEAD,     // the head of a request
    WEB_BODY,     // a body of a known length
    WEB_CHUNKS,   // a body in chunks
    WEB_WAITING,  // nothing is read: the request waits for its job
    WEB_LINGER,   // input is thrown away, so that the client reads the answer (lingering close)
    WEB_FINISHED, // nothing is read any more
    WEB_STATES
};

struct web_conn {
    struct web_shared *shared;
    struct wire *wire;
    struct session *session;
    struct web_request *request; // owned; NULL between requests
    struct http1_head_scan scan; // WEB_HEAD
    uint8_t state;               // enum web_state
    bool begun : 1;              // WEB_HEAD: its first byte is there
    bool unread : 1;             // a part of the request is still to come
};

// What is to happen next with the connection's request. Each part of the flow returns it; only
// conn.c acts on it.
enum web_next {
    WEB_NEXT_REQUEST, // the request is answered: the next one may come
    WEB_NEXT_BODY,    // its body is to be taken off the input
    WEB_NEXT_MORE,    // the body goes on, but nothing of it is left in the input
    WEB_NEXT_SUBMIT,  // its workload is complete: the job is to be submitted
    WEB_NEXT_WAIT     // the job was submitted and is to be waited for
};

#endif
