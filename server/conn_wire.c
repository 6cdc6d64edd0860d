/* SPDX-License-Identifier: MIT */

// A connection as its front-end sees it: the host's side of a wire.

#include "server/conn_private.h"

#include "core/base/log.h"
#include "server/conn_caller.h"
#include "server/conn_log.h"
#include "server/conn_peer.h"

static void conn_wake(struct wire *wire)
{
    struct conn *conn = container_of(wire, struct conn, wire);

    conn->woken = true;
    conn_touch(conn);
    conn_want_run(conn);
}

static void conn_drop(struct wire *wire, const char *why)
{
    struct conn *conn = container_of(wire, struct conn, wire);

    if (!conn->broken) {
        tally_refusal(conn->service->tally, SIGHT_UNREAD);
        log_warn("dropped", log_number("conn", (int64_t)wire->number),
                 log_number("unread", (int64_t)output_pending(&wire->out)), log_string("why", why));
    }
    conn_break(conn, why);
}

static void conn_wire_finish(struct wire *wire)
{
    conn_finish(container_of(wire, struct conn, wire));
}

static void conn_shut(struct wire *wire)
{
    struct conn *conn = container_of(wire, struct conn, wire);

    conn->shut_wanted = true;
    conn_touch(conn);
}

static void conn_peer(const struct wire *wire, char *text)
{
    const struct conn *conn = container_of((struct wire *)(uintptr_t)wire, struct conn, wire);

    conn_transport(conn)->peer(conn->fd, conn_transport_own(conn), text, WIRE_PEER_MAX);
}

static struct wire_caller conn_identify(struct wire *wire, const struct wire_claim *claim)
{
    struct conn *conn = container_of(wire, struct conn, wire);
    struct wire_caller found;

    if (!conn_find_claimed(conn, claim, &found)) {
        conn_lacks_memory(conn, "caller_unknown");
    }
    return found;
}

static bool conn_is_local(const struct wire *wire)
{
    const struct conn *conn = container_of((struct wire *)(uintptr_t)wire, struct conn, wire);
    struct origin origin = conn_origin(conn);

    return origin_is_local(&origin);
}

size_t conn_holds(const struct conn *conn)
{
    const struct frontend *frontend = conn->service->frontend;

    return output_kept(&conn->wire.out) + (conn->remote ? link_unread(conn->link) : 0) +
           backlog_holds(&conn->input) +
           (frontend->holds ? frontend->holds(conn->frontend_state) : 0);
}

static bool conn_overflows(struct wire *wire)
{
    const struct conn *conn = container_of(wire, struct conn, wire);
    uint64_t most = conn_turn(conn)->kept_most;

    if (most == 0 || conn_holds(conn) <= most) {
        return false;
    }
    conn_drop(wire, "leaves more unread than server.max_connection_memory allows");
    return true;
}

static void conn_refused(struct wire *wire, enum sight_refusal refusal)
{
    tally_refusal(container_of(wire, struct conn, wire)->service->tally, refusal);
}

const struct wire_host conn_host = {
    .wake = conn_wake,
    .drop = conn_drop,
    .finish = conn_wire_finish,
    .shut = conn_shut,
    .peer = conn_peer,
    .tls_hello = conn_log_tls_hello,
    .identify = conn_identify,
    .is_local = conn_is_local,
    .overflows = conn_overflows,
    .refused = conn_refused,
    .too_large = conn_log_too_large,
    .command = conn_log_command,
};
