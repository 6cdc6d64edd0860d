/* SPDX-License-Identifier: MIT */
// accept4 is a GNU function.
#define _GNU_SOURCE
#include "server/io/io_thread.h"

#include "server/net/admission.h"
#include "server/net/listener.h"
#include "server/net/proxied.h"
#include "server/net/socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct io_thread *io_common_fewest(const struct io_common *common)
{
    struct io_thread *fewest = &common->threads[0];

    for (unsigned i = 1; i < common->count; i++) {
        if (io_thread_links(&common->threads[i]) < io_thread_links(fewest)) {
            fewest = &common->threads[i];
        }
    }
    return fewest;
}

void io_thread_send_link(struct io_thread *thread, struct io_link *link)
{
    mailbox_put(&thread->arrivals, &link->mail);
    sleeper_wake(&thread->sleeper);
}

static struct io_link *link_of_mail(struct mail *mail)
{
    return mail ? container_of(mail, struct io_link, mail) : NULL;
}

// Connections that a thread accepts at a time: the other threads are woken by the same ones.
enum { ACCEPTOR_ACCEPT_MAX = 16 };

// A listening socket as one thread sees it.
struct acceptor {
    struct list_node node; // in thread->acceptors
    struct io_thread *thread;
    const struct io_service *service;
    int fd;        // borrowed
    unsigned kind; // of its connections (net/admission.h)
    // Connections that waited when the acceptor was made, and may have come before the options of
    // their listening socket were set (net/listener.c). The first ones that are accepted may be
    // among them.
    unsigned unprepared;
    struct event event;
};

// Tells the core's thread that a socket became no connection.
static void acceptor_tell_refused(struct io_thread *thread, const struct io_service *service,
                                  const char *peer, const char *why)
{
    size_t peer_size = strlen(peer) + 1;
    size_t why_size = strlen(why) + 1;
    struct io_batch *batch = outbox_room(&thread->news, sizeof service + peer_size + why_size);
    char *text;

    atomic_fetch_sub(thread->common->open, 1);
    if (!batch) {
        return; // not every refusal need be logged
    }
    text = batch->bytes + batch->used;
    memcpy(text, &service, sizeof service);
    memcpy(text + sizeof service, peer, peer_size);
    memcpy(text + sizeof service + peer_size, why, why_size);
    (void)outbox_note(&thread->news, NULL, NEWS_REFUSED, sizeof service + peer_size + why_size);
}

// Closes an accepted socket for which there is no memory.
static void acceptor_refuse(struct io_thread *thread, const struct io_service *service,
                            const struct transport *transport, int fd, void *own)
{
    char peer[PEER_TEXT_MAX];

    socket_peer_text(fd, peer, sizeof peer);
    peer_limits_leave(thread->common->peer_limits, fd);
    transport->close(fd, own);
    acceptor_tell_refused(thread, service, peer, "out of memory");
}

// A thread that has this many links more than another one hands new ones over.
enum { ACCEPTOR_UNEVEN_MAX = 8 };

// Begins a connection here, or at the thread with the fewest.
static void acceptor_begin_link(struct io_thread *thread, const struct io_service *service, int fd,
                                void *own)
{
    struct io_link *link = link_new(service, fd, own);
    struct io_thread *fewest = io_common_fewest(thread->common);

    if (!link) {
        acceptor_refuse(thread, service, service->transport, fd, own);
    } else if (io_thread_links(thread) <= io_thread_links(fewest) + ACCEPTOR_UNEVEN_MAX) {
        io_thread_expect_link(thread);
        link->socket.thread = thread;
        link_begin(link);
    } else {
        io_thread_expect_link(fewest);
        io_thread_send_link(fewest, link);
    }
}

static void acceptor_handshake_done(void *context, const void *service, int fd, void *own,
                                    const char *peer)
{
    (void)peer;
    io_thread_wake(context);
    acceptor_begin_link(context, service, fd, own);
}

static void acceptor_handshake_failed(void *context, const void *service, const char *peer,
                                      const char *why)
{
    io_thread_wake(context);
    acceptor_tell_refused(context, service, peer, why);
}

static const struct handshakes_host acceptor_handshakes_host = {
    .now = clock_awake, .done = acceptor_handshake_done, .failed = acceptor_handshake_failed};

static void acceptor_take(struct io_thread *thread, const struct io_service *service, int fd)
{
    char peer[PEER_TEXT_MAX];

    if (!service->transport->handshake) {
        acceptor_begin_link(thread, service, fd, NULL);
        return;
    }
    socket_peer_text(fd, peer, sizeof peer);
    if (admission_has_memory(atomic_load(thread->common->open), peer, thread->common->peer_limits,
                             service->kind)) {
        handshakes_add(&thread->handshakes, service->transport, service->shared, service, fd, peer);
    } else {
        acceptor_refuse(thread, service, &transport_plain, fd, NULL);
    }
}

// Takes an accepted socket, unless its address has too many connections, or is not that of a proxy.
static void acceptor_admit(struct io_thread *thread, const struct acceptor *acceptor, int fd)
{
    const struct io_service *service = io_service_for(acceptor->service, fd);
    const char *why = proxied_admit(service->proxies, service->by, thread->common->peer_limits, fd,
                                    acceptor->kind);
    char peer[PEER_TEXT_MAX];

    if (!why) {
        acceptor_take(thread, service, fd);
        return;
    }
    socket_peer_text(fd, peer, sizeof peer);
    transport_plain.close(fd, NULL);
    acceptor_tell_refused(thread, service, peer, why);
}

// Takes over a socket that needs a handshake, and frees the link that carried it.
static void acceptor_begin_handshake(struct io_thread *thread, struct io_link *link)
{
    const struct io_service *service = link->service;
    int fd = link->fd;

    io_thread_lose_link(thread);
    link_free(link);
    if (!thread->is_shut) {
        acceptor_take(thread, service, fd);
        return;
    }
    peer_limits_leave(thread->common->peer_limits, fd);
    transport_plain.close(fd, NULL);
    atomic_fetch_sub(thread->common->open, 1);
    // When the core's thread stops, it waits for the last socket.
    sleeper_wake(thread->news.reader);
}

void io_thread_take_arrivals(struct io_thread *thread)
{
    struct io_link *link = link_of_mail(mailbox_take(&thread->arrivals));

    while (link) {
        struct io_link *next = link_of_mail(link->mail.next);

        if (link->needs_handshake) {
            acceptor_begin_handshake(thread, link);
        } else {
            link->socket.thread = thread;
            link_begin(link);
        }
        link = next;
    }
}

// Has acceptors of these kinds accept from now on, and no others.
static void acceptors_watch(struct io_thread *thread, unsigned kinds)
{
    thread->kinds_open = kinds;
    list_each (node, &thread->acceptors) {
        struct acceptor *acceptor = list_item(node, struct acceptor, node);

        if (kinds & 1u << acceptor->kind) {
            (void)event_add(&acceptor->event, NULL);
        } else {
            (void)event_del(&acceptor->event);
        }
    }
}

// Closes sockets whose handshakes are not done, and accepts nothing any more.
static void acceptors_shut(struct io_thread *thread)
{
    size_t count = thread->handshakes.count;

    acceptors_watch(thread, 0);
    handshakes_close(&thread->handshakes);
    atomic_fetch_sub(thread->common->open, count);
    atomic_store(&thread->is_shut, true);
    sleeper_wake(thread->news.reader);
}

// Without a batch to write to, it is told in a later round: the end of a rest causes one.
static void acceptors_tell_accept_error(struct io_thread *thread)
{
    if (thread->accept_error != 0 && outbox_room(&thread->news, 0)) {
        outbox_note(&thread->news, NULL, NEWS_ACCEPT_FAILED, 0)->error = thread->accept_error;
        thread->accept_error = 0;
    }
}

// The kinds that are to be accepted.
static unsigned acceptors_wanted(const struct io_thread *thread)
{
    const struct io_common *common = thread->common;
    bool accepts = atomic_load(&common->accepts) && !thread->rests && !thread->is_shut;

    return accepts ? SLOTS_ALL & ~atomic_load(&common->full) : 0;
}

bool acceptors_are_settled(const struct io_thread *thread)
{
    return thread->kinds_open == acceptors_wanted(thread) &&
           atomic_load(&thread->common->shut) == thread->is_shut &&
           atomic_load(&thread->common->handshake_for) == thread->handshake_for;
}

void acceptors_settle(struct io_thread *thread)
{
    const struct io_common *common = thread->common;
    nsec_t timeout_for = atomic_load(&common->handshake_for);

    if (atomic_load(&common->shut) && !thread->is_shut) {
        acceptors_shut(thread);
    }
    if (acceptors_wanted(thread) != thread->kinds_open) {
        acceptors_watch(thread, acceptors_wanted(thread));
    }
    if (timeout_for != thread->handshake_for) {
        thread->handshake_for = timeout_for;
        handshakes_set_timeout(&thread->handshakes, timeout_for);
    }
    acceptors_tell_accept_error(thread);
}

static void acceptors_rest_over(evutil_socket_t fd, short what, void *context)
{
    struct io_thread *thread = context;

    (void)fd;
    (void)what;
    io_thread_wake(thread);
    thread->rests = false;
    atomic_fetch_sub(&thread->common->resting, 1);
}

// Leaves connections that cannot be accepted in the kernel's queue for a while.
static void acceptors_rest(struct io_thread *thread, int error)
{
    static const struct timeval rest_for = {.tv_usec = 200000};

    if (event_add(&thread->rest, &rest_for) == 0) {
        thread->rests = true;
        atomic_fetch_add(&thread->common->resting, 1);
        acceptors_watch(thread, 0);
    }
    // One log line for an episode: all threads try again often.
    if (!atomic_exchange(&thread->common->warned, true)) {
        thread->accept_error = error;
    }
    acceptors_tell_accept_error(thread);
}

// These kinds have no free slot: tells the core's thread, which sets `full` again later. Without a
// batch to write to, the core's thread has news to read, and notices by itself.
static void acceptor_tell_full(struct io_thread *thread, unsigned kinds)
{
    atomic_fetch_or(&thread->common->full, kinds);
    if (outbox_room(&thread->news, 0)) {
        (void)outbox_note(&thread->news, NULL, NEWS_FULL, 0);
    }
}

// The kinds that have no free slot while `open` sockets are open.
static unsigned acceptor_full_kinds(const struct io_common *common, uint64_t open)
{
    uint64_t most = atomic_load_explicit(&common->most, memory_order_relaxed);

    if (!common->peer_limits) {
        return open >= most ? SLOTS_ALL : 0;
    }
    return slots_full(peer_limits_slots(common->peer_limits), open, most);
}

// Counts a connection that is about to be accepted. False if there is no slot for it.
static bool acceptor_reserve(const struct acceptor *acceptor)
{
    struct io_common *common = acceptor->thread->common;
    unsigned full = acceptor_full_kinds(common, atomic_fetch_add(common->open, 1));
    bool fits = !(full & 1u << acceptor->kind);

    if (!fits) {
        atomic_fetch_sub(common->open, 1);
        acceptor_tell_full(acceptor->thread, full);
    }
    return fits;
}

// Tells the core's thread at once if the last connection took the last slot.
static bool acceptor_is_full(const struct acceptor *acceptor)
{
    unsigned full =
        acceptor_full_kinds(acceptor->thread->common, atomic_load(acceptor->thread->common->open));

    if (full & 1u << acceptor->kind) {
        acceptor_tell_full(acceptor->thread, full);
        return true;
    }
    return false;
}

static void acceptor_ready(evutil_socket_t listening, short what, void *context)
{
    struct acceptor *acceptor = context;
    struct io_thread *thread = acceptor->thread;
    // A failed attempt costs the kernel nearly as much as a successful one.
    unsigned waiting = socket_waiting(listening, 1);
    unsigned most = waiting < ACCEPTOR_ACCEPT_MAX ? waiting : ACCEPTOR_ACCEPT_MAX;

    (void)what;
    io_thread_wake(thread);
    for (unsigned i = 0; i < most && acceptor_reserve(acceptor); i++) {
        // A connection accepted from now on ends an episode of failures; one accepted just before
        // does not. While another thread rests, none does: that thread may have failed because a
        // failed attempt of this one had the last descriptor.
        bool ends_episode =
            atomic_load(&thread->common->warned) && atomic_load(&thread->common->resting) == 0;
        // cppcheck-suppress nullPointer; the address is not needed
        int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            if (ends_episode) {
                atomic_store(&thread->common->warned, false);
            }
            if (acceptor->unprepared > 0) {
                acceptor->unprepared--;
                transport_prepare_like(fd, acceptor->fd);
            }
            acceptor_admit(thread, acceptor, fd);
            if (acceptor_is_full(acceptor)) {
                return;
            }
            continue;
        }
        atomic_fetch_sub(thread->common->open, 1);
        if (errno == EAGAIN) {
            return;
        }
        if (!socket_error_passes(errno)) {
            acceptors_rest(thread, errno);
            return;
        }
    }
}

bool acceptor_add(struct io_thread *thread, const struct io_service *service, int fd)
{
    struct acceptor *acceptor = calloc(1, sizeof *acceptor);

    if (!acceptor) {
        return false;
    }
    acceptor->thread = thread;
    acceptor->service = service;
    acceptor->fd = fd;
    acceptor->kind = slot_kind(service->kind, socket_is_local(fd));
    acceptor->unprepared = socket_waiting(fd, 0);
    list_init(&acceptor->node);
    list_append(&thread->acceptors, &acceptor->node);
    return event_assign(&acceptor->event, thread->base, fd, EV_READ | EV_PERSIST, acceptor_ready,
                        acceptor) == 0;
}

bool acceptors_init(struct io_thread *thread)
{
    handshakes_init(&thread->handshakes, thread->base, &acceptor_handshakes_host, thread, 0);
    return evtimer_assign(&thread->rest, thread->base, acceptors_rest_over, thread) == 0;
}

void acceptors_clear(struct io_thread *thread)
{
    while (!list_empty(&thread->acceptors)) {
        struct acceptor *acceptor =
            list_item(list_first(&thread->acceptors), struct acceptor, node);

        list_remove(&acceptor->node);
        free(acceptor);
    }
}
