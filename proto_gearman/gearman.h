/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_GEARMAN_H
#define TANDEM_PROTO_GEARMAN_GEARMAN_H

// The Gearman front-end, as its host uses it: packets, and administration by text. PROTOCOL.md
// beside this file documents the protocol, and where it differs from gearmand.

#include "proto_common/contract.h"
#include "proto_common/frontend.h"

#include <stdbool.h>
#include <stdint.h>

// The setting that limits the data of a packet, as log lines name it.
#define GEAR_MAX_JOB_SIZE "gearman.max_job_size"

// The section [gearman] of the configuration, except `listen`.
struct gear_options {
    uint64_t max_job_size; // bytes of a workload
    uint64_t max_unread;   // a client that leaves more bytes of output unread is dropped
    int64_t job_retries;   // -1: no limit
    int64_t worker_wakeup; // sleeping workers that one job wakes; 0: all of its function
    int64_t min_timeout;   // milliseconds; a shorter CAN_DO_TIMEOUT is raised to this
    bool exceptions;       // send exceptions also to clients that did not ask for them
    int on_timeout;        // enum gear_on_timeout
    int on_fail;           // enum contract_on_fail
    char *handle_prefix;   // empty: H:<hostname>
    int64_t idle_timeout;  // seconds until an idle peer is disconnected; 0: never
    int64_t body_timeout;  // seconds for each PACE_STEP bytes of a packet or line; 0: no limit
};

// In the order of their names in the configuration.
enum gear_on_timeout { GEAR_TIMEOUT_RETRIES, GEAR_TIMEOUT_FAILS };

extern const struct frontend gearman_frontend;

#endif
