/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WORK_ANSWER_H
#define TANDEM_PROTO_HTTP_WORK_ANSWER_H

// Jobs in the answer to a request for work. A job is described to its worker by headers of an
// answer or of a part, or by a JSON object. A batch has several jobs: as JSON, which is written in
// slices because bodies must be encoded, or as multipart/mixed, where bodies are sent unchanged and
// by reference.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/user.h"

#include "proto_http/web_answer.h"
#include "proto_http/web_request.h"

#include <jansson.h>
#include <stddef.h>

// Room for the headers of a lease.
#define LEASE_HEADERS_ROOM (2 * WEB_NAME_ROOM + 512)

// Writes the headers, each with its CR LF; returns the number of bytes.
size_t lease_headers_write(const struct web_shared *shared, const struct web_lease *lease,
                           char *to);

// Writes the header with the end of the lease: LEASE_DEADLINE_ROOM bytes with a NUL.
#define LEASE_DEADLINE_ROOM 64
void lease_deadline_write(const struct web_shared *shared, const struct web_lease *lease, char *to);

// The description as an object; NULL without memory.
json_t *lease_describe(const struct web_shared *shared, const struct web_lease *lease);

//
// Batches
//

// The most leases in one answer; and the total size of bodies from which on no further job is
// taken.
#define WEB_BATCH_MAX 100
#define WEB_BATCH_BYTES ((size_t)1024 * 1024)

struct web_batch;

// The holder's leases as JSON: begins the answer, which web_batch_step() (`step` of struct
// http1_user) writes. STATUS_NO_MEMORY: nothing is written.
enum status web_batch_begin(struct http1_conn *conn, struct web_holder *holder,
                            struct web_batch **batch) MUST_USE;
enum http1_progress web_batch_step(struct http1_conn *conn, struct web_batch *batch,
                                   struct feed_turn *turn) MUST_USE;
// NULL is allowed.
size_t web_batch_holds(const struct web_batch *batch);
void web_batch_free(struct web_batch *batch);

// The same as multipart/mixed, written at once. STATUS_NO_MEMORY: nothing is written.
enum status web_batch_multipart(struct http1_conn *conn, struct web_holder *holder) MUST_USE;

#endif
