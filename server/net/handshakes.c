/* SPDX-License-Identifier: MIT */
#include "server/net/handshakes.h"

#include "core/base/macros.h"
#include "server/net/budget.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static const struct timeval AT_ONCE = {0};

// One socket. The peer's text follows the transport's state.
struct handshaking {
    struct list_node node;  // in handshakes->all
    struct list_node ready; // in handshakes->ready, or nowhere
    struct handshakes *owner;
    const struct transport *transport;
    void *shared;
    const void *service;
    nsec_t began_at;
    int fd;
    bool begun;        // the transport has begun
    bool watches_room; // rather than input
    struct event event;
    alignas(uint64_t) char own[];
};

static const char *peer_of(const struct handshaking *one)
{
    return one->own + one->transport->state_size;
}

static nsec_t present(const struct handshakes *handshakes)
{
    return handshakes->host->now().mono;
}

// Sets the timer for the oldest. In milliseconds, rounded up: should the library's coarser clock
// make it fire early, it is set again.
static bool set_timer(struct handshakes *handshakes)
{
    const struct handshaking *oldest;
    struct timeval tv;
    nsec_t wait_for;

    if (list_empty(&handshakes->all)) {
        (void)event_del(&handshakes->timer);
        return true;
    }
    oldest = list_item(list_first(&handshakes->all), struct handshaking, node);
    wait_for = nsec_add(oldest->began_at, handshakes->timeout_for) - present(handshakes);
    wait_for = wait_for > 0 ? wait_for + NSEC_PER_MSEC - 1 : 0;
    tv.tv_sec = (time_t)(wait_for / NSEC_PER_SEC);
    tv.tv_usec = (suseconds_t)(wait_for % NSEC_PER_SEC / NSEC_PER_MSEC * 1000);
    return event_add(&handshakes->timer, &tv) == 0;
}

// Takes it off the lists; what it has is for the caller to see to, and then to free it.
static void leave(struct handshaking *one)
{
    (void)event_del(&one->event);
    list_remove(&one->ready);
    list_remove(&one->node);
    one->owner->count--;
}

static void give_up(struct handshaking *one, const char *why)
{
    struct handshakes *handshakes = one->owner;

    leave(one);
    one->transport->close(one->fd, one->own);
    handshakes->host->failed(handshakes->context, one->service, peer_of(one), why);
    free(one);
}

static void finish(struct handshaking *one)
{
    struct handshakes *handshakes = one->owner;

    leave(one);
    handshakes->host->done(handshakes->context, one->service, one->fd, one->own, peer_of(one));
    free(one);
}

// It is to be looked at in the next pass.
static void socket_ready(evutil_socket_t fd, short what, void *context)
{
    struct handshaking *one = context;
    struct handshakes *handshakes = one->owner;

    (void)fd;
    (void)what;
    if (!list_linked(&one->ready)) {
        list_append(&handshakes->ready, &one->ready);
    }
    if (!event_pending(&handshakes->pass, EV_TIMEOUT, NULL) &&
        event_add(&handshakes->pass, &AT_ONCE) != 0) {
        // Without memory for the timer the pass is made in this round of the base.
        event_active(&handshakes->pass, EV_TIMEOUT, 0);
    }
}

// Has its socket watched for what it waits for. Edges will do: a transport says that it waits for
// something when its socket has none.
static bool watch(struct handshaking *one, bool for_room)
{
    if (event_initialized(&one->event) && one->watches_room == for_room) {
        return true;
    }
    if (event_initialized(&one->event)) {
        (void)event_del(&one->event);
    }
    one->watches_room = for_room;
    return event_assign(&one->event, one->owner->base, one->fd,
                        (short)((for_room ? EV_WRITE : EV_READ) | EV_ET | EV_PERSIST), socket_ready,
                        one) == 0 &&
           event_add(&one->event, NULL) == 0;
}

static void wait_for(struct handshaking *one, bool room)
{
    if (!watch(one, room)) {
        give_up(one, "it cannot be watched");
    }
}

static void step(struct handshaking *one)
{
    const struct transport *transport = one->transport;
    struct reason why = {.text = ""};

    if (!one->begun) {
        one->begun = true;
        if (!transport->begin(one->fd, one->own, one->shared)) {
            give_up(one, "out of memory");
            return;
        }
    }
    switch (transport->handshake(one->fd, one->own, &why)) {
    case HANDSHAKE_DONE:
        finish(one);
        return;
    case HANDSHAKE_NEEDS_INPUT:
        wait_for(one, false);
        return;
    case HANDSHAKE_NEEDS_ROOM:
        wait_for(one, true);
        return;
    case HANDSHAKE_FAILED:
        give_up(one, why.text);
        return;
    }
    UNREACHABLE();
}

static void make_pass(evutil_socket_t fd, short what, void *context)
{
    struct handshakes *handshakes = context;
    nsec_t began_at = present(handshakes);
    unsigned steps = 0;

    (void)fd;
    (void)what;
    while (!list_empty(&handshakes->ready) && steps < HANDSHAKES_STEPS_MAX &&
           (steps == 0 || present(handshakes) - began_at < HANDSHAKES_FOR)) {
        struct list_node *first = list_first(&handshakes->ready);

        list_remove(first);
        step(list_item(first, struct handshaking, ready));
        steps++;
    }
    if (!list_empty(&handshakes->ready) && event_add(&handshakes->pass, &AT_ONCE) != 0) {
        event_active(&handshakes->pass, EV_TIMEOUT, 0);
    }
}

static void timer_fired(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    handshakes_expire(context);
}

void handshakes_init(struct handshakes *handshakes, struct event_base *base,
                     const struct handshakes_host *host, void *context, nsec_t timeout_for)
{
    *handshakes = (struct handshakes){
        .base = base, .host = host, .context = context, .timeout_for = timeout_for};
    list_init(&handshakes->all);
    list_init(&handshakes->ready);
    (void)evtimer_assign(&handshakes->pass, base, make_pass, handshakes);
    (void)evtimer_assign(&handshakes->timer, base, timer_fired, handshakes);
}

void handshakes_set_timeout(struct handshakes *handshakes, nsec_t timeout_for)
{
    handshakes->timeout_for = timeout_for;
    (void)set_timer(handshakes);
}

void handshakes_add(struct handshakes *handshakes, const struct transport *transport, void *shared,
                    const void *service, int fd, const char *peer)
{
    size_t state_size = transport->state_size;
    size_t peer_size = strlen(peer) + 1;
    struct handshaking *one = calloc(1, sizeof *one + state_size + peer_size);

    if (!one) {
        transport_plain.close(fd, NULL);
        handshakes->host->failed(handshakes->context, service, peer, "out of memory");
        return;
    }
    one->owner = handshakes;
    one->transport = transport;
    one->shared = shared;
    one->service = service;
    one->fd = fd;
    one->began_at = present(handshakes);
    memcpy(one->own + state_size, peer, peer_size);
    list_init(&one->ready);
    list_append(&handshakes->all, &one->node);
    handshakes->count++;
    if (!watch(one, false) || (handshakes->count == 1 && !set_timer(handshakes))) {
        give_up(one, "it cannot be watched");
    }
}

void handshakes_expire(struct handshakes *handshakes)
{
    nsec_t now_at = present(handshakes);

    while (!list_empty(&handshakes->all)) {
        struct handshaking *oldest =
            list_item(list_first(&handshakes->all), struct handshaking, node);

        if (nsec_add(oldest->began_at, handshakes->timeout_for) > now_at) {
            break;
        }
        give_up(oldest, "timeout");
    }
    (void)set_timer(handshakes);
}

void handshakes_close(struct handshakes *handshakes)
{
    if (!handshakes->base) {
        return;
    }
    while (!list_empty(&handshakes->all)) {
        struct handshaking *one = list_item(list_first(&handshakes->all), struct handshaking, node);

        leave(one);
        one->transport->close(one->fd, one->own);
        free(one);
    }
    (void)event_del(&handshakes->pass);
    (void)event_del(&handshakes->timer);
}
