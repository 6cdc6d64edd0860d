/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BEANSTALK_H
#define TANDEM_PROTO_BEANSTALK_BEANSTALK_H

// The beanstalk front-end, as the host sees it. PROTOCOL.md beside this file says what is spoken.

#include "proto_common/frontend.h"

// The setting that bounds a body, in log lines.
#define BEAN_MAX_JOB_SIZE "beanstalk.max_job_size"

#include <stdint.h>

// What `options` of the front-end describes: the section [beanstalk].
struct bean_options {
    uint64_t max_job_size; // bytes of the largest body that `put` accepts
    int quote_names;       // enum bean_quote_names
    int extensions;        // enum bean_extensions
    int64_t idle_timeout;  // seconds in which a client that waits for nothing sends nothing; 0: any
    int64_t body_timeout;  // seconds for each PACE_STEP bytes of what it has begun; 0: any
};

// In the order of their words in the configuration.
enum bean_quote_names { BEAN_QUOTE_NAMES, BEAN_BARE_NAMES };
enum bean_extensions { BEAN_EXTENSIONS_ON, BEAN_EXTENSIONS_OFF };

extern const struct frontend beanstalk_frontend;

#endif
