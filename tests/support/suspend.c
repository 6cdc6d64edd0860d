/* SPDX-License-Identifier: MIT */
// Replaces the clock functions of a process (LD_PRELOAD), so that a test can simulate that the
// machine was suspended, or that its wall clock was set.
//
//   SUSPEND_CLOCKS  a file of two numbers of 64 bits, which the test writes at any time: by how
//                   many nanoseconds CLOCK_BOOTTIME and CLOCK_REALTIME are ahead. CLOCK_MONOTONIC
//                   stays as it is
//   SUSPEND_NEWS    a FIFO in place of the timer of CLOCK_REALTIME: the test writes 8 bytes to it
//                   when the system would cancel the timer, as it does when the clock has jumped

// RTLD_NEXT is a GNU extension.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { AHEAD_BOOT, AHEAD_WALL, AHEADS };

static const volatile int64_t *ahead;
static int news = -1;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SUSPEND_CLOCKS");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = MAP_FAILED;

    if (file >= 0) {
        map = mmap(NULL, sizeof(int64_t[AHEADS]), PROT_READ, MAP_SHARED, file, 0);
        (void)close(file);
    }
    if (map == MAP_FAILED) {
        perror("SUSPEND_CLOCKS");
        abort();
    }
    ahead = map;
}

// Declares `next`, the replaced function. (No cast makes a function of an object's pointer.)
#define NEXT(name)                                                                                 \
    __typeof__(&(name)) next = NULL;                                                               \
    *(void **)&next = dlsym(RTLD_NEXT, #name)

static void put_ahead(struct timespec *now, int64_t by)
{
    int64_t nsec = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + by;

    now->tv_sec = (time_t)(nsec / 1000000000);
    now->tv_nsec = (long)(nsec % 1000000000);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    NEXT(clock_gettime);
    int result = next(clock, now);

    if (result == 0 && ahead && clock == CLOCK_BOOTTIME) {
        put_ahead(now, ahead[AHEAD_BOOT]);
    } else if (result == 0 && ahead &&
               (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        put_ahead(now, ahead[AHEAD_WALL]);
    }
    return result;
}

int timerfd_create(clockid_t clock, int flags)
{
    const char *path = getenv("SUSPEND_NEWS");
    NEXT(timerfd_create);

    if (clock != CLOCK_REALTIME || !path || news >= 0) {
        return next(clock, flags);
    }
    news = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return news;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *at, struct itimerspec *before)
{
    NEXT(timerfd_settime);

    if (timer != news || news < 0) {
        return next(timer, flags, at, before);
    }
    if (!(flags & TFD_TIMER_CANCEL_ON_SET)) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}
