/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_REQUEST_H
#define TANDEM_PROTO_HTTP_REQUEST_H

// A request on its way: what its head says, its body as it comes, and what is gathered of its
// job's result until it can be answered.

#include "core/base/blob.h"
#include "core/broker.h"
#include "proto_common/contract.h"
#include "proto_common/http1/chunk.h"
#include "proto_common/http1/fields.h"
#include "proto_common/intake.h"
#include "proto_common/output.h"

#include "proto_http/context.h"
#include "proto_http/target.h"

#include <stdbool.h>
#include <stdint.h>

enum web_result {
    WEB_RESULT_WHOLE,      // all parts so far were gathered, or streamed
    WEB_RESULT_INCOMPLETE, // a part of it was sent before this request joined
    WEB_RESULT_TOO_LARGE
};

struct web_request {
    enum http1_method method;
    bool version_1_0 : 1;
    bool keep_alive : 1;
    bool background : 1;
    bool stream : 1;
    char *origin; // owned: the origin that may see the answer; NULL for none

    // Of the job.
    uint32_t pri;
    enum start_kind start_kind;
    nsec_t start;
    uint32_t ttr;  // seconds
    uint64_t wait; // seconds; 0: no limit
    uint8_t unique_len;
    char unique[CONTRACT_UNIQUE_MAX];

    // While the body comes.
    struct intake body;
    struct http1_chunks chunks;

    // While its job is waited for.
    uint64_t job_id;
    struct watch *watch; // NULL once the job is over
    enum web_result result;
    struct output parts; // of the result, unless it is a stream
    uint64_t events;     // that were sent, of a stream

    struct web_target target; // last: its name is not cleared
};

// All zero but for the target's name; NULL without memory.
struct web_request *web_request_new(void) MUST_USE;

// Notes who may see the answer; false without memory.
bool web_request_set_origin(struct web_request *request, struct slice origin) MUST_USE;

// Frees it. The watch is the caller's business.
void web_request_free(struct web_request *request);

#endif
