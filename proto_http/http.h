/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_HTTP_H
#define TANDEM_PROTO_HTTP_HTTP_H

// The HTTP front-end of the broker. PROTOCOL.md in this folder describes requests and the
// differences from gearmand's HTTP plug-in.

#include "http1/http1_options.h"
#include "proto_common/contract.h"
#include "proto_common/frontend.h"

#include <stdbool.h>
#include <stdint.h>

// The section [http] of the configuration, without `listen`.
struct web_options {
    union {
        struct {
            HTTP1_OPTION_FIELDS
        };
        struct http1_options http1; // the same as one struct
    };
    uint64_t max_result;       // bytes of a result that are kept for an answer
    int64_t wait_timeout;      // seconds that a foreground request waits; 0: no limit
    int64_t lease;             // seconds of a lease on a job without a time to run
    int64_t max_leases;        // of all workers together; 0: no work over HTTP
    nsec_t idempotency_for;    // how long an answer is remembered; 0: not at all
    uint64_t max_kept_answers; // bytes of remembered answers
    int status_codes;          // enum web_status_codes
    char *functions;           // globs
    char *tokens;              // path of the file; empty: no tokens
    // Keys of the section [gearman], which apply to jobs of both protocols.
    int64_t job_retries;
    int on_fail; // enum contract_on_fail
    char *handle_prefix;
};

// In the order of the values in the configuration.
enum web_status_codes { WEB_CODES_HONEST, WEB_CODES_GEARMAND };

extern const struct frontend http_frontend;

#endif
