/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_GEARMAN_WIRE_GEAR_SCRIPTS_H
#define TANDEM_TESTS_PROTO_GEARMAN_WIRE_GEAR_SCRIPTS_H

// Input of a Gearman client, worker or administrator, in a few long scripts. Together they enter
// every state of a connection and use every packet. Each needs a connection of its own to a new
// broker that has the given max_job_size.

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
