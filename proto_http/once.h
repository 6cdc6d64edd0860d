/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ONCE_H
#define TANDEM_PROTO_HTTP_ONCE_H

// Submissions with an Idempotency-Key, which are carried out once even if they are repeated: the
// answer is remembered as a memo (core/memo.h), and a repeated request gets it again. A request is
// identified by its key and its caller; method, target and body must be equal. Callers, known by
// token or else by address, have shares of the memory (core/memo.h), so that one cannot use it up.
//
// The job's unique name contains the key, too. Its record precedes that of the memo in the same
// batch: if power fails between them, a repeated request joins the job while it lives, and
// web_once_mend() remembers the answer before a worker can finish the job.

#include "core/base/base64.h"
#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/user.h"
#include "proto_common/contract.h"

#include "proto_http/web_request.h"

#include <stdbool.h>
#include <stddef.h>

#define ONCE_PRINT_SIZE 32
#define ONCE_PREFIX "idempotency:"
#define ONCE_NAME_LEN (sizeof ONCE_PREFIX - 1 + BASE64URL_LEN(ONCE_PRINT_SIZE))
_Static_assert(ONCE_NAME_LEN <= CONTRACT_UNIQUE_MAX, "clients of Gearman can be told of it");

// The state of a request with a key.
struct web_once {
    char name[ONCE_NAME_LEN];             // the broker's name for the key and its caller
    unsigned char print[ONCE_PRINT_SIZE]; /* private: digest of the request so far */
    uint16_t share;                       /* private: of MEMO_SHARES; charged for the answer */
    struct blob *body;                    /* private: that is digested in slices; NULL: none */
    size_t at;                            /* private: its bytes digested so far */
};

// Called once, first: sets the bytes that may be remembered, and shares. STATUS_NO_MEMORY.
enum status web_once_begin(const struct web_shared *shared) MUST_USE;

// Once the head is read: checks the key, if there is one. False: answered.
bool web_once_read(struct http1_conn *conn, const struct http1_fields *fields) MUST_USE;

// Of struct http1_user: `complete` and `step` for a request with a key.
enum http1_next web_once_submit(struct http1_conn *conn, struct slice body,
                                struct blob *blob) MUST_USE;
enum http1_progress web_once_step(struct http1_conn *conn, struct feed_turn *turn) MUST_USE;

// Once all jobs are restored: remembers the answer for the last job submitted with a key.
void web_once_mend(const struct web_shared *shared);

// NULL is allowed.
void web_once_free(struct web_once *once);
size_t web_once_holds(const struct web_once *once);

#endif
