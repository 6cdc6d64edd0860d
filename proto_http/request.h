/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_REQUEST_H
#define TANDEM_PROTO_HTTP_REQUEST_H

// A request on its way: what its head says of the job, and what is gathered of the job's result
// until it can be answered; or what a worker asks for, or says of the job that it has.

#include "core/broker.h"
#include "proto_common/contract.h"
#include "http1/context.h"
#include "proto_common/output.h"

#include "proto_http/event_queue.h"
#include "proto_http/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum web_result {
    WEB_RESULT_WHOLE,      // all parts so far were gathered, or streamed
    WEB_RESULT_INCOMPLETE, // a part of it was sent before this request joined
    WEB_RESULT_TOO_LARGE
};

// A look at a job.
struct web_look {
    bool raw;        // the data of its result, and nothing else
    nsec_t wait_for; // its end
};

struct web_batch;
struct web_holder;
struct web_once;
struct web_verb;

// A request for work.
struct web_work {
    struct web_holder *holder; // owned; NULL once its answer is made
    struct web_batch *batch;   // owned; that is being written; NULL for none
    nsec_t wait_for;           // for a job
    nsec_t until;              // monotonic: the end of that
    nsec_t ttr_for;            // 0: as long as the job says
    uint32_t max;              // leases in one answer; 0: one, which is not in a batch
    bool multipart;            // a batch is no JSON
};

// Numbers that a worker may say with its word.
enum web_number { WEB_DELAY, WEB_PRI, WEB_DONE, WEB_TOTAL, WEB_NUMBERS };

// A worker's word about its job.
struct web_word {
    const struct web_verb *verb;
    struct blob *body; // owned; that waits until more may be said of the job; NULL for none
    unsigned present;  // set of numbers, by their bits
    uint64_t numbers[WEB_NUMBERS];
};

// All zero at first but for the target's name.
struct web_request {
    struct http1_request http1;
    bool background : 1;
    bool stream : 1;

    // Of the job.
    uint32_t pri;
    enum start_kind start_kind;
    nsec_t start;
    uint32_t ttr;          // seconds
    uint64_t wait;         // seconds; 0: no limit
    struct web_once *once; // owned: of a request with an Idempotency-Key; NULL without one
    uint8_t unique_len;
    char unique[CONTRACT_UNIQUE_MAX];

    // While its job is waited for.
    uint64_t job_id;
    struct watch *watch; // NULL once the job is over
    enum web_result result;
    struct output parts;      // of the result, unless it is a stream
    struct web_events events; // of a stream
    bool ends;                // the last one has happened
    nsec_t until;             // monotonic: the end of `wait`
    uint64_t position;        // that what happened last waits for

    union {
        struct web_work work; // WEB_PLACE_WORK
        struct web_word word; // WEB_PLACE_LEASE
        struct web_look look; // WEB_PLACE_JOB
    };

    struct web_target target; // last: its name is not cleared
};

// The connection's, which has one.
static inline struct web_request *web_request(const struct http1_conn *conn)
{
    return container_of(conn->request, struct web_request, http1);
}

// How many bytes of memory it keeps beyond its struct.
size_t web_request_holds(const struct http1_request *request);

// Frees those. The watch is the caller's business.
void web_request_forget(struct http1_request *request);

#endif
