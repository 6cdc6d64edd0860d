/* SPDX-License-Identifier: MIT */
#include "server/process/usage.h"

#include "core/base/digits.h"
#include "core/base/slice.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// The second number of the file is that of resident pages.
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
