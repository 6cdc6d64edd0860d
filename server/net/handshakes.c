/* SPDX-License-Identifier: MIT */
#include "server/net/handshakes.h"

#include "core/base/macros.h"
#include "core/base/memory.h"
#include "server/net/budget.h"
#include "server/net/admission.h"
#include "server/net/socket.h"

#include <stdalign.h>
#include <string.h>

static const struct timeval AT_ONCE = {0};

// A socket. The text of its peer follows the transport's state.
struct handshaking {
    struct list_node node;  // in handshakes->all
    struct list_node place; // in `fresh`, `going` or `waiting` of handshakes, or in none
    struct handshakes *owner;
    const struct transport *transport;
    void *shared;
    const void *service;
    nsec_t began_at;
    int fd;
    bool ready;        // what it waits for is there
    bool begun;        // the transport has begun
    bool watches_room; // otherwise input
    struct event event;
    alignas(uint64_t) char own[];
};

static const char *handshake_peer(const struct handshaking *one)
{
    return one->own + one->transport->state_size;
}

static nsec_t handshakes_now(const struct handshakes *handshakes)
{
    return handshakes->host->now();
}

// Sets the timer for the oldest, in milliseconds, rounded up. If the coarse clock of libevent makes
// it fire early, it is set again.
static bool handshakes_set_timer(struct handshakes *handshakes)
{
    const struct handshaking *oldest;
    struct timeval tv;
    nsec_t wait_for;

    if (list_empty(&handshakes->all)) {
        (void)event_del(&handshakes->timer);
        return true;
    }
    oldest = list_item(list_first(&handshakes->all), struct handshaking, node);
    wait_for = nsec_add(oldest->began_at, handshakes->timeout_for) - handshakes_now(handshakes);
    wait_for = wait_for > 0 ? wait_for + NSEC_PER_MSEC - 1 : 0;
    tv.tv_sec = (time_t)(wait_for / NSEC_PER_SEC);
    tv.tv_usec = (suseconds_t)(wait_for % NSEC_PER_SEC / NSEC_PER_MSEC * 1000);
    return event_add(&handshakes->timer, &tv) == 0;
}

// Removes it from the lists; the caller owns what it has, and frees it.
static void handshake_unlink(struct handshaking *one)
{
    (void)event_del(&one->event);
    list_remove(&one->place);
    list_remove(&one->node);
    one->owner->count--;
    one->owner->begun -= one->begun ? 1 : 0;
}

static size_t handshake_size(const struct transport *transport, const char *peer)
{
    return sizeof(struct handshaking) + transport->state_size + strlen(peer) + 1;
}

static void handshake_free(struct handshaking *one)
{
    memory_free_of(MEMORY_CONNECTIONS, one, handshake_size(one->transport, handshake_peer(one)));
}

// The text of the client that the peer has named, or of the peer.
static const char *handshake_speaker(const struct handshaking *one, char text[PEER_TEXT_MAX])
{
    const struct client_address *client =
        one->transport->client ? one->transport->client(one->own) : NULL;

    if (!client) {
        return handshake_peer(one);
    }
    socket_client_text(client, text, PEER_TEXT_MAX);
    return text;
}

static void handshake_fail(struct handshaking *one, const char *why)
{
    struct handshakes *handshakes = one->owner;
    char text[PEER_TEXT_MAX];
    const char *speaker = handshake_speaker(one, text);

    handshake_unlink(one);
    peer_limits_leave(handshakes->peer_limits, one->fd);
    one->transport->close(one->fd, one->own);
    handshakes->host->failed(handshakes->context, one->service, speaker, why);
    handshake_free(one);
}

static void handshake_finish(struct handshaking *one)
{
    struct handshakes *handshakes = one->owner;
    char text[PEER_TEXT_MAX];

    handshake_unlink(one);
    handshakes->host->done(handshakes->context, one->service, one->fd, one->own,
                           handshake_speaker(one, text));
    handshake_free(one);
}

// Has a pass made in the next round of the base.
static void handshakes_want_pass(struct handshakes *handshakes)
{
    if (!event_pending(&handshakes->pass, EV_TIMEOUT, NULL) &&
        event_add(&handshakes->pass, &AT_ONCE) != 0) {
        // Without memory for the timer, the pass is made in this round.
        event_active(&handshakes->pass, EV_TIMEOUT, 0);
    }
}

// It takes part in the next pass.
static void handshake_ready(evutil_socket_t fd, short what, void *context)
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
    handshakes_want_pass(handshakes);
}

// Watches the socket for what it waits for. Edges suffice: a transport waits only after it has
// found the socket empty, or full.
static bool handshake_watch(struct handshaking *one, bool for_room)
{
    if (event_initialized(&one->event) && one->watches_room == for_room) {
        return true;
    }
    if (event_initialized(&one->event)) {
        (void)event_del(&one->event);
    }
    one->watches_room = for_room;
    return event_assign(&one->event, one->owner->base, one->fd,
                        (short)((for_room ? EV_WRITE : EV_READ) | EV_ET | EV_PERSIST),
                        handshake_ready, one) == 0 &&
           event_add(&one->event, NULL) == 0;
}

static void handshake_wait(struct handshaking *one, bool room)
{
    if (!handshake_watch(one, room)) {
        handshake_fail(one, "it cannot be watched");
        return;
    }
    list_append(&one->owner->waiting, &one->place);
}

// Begins, unless it has. False without memory: it has failed.
static bool handshake_begin(struct handshaking *one)
{
    if (one->begun) {
        return true;
    }
    one->begun = true;
    one->owner->begun++;
    if (!one->transport->begin(one->fd, one->own, one->shared)) {
        handshake_fail(one, "out of memory");
        return false;
    }
    return true;
}

static void handshake_step(struct handshaking *one)
{
    const struct transport *transport = one->transport;
    struct error_text why = {.text = ""};

    if (!handshake_begin(one)) {
        return;
    }
    switch (transport->handshake(one->fd, one->own, &why)) {
    case HANDSHAKE_DONE:
        handshake_finish(one);
        return;
    case HANDSHAKE_NEEDS_INPUT:
        handshake_wait(one, false);
        return;
    case HANDSHAKE_NEEDS_ROOM:
        handshake_wait(one, true);
        return;
    case HANDSHAKE_FAILED:
        handshake_fail(one, why.text);
        return;
    }
    UNREACHABLE();
}

// Whether one more may begin; may give up one that waits for its peer.
static bool handshakes_make_room(struct handshakes *handshakes)
{
    if (handshakes->begun < handshakes->begun_max) {
        return true;
    }
    if (list_empty(&handshakes->waiting)) {
        return false;
    }
    handshake_fail(list_item(list_first(&handshakes->waiting), struct handshaking, place),
                   "too many handshakes at once");
    return true;
}

// The socket for the next step. There is one.
static struct handshaking *handshakes_take_ready(struct handshakes *handshakes)
{
    bool goes_on = list_empty(&handshakes->fresh) ||
                   (handshakes->goes_on && !list_empty(&handshakes->going)) ||
                   !handshakes_make_room(handshakes);
    struct list_node *first = list_first(goes_on ? &handshakes->going : &handshakes->fresh);
    struct handshaking *one;

    ENSURE(first);
    handshakes->goes_on = !goes_on;
    list_remove(first);
    one = list_item(first, struct handshaking, place);
    one->ready = false;
    return one;
}

static bool handshakes_have_ready(const struct handshakes *handshakes)
{
    return !list_empty(&handshakes->fresh) || !list_empty(&handshakes->going);
}

static bool handshakes_pass_is_over(const struct handshakes *handshakes, nsec_t began_at)
{
    return handshakes_now(handshakes) - began_at >= HANDSHAKES_FOR;
}

static void handshakes_make_pass(evutil_socket_t fd, short what, void *context)
{
    struct handshakes *handshakes = context;
    nsec_t began_at = handshakes_now(handshakes);
    unsigned steps = 0;

    (void)fd;
    (void)what;
    while (handshakes_have_ready(handshakes) && steps < HANDSHAKES_STEPS_MAX &&
           (steps == 0 || !handshakes_pass_is_over(handshakes, began_at))) {
        handshake_step(handshakes_take_ready(handshakes));
        steps++;
    }
    if (handshakes_have_ready(handshakes)) {
        handshakes_want_pass(handshakes);
    }
}

static void handshakes_timer_fired(evutil_socket_t fd, short what, void *context)
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
    (void)evtimer_assign(&handshakes->pass, base, handshakes_make_pass, handshakes);
    (void)evtimer_assign(&handshakes->timer, base, handshakes_timer_fired, handshakes);
}

void handshakes_set_timeout(struct handshakes *handshakes, nsec_t timeout_for)
{
    handshakes->timeout_for = timeout_for;
    (void)handshakes_set_timer(handshakes);
}

void handshakes_add(struct handshakes *handshakes, const struct transport *transport, void *shared,
                    const void *service, int fd, const char *peer)
{
    size_t state_size = transport->state_size;
    struct handshaking *one = memory_zeroed_of(MEMORY_CONNECTIONS, handshake_size(transport, peer));

    if (!one) {
        peer_limits_leave(handshakes->peer_limits, fd);
        transport_plain.close(fd, NULL);
        handshakes->host->failed(handshakes->context, service, peer, "out of memory");
        return;
    }
    one->owner = handshakes;
    one->transport = transport;
    one->shared = shared;
    one->service = service;
    one->fd = fd;
    one->began_at = handshakes_now(handshakes);
    memcpy(one->own + state_size, peer, strlen(peer) + 1);
    list_init(&one->place);
    list_append(&handshakes->all, &one->node);
    handshakes->count++;
    if (!handshake_watch(one, false) ||
        (handshakes->count == 1 && !handshakes_set_timer(handshakes))) {
        handshake_fail(one, "it cannot be watched");
    }
}

static void handshake_expire(struct handshaking *one)
{
    const struct transport *transport = one->transport;

    if (transport->late && !handshake_begin(one)) {
        return;
    }
    if (transport->late && transport->late(one->fd, one->own)) {
        handshake_finish(one);
    } else {
        handshake_fail(one, "timeout");
    }
}

void handshakes_expire(struct handshakes *handshakes)
{
    nsec_t began_at = handshakes_now(handshakes);

    for (unsigned i = 0; i < HANDSHAKES_CLOSED_MAX && !list_empty(&handshakes->all); i++) {
        struct handshaking *oldest =
            list_item(list_first(&handshakes->all), struct handshaking, node);

        if (nsec_add(oldest->began_at, handshakes->timeout_for) > began_at ||
            (i > 0 && handshakes_pass_is_over(handshakes, began_at))) {
            break;
        }
        handshake_expire(oldest);
    }
    (void)handshakes_set_timer(handshakes);
}

void handshakes_close(struct handshakes *handshakes)
{
    if (!handshakes->base) {
        return;
    }
    while (!list_empty(&handshakes->all)) {
        struct handshaking *one = list_item(list_first(&handshakes->all), struct handshaking, node);

        handshake_unlink(one);
        peer_limits_leave(handshakes->peer_limits, one->fd);
        one->transport->close(one->fd, one->own);
        handshake_free(one);
    }
    (void)event_del(&handshakes->pass);
    (void)event_del(&handshakes->timer);
}
