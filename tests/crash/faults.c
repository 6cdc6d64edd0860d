/* SPDX-License-Identifier: MIT */
// Stands between a process and its disk (LD_PRELOAD): within one directory, writes are short, torn
// or fail by chance, and syncs, renames and reservations fail; and the wall clock is set otherwise.
//
//   FAULTS_DIR     the directory; without it nothing fails
//   FAULTS_SWITCH  a file: where it is there, calls may fail
//   FAULTS_ONE_IN  one in this number of calls fails
//   FAULTS_SEED    which ones
//   FAULTS_CLOCK   seconds that the wall clock is ahead

// RTLD_NEXT is a GNU extension.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static struct {
    char directory[PATH_BYTES];
    size_t directory_len; // 0: nothing fails
    const char *knob;
    unsigned long one_in;
    uint64_t dice;
    long clock;
    pthread_mutex_t mutex; // for `dice`
} faults = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static unsigned long number_from(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
    const char *directory = getenv("FAULTS_DIR");
    const char *clock = getenv("FAULTS_CLOCK");

    if (directory && realpath(directory, faults.directory)) {
        faults.directory_len = strlen(faults.directory);
    }
    faults.knob = getenv("FAULTS_SWITCH");
    faults.one_in = number_from("FAULTS_ONE_IN", 50);
    faults.dice = number_from("FAULTS_SEED", 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    faults.clock = clock ? strtol(clock, NULL, 10) : 0;
}

static unsigned long roll(unsigned long sides)
{
    unsigned long rolled;

    (void)pthread_mutex_lock(&faults.mutex);
    faults.dice ^= faults.dice << 13;
    faults.dice ^= faults.dice >> 7;
    faults.dice ^= faults.dice << 17;
    rolled = (unsigned long)(faults.dice >> 32) % sides;
    (void)pthread_mutex_unlock(&faults.mutex);
    return rolled;
}

// Whether the descriptor is that of the directory, or of a file in it.
static bool is_inside(int file)
{
    char link[64];
    char path[PATH_BYTES];
    ssize_t len;

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    len = readlink(link, path, sizeof path);
    return faults.directory_len > 0 && len >= (ssize_t)faults.directory_len &&
           memcmp(path, faults.directory, faults.directory_len) == 0 &&
           ((size_t)len == faults.directory_len || path[faults.directory_len] == '/');
}

// Whether this call fails.
static bool strikes(int file)
{
    int error = errno;
    bool does = is_inside(file) && (!faults.knob || access(faults.knob, F_OK) == 0) &&
                roll(faults.one_in) == 0;

    errno = error;
    return does;
}

// The function that would have been called. (No cast makes a function of an object's pointer.)
#define NEXT(name)                                                                                 \
    __typeof__(&(name)) next = NULL;                                                               \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

static int some_error(void)
{
    return roll(3) ? EIO : ENOSPC;
}

static int refuse(void)
{
    errno = some_error();
    return -1;
}

// As many of the parts as make half of their bytes, at least one byte.
static int halve(const struct iovec *parts, int count, struct iovec *half)
{
    size_t len = 0;
    int i;

    for (i = 0; i < count; i++) {
        len += parts[i].iov_len;
    }
    len = len > 1 ? 1 + roll(len - 1) : len;
    for (i = 0; i < count && len > 0; i++) {
        half[i] = parts[i];
        half[i].iov_len = parts[i].iov_len < len ? parts[i].iov_len : len;
        len -= half[i].iov_len;
    }
    return i;
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    struct iovec half[1024];
    unsigned long way;
    ssize_t put;
    NEXT(pwritev);

    if (count > 1024 || !strikes(file)) {
        return next(file, parts, count, offset);
    }
    way = roll(3);
    if (way == 0) {
        return refuse();
    }
    put = next(file, half, halve(parts, count, half), offset);
    return way == 1 ? put : refuse();
}

int fdatasync(int file)
{
    NEXT(fdatasync);

    return strikes(file) ? refuse() : next(file);
}

int fsync(int file)
{
    NEXT(fsync);

    return strikes(file) ? refuse() : next(file);
}

int renameat(int from_at, const char *from, int to_at, const char *to)
{
    NEXT(renameat);

    return strikes(from_at) ? refuse() : next(from_at, from, to_at, to);
}

int posix_fallocate(int file, off_t offset, off_t len)
{
    NEXT(posix_fallocate);

    return strikes(file) ? some_error() : next(file, offset, len);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    NEXT(clock_gettime);
    int result = next(clock, now);

    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += faults.clock;
    }
    return result;
}
