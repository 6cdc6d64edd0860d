/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_CGROUP_H
#define TANDEM_SERVER_PROCESS_CGROUP_H

// The limits of the process's control group (cgroup v2), as a container has them.

#include <stdint.h>

struct cgroup_limits {
    unsigned processors; // whole processors of the quota, at least 1; 0: no limit
    uint64_t memory;     // bytes; 0: no limit
};

// Reads the lowest limits of the process's group and of all groups above it that can be seen:
// within a container, those of the container. What cannot be read is no limit. `root` is prefixed
// to all paths, for tests; empty for the system's own files.
void cgroup_limits_read(const char *root, struct cgroup_limits *limits);

#endif
