/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_PRIVATE_H
#define TANDEM_SERVER_CONN_PRIVATE_H

// The inside of a connection, for its own sources: conn.c (its life, and what it waits for),
// conn_lists.c (where it waits), conn_deadline.c, conn_pace.c, conn_input.c, conn_output.c,
// conn_place.c and conn_link.c (who serves it), conn_caller.c (whom it speaks for), conn_wire.c
// (what its front-end asks of it).

#include "server/conn.h"
#include "server/conn_caller.h"
#include "server/conn_lists.h"
#include "server/conn_pace.h"
#include "server/io/io.h"
#include "server/net/backlog.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdalign.h>

// There may be very many that do nothing: what only some have is a pointer here.
struct conn {
    struct wire wire;
    const struct service *service;
    int fd;
    uint8_t state;             // enum feed_state, as of the last feed
    bool runs : 1;             // can be fed without new input: it is fed in the next turn
    bool woken : 1;            // since the last feed
    bool readable : 1;         // there may be something to read
    bool reported : 1;         // an event said so, and no read has followed
    bool may_be_reset : 1;     // behind what was read last; the next send or read will tell
    bool peer_closed : 1;      // the end follows what is still to be read
    bool end_told : 1;         // the front-end knows that the peer's input ends
    bool input_ended : 1;      // and all of it has been read
    bool too_much_output : 1;  // waits for the peer
    bool broken : 1;           // to be closed at once
    bool unjudged : 1;         // its front-end has answered GRANT_MORE
    bool shut_wanted : 1;      // the peer is to be told that nothing more comes
    bool parked : 1;           // stands in turn->held or turn->paused, or stood there until it was
                               // moved with all the others
    bool watched : 1;          // `event` is added
    bool watches_room : 1;     // and reports when the socket takes output again
    bool read_needs_room : 1;  // nothing can be received before the peer takes output
    bool send_needs_input : 1; // nothing can be sent before there is something to receive
    bool paced : 1;            // its peer may not take any time (conn_pace.h)
    bool remote : 1;           // its socket is an I/O thread's (conn_link.c)
    uint8_t dear : 2;          // others are read and fed before it, until so many feeds were cheap
    union {
        struct event event; // of the socket
        struct link *link;  // where it is remote
    };
    struct turn_member member;
    struct conn_deadline *deadline; // made when it is first wanted
    struct caller *caller;          // NULL: nobody in particular, who may do everything
    struct backlog input;
    char *into; // where the front-end wants the next bytes, or NULL
    uint32_t into_len;
    uint32_t connected_s;                    // monotonic, in seconds
    uint64_t received;                       // bytes so far
    alignas(uint64_t) char frontend_state[]; // and behind that the transport's
};

// There may be many thousands that are idle, with no more of ours than this. The caller is a
// pointer for that reason: without rules there is none.
_Static_assert(sizeof(struct conn) - sizeof(struct wire) == 224, "an idle connection is small");

// How many bytes of a connection its front-end's state takes, so that what follows is aligned.
static inline size_t conn_frontend_room(const struct service *service)
{
    return (service->frontend->conn_size + 7) & ~(size_t)7;
}

// The transport's own state of the connection.
static inline void *conn_transport_state(const struct conn *conn)
{
    return (char *)(uintptr_t)conn->frontend_state + conn_frontend_room(conn->service);
}

static inline struct turn *conn_turn(const struct conn *conn)
{
    return conn->service->turn;
}

// What it receives and sends by, and what that is called with.
static inline const struct transport *conn_transport(const struct conn *conn)
{
    return conn->remote ? &transport_link : conn->service->transport;
}

static inline void *conn_transport_own(const struct conn *conn)
{
    return conn->remote ? conn->link : conn_transport_state(conn);
}

// Sets the deadline to the earliest of these moments. False without memory.
bool conn_set_deadline(struct conn *conn) MUST_USE;

// There is none any more until it is set again.
void conn_forget_deadline(struct conn *conn);

// It was set since the peer has not read. Whether the peer has more time: while the machine was
// suspended it could not.
bool conn_take_more_time(struct conn *conn);

void conn_free_deadline(struct conn *conn);

// Its socket has something to read, or the end of that, or takes output again: EV_READ, EV_CLOSED
// and EV_WRITE as bits. Reads where that is possible now.
void conn_event(struct conn *conn, short what);

// Its front-end's host.
extern const struct wire_host conn_host;

// Reads and parses no more, and closes when the output has left.
void conn_finish(struct conn *conn);

// Its peer does not read: it is dropped, which the log is told.
void conn_give_up(struct conn *conn);

// A connection at work; NULL where there is no memory, or the front-end refuses.
struct conn *conn_new(const struct service *service, enum status *status) MUST_USE;

// Its socket is not watched any more.
static inline void conn_unwatch(struct conn *conn)
{
    if (conn->watched) {
        (void)event_del(&conn->event);
        conn->watched = false;
    }
}

// Has its socket served where the load asks for it: by the loop or by an I/O thread.
void conn_place(struct conn *conn);

// Whether there is something to read that can be used now; whether that could be used if there
// were.
bool conn_may_read(const struct conn *conn);
bool conn_takes_input(const struct conn *conn);

// One read, and what follows from it.
void conn_read(struct conn *conn);

// Tells the thread of a remote one how much can be read now.
void conn_tell_room(const struct conn *conn);

// Asks what has become of the peer while nothing is read: there may be an error, or it sends
// nothing more.
void conn_check_peer(struct conn *conn);

// Whether the store cannot take what might come of its input, or nobody is to be served.
bool conn_is_paused(const struct conn *conn);

// Has the connection fed in the next turn if its front-end can go on without new input.
void conn_want_run(struct conn *conn);

// Sends as much as the peer takes, and no more than CONN_SEND_MAX in one turn.
void conn_flush(struct conn *conn);

// Breaks the connection for want of memory, and logs `event`, though not each time.
void conn_lacks_memory(struct conn *conn, const char *event);

#endif
