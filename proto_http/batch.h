/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_BATCH_H
#define TANDEM_PROTO_HTTP_BATCH_H

// Several leases in one answer: as JSON, which is written in slices, since bodies have to be
// spelt; or as multipart/mixed, in which they stand as they are and are referred to.

#include "core/base/macros.h"
#include "http1/user.h"

#include "proto_http/context.h"

#include <stddef.h>

// The most leases in one answer; and once the bodies of those that it has have so many bytes, no
// other is taken.
#define WEB_BATCH_MAX 100
#define WEB_BATCH_BYTES ((size_t)1024 * 1024)

struct web_batch;

// The holder's leases as JSON: begins the answer, which web_batch_step() writes, as `step` of
// struct http1_user. STATUS_NO_MEMORY: nothing is written.
enum status web_batch_begin(struct http1_conn *conn, struct web_holder *holder,
                            struct web_batch **batch) MUST_USE;
enum http1_progress web_batch_step(struct http1_conn *conn, struct web_batch *batch,
                                   struct feed_turn *turn) MUST_USE;
// NULL is allowed, by both.
size_t web_batch_holds(const struct web_batch *batch);
void web_batch_free(struct web_batch *batch);

// The same as multipart/mixed, as a whole. STATUS_NO_MEMORY: nothing is written.
enum status web_batch_multipart(struct http1_conn *conn, struct web_holder *holder) MUST_USE;

#endif
