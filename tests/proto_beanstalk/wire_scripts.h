/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_BEANSTALK_WIRE_SCRIPTS_H
#define TANDEM_TESTS_PROTO_BEANSTALK_WIRE_SCRIPTS_H

// Input of a beanstalk client, in a few long scripts. Together they enter every state of a
// connection and use every command. Each needs a connection of its own to a new broker whose
// max_job_size is 20.

#include "core/base/slice.h"

#include <stddef.h>

#define BEAN_SCRIPT_MAX_JOB_SIZE 20

struct bean_script {
    const char *what;
    struct slice said;
};

extern const struct bean_script bean_scripts[];
extern const size_t bean_script_count;

#endif
