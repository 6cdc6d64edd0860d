/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_ADMIN_REPLY_H
#define TANDEM_ADMIN_REQUEST_ADMIN_REPLY_H

// How a route (route.h) answers. Each function that returns enum http1_next has answered the
// request or has begun to; the route returns its result.
//
// A short reply is one document. A reply that may be long, or endless, is made in slices by a
// maker: the head is sent at once, and then the maker is called once per turn of the connection
// while the client reads, until it has written everything.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "http1/reply.h"
#include "http1/user.h"

#include "admin/request/admin_context.h"

#include <jansson.h>

// Answers with the document, whose ownership passes; 503 if it is NULL or there is no memory.
enum http1_next admin_reply_json(struct http1_conn *conn, unsigned status, json_t *document);

// Answers with 204.
enum http1_next admin_reply_nothing(struct http1_conn *conn);

// Answers with {"error": why}. `why` is shorter than 200 bytes and needs no escapes in JSON.
enum http1_next admin_refuse(struct http1_conn *conn, unsigned status, const char *why);

// The same for any text: other characters become `?`, and a long text is cut.
enum http1_next admin_refuse_text(struct http1_conn *conn, unsigned status, const char *why);

// The same for an error of the broker: not STATUS_OK, _MORE or _EMPTY.
enum http1_next admin_refuse_status(struct http1_conn *conn, enum status status);

// The HTTP status for an error of the broker.
unsigned admin_status_code(enum status status);

// Delays the further output of the connection until the change just made is as durable as
// configured.
void admin_hold_change(struct http1_conn *conn);

// Makes a long reply. All functions except `make` may be NULL.
struct admin_maker {
    // Writes a slice, about BROKER_SLICE items or some KiB, with admin_put(). HTTP1_WROTE: call
    // again; HTTP1_BLOCKED: call again after wire_wake(), or at wire->deadline_at if it has set
    // that; HTTP1_ENDED: the reply is complete.
    enum http1_progress (*make)(struct http1_conn *conn, void *making);
    // The process is about to stop: writes the end of the reply. Must not need memory.
    void (*stopping)(struct http1_conn *conn, void *making);
    // Frees `making`, also when the reply is incomplete.
    void (*forget)(void *making);
    // The bytes of memory of `making`, without staged output. In constant time.
    size_t (*holds)(const void *making);
};

// Begins a reply that is made in slices. The ownership of `making` passes, also on failure. A HEAD
// request gets the head only, and nothing is made.
enum http1_next admin_make(struct http1_conn *conn, const struct http1_reply *head,
                           const struct admin_maker *maker, void *making);

// admin_make() for a JSON document with status 200.
enum http1_next admin_make_json(struct http1_conn *conn, const struct admin_maker *maker,
                                void *making);

// Writes a piece of the reply; does nothing if it is empty.
void admin_put(struct http1_conn *conn, struct slice piece);

// Writes a document, whose ownership passes. If it is NULL or there is no memory, the output fails
// and the connection is closed, because an incomplete list would look complete.
void admin_put_json(struct http1_conn *conn, json_t *document);

// The text of a document in the format of all replies, to be freed with free(). NULL if the
// document is NULL or there is no memory.
char *admin_dump(const json_t *document) MUST_USE;

#endif
