/* SPDX-License-Identifier: MIT */
#include "server/process/capacity.h"

#include <sys/resource.h>

// Descriptors that are for neither connections, listeners nor I/O threads: the standard three, the
// loop, signals, the log, the files of the journal, and room for those that are opened for a
// moment.
enum { SET_ASIDE = 32 };

void capacity_raise(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

static uint64_t descriptors_for_connections(uint64_t others, uint64_t own)
{
    uint64_t aside = SET_ASIDE + others;
    struct rlimit files;
    uint64_t left;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
        return UINT64_MAX;
    }
    left = files.rlim_cur > aside + 1 ? files.rlim_cur - aside : 1;
    return left - (own < left / 2 ? own : left / 2);
}

static uint64_t least_of(int64_t max_connections, uint64_t most)
{
    return max_connections > 0 && (uint64_t)max_connections < most ? (uint64_t)max_connections
                                                                   : most;
}

uint64_t capacity_connections(int64_t max_connections, uint64_t others, uint64_t own)
{
    return least_of(max_connections, descriptors_for_connections(others, own));
}

uint64_t capacity_passed(int64_t max_connections, uint64_t others, uint64_t own)
{
    return least_of(max_connections, descriptors_for_connections(others, own) / CAPACITY_PASSED);
}
