/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REPLY_H
#define TANDEM_ADMIN_REPLY_H

// How a route answers (route.h). Each function that returns enum http1_next has answered the
// request, or begun to: a route returns what it returns.
//
// Short answers are one document. What may be long, or never ends, is made in slices by a maker:
// the head is sent at once, and then the maker is called, once in each turn of the connection while
// the client takes what there is, until it says that all is written.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/status.h"
#include "http1/reply.h"
#include "http1/user.h"

#include "admin/context.h"

#include <jansson.h>

// The document, which becomes the answer's; NULL, for want of memory, is answered 503.
enum http1_next admin_reply_json(struct http1_conn *conn, unsigned status, json_t *document);

// Nothing but 204.
enum http1_next admin_reply_nothing(struct http1_conn *conn);

// {"error": why}; `why` is less than 200 bytes, and has nothing in it that JSON would escape.
enum http1_next admin_refuse(struct http1_conn *conn, unsigned status, const char *why);

// The same for what a verb has answered, which is not STATUS_OK, _MORE or _EMPTY.
enum http1_next admin_refuse_status(struct http1_conn *conn, enum status status);

// By which status that is answered.
unsigned admin_status_code(enum status status);

// The request itself is wrong, and this text says how: any text, which is cut where it is long.
enum http1_next admin_refuse_shown(struct http1_conn *conn, unsigned status, const char *why);

// Makes a long answer. All functions but `make` may be NULL.
struct admin_maker {
    // Writes a slice, about BROKER_SLICE things or some KiB, by admin_put(). HTTP1_WROTE: there may
    // be more; HTTP1_BLOCKED: not before wire_wake(), or before wire->deadline_at, if it has set
    // that, has come; HTTP1_ENDED: that was all.
    enum http1_progress (*make)(struct http1_conn *conn, void *making);
    // The process is about to stop: a last word, for which no memory may be needed.
    void (*stopping)(struct http1_conn *conn, void *making);
    // Frees it, whether all was written or not.
    void (*forget)(void *making);
    // How many bytes it keeps, beyond what is staged. In constant time.
    size_t (*holds)(const void *making);
};

// Begins an answer that is made so. `making` becomes the request's, also where this fails. To a
// HEAD, only the head is answered, and nothing is made.
enum http1_next admin_make(struct http1_conn *conn, const struct http1_reply *head,
                           const struct admin_maker *maker, void *making);

// A piece of it; an empty one is none.
void admin_put(struct http1_conn *conn, struct slice piece);

// The text of a document, as all are written, for free(); NULL where it is NULL, or memory lacks.
char *admin_dump(const json_t *document) MUST_USE;

// A document as a piece, which becomes the answer's. Where it is NULL, or cannot be written, the
// output fails, and the connection is closed: better none than one with a hole.
void admin_put_json(struct http1_conn *conn, json_t *document);

#endif
