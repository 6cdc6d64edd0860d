/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_BEANSTALK_WIRE_SCRIPTS_H
#define TANDEM_TESTS_PROTO_BEANSTALK_WIRE_SCRIPTS_H

// What a beanstalk client may say, in a few long breaths: between them these scripts enter every
// state of a connection and use every command. Each is written for a connection of its own in a
// fresh world whose max_job_size is 20.

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
