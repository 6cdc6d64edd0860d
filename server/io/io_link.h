/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_IO_LINK_H
#define TANDEM_SERVER_IO_IO_LINK_H

// A link is the socket of a connection that an I/O thread serves: the thread receives and sends,
// the core's thread has the connection itself. Each thread touches only its own half of a link;
// they tell each other by notes (io_batch.h), which keep their order.
//
// To the core's half the link is a transport with one more buffer:
// - Input is handed over in one piece. The thread does not read on before the core has taken all of
//   it and has said so (ORDER_READ_ON). So a connection that is not read stops its peer as without
//   threads, and keeps at most one piece of CONN_READ_MAX bytes.
// - Output that was handed over and not sent is limited to LINK_WINDOW. The next note of the thread
//   tells how much was sent; the thread makes a note only for that if the core has asked for it
//   (ORDER_TELL_ROOM).
//
// The core's thread frees a link when it has read the last note about it (NEWS_GONE or NEWS_BACK).

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "server/io/io.h"
#include "server/io/io_batch.h"
#include "server/net/backlog.h"
#include "server/net/edge_socket.h"

#include <stdalign.h>

#define LINK_WINDOW ((size_t)128 * 1024)

// Orders of the core's thread. The orders of one note are executed in this sequence; the bytes of
// the note are sent after ORDER_BEGIN.
enum link_order {
    ORDER_BEGIN = 1,      // the socket belongs to the thread from now on
    ORDER_READ_ON = 2,    // all input was taken: `count` bytes more may be read
    ORDER_TELL_ROOM = 4,  // send NEWS_ROOM once half of the window is free
    ORDER_SHUT = 8,       // shut down the output behind what was handed over
    ORDER_GIVE_BACK = 16, // answer NEWS_BACK, and the core's loop has the socket, or NEWS_STAYS
    ORDER_CLOSE = 32,     // close when all output was sent
    ORDER_DROP = 64,      // close at once
    ORDER_HOLD = 128      // no more input can be taken for now: check whether the peer is there
};

// What the thread tells.
enum link_news {
    NEWS_OPEN = 1,     // a connection: it was accepted by the thread, and its handshake is done
    NEWS_INPUT = 2,    // the bytes of the note
    NEWS_END = 4,      // the end of the input
    NEWS_FAILED = 8,   // the connection is lost, with `error`
    NEWS_CLOSED = 16,  // the end of the input is reported, and follows what was not read
    NEWS_ROOM = 32,    // there is room in the window
    NEWS_STAYS = 64,   // the socket is not given back, as something is under way
    NEWS_BACK = 128,   // it is given back; the thread has forgotten it
    NEWS_GONE = 256,   // it is closed; the thread has forgotten it
    NEWS_UNREAD = 4096 // with NEWS_FAILED: the peer has read nothing for too long
};

// What the thread tells about itself, with no link.
enum thread_news {
    NEWS_REFUSED = 512,        // a socket became no connection; the bytes are the address of its
                               // service, its peer, NUL, the reason, NUL
    NEWS_ACCEPT_FAILED = 1024, // nothing can be accepted for a while, because of `error`
    NEWS_FULL = 2048           // the maximum of sockets is open
};

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
    uint64_t sent;            // bytes sent since the last note
    nsec_t unread_at;         // when it is dropped for reading nothing; NSEC_NEVER: not known yet
    unsigned news;            // that wait for a batch
    int error;
    atomic_bool has_unread; // the backlog is not empty; the core's thread may ask
    struct edge_socket edge;
    bool lent : 1;        // input was handed over and not all taken
    bool held : 1;        // and no more is taken for now
    bool ended : 1;       // nothing more is read
    bool stalled : 1;     // the peer takes no more output for now
    bool room_wanted : 1; // ORDER_TELL_ROOM
    bool shut_wanted : 1; // ORDER_SHUT, not done yet
    bool closing : 1;     // ORDER_CLOSE: when the backlog is empty
};

// The core's half.
struct link_side {
    struct io *io;
    struct io_thread *thread;
    void *conn;             // the connection; NULL: it is closed
    struct list_node due;   // in io->due: `orders` wait for the end of the turn
    struct list_node again; // in io->again: its connection is to be called without news
    struct slice input;     // handed over by the thread: in a batch that is being read, or
    struct backlog kept;    // here, if the connection could not take it
    uint32_t read_room;     // bytes that the thread may read next
    size_t window_used;     // bytes handed over of which the thread has not told that they are sent
    unsigned orders;        // that wait for the end of the turn
    int error;              // that the connection was lost with
    bool owes : 1;          // input was taken, and the thread does not read on yet
    bool held : 1;          // ORDER_HOLD was sent since
    bool ended : 1;         // the end follows the input
    bool failed : 1;        // the loss follows the input
    bool asked_back : 1;    // ORDER_GIVE_BACK was not answered
    bool stays : 1;         // it was answered by NEWS_STAYS, and no news have come since
    bool room_wanted : 1;   // its connection waits for room
};

struct io_link {
    int fd;
    const struct transport *transport;
    const struct io_service *service;
    struct mail mail;     // on the way to another thread (io_thread.h)
    bool needs_handshake; // it only carries an accepted socket
    struct link_socket socket;
    alignas(64) struct link_side side;
    alignas(uint64_t) char own[]; // the transport's state
};

// Makes a link for a socket; it does not begin. `own`, the transport's state, is copied; NULL: all
// zero. NULL without memory.
struct io_link *link_new(const struct io_service *service, int fd, const void *own);

// Does not close the socket.
void link_free(struct io_link *link);

//
// For the I/O thread only
//

// Begins a connection whose socket was accepted by an I/O thread, and whose handshake is done.
void link_begin(struct io_link *link);

// Executes orders; `room` belongs to ORDER_READ_ON. The link may be freed afterwards.
void link_execute(struct io_link *link, unsigned orders, uint32_t room, struct slice bytes);

// Does what could not be done in an earlier round.
void link_continue(struct io_link *link);

// Has the thread check its unread links (link_unread_too_long) in a second, if it has some.
void links_watch_unread(struct io_thread *thread);

// Whether its peer has read nothing for `unread_for` since the first check. 0: no limit.
bool link_unread_too_long(struct io_link *link, nsec_t now_at, nsec_t unread_for);

// Its peer has read nothing for too long: tells the core's thread, unless that has closed the link.
void link_time_out(struct io_link *link);

// Closes it at once.
void link_drop(struct io_link *link);

#endif
