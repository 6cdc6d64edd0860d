/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WEB_REQUEST_H
#define TANDEM_PROTO_HTTP_WEB_REQUEST_H

// A request in progress: its target, the parameters of the job from its head and the part of the
// job's result gathered so far; or the parameters of a request for work, or of an action on a
// lease.
//
// Connections are struct http1_conn: http1 receives requests and sends answers for this front-end.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "http1/http1_conn.h"
#include "http1/user.h"
#include "proto_common/contract.h"
#include "proto_common/frontend.h"
#include "proto_common/handle.h"
#include "proto_common/output.h"

#include "proto_http/http.h"
#include "proto_http/leases.h"
#include "proto_http/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The state that all HTTP connections share.
struct web_shared {
    struct http1_shared http1; // its tokens, the rules of http.tokens, are owned here
    const struct web_options *options;
    struct access *fresh_tokens; // of a reload in preparation; owned
    struct handles handles;
    struct web_leases leases; // of workers
    uint64_t once_position;   // of the last answer remembered for an Idempotency-Key
};

static inline struct web_shared *web_shared(const struct http1_conn *conn)
{
    return container_of(conn->shared, struct web_shared, http1);
}

// The target of a request: a function to submit to, or a path of the broker itself.
enum web_place {
    WEB_PLACE_NONE,     // the target is invalid
    WEB_PLACE_SERVER,   // `*`
    WEB_PLACE_ROOT,     // no function is named
    WEB_PLACE_FUNCTION, // a function
    WEB_PLACE_JOB,      // /-/jobs/<handle>
    WEB_PLACE_WORK,     // /-/work
    WEB_PLACE_LEASE,    // /-/leases/<token>/<action>
    WEB_PLACE_UNKNOWN   // a path under /-/ that does not exist
};

struct web_target {
    enum web_place place;
    bool has_query;
    struct slice query;        // not decoded
    size_t name_len;           // of the function, of the handle, or of <token>/<action>
    char name[QUEUE_NAME_MAX]; // decoded; last, because it is not cleared
};

static inline struct slice web_target_name(const struct web_target *target)
{
    return slice_of(target->name, target->name_len);
}

// Parses the target of a head that has passed the check; `name` is decoded once.
void web_target_read(struct slice text, struct web_target *target);

// Whether http.functions includes the function.
bool web_function_offered(const struct web_shared *shared, struct slice function) MUST_USE;

enum web_result {
    WEB_RESULT_WHOLE,      // all parts so far were gathered, or streamed
    WEB_RESULT_INCOMPLETE, // a part was sent before this request joined
    WEB_RESULT_TOO_LARGE
};

// A request for the state of a job.
struct web_job_query {
    bool raw;        // only the data of its result
    nsec_t wait_for; // its end; 0: do not wait
};

struct web_batch;
struct web_holder;
struct web_once;
struct web_action_kind;

// A request for work.
struct web_work {
    struct web_holder *holder; // owned; NULL once its answer is made
    struct web_batch *batch;   // owned; being written; NULL: none
    nsec_t wait_for;           // for a job
    nsec_t until;              // monotonic: the end of the wait
    nsec_t ttr_for;            // 0: the job's own
    uint32_t max;              // leases in one answer; 0: one, which is not in a batch
    bool multipart;            // a batch is multipart/mixed, not JSON
};

// Numeric parameters of an action on a lease.
enum web_number { WEB_DELAY, WEB_PRI, WEB_DONE, WEB_TOTAL, WEB_NUMBERS };

// An action of a worker on its job.
struct web_action {
    const struct web_action_kind *kind;
    struct blob *body; // owned; waits while earlier reports are delivered; NULL: none
    unsigned present;  // set of the numbers given, by their bits
    uint64_t numbers[WEB_NUMBERS];
};

// All zero at first, except the target's name.
struct web_request {
    struct http1_request http1;
    bool background : 1;
    bool stream : 1;

    // Parameters of the job.
    uint32_t pri;
    enum start_kind start_kind;
    nsec_t start;
    uint32_t ttr;          // seconds
    uint64_t wait;         // seconds; 0: no limit
    struct web_once *once; // owned; NULL without an Idempotency-Key
    uint8_t unique_len;
    char unique[CONTRACT_UNIQUE_MAX];

    // While the request waits for its job.
    uint64_t job_id;
    struct watch *watch; // NULL once the job has ended
    enum web_result result;
    struct output parts;      // of the result, unless it is a stream
    struct web_events events; // of a stream
    bool ends;                // the last event has happened
    nsec_t until;             // monotonic: the end of `wait`
    uint64_t position;        // of the store, that the last event waits for

    union {
        struct web_work work;           // WEB_PLACE_WORK
        struct web_action action;       // WEB_PLACE_LEASE
        struct web_job_query job_query; // WEB_PLACE_JOB
    };

    struct web_target target; // last: its name is not cleared
};

// The request of the connection, which has one.
static inline struct web_request *web_request(const struct http1_conn *conn)
{
    return container_of(conn->request, struct web_request, http1);
}

// The functions of struct http1_user with the same names, which handle an accepted request by the
// place that its target names: a submission, a request for work, an action on a lease, or a request
// for the state of a job. The watch is removed before web_forget().
enum http1_next web_complete(struct http1_conn *conn, struct slice body,
                             struct blob *blob) MUST_USE;
enum http1_progress web_step(struct http1_conn *conn, struct feed_turn *turn) MUST_USE;
void web_stopping(struct http1_conn *conn);
void web_forget(struct http1_request *request);
size_t web_holds(const struct http1_request *request);

#endif
