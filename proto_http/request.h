/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_REQUEST_H
#define TANDEM_PROTO_HTTP_REQUEST_H

// A request in progress: the parameters of the job from its head and the part of the job's result
// gathered so far; or the parameters of a request for work, or of an action on a lease.

#include "core/broker.h"
#include "proto_common/contract.h"
#include "http1/http1_conn.h"
#include "proto_common/output.h"

#include "proto_http/event_queue.h"
#include "proto_http/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum web_result {
    WEB_RESULT_WHOLE,      // all parts so far were gathered, or streamed
    WEB_RESULT_INCOMPLETE, // a part was sent before this request joined
    WEB_RESULT_TOO_LARGE
};

// A request for the state of a job.
struct web_look {
    bool raw;        // only the data of its result
    nsec_t wait_for; // its end; 0: do not wait
};

struct web_batch;
struct web_holder;
struct web_once;
struct web_verb;

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
struct web_word {
    const struct web_verb *verb;
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
        struct web_work work; // WEB_PLACE_WORK
        struct web_word word; // WEB_PLACE_LEASE
        struct web_look look; // WEB_PLACE_JOB
    };

    struct web_target target; // last: its name is not cleared
};

// The request of the connection, which has one.
static inline struct web_request *web_request(const struct http1_conn *conn)
{
    return container_of(conn->request, struct web_request, http1);
}

// The memory in use beyond the struct, in bytes.
size_t web_request_holds(const struct http1_request *request);

// Frees that memory. The caller removes the watch.
void web_request_forget(struct http1_request *request);

#endif
