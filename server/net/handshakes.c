/* SPDX-License-Identifier: MIT */
#include "server/net/handshakes.h"

#include "core/base/macros.h"
#include "core/base/memory.h"
#include "server/net/budget.h"
#include "server/net/crowd.h"

#include <stdalign.h>
#include <string.h>

static const struct timeval AT_ONCE = {0};

// One socket. The peer's text follows the transport's state.
struct handshaking {
    struct list_node node;  // in handshakes->all
    struct list_node place; // in `fresh`, `going` or `waiting` of handshakes, or nowhere
    struct handshakes *owner;
    const struct transport *transport;
    void *shared;
    const void *service;
    nsec_t began_at;
    int fd;
    bool ready;        // there is what it waits for
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
    return handshakes->host->now();
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
    list_remove(&one->place);
    list_remove(&one->node);
    one->owner->count--;
    one->owner->begun -= one->begun ? 1 : 0;
}

static size_t size_of(const struct transport *transport, const char *peer)
{
    return sizeof(struct handshaking) + transport->state_size + strlen(peer) + 1;
}

static void free_one(struct handshaking *one)
{
    memory_free_of(MEMORY_CONNECTIONS, one, size_of(one->transport, peer_of(one)));
}

static void give_up(struct handshaking *one, const char *why)
{
    struct handshakes *handshakes = one->owner;

    leave(one);
    crowd_leave(handshakes->crowd, one->fd);
    one->transport->close(one->fd, one->own);
    handshakes->host->failed(handshakes->context, one->service, peer_of(one), why);
    free_one(one);
}

static void finish(struct handshaking *one)
{
    struct handshakes *handshakes = one->owner;

    leave(one);
    handshakes->host->done(handshakes->context, one->service, one->fd, one->own, peer_of(one));
    free_one(one);
}

// Has a pass made in the base's next round.
static void want_pass(struct handshakes *handshakes)
{
    if (!event_pending(&handshakes->pass, EV_TIMEOUT, NULL) &&
        event_add(&handshakes->pass, &AT_ONCE) != 0) {
        // Without memory for the timer it is made in this one.
        event_active(&handshakes->pass, EV_TIMEOUT, 0);
    }
}

// It is to be looked at in the next pass.
static void socket_ready(evutil_socket_t fd, short what, void *context)
{
    struct handshaking *one = context;
    struct handshakes *handshakes = one->owner;

    (void)fd;
    (void)what;
    if (!one->ready) {
        one->ready = true;
        list_remove(&one->place);
        list_append(one->begun ? &handshakes->going : &handshakes->fresh, &one->place);
    }
    want_pass(handshakes);
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
        return;
    }
    list_append(&one->owner->waiting, &one->place);
}

static void step(struct handshaking *one)
{
    const struct transport *transport = one->transport;
    struct error_text why = {.text = ""};

    if (!one->begun) {
        one->begun = true;
        one->owner->begun++;
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

// Whether one more may begin. Where all that are under way have something to do, it has to wait.
static bool make_room(struct handshakes *handshakes)
{
    if (handshakes->begun < handshakes->begun_max) {
        return true;
    }
    if (list_empty(&handshakes->waiting)) {
        return false;
    }
    give_up(list_item(list_first(&handshakes->waiting), struct handshaking, place),
            "too many handshakes at once");
    return true;
}

// The one that the next step is to be made of: there is one.
static struct handshaking *take_ready(struct handshakes *handshakes)
{
    bool goes_on = list_empty(&handshakes->fresh) ||
                   (handshakes->goes_on && !list_empty(&handshakes->going)) ||
                   !make_room(handshakes);
    struct list_node *first = list_first(goes_on ? &handshakes->going : &handshakes->fresh);
    struct handshaking *one;

    ENSURE(first);
    handshakes->goes_on = !goes_on;
    list_remove(first);
    one = list_item(first, struct handshaking, place);
    one->ready = false;
    return one;
}

static bool has_ready(const struct handshakes *handshakes)
{
    return !list_empty(&handshakes->fresh) || !list_empty(&handshakes->going);
}

static bool has_lasted(const struct handshakes *handshakes, nsec_t began_at)
{
    return present(handshakes) - began_at >= HANDSHAKES_FOR;
}

static void make_pass(evutil_socket_t fd, short what, void *context)
{
    struct handshakes *handshakes = context;
    nsec_t began_at = present(handshakes);
    unsigned steps = 0;

    (void)fd;
    (void)what;
    while (has_ready(handshakes) && steps < HANDSHAKES_STEPS_MAX &&
           (steps == 0 || !has_lasted(handshakes, began_at))) {
        step(take_ready(handshakes));
        steps++;
    }
    if (has_ready(handshakes)) {
        want_pass(handshakes);
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
        .base = base,
        .host = host,
        .context = context,
        .timeout_for = timeout_for,
        .begun_max = HANDSHAKES_BEGUN_MAX,
    };
    list_init(&handshakes->all);
    list_init(&handshakes->fresh);
    list_init(&handshakes->going);
    list_init(&handshakes->waiting);
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
    struct handshaking *one = memory_zeroed_of(MEMORY_CONNECTIONS, size_of(transport, peer));

    if (!one) {
        crowd_leave(handshakes->crowd, fd);
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
    memcpy(one->own + state_size, peer, strlen(peer) + 1);
    list_init(&one->place);
    list_append(&handshakes->all, &one->node);
    handshakes->count++;
    if (!watch(one, false) || (handshakes->count == 1 && !set_timer(handshakes))) {
        give_up(one, "it cannot be watched");
    }
}

void handshakes_expire(struct handshakes *handshakes)
{
    nsec_t began_at = present(handshakes);

    for (unsigned i = 0; i < HANDSHAKES_CLOSED_MAX && !list_empty(&handshakes->all); i++) {
        struct handshaking *oldest =
            list_item(list_first(&handshakes->all), struct handshaking, node);

        if (nsec_add(oldest->began_at, handshakes->timeout_for) > began_at ||
            (i > 0 && has_lasted(handshakes, began_at))) {
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
        crowd_leave(handshakes->crowd, one->fd);
        one->transport->close(one->fd, one->own);
        free_one(one);
    }
    (void)event_del(&handshakes->pass);
    (void)event_del(&handshakes->timer);
}
