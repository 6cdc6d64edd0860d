/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ONCE_H
#define TANDEM_PROTO_HTTP_ONCE_H

// Submissions with an Idempotency-Key, which are carried out once however often they are made: the
// answer is remembered as a memo (core/memo.h), and the same request is answered so again. What a
// request is goes by the key and whoever shows it; method, target and body must be the same. No
// caller, known by its token or else by its address, takes the room of all: core/memo.h has shares.
//
// The job holds the key, too, as its name. Its record comes before that of the memo, in the same
// batch: where a power cut comes between, the request that is made again joins the job while it
// lives, and web_once_mend() remembers it before anybody can finish it.

#include "core/base/base64.h"
#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "proto_common/contract.h"
#include "http1/user.h"

#include "proto_http/context.h"

#include <stdbool.h>
#include <stddef.h>

#define ONCE_PRINT_SIZE 32
#define ONCE_PREFIX "idempotency:"
#define ONCE_NAME_LEN (sizeof ONCE_PREFIX - 1 + BASE64URL_LEN(ONCE_PRINT_SIZE))
_Static_assert(ONCE_NAME_LEN <= CONTRACT_UNIQUE_MAX, "clients of Gearman can be told of it");

// Of a request with a key.
struct web_once {
    char name[ONCE_NAME_LEN];             // what the key is to the broker
    unsigned char print[ONCE_PRINT_SIZE]; /* private: of the request, as far as it was looked at */
    uint16_t share;                       /* private: MEMO_SHARES: whose room it takes */
    struct blob *body;                    /* private: that is looked at in slices; NULL: none is */
    size_t at;                            /* private: how far */
};

// Before all others, once: so many bytes may be remembered, in shares. STATUS_NO_MEMORY.
enum status web_once_begin(const struct web_shared *shared) MUST_USE;

// When the head is there, and read: whether it can have the key that it has, if any. False:
// answered.
bool web_once_read(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Of struct http1_user, `complete` and `step` for a request with a key.
enum http1_next web_once_submit(struct http1_conn *conn, struct slice body,
                                struct blob *blob) MUST_USE;
enum http1_progress web_once_step(struct http1_conn *conn, struct feed_turn *turn) MUST_USE;

// When all jobs are back: sees to it that the last job that was submitted so is remembered.
void web_once_mend(const struct web_shared *shared);

// NULL is allowed, by both.
void web_once_free(struct web_once *once);
size_t web_once_holds(const struct web_once *once);

#endif
