/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_HTTP_H
#define TANDEM_PROTO_HTTP_HTTP_H

// Jobs over HTTP, as a front-end of the broker. PROTOCOL.md beside this file tells what a request
// means, and where that differs from gearmand's HTTP plug-in.

#include "proto_common/contract.h"
#include "proto_common/frontend.h"
#include "http1/options.h"

#include <stdbool.h>
#include <stdint.h>

// The section [http] of the configuration, but for `listen`.
struct web_options {
    union {
        struct {
            HTTP1_OPTION_FIELDS
        };
        struct http1_options http1; // the same as a whole
    };
    uint64_t max_result;       // bytes of a result that are kept for one answer
    int64_t wait_timeout;      // seconds that a foreground request waits; 0: no limit
    int64_t lease;             // seconds that a worker has a job which says no time to run
    int64_t max_leases;        // of workers at a time; 0: nobody works over HTTP
    nsec_t idempotency_for;    // that an answer is remembered; 0: never
    uint64_t max_kept_answers; // bytes that those take
    int status_codes;          // enum web_status_codes
    char *functions;           // globs
    char *tokens;              // path of the file; empty: no tokens
    // Keys of the section [gearman], which hold for the jobs of both.
    int64_t job_retries;
    int on_fail; // enum contract_on_fail
    char *handle_prefix;
};

// In the order of their words in the configuration.
enum web_status_codes { WEB_CODES_HONEST, WEB_CODES_GEARMAND };

extern const struct frontend http_frontend;

#endif
