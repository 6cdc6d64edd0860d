/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_EDGE_SOCKET_H
#define TANDEM_SERVER_NET_EDGE_SOCKET_H

// The edge-triggered state of a connected socket, for the loop and for the I/O threads alike. The
// kernel reports input once, and `readable` remembers it until a read has found the socket empty.
// So no event is changed when a connection is not read for a while, and input that waits for its
// turn is not reported again by each wait.
//
// Room for output is watched only while a send has found none: a unix socket would report room
// after each reply that its peer reads.

#include "core/base/macros.h"
#include "server/transport/transport.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>

struct edge_socket {
    bool watched : 1;          // the event is added
    bool watches_room : 1;     // and reports room for output
    bool readable : 1;         // there may be something to read
    bool reported : 1;         // an event said so, and no read has followed
    bool may_be_reset : 1;     // a reset may follow the last input; the next send or read finds out
    bool peer_closed : 1;      // the end of the input is reported
    bool read_needs_room : 1;  // nothing can be received before the peer takes output (TLS)
    bool send_needs_input : 1; // nothing can be sent before there is input (TLS)
};

// An event base that supports edges and reports closed peers. It ignores the library's environment
// variables (EVENT_NOEPOLL), which could choose a method without these. NULL without memory,
// descriptors or epoll.
struct event_base *edge_base_new(void);

// The socket has room for output. Returns whether output may be sent now.
static inline bool edge_has_room(struct edge_socket *edge)
{
    edge->readable = edge->readable || edge->read_needs_room;
    edge->read_needs_room = false;
    return !edge->send_needs_input;
}

// The socket has input, or its end if `closed`. Returns whether output that waited for input may be
// sent now.
static inline bool edge_has_input(struct edge_socket *edge, bool closed)
{
    bool may_send = edge->send_needs_input;

    edge->readable = true;
    edge->reported = true;
    edge->peer_closed = edge->peer_closed || closed;
    edge->send_needs_input = false;
    return may_send;
}

// Notes what a read has found. An empty socket may have reported its end before, which another read
// finds; or a reset, which nothing reports, may follow the input.
static inline void edge_received(struct edge_socket *edge, const struct received *received)
{
    bool some = received->result == TRANSFER_BYTES;

    edge->reported = false;
    edge->readable =
        received->drained ? some && edge->peer_closed : some || received->result == TRANSFER_NONE;
    edge->read_needs_room = received->needs_room;
    edge->may_be_reset = some && !edge->readable;
}

// Notes the result of a send that has not failed. Returns whether no more can be sent now.
static inline bool edge_sent(struct edge_socket *edge, const struct sent *sent)
{
    edge->send_needs_input = sent->needs_input;
    if (sent->result != TRANSFER_NONE) {
        edge->may_be_reset = false;
    }
    return sent->full || sent->needs_input;
}

// The input was not answered by output: another read finds out whether the peer is still there.
static inline void edge_check_reset(struct edge_socket *edge)
{
    edge->readable = edge->readable || edge->may_be_reset;
    edge->may_be_reset = false;
}

// Has `event` watch the socket as its state demands. `stalled`: output waits for room. False
// without memory: it is not watched.
bool edge_watch(struct edge_socket *edge, struct event *event, struct event_base *base, int fd,
                bool stalled, event_callback_fn callback, void *context) MUST_USE;

// Stops watching the socket.
static inline void edge_unwatch(struct edge_socket *edge, struct event *event)
{
    if (edge->watched) {
        (void)event_del(event);
        edge->watched = false;
    }
}

#endif
