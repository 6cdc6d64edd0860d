/* SPDX-License-Identifier: MIT */
#include "server/conn_lists.h"

#include "server/conn_private.h"

void conn_unpark(struct conn *conn)
{
    conn->parked = false;
}

bool conn_is_dear(const struct conn *conn)
{
    return conn->dear > 0;
}

bool conn_is_bulky(const struct conn *conn)
{
    return !conn->broken && !conn->wire.out.stalled &&
           output_sendable(&conn->wire.out) > CONN_SMALL_MAX;
}

void conn_rate(struct conn *conn, bool dear)
{
    if (dear) {
        conn->dear = CONN_DEAR_FEEDS;
    } else if (conn->dear > 0) {
        conn->dear--;
    }
}

static void conn_join(struct conn *conn, struct list_node *list)
{
    if (conn->parked) {
        conn->parked = false;
        list_remove(&conn->member.touched);
    }
    if (!list_linked(&conn->member.touched)) {
        list_append(list, &conn->member.touched);
    }
}

void conn_touch(struct conn *conn)
{
    conn_join(conn, &conn_turn(conn)->touched);
}

void conn_await_turn(struct conn *conn)
{
    conn_join(conn, conn_is_dear(conn) ? &conn_turn(conn)->dear : &conn_turn(conn)->touched);
}

void conn_park(struct conn *conn)
{
    struct turn *turn = conn_turn(conn);
    bool waits = conn_is_held(conn) && output_sendable(&conn->wire.out) == 0;

    if (conn->runs || (conn_is_dear(conn) && conn_may_read(conn))) {
        conn_await_turn(conn);
    } else if (conn_may_read(conn)) {
        // Nobody says again that there is something to read.
        if (conn->remote) {
            link_call_again(conn->link);
        } else {
            event_active(&conn->event, EV_READ, 1);
        }
    }
    if (!list_linked(&conn->member.touched) && (waits || conn_is_paused(conn))) {
        conn->parked = true;
        list_append(waits ? &turn->held : &turn->paused, &conn->member.touched);
    }
}
