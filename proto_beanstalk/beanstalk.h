/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_BEANSTALK_H
#define TANDEM_PROTO_BEANSTALK_BEANSTALK_H

// The beanstalk front-end, as the host sees it. PROTOCOL.md beside this file says what is spoken.

#include "proto_common/frontend.h"

#include <stdint.h>

// What `options` of the front-end describes: the section [beanstalk].
struct bean_options {
    uint64_t max_job_size; // bytes of the largest body that `put` accepts
    int quote_names;       // enum bean_quote_names
};

// In the order of their words in the configuration.
enum bean_quote_names { BEAN_QUOTE_NAMES, BEAN_BARE_NAMES };

extern const struct frontend beanstalk_frontend;

#endif
