/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_GEARMAN_WIRE_GEAR_SCRIPTS_H
#define TANDEM_TESTS_PROTO_GEARMAN_WIRE_GEAR_SCRIPTS_H

// What a Gearman client, worker or administrator may say, in a few long breaths: between them these
// scripts enter every state of a connection and use every packet. Each is written for a connection
// of its own in a fresh world whose max_job_size is as it says.

#include "core/base/slice.h"

#include <stddef.h>
#include <stdint.h>

struct gear_script {
    const char *what;
    struct slice said;
    uint64_t max_job_size;
};

// All scripts, `*count` of them.
const struct gear_script *gear_scripts(size_t *count);

#endif
