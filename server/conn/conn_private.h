/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_CONN_PRIVATE_H
#define TANDEM_SERVER_CONN_CONN_PRIVATE_H

// The inside of a connection, for its own sources: conn.c (its life, where it waits, and the host
// of its front-end), conn_transfer.c (input and output), conn_deadline.c (deadlines and pace),
// conn_link.c (sockets of I/O threads), conn_caller.c (the client's rights), conn_log.c,
// conn_registry.c and conn_introspect.c.

#include "proto_common/pace.h"
#include "server/conn/conn.h"
#include "server/conn/conn_caller.h"
#include "server/net/backlog.h"
#include "server/net/edge_socket.h"
#include "server/transport/origin.h"

#include <stdalign.h>

// The earliest of the moments at which the front-end wants to be called, the peer has not read for
// too long, or the peer's pace is checked.
struct conn_deadline {
    struct deadline due;
    nsec_t unread_at;          // when the peer is dropped for not reading; NSEC_NEVER: it reads
    struct pace_timer timer[]; // one if the connection is paced
};

// Idle connections are common, so rarely used state is behind pointers.
struct conn {
    struct wire wire;
    const struct service *service;
    int fd;
    uint8_t state;            // enum feed_state, as of the last feed
    struct edge_socket edge;  // of the socket, or of the link
    bool runs : 1;            // it can be fed without new input, and is in the next turn
    bool woken : 1;           // since the last feed
    bool end_told : 1;        // the front-end knows that the peer's input ends
    bool input_ended : 1;     // and all of it was read
    bool too_much_output : 1; // it waits for the peer
    bool broken : 1;          // to be closed when the turn ends
    bool authorizing : 1;     // its front-end has answered GRANT_MORE
    bool shut_wanted : 1;     // the end of the output must be sent to the peer
    bool parked : 1;          // it is in turn->held or turn->paused, or was moved from there
                              // together with all others
    bool paced : 1;           // there are limits on the time its peer may take
    bool remote : 1;          // its socket belongs to an I/O thread
    uint8_t expensive : 2;    // how many feeds must be cheap until it is not expensive
    union {
        struct event event;   // of the socket
        struct io_link *link; // if it is remote
    };
    struct turn_member member;
    struct conn_deadline *deadline; // made when it is first needed
    struct caller *caller;          // NULL: an unknown client, which may do everything
    struct backlog input;
    char *into; // where the front-end wants the next bytes, or NULL
    uint32_t into_len;
    uint32_t connected_s;                    // monotonic, in seconds
    uint64_t received;                       // bytes so far
    alignas(uint64_t) char frontend_state[]; // followed by the transport's
};

_Static_assert(sizeof(struct conn) - sizeof(struct wire) == 224, "an idle connection is small");

// The size of the front-end's state, rounded up so that the transport's is aligned.
static inline size_t conn_frontend_room(const struct service *service)
{
    return (service->frontend->conn_size + 7) & ~(size_t)7;
}

// The transport's state of the connection.
static inline void *conn_transport_state(const struct conn *conn)
{
    return (char *)(uintptr_t)conn->frontend_state + conn_frontend_room(conn->service);
}

static inline struct turn *conn_turn(const struct conn *conn)
{
    return conn->service->turn;
}

static inline struct conn *conn_of_wire(const struct wire *wire)
{
    return container_of((struct wire *)(uintptr_t)wire, struct conn, wire);
}

// The transport that it receives and sends by, and the state to call that with.
static inline const struct transport *conn_transport(const struct conn *conn)
{
    return conn->remote ? &transport_link : conn->service->transport;
}

static inline void *conn_transport_own(const struct conn *conn)
{
    return conn->remote ? conn->link : conn_transport_state(conn);
}

// The socket, for questions to the kernel. It is open as long as the connection.
static inline int conn_socket(const struct conn *conn)
{
    return conn->remote ? link_fd(conn->link) : conn->fd;
}

// The origin of the client: as a proxy has told, or else of the socket.
static inline struct origin conn_origin(const struct conn *conn)
{
    const struct transport *transport = conn_transport(conn);
    const struct client_address *client =
        transport->client ? transport->client(conn_transport_own(conn)) : NULL;

    return client ? origin_of_client(client) : origin_of(conn_socket(conn));
}

// Whom the peer's certificate names; NULL: it has none.
static inline const struct peer_identity *conn_identity(const struct conn *conn)
{
    const struct transport *transport = conn_transport(conn);

    return transport->identity ? transport->identity(conn_transport_own(conn)) : NULL;
}

// A new connection without a socket; NULL without memory, or if the front-end refuses.
struct conn *conn_new(const struct service *service, enum status *status) MUST_USE;

// Its socket has input, the end of its input, or room for output: EV_READ, EV_CLOSED and EV_WRITE
// as bits. Reads if that is possible now.
void conn_event(struct conn *conn, short what);

// Drops the connection, because its peer does not read; logs that.
void conn_give_up(struct conn *conn);

// Breaks the connection because there is no memory, and logs `event`, at most once a second.
void conn_out_of_memory(struct conn *conn, const char *event);

// Has the connection finished at the end of the turn.
void conn_touch(struct conn *conn);

// Has it read or fed in a turn, after the others if it is expensive, and then finished.
void conn_await_turn(struct conn *conn);

// Notes whether a feed, or a read, was expensive.
void conn_rate(struct conn *conn, bool expensive);

// Whether there is input that can be used now; whether input could be used if there were some.
bool conn_may_read(const struct conn *conn);
bool conn_takes_input(const struct conn *conn);

// Reads once and feeds the input.
void conn_read(struct conn *conn);

// Tells the I/O thread of a remote connection how much input can be used now.
void conn_tell_room(const struct conn *conn);

// Finds an error of the connection, or the end of its input, while nothing is read.
void conn_check_peer(struct conn *conn);

// Whether it is not read or fed because of the store or the fence.
bool conn_is_paused(const struct conn *conn);

// Has the connection fed in the next turn, if its front-end can go on without new input.
void conn_want_run(struct conn *conn);

// Sends as much as the peer takes, and at most CONN_SEND_MAX in a turn.
void conn_flush(struct conn *conn);

// Sets the deadline to the earliest of its moments. False without memory.
bool conn_set_deadline(struct conn *conn) MUST_USE;

// The same, for a connection that has a deadline, if nothing has happened since it was set.
void conn_arm_deadline(struct conn *conn);

// Removes the deadline until it is set again.
void conn_forget_deadline(struct conn *conn);

// The deadline for reading has come. Whether the peer has more time, as the machine was suspended.
bool conn_take_more_time(struct conn *conn);

void conn_free_deadline(struct conn *conn);

// Something has happened on a connection whose service has limits (proto_common/pace.h). A
// connection is paced from when its front-end first limits the peer's time. `reads`: it takes
// input. False without memory.
bool conn_note_pace(struct conn *conn, bool reads) MUST_USE;

// Checks the pace of the peer. If it is too slow, tells the front-end and returns true.
bool conn_check_pace(struct conn *conn, bool reads);

#endif
