/* SPDX-License-Identifier: MIT */
// accept4 is a GNU function.
#define _GNU_SOURCE
#include "server/io/door.h"

#include "server/io/arrivals.h"
#include "server/io/link_life.h"
#include "server/net/admission.h"
#include "server/net/crowd.h"
#include "server/net/listener.h"
#include "server/net/socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// A thread accepts so many at a time: the others are woken by the same connections.
enum { DOOR_ACCEPT_MAX = 16 };

// How long the doors stay closed when the process can hold no more connections.
static const struct timeval REST = {.tv_usec = 200000};

// Tells the core's thread of a socket of which no connection came.
static void tell_refused(struct io_thread *thread, const struct io_service *service,
                         const char *peer, const char *why)
{
    size_t peer_size = strlen(peer) + 1;
    size_t why_size = strlen(why) + 1;
    struct batch *batch = outbox_room(&thread->news, sizeof service + peer_size + why_size);
    char *text;

    atomic_fetch_sub(thread->common->open, 1);
    if (!batch) {
        return; // the log does not tell of each
    }
    text = batch->bytes + batch->used;
    memcpy(text, &service, sizeof service);
    memcpy(text + sizeof service, peer, peer_size);
    memcpy(text + sizeof service + peer_size, why, why_size);
    (void)outbox_note(&thread->news, NULL, NEWS_REFUSED, sizeof service + peer_size + why_size);
}

static void refuse(struct io_thread *thread, const struct io_service *service, int fd, void *own)
{
    char peer[PEER_TEXT_MAX];

    socket_peer_text(fd, peer, sizeof peer);
    crowd_leave(thread->common->crowd, fd);
    service->transport->close(fd, own);
    tell_refused(thread, service, peer, "out of memory");
}

// How many more links than the thread with the fewest one may have before that gets the next.
enum { UNEVEN_MAX = 8 };

// Begins a connection here, or with the thread that has the fewest.
static void let_in(struct io_thread *thread, const struct io_service *service, int fd, void *own)
{
    struct link *link = link_new(service, fd, own);
    struct io_thread *fewest = arrivals_fewest(thread->common);

    if (!link) {
        refuse(thread, service, fd, own);
    } else if (arrivals_count(thread) <= arrivals_count(fewest) + UNEVEN_MAX) {
        arrivals_expect(thread);
        link->socket.thread = thread;
        link_open(link);
    } else {
        arrivals_expect(fewest);
        arrivals_send(fewest, link);
    }
}

static void handshake_done(void *context, const void *service, int fd, void *own, const char *peer)
{
    (void)peer;
    thread_wake(context);
    let_in(context, service, fd, own);
}

static void handshake_failed(void *context, const void *service, const char *peer, const char *why)
{
    thread_wake(context);
    tell_refused(context, service, peer, why);
}

static const struct handshakes_host handshakes_host = {
    .now = clock_awake, .done = handshake_done, .failed = handshake_failed};

static void greet(struct io_thread *thread, const struct io_service *service, int fd)
{
    char peer[PEER_TEXT_MAX];

    if (service->transport->handshake) {
        socket_peer_text(fd, peer, sizeof peer);
        if (!admission_has_memory(atomic_load(thread->common->open), peer, thread->common->crowd,
                                  service->kind)) {
            crowd_leave(thread->common->crowd, fd);
            transport_plain.close(fd, NULL);
            tell_refused(thread, service, peer, "out of memory");
            return;
        }
        handshakes_add(&thread->handshakes, service->transport, service->shared, service, fd, peer);
    } else {
        let_in(thread, service, fd, NULL);
    }
}

// It was accepted here. One that there are too many of is closed at once.
static void welcome(struct io_thread *thread, const struct door *door, int fd)
{
    const struct io_service *service = door->service;
    char peer[PEER_TEXT_MAX];

    if (crowd_enter(thread->common->crowd, fd, door->kind)) {
        greet(thread, service, fd);
        return;
    }
    socket_peer_text(fd, peer, sizeof peer);
    transport_plain.close(fd, NULL);
    tell_refused(thread, service, peer, CROWD_WHY);
}

void door_greet(struct io_thread *thread, struct link *link)
{
    const struct io_service *service = link->service;
    int fd = link->fd;

    arrivals_part(thread);
    link_free(link);
    if (thread->is_shut) {
        crowd_leave(thread->common->crowd, fd);
        transport_plain.close(fd, NULL);
        atomic_fetch_sub(thread->common->open, 1);
        // It waits for the last one when it stops.
        sleeper_wake(thread->news.reader);
        return;
    }
    greet(thread, service, fd);
}

// Those of these kinds are open from now on, and no others.
static void doors_watch(struct io_thread *thread, unsigned kinds)
{
    thread->doors_open = kinds;
    list_each (node, &thread->doors) {
        struct door *door = list_item(node, struct door, node);

        if (kinds & 1u << door->kind) {
            (void)event_add(&door->event, NULL);
        } else {
            (void)event_del(&door->event);
        }
    }
}

// Closes sockets whose handshakes are not made, and lets nobody in any more.
static void doors_shut(struct io_thread *thread)
{
    size_t count = thread->handshakes.count;

    doors_watch(thread, 0);
    handshakes_close(&thread->handshakes);
    atomic_fetch_sub(thread->common->open, count);
    atomic_store(&thread->is_shut, true);
    sleeper_wake(thread->news.reader);
}

// Where there is no batch to write to, in a later round: rests make some.
static void tell_complaint(struct io_thread *thread)
{
    if (thread->complaint != 0 && outbox_room(&thread->news, 0)) {
        outbox_note(&thread->news, NULL, NEWS_RESTS, 0)->error = thread->complaint;
        thread->complaint = 0;
    }
}

// The kinds whose doors are to be open.
static unsigned doors_wanted(const struct io_thread *thread)
{
    const struct thread_common *common = thread->common;
    bool accepts = atomic_load(&common->accepts) && !thread->rests && !thread->is_shut;

    return accepts ? SEATS_ALL & ~atomic_load(&common->full) : 0;
}

bool doors_are_settled(const struct io_thread *thread)
{
    return thread->doors_open == doors_wanted(thread) &&
           atomic_load(&thread->common->shut) == thread->is_shut &&
           atomic_load(&thread->common->handshake_for) == thread->handshake_for;
}

void doors_settle(struct io_thread *thread)
{
    const struct thread_common *common = thread->common;
    nsec_t timeout_for = atomic_load(&common->handshake_for);

    if (atomic_load(&common->shut) && !thread->is_shut) {
        doors_shut(thread);
    }
    if (doors_wanted(thread) != thread->doors_open) {
        doors_watch(thread, doors_wanted(thread));
    }
    if (timeout_for != thread->handshake_for) {
        thread->handshake_for = timeout_for;
        handshakes_set_timeout(&thread->handshakes, timeout_for);
    }
    tell_complaint(thread);
}

static void rest_over(evutil_socket_t fd, short what, void *context)
{
    struct io_thread *thread = context;

    (void)fd;
    (void)what;
    thread_wake(thread);
    thread->rests = false;
    atomic_fetch_sub(&thread->common->resting, 1);
}

// Leaves what cannot be accepted in the kernel's queue for a while.
static void rest(struct io_thread *thread, int error)
{
    if (event_add(&thread->rest, &REST) == 0) {
        thread->rests = true;
        atomic_fetch_add(&thread->common->resting, 1);
        doors_watch(thread, 0);
    }
    // One line an episode: all threads try again often.
    if (!atomic_exchange(&thread->common->complained, true)) {
        thread->complaint = error;
    }
    tell_complaint(thread);
}

// There are as many connections of these kinds as there may be: the core's thread is told, which
// opens the doors again. Without a batch to write to, it has something to read, and finds out.
static void tell_full(struct io_thread *thread, unsigned kinds)
{
    atomic_fetch_or(&thread->common->full, kinds);
    if (outbox_room(&thread->news, 0)) {
        (void)outbox_note(&thread->news, NULL, NEWS_FULL, 0);
    }
}

// The kinds of which there are as many as there may be, where `open` sockets are.
static unsigned full_kinds(const struct thread_common *common, uint64_t open)
{
    uint64_t most = atomic_load_explicit(&common->most, memory_order_relaxed);

    if (!common->crowd) {
        return open >= most ? SEATS_ALL : 0;
    }
    return seats_full(crowd_seats(common->crowd), open, most);
}

// Counts a connection to be accepted. False where there may be no more.
static bool count_one(const struct door *door)
{
    struct thread_common *common = door->thread->common;
    unsigned full = full_kinds(common, atomic_fetch_add(common->open, 1));
    bool fits = !(full & 1u << door->kind);

    if (!fits) {
        atomic_fetch_sub(common->open, 1);
        tell_full(door->thread, full);
    }
    return fits;
}

// Nobody else need find out.
static bool is_full_now(const struct door *door)
{
    unsigned full = full_kinds(door->thread->common, atomic_load(door->thread->common->open));

    if (full & 1u << door->kind) {
        tell_full(door->thread, full);
        return true;
    }
    return false;
}

static void door_prepare(struct door *door, int fd)
{
    if (door->unprepared > 0) {
        door->unprepared--;
        transport_prepare_like(fd, door->fd);
    }
}

static void door_ready(evutil_socket_t listening, short what, void *context)
{
    struct door *door = context;
    struct io_thread *thread = door->thread;
    // An attempt in vain costs the kernel nearly as much as one that is not.
    unsigned waiting = socket_waiting(listening, 1);
    unsigned most = waiting < DOOR_ACCEPT_MAX ? waiting : DOOR_ACCEPT_MAX;

    (void)what;
    thread_wake(thread);
    for (unsigned i = 0; i < most && count_one(door); i++) {
        // What is accepted from now on ends an episode of failing accepts that there is; what was
        // accepted just before it does not. Nor does anything while another thread rests: that may
        // have failed because an attempt in vain, of this thread, had the last descriptor.
        bool ends_episode =
            atomic_load(&thread->common->complained) && atomic_load(&thread->common->resting) == 0;
        // cppcheck-suppress nullPointer; nobody asks for the address
        int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            if (ends_episode) {
                atomic_store(&thread->common->complained, false);
            }
            door_prepare(door, fd);
            welcome(thread, door, fd);
            if (is_full_now(door)) {
                return;
            }
            continue;
        }
        atomic_fetch_sub(thread->common->open, 1);
        if (errno == EAGAIN) {
            return;
        }
        if (!socket_error_passes(errno)) {
            rest(thread, errno);
            return;
        }
    }
}

bool door_add(struct io_thread *thread, const struct io_service *service, int fd)
{
    struct door *door = calloc(1, sizeof *door);

    if (!door) {
        return false;
    }
    door->thread = thread;
    door->service = service;
    door->fd = fd;
    door->kind = seats_kind(service->kind, socket_is_local(fd));
    door->unprepared = socket_waiting(fd, 0);
    list_init(&door->node);
    list_append(&thread->doors, &door->node);
    return event_assign(&door->event, thread->base, fd, EV_READ | EV_PERSIST, door_ready, door) ==
           0;
}

bool doors_init(struct io_thread *thread)
{
    handshakes_init(&thread->handshakes, thread->base, &handshakes_host, thread, 0);
    return evtimer_assign(&thread->rest, thread->base, rest_over, thread) == 0;
}

void doors_clear(struct io_thread *thread)
{
    while (!list_empty(&thread->doors)) {
        struct door *door = list_item(list_first(&thread->doors), struct door, node);

        list_remove(&door->node);
        free(door);
    }
}
