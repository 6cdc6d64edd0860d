/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_GEARMAN_H
#define TANDEM_PROTO_GEARMAN_GEARMAN_H

// The Gearman protocol, packets and administration by text, as a front-end of the broker.
// PROTOCOL.md beside this file tells what is supported and where it differs from gearmand.

#include "proto_common/contract.h"
#include "proto_common/frontend.h"

#include <stdbool.h>
#include <stdint.h>

// The setting that bounds what a packet may carry, in log lines.
#define GEAR_MAX_JOB_SIZE "gearman.max_job_size"

// The section [gearman] of the configuration, but for `listen`.
struct gear_options {
    uint64_t max_job_size; // bytes of a workload
    uint64_t max_unread;   // bytes of output at which a client that does not read is dropped
    int64_t job_retries;   // -1: no limit
    int64_t worker_wakeup; // sleeping workers that one job wakes; 0: all of its function
    int64_t min_timeout;   // milliseconds: the least that CAN_DO_TIMEOUT means
    bool exceptions;       // to every client, whether it asked for them or not
    int on_timeout;        // enum gear_on_timeout
    int on_fail;           // enum contract_on_fail
    char *handle_prefix;   // empty: H:<hostname>
    int64_t idle_timeout;  // seconds in which who waits for nothing sends nothing; 0: any
    int64_t body_timeout;  // seconds for each PACE_STEP bytes of what has begun; 0: any
};

// In the order of their words in the configuration.
enum gear_on_timeout { GEAR_TIMEOUT_RETRIES, GEAR_TIMEOUT_FAILS };

extern const struct frontend gearman_frontend;

#endif
