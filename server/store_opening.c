/* SPDX-License-Identifier: MIT */
#include "server/store_opening.h"

#include "server/process/clock.h"

// How often progress is logged and checked.
static const struct timeval PROGRESS_EVERY = {.tv_sec = 5};
// How long the disk may delay a stop.
static const struct timeval STOP_WITHIN = {.tv_sec = 2};
// How often the loop turns during an import, because the store may have made records durable.
static const struct timeval TURN_EVERY = {.tv_usec = 10000};
// The same in a standby, because the owner may change at any time.
static const struct timeval STANDBY_TURN_EVERY = {.tv_usec = 50000};
// While there is progress, the service manager is asked to wait for this long from now.
enum { EXTEND_SECONDS = 60 };
// Turns in which connected clients are still answered when the store is open. The first reads the
// request of a client that has just connected, and the next one sends the reply.
enum { LAST_TURNS = 16 };

static void opening_log_progress(evutil_socket_t fd, short what, void *context)
{
    struct opening *opening = context;
    struct store *store = opening->store;

    (void)fd;
    (void)what;
    if (opening_imports(opening)) {
        importing_log_progress(&opening->importing);
        notify_extend(opening->notifier, EXTEND_SECONDS);
        return;
    }
    if (!opening->ready && store->ops->log_progress(store, clock_awake() - opening->began_at)) {
        notify_extend(opening->notifier, EXTEND_SECONDS);
    }
}

static void opening_wake(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

static void opening_give_up(evutil_socket_t fd, short what, void *context)
{
    struct opening *opening = context;

    (void)fd;
    (void)what;
    opening->gives_up = true;
}

void opening_stop(struct opening *opening)
{
    opening->gives_up = opening->stops || event_add(&opening->stop_timer, &STOP_WITHIN) != 0;
    opening->stops = true;
    if (!opening_imports(opening)) {
        store_stop_opening(opening->store);
    }
}

bool opening_progress(const struct opening *opening, struct restore_progress *progress)
{
    if (!opening->temporary) {
        return false;
    }
    if (opening_imports(opening)) {
        importing_progress(&opening->importing, progress);
    } else {
        store_progress(opening->store, progress);
    }
    return true;
}

bool opening_init(struct opening *opening, const struct broker_options *options, struct instant now)
{
    // The temporary broker has no store.
    const struct broker_options own = {.secret = options->secret, .key = options->key};

    opening->temporary = opening->store ? broker_new(&own, now) : NULL;
    return opening->temporary || !opening->store;
}

void opening_clear(struct opening *opening)
{
    broker_free(opening->temporary);
    opening->temporary = NULL;
}

static void opening_turn(const struct opening *opening, struct loop *loop, bool wait)
{
    loop_turn(loop, wait);
    opening->turned(opening->context);
}

// Answers pending requests, then closes all connections: their sessions belong to the temporary
// broker.
static void opening_change_brokers(const struct opening *opening, struct loop *loop)
{
    unsigned turns = 0;

    if (!opening->temporary) {
        return;
    }
    // A client that connects now waits for the broker.
    opening->turned(opening->context);
    do {
        opening_turn(opening, loop, false);
    } while (loop->turn.events > 0 && ++turns < LAST_TURNS);
    loop_close_all(loop);
    loop_use_broker(loop, opening->broker);
}

// Imports jobs of another broker, if the settings ask for it, until a signal stops it.
static bool opening_import(struct opening *opening, struct loop *loop, struct error_text *why)
{
    struct importing *importing = &opening->importing;
    bool good = importing_open(importing, &opening->import, opening->broker, opening->store, why);

    if (good && importing_is_on(importing)) {
        error_set(why, "out of memory");
        good = event_add(&opening->turn_timer, &TURN_EVERY) == 0;
    }
    while (good && importing_is_on(importing) && !opening->stops) {
        opening_turn(opening, loop, importing_waits(importing));
        good = importing_work(importing, loop->turn.now(), why);
    }
    importing_close(importing);
    return good && (opening->stops || importing_serve(importing, why));
}

static enum opening_end opening_finish(struct opening *opening, struct loop *loop,
                                       struct error_text *why)
{
    bool good = store_open_end(opening->store, why);

    if (good && opening->store && !opening->stops) {
        good = opening_import(opening, loop, why);
    }
    if (good && !opening->stops) {
        opening_change_brokers(opening, loop);
    }
    // The request to stop may come in the last turns, too.
    if (opening->stops) {
        return OPENING_STOPPED;
    }
    if (good && opening->store) {
        loop_use_store(loop, opening->store);
    }
    return good ? OPENING_DONE : OPENING_FAILED;
}

enum opening_end opening_run(struct opening *opening, struct loop *loop, struct error_text *why)
{
    struct store *store = opening->store;
    enum opening_end end;

    opening->began_at = clock_awake();
    error_set(why, "out of memory");
    if (event_assign(&opening->progress_timer, loop->turn.base, -1, EV_PERSIST,
                     opening_log_progress, opening) != 0 ||
        evtimer_assign(&opening->stop_timer, loop->turn.base, opening_give_up, opening) != 0 ||
        event_assign(&opening->turn_timer, loop->turn.base, -1, EV_PERSIST, opening_wake, NULL) !=
            0 ||
        (store && store->shared && event_add(&opening->turn_timer, &STANDBY_TURN_EVERY) != 0) ||
        event_add(&opening->progress_timer, &PROGRESS_EVERY) != 0 ||
        !store_open_begin(store, loop->turn.base, opening->broker, why)) {
        return OPENING_FAILED;
    }
    opening->turned(opening->context);
    while (store_is_opening(store) && !opening->gives_up) {
        opening_turn(opening, loop, true);
    }
    end = store_is_opening(store) ? OPENING_HANGS : opening_finish(opening, loop, why);
    (void)event_del(&opening->progress_timer);
    (void)event_del(&opening->stop_timer);
    (void)event_del(&opening->turn_timer);
    return end;
}
