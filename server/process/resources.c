/* SPDX-License-Identifier: MIT */
#include "server/process/resources.h"

#include "core/base/digits.h"
#include "core/base/slice.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// Descriptors for other uses than connections, listeners and I/O threads: the three standard files,
// the loop, signals, the log, the files of the journal, and files that are open for a moment.
enum { DESCRIPTORS_SET_ASIDE = 32 };

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
    uint64_t aside = DESCRIPTORS_SET_ASIDE + others;
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

// The second number of the file is the number of resident pages.
uint64_t usage_resident(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    const char *number;
    uint64_t pages;

    if (fd >= 0) {
        (void)close(fd);
    }
    if (len <= 0) {
        return 0;
    }
    text[len] = '\0';
    number = strchr(text, ' ');
    number = number ? number + 1 : text + len;
    if (!digits_read(slice_of(number, strcspn(number, " ")), &pages)) {
        return 0;
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t usage_descriptors(void)
{
    struct stat st;

    return stat("/proc/self/fd", &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

uint64_t usage_descriptors_limit(void)
{
    struct rlimit files;

    return getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY
               ? (uint64_t)files.rlim_cur
               : 0;
}
