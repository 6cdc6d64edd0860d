/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BEANSTALK_H
#define TANDEM_PROTO_BEANSTALK_BEANSTALK_H

// The beanstalk front-end, as its host uses it. PROTOCOL.md beside this file documents the
// protocol.

#include "proto_common/frontend.h"

#include <stdint.h>

// The setting that limits a body, as log lines name it.
#define BEAN_MAX_JOB_SIZE "beanstalk.max_job_size"

// The section [beanstalk] of the configuration.
struct bean_options {
    uint64_t max_job_size; // bytes of the largest body that `put` accepts
    int quote_names;       // enum bean_quote_names
    int extensions;        // enum bean_extensions
    int64_t idle_timeout;  // seconds until an idle client is disconnected; 0: never
    int64_t body_timeout;  // seconds for each PACE_STEP bytes of a line or body; 0: no limit
};

// In the order of their names in the configuration.
enum bean_quote_names { BEAN_QUOTE_NAMES, BEAN_BARE_NAMES };
enum bean_extensions { BEAN_EXTENSIONS_ON, BEAN_EXTENSIONS_OFF };

extern const struct frontend beanstalk_frontend;

#endif
