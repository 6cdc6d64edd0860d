/* SPDX-License-Identifier: MIT */
#include "server/store_opening.h"

#include "server/process/clock.h"

// How often the log says how far it is, and whether it gets on.
static const struct timeval LOOK = {.tv_sec = 5};
// How long a disk may take to let go of a start that is to be stopped.
static const struct timeval PATIENCE = {.tv_sec = 2};
// As long as it gets on, the service manager is asked to wait for so long from now on.
enum { EXTEND_SECONDS = 60 };

static void look(evutil_socket_t fd, short what, void *context)
{
    struct opening *opening = context;
    struct store *store = opening->store;

    (void)fd;
    (void)what;
    if (store->ops->log_progress(store, clock_mono() - opening->began_at)) {
        notify_extend(opening->notifier, EXTEND_SECONDS);
    }
}

static void patience_over(evutil_socket_t fd, short what, void *context)
{
    struct opening *opening = context;

    (void)fd;
    (void)what;
    opening->gives_up = true;
}

void opening_stop(struct opening *opening)
{
    opening->gives_up = opening->stops || event_add(&opening->patience, &PATIENCE) != 0;
    opening->stops = true;
    store_stop_opening(opening->store);
}

enum opening_end opening_run(struct opening *opening, struct loop *loop, struct reason *why)
{
    struct store *store = opening->store;
    bool good;

    opening->began_at = clock_mono();
    reason_set(why, "out of memory");
    if (event_assign(&opening->look, loop->turn.base, -1, EV_PERSIST, look, opening) != 0 ||
        evtimer_assign(&opening->patience, loop->turn.base, patience_over, opening) != 0 ||
        event_add(&opening->look, &LOOK) != 0 ||
        !store_open_begin(store, loop->turn.base, loop->turn.broker, why)) {
        return OPENING_FAILED;
    }
    while (store_is_opening(store) && !opening->gives_up) {
        (void)event_base_loop(loop->turn.base, EVLOOP_ONCE);
    }
    (void)event_del(&opening->look);
    (void)event_del(&opening->patience);
    if (store_is_opening(store)) {
        return OPENING_HANGS;
    }
    good = store_open_end(store, why);
    if (good && store) {
        loop_use_store(loop, store);
    }
    if (opening->stops) {
        return OPENING_STOPPED;
    }
    return good ? OPENING_DONE : OPENING_FAILED;
}
