/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_LINK_H
#define TANDEM_SERVER_IO_LINK_H

// A link is a connection whose socket is an I/O thread's: the thread receives and sends, the core's
// thread has the connection itself. One half of a link is touched by its I/O thread only, the other
// by the core's thread only; what one must know of the other comes in notes (batch.h), in order.
//
// To the core's half the link is a transport like others, with one more buffer on the way:
// - Input is handed over one piece at a time. The thread does not read on until the core has taken
//   all of it and has said so (ORDER_READ_ON). So a connection that is not read holds up its peer
//   as before, and keeps one piece of up to CONN_READ_MAX bytes.
// - Output that was handed over and has not left is bounded by LINK_WINDOW. The thread tells how
//   much has left with its next note; it makes one for that only where the core has asked for it
//   (ORDER_TELL_ROOM).
//
// Who frees it: the core's thread, when the thread's last note about it has been read (NEWS_GONE,
// or NEWS_BACK).

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "server/io/service.h"
#include "server/io/batch.h"
#include "server/net/backlog.h"
#include "server/transport/transport.h"

#include <event2/event_struct.h>
#include <stdalign.h>
#include <stdatomic.h>

#define LINK_WINDOW ((size_t)128 * 1024)

// What the core's thread asks for. Several in one note are obeyed in this order; the bytes of the
// note are sent behind ORDER_BEGIN.
enum order {
    ORDER_BEGIN = 1,      // the socket is the thread's from now on; with the handshake, if any
    ORDER_READ_ON = 2,    // the input that was handed over has been taken: `count` more may be read
    ORDER_TELL_ROOM = 4,  // NEWS_ROOM is wanted once half of the window is free
    ORDER_SHUT = 8,       // tell the peer that nothing more comes, behind what is on its way
    ORDER_GIVE_BACK = 16, // the core's loop would have the socket: NEWS_BACK or NEWS_STAYS
    ORDER_CLOSE = 32,     // close when what is on its way has left
    ORDER_DROP = 64,      // close at once
    ORDER_HOLD = 128      // no more input can be taken for the time being: is the peer still there?
};

// What the thread tells.
enum news {
    NEWS_OPEN = 1,    // a connection: it was accepted here, or its handshake is done
    NEWS_INPUT = 2,   // the bytes of the note
    NEWS_END = 4,     // the peer sends nothing more
    NEWS_FAILED = 8,  // the connection is lost, by `error`
    NEWS_CLOSED = 16, // the peer has gone, as far as can be told without reading on
    NEWS_ROOM = 32,   // there is room in the window
    NEWS_STAYS = 64,  // the socket is not given back now: something is on its way
    NEWS_BACK = 128,  // it is; the thread has forgotten it
    NEWS_GONE = 256,  // it is closed; the thread has forgotten it
    // With NEWS_FAILED: the peer has taken nothing for too long.
    NEWS_UNREAD = 4096
};

// Of no link, but of the thread.
enum thread_news {
    NEWS_REFUSED = 512, // no connection came of a socket; the bytes are its service's address, its
                        // peer, NUL, the reason, NUL
    NEWS_RESTS = 1024,  // nothing can be accepted for a while, by `error`
    NEWS_FULL = 2048    // as many sockets are open as there may be
};

struct io;
struct io_thread;

// The I/O thread's half.
struct link_socket {
    struct io_thread *thread;
    struct event event;
    struct list_node all;     // in thread->links
    struct list_node waiting; // in thread->waiting: for a batch, or for another attempt
    struct list_node unread;  // in thread->unread
    struct backlog backlog;   // output that the peer has not taken
    uint32_t read_room;       // bytes that may be read next
    uint64_t sent;            // bytes that have left since the last note
    nsec_t unread_at;         // when it is dropped for taking nothing; NSEC_NEVER: not known yet
    unsigned news;            // that wait for a batch
    int error;
    atomic_bool has_unread; // the backlog is not empty; the core's thread may ask
    bool watched : 1;
    bool watches_room : 1;
    bool readable : 1;     // there may be something to read
    bool reported : 1;     // an event said so, and no read has followed
    bool lent : 1;         // input has been handed over
    bool held : 1;         // and no more is taken for the time being
    bool may_be_reset : 1; // behind what was read last
    bool ended : 1;        // nothing more is read
    bool peer_closed : 1;
    bool stalled : 1; // the peer takes no more at present
    bool read_needs_room : 1;
    bool send_needs_input : 1;
    bool room_wanted : 1;
    bool shut_wanted : 1;
    bool closing : 1; // when the backlog has left
};

// The core's half.
struct link_side {
    struct io *io;
    struct io_thread *thread;
    void *conn;             // the connection; NULL: it is closed
    struct list_node due;   // in io->due: `orders` wait for the end of the turn
    struct list_node again; // in io->again: its connection is to be called without news
    struct slice input;     // handed over by the thread; in a batch that is being read, or in
    struct backlog kept;    // here, where the connection could not take it
    uint32_t read_room;     // bytes that the thread may read next
    size_t window_used;     // bytes that were handed over and not told to have left
    unsigned orders;        // that wait for the end of the turn
    int error;              // the connection is lost by it
    bool owes : 1;          // input was taken, and the thread does not read on yet
    bool held : 1;          // it knows that it is not to, for the time being
    bool ended : 1;         // the end follows the input
    bool failed : 1;        // the loss does
    bool asked_back : 1;    // ORDER_GIVE_BACK has not been answered
    bool stays : 1;         // it was answered by NEWS_STAYS, and nothing has come since
    bool room_wanted : 1;   // its connection waits for room
};

struct link {
    int fd;
    const struct transport *transport;
    const struct io_service *service; // whose connection it is
    struct mail mail;                 // on its way to another thread (arrivals.h)
    bool unmet;                       // it only carries a socket, to be greeted first (door.h)
    struct link_socket socket;
    alignas(64) struct link_side side;
    alignas(uint64_t) char own[]; // the transport's state
};

// A link for a socket, which is not begun. NULL without memory. `own`, the transport's state, is
// copied; NULL: all zero.
struct link *link_new(const struct io_service *service, int fd, const void *own);

// The socket is not closed by this.
void link_free(struct link *link);

#endif
