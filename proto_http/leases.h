/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_LEASES_H
#define TANDEM_PROTO_HTTP_LEASES_H

// Leases of workers over HTTP. The holder of a lease is a session of the broker that has no
// connection: a request for work opens it and waits by it, and once its answer is made the session
// has nothing but the jobs of that answer. It closes when it holds none of them any more, whether
// the worker has finished them, their time is over or an operator has taken them away.
//
// Each of these jobs has a token, by which the worker names it from any connection. A token is good
// as long as the session holds the job, and is forgotten at the latest with the session.
//
// The leases of jobs that a journal keeps are kept there, too (core/durable_lease.h), by the print
// of their tokens: after a restart each is a session's again, which has this one job.
//
// All of this is the front-end's, one for all of its connections (struct web_shared). Memory is
// asked for when work is; nothing that happens to a lease later can fail.

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/siphash.h"
#include "core/broker.h"

#include "proto_http/lease_token.h"

#include <stdbool.h>
#include <stdint.h>

struct http1_conn;

struct web_lease {
    struct hash_node by_print; /* private: in the table, while `known` */
    uint64_t hash;             /* private */
    bool known;                /* private */
    struct web_holder *holder;
    uint64_t job_id;
    nsec_t limit_for;         // from each word of the worker on; 0: the job's time to run is all
    struct lease_print print; /* private */
    struct lease_token token; // zero where the lease is resumed: only its print is known
};

struct web_holder {
    struct list_node in_leases; /* private: in `holders` or `emptied` */
    struct web_leases *leases;
    struct session *session;
    struct http1_conn *conn; // that waits by it, or is being answered; NULL once it is
    uint64_t told_of;        // the job that ended the wait; 0: none has
    uint64_t held_until;     // the log position that its answer waits for
    uint64_t answered_to;    // the number of the connection that was given its jobs; 0: none yet
    bool waited_enough;      // the wait is over without a job
    uint32_t count;          // of `all`; 0 until the answer is made
    uint32_t room;           /* private: of those that were allocated */
    struct web_lease *all;   /* private: owned, but for `only` */
    struct web_lease only;   /* private */
};

struct web_leases {
    struct broker *broker;
    const struct output_pool *pool; /* private: of all output; NULL: nobody has asked for work */
    bool keyed;                     /* private: there is a key of the table, and it is */
    struct siphash_key key;         /* private */
    struct hash by_print;           /* private: struct web_lease */
    struct list_node holders;       /* private */
    struct list_node emptied;       /* private: to be freed by web_leases_work() */
    struct lease_tokens tokens;     /* private */
    uint64_t count;                 // tokens that are good, and requests that wait for one
};

// Leases of that broker's jobs. Cannot fail.
void web_leases_begin(struct web_leases *leases, struct broker *broker);

// Once all jobs are back: sessions have the jobs again whose leases were kept. A lease that is
// over, or for which there is no memory, is discarded.
void web_leases_resume(struct web_leases *leases);

// Closes all sessions. The leases need not have begun.
void web_leases_end(struct web_leases *leases);

// The functions of struct frontend with these names: sessions that hold nothing any more are
// closed.
nsec_t web_leases_due(const struct web_leases *leases);
void web_leases_work(struct web_leases *leases);

// A session for a request of that connection, which may do what its caller may. It counts as one
// lease until it has its own. STATUS_NO_MEMORY, also where the system has no random bits to give.
enum status web_holder_open(struct web_leases *leases, struct http1_conn *conn,
                            struct web_holder **holder) MUST_USE;

// Closes the session, which is lost what it holds. NULL is allowed.
void web_holder_free(struct web_holder *holder);

// The same, where nothing of what would have told its worker of its jobs has left the process.
void web_holder_undelivered(struct web_holder *holder);

// The holder of that job, where it was answered to the connection of that number; otherwise NULL.
struct web_holder *web_holder_of(const struct web_leases *leases, uint64_t job_id,
                                 uint64_t answered_to);

// Room for so many leases, before the first; at first there is room for one. STATUS_NO_MEMORY.
enum status web_holder_room(struct web_holder *holder, uint32_t count) MUST_USE;

// A token for a job that the holder has, as the next of `all`, for which there is room. The lease
// ends after `limit_for` (0: never for that), or with the job's time to run, whichever is first.
// STATUS_NO_MEMORY: nothing has changed.
enum status web_lease_add(struct web_holder *holder, uint64_t job_id, nsec_t limit_for) MUST_USE;

// The session takes no further jobs; those that it has stay with it.
void web_holder_take_no_more(struct web_holder *holder);

// The answer has been made: from now on the session lives as long as its leases.
void web_holder_leave(struct web_holder *holder);

// The lease of that token, in any spelling that a client might send; NULL where there is none.
// Valid until the next verb, tick or settle that can end it.
struct web_lease *web_lease_find(struct web_leases *leases, struct slice text);

// The worker has given word: the lease's limit, if it has one, begins anew.
void web_lease_renew(struct web_lease *lease);

// The worker has finished with the job: the lease is over, and not valid any more.
void web_lease_end(struct web_lease *lease);

#endif
