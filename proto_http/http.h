/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_HTTP_H
#define TANDEM_PROTO_HTTP_HTTP_H

// Jobs over HTTP, as a front-end of the broker. PROTOCOL.md beside this file tells what a request
// means, and where that differs from gearmand's HTTP plug-in.

#include "proto_common/contract.h"
#include "proto_common/frontend.h"

#include <stdbool.h>
#include <stdint.h>

// The section [http] of the configuration, but for `listen`.
struct web_options {
    uint64_t max_body;         // bytes of a request's body
    uint64_t max_result;       // bytes of a result that are kept for one answer
    uint64_t max_header_bytes; // of a request's head
    int64_t header_timeout;    // seconds from the first byte of a request to the end of its head
    int64_t body_timeout;      // seconds without a byte of a body
    int64_t idle_timeout;      // seconds between requests
    int64_t wait_timeout;      // seconds that a foreground request waits; 0: no limit
    int status_codes;          // enum web_status_codes
    char *cors_origins;
    char *hosts;
    char *functions; // globs
    char *tokens;    // path of the file; empty: no tokens
    // Keys of the section [gearman], which hold for the jobs of both.
    int64_t job_retries;
    int on_fail; // enum contract_on_fail
    char *handle_prefix;
};

// In the order of their words in the configuration.
enum web_status_codes { WEB_CODES_HONEST, WEB_CODES_GEARMAND };

extern const struct frontend http_frontend;

#endif
