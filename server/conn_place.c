/* SPDX-License-Identifier: MIT */
#include "server/conn_private.h"

// Its socket has nothing on its way that would have to come first.
static bool conn_may_leave(const struct conn *conn)
{
    return !conn->wire.out.stalled && !conn->read_needs_room && !conn->shut_wanted &&
           conn->state != FEED_FINISHED && !conn->input_ended && !conn->broken;
}

static void conn_leave(struct conn *conn)
{
    struct link *link = io_take(conn_turn(conn)->io, &conn->service->io, conn->fd,
                                conn_transport_state(conn), conn);

    if (link) {
        conn_unwatch(conn);
        conn->remote = true;
        conn->link = link;
        // The thread finds out.
        conn->readable = false;
    }
}

void conn_place(struct conn *conn)
{
    bool spreads = io_spreads(conn_turn(conn)->io);

    if (conn->remote && !spreads) {
        link_ask_back(conn->link);
    } else if (!conn->remote && spreads && conn_may_leave(conn)) {
        conn_leave(conn);
    }
}
