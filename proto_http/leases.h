/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_LEASES_H
#define TANDEM_PROTO_HTTP_LEASES_H

// Leases of workers over HTTP. The holder of leases is a session of the broker without a connection
// of its own: a request for work opens it and waits for a job. Once its answer is made, the session
// only holds the jobs of that answer. It closes when it holds no job any more, because the worker
// has finished them, their leases have expired or an operator has taken them away.
//
// Each of these jobs has a token, by which the worker names it on any connection. A token is valid
// while the session holds the job, and is forgotten with the session at the latest.
//
// For jobs in a journal, leases are stored there, too (core/durable_lease.h), by the digests of
// their tokens: after a restart, a session of its own holds each such job.
//
// The front-end has one struct for all connections (struct web_shared). Memory is allocated when
// work is requested; no later change to a lease can fail.

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/siphash.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The secret by which a worker acts on its job: 128 random bits, in base64url (RFC 4648, 5) without
// padding. Anyone who knows a token may finish its job; it cannot be guessed.
#define LEASE_TOKEN_SIZE 16
#define LEASE_TOKEN_TEXT 22

struct lease_token {
    unsigned char bits[LEASE_TOKEN_SIZE];
};

// Writes LEASE_TOKEN_TEXT bytes, and no NUL.
void lease_token_write(const struct lease_token *token, char *to);

// False if the text is not a token; each token has exactly one spelling.
bool lease_token_read(struct slice text, struct lease_token *token) MUST_USE;

// A digest that identifies a token in a journal without revealing it.
#define LEASE_PRINT_SIZE 16
struct lease_print {
    unsigned char bits[LEASE_PRINT_SIZE];
};

// False if the library fails.
bool lease_print_of(const struct lease_token *token, struct lease_print *print) MUST_USE;

// Takes the same time wherever they differ.
bool lease_print_equal(const struct lease_print *a, const struct lease_print *b);

// Random bits, made for several tokens at once. All zero at first.
#define LEASE_TOKENS_AT_ONCE 256
struct lease_tokens {
    struct lease_token next[LEASE_TOKENS_AT_ONCE]; /* private: used ones are zeroed */
    size_t left;                                   /* private */
};

// A new token; false if the system provides no random bits.
bool lease_tokens_make(struct lease_tokens *tokens, struct lease_token *token) MUST_USE;

struct http1_conn;

struct web_lease {
    struct hash_node by_print; /* private: in the table, while `known` */
    uint64_t hash;             /* private */
    bool known;                /* private */
    struct web_holder *holder;
    uint64_t job_id;
    nsec_t limit_for;         // since the last report; 0: only the job's time to run counts
    struct lease_print print; /* private */
    struct lease_token token; // zero if the lease was resumed: only its digest is known
};

struct web_holder {
    struct list_node in_leases; /* private: in `holders` or `emptied` */
    struct web_leases *leases;
    struct session *session;
    struct http1_conn *conn; // that waits, or is being answered; NULL after that
    uint64_t told_of;        // the job that ended the wait; 0: none
    uint64_t held_until;     // the log position that its answer waits for
    uint64_t answered_to;    // the number of the connection that received its jobs; 0: none yet
    bool waited_enough;      // the wait is over without a job
    uint32_t count;          // of `all`; 0 until the answer is made
    uint32_t room;           /* private: allocated in `all` */
    struct web_lease *all;   /* private: owned, unless it is `only` */
    struct web_lease only;   /* private */
};

struct web_leases {
    struct broker *broker;
    const struct output_pool *pool; /* private: of all output; NULL: no request for work yet */
    bool keyed;                     /* private: `key` and `by_print` are initialized */
    struct siphash_key key;         /* private */
    struct hash by_print;           /* private: struct web_lease */
    struct list_node holders;       /* private */
    struct list_node emptied;       /* private: to be freed by web_leases_work() */
    struct lease_tokens tokens;     /* private */
    uint64_t count;                 // valid tokens, and requests that wait for one
};

// Initializes the leases of the broker's jobs. Cannot fail.
void web_leases_begin(struct web_leases *leases, struct broker *broker);

// Once all jobs are restored: opens sessions for the stored leases. A lease that has expired, or
// for which there is no memory, is discarded.
void web_leases_resume(struct web_leases *leases);

// Closes all sessions. web_leases_begin() need not have been called.
void web_leases_end(struct web_leases *leases);

// The functions of struct frontend with these names: close sessions that hold no job any more.
nsec_t web_leases_due(const struct web_leases *leases);
void web_leases_work(struct web_leases *leases);

// Opens a session for a request of that connection, with its caller's rights. It counts as one
// lease until it has its own. STATUS_NO_MEMORY, also if the system provides no random bits.
enum status web_holder_open(struct web_leases *leases, struct http1_conn *conn,
                            struct web_holder **holder) MUST_USE;

// Closes the session, which loses the jobs that it holds. NULL is allowed.
void web_holder_free(struct web_holder *holder);

// The same if no byte of the answer with its jobs has left the process.
void web_holder_undelivered(struct web_holder *holder);

// The holder of that job if it was answered to the connection of that number; otherwise NULL.
struct web_holder *web_holder_of(const struct web_leases *leases, uint64_t job_id,
                                 uint64_t answered_to);

// Makes room for `count` leases, before the first is added; the default is one. STATUS_NO_MEMORY.
enum status web_holder_room(struct web_holder *holder, uint32_t count) MUST_USE;

// Makes a token for a job that the holder holds, as the next of `all`, which must have room. The
// lease ends after `limit_for` (0: no limit) or with the job's time to run, whichever comes first.
// STATUS_NO_MEMORY: nothing has changed.
enum status web_lease_add(struct web_holder *holder, uint64_t job_id, nsec_t limit_for) MUST_USE;

// The session takes no further jobs, and keeps those that it holds.
void web_holder_take_no_more(struct web_holder *holder);

// The answer has been made: from now on the session lives as long as its leases.
void web_holder_leave(struct web_holder *holder);

// The lease of the token that a client sent; NULL if there is none, also if the text is not a
// token. Valid until the next verb, tick or settle that can end it.
struct web_lease *web_lease_find(struct web_leases *leases, struct slice text);

// The worker has reported: the lease's limit, if it has one, starts again.
void web_lease_renew(struct web_lease *lease);

// The worker has finished the job: the lease ends, and the pointer becomes invalid.
void web_lease_end(struct web_lease *lease);

#endif
