/* SPDX-License-Identifier: MIT */
#include "server/process/suspend.h"

#include "server/process/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

// In the year 2242.
#define SUSPEND_TIMER_AT ((time_t)1 << 33)

// Both clocks must be read within this time.
#define READ_WITHIN (NSEC_PER_SEC / 4)

// The kernel cancels the timer when the clock jumps; after that it must be set again.
static bool suspend_arm(const struct suspend_watch *watch)
{
    const struct itimerspec at = {.it_value.tv_sec = SUSPEND_TIMER_AT};

    return timerfd_settime(watch->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL) == 0;
}

static nsec_t suspended_so_far(void)
{
    nsec_t awake_for, boot_for;

    // If the thread is interrupted between the two reads, that would look like a suspend.
    do {
        awake_for = clock_awake();
        boot_for = clock_boot();
    } while (clock_awake() - awake_for >= READ_WITHIN);
    return boot_for - awake_for;
}

// The time suspended since the last report; 0 if it is less than a second, because the two clocks
// are not read at the same time.
static nsec_t suspended_since(struct suspend_watch *watch)
{
    nsec_t so_far = suspended_so_far();
    nsec_t slept_for = so_far - watch->slept_for;

    if (slept_for < NSEC_PER_SEC) {
        return 0;
    }
    watch->slept_for = so_far;
    return slept_for;
}

static void suspend_seen(evutil_socket_t fd, short what, void *context)
{
    struct suspend_watch *watch = context;
    uint64_t count;

    (void)what;
    // Fails with ECANCELED, after which the descriptor is no longer readable.
    (void)!read(fd, &count, sizeof count);
    if (!suspend_arm(watch)) {
        (void)event_del(&watch->event);
    }
    watch->handler(watch->context, suspended_since(watch));
}

void suspend_check(struct suspend_watch *watch)
{
    nsec_t slept_for = watch->handler ? suspended_since(watch) : 0;

    if (slept_for > 0) {
        watch->handler(watch->context, slept_for);
    }
}

void suspend_watch_open(struct suspend_watch *watch, struct event_base *base,
                        suspend_handler handler, void *context)
{
    *watch = (struct suspend_watch){
        .slept_for = suspended_so_far(),
        .handler = handler,
        .context = context,
        .fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK),
    };
    if (watch->fd < 0) {
        return;
    }
    if (!suspend_arm(watch) ||
        event_assign(&watch->event, base, watch->fd, EV_READ | EV_PERSIST, suspend_seen, watch) !=
            0 ||
        event_add(&watch->event, NULL) != 0) {
        (void)close(watch->fd);
        watch->fd = -1;
    }
}

void suspend_watch_close(struct suspend_watch *watch)
{
    if (watch->handler && watch->fd >= 0) {
        (void)event_del(&watch->event);
        (void)close(watch->fd);
    }
    memset(watch, 0, sizeof *watch);
}
