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

// Both clocks are read within that.
#define READ_WITHIN (NSEC_PER_SEC / 4)

// The system cancels the timer when the clock jumps, once: then it is set again.
static bool suspend_arm(const struct suspend_watch *watch)
{
    const struct itimerspec at = {.it_value.tv_sec = SUSPEND_TIMER_AT};

    return timerfd_settime(watch->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL) == 0;
}

static nsec_t suspended_so_far(void)
{
    nsec_t awake_for, boot_for;

    // A thread that stands still between the two looks would see that as a suspend.
    do {
        awake_for = clock_awake();
        boot_for = clock_boot();
    } while (clock_awake() - awake_for >= READ_WITHIN);
    return boot_for - awake_for;
}

// For how long the machine has been suspended, as was not told yet; 0 where that is less than a
// second.
static nsec_t suspended_since(struct suspend_watch *watch)
{
    nsec_t so_far = suspended_so_far();
    nsec_t slept_for = so_far - watch->slept_for;

    // The two clocks are not read at the same moment.
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
    ssize_t ignored;

    (void)what;
    // It fails with ECANCELED, which takes the news off the descriptor.
    ignored = read(fd, &count, sizeof count);
    (void)ignored;
    if (!suspend_arm(watch)) {
        (void)event_del(&watch->event);
    }
    watch->handler(watch->context, suspended_since(watch));
}

void suspend_look(struct suspend_watch *watch)
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
