/* SPDX-License-Identifier: MIT */
#include "server/conn_log.h"

#include "server/conn_private.h"

#include "core/base/log.h"

// What protects it; NULL: nothing.
static const char *conn_protection(const struct conn *conn)
{
    const struct transport *transport = conn_transport(conn);

    return transport->protection ? transport->protection(conn_transport_own(conn)) : NULL;
}

void conn_log_tls_hello(const struct wire *wire)
{
    const struct conn *conn = container_of((struct wire *)(uintptr_t)wire, struct conn, wire);
    char peer[WIRE_PEER_MAX];

    if (!conn_protection(conn) && turn_may_complain(conn_turn(conn), COMPLAINT_TLS_HELLO)) {
        wire_peer(wire, peer);
        log_warn("tls_on_plain_port", log_number("conn", (int64_t)wire->number),
                 log_string("peer", peer), log_string("protocol", conn->service->frontend->name));
    }
}

void conn_log_refused(const struct service *service, const char *peer, enum status status)
{
    if (turn_may_complain(service->turn, COMPLAINT_MEMORY)) {
        log_warn("connection_refused", log_string("protocol", service->frontend->name),
                 log_string("peer", peer), log_string("why", status_text(status)));
    }
}

void conn_log_opened(const struct conn *conn, const char *peer)
{
    const struct transport *transport = conn_transport(conn);
    const struct peer_identity *identity =
        transport->identity ? transport->identity(conn_transport_own(conn)) : NULL;
    const char *protection = conn_protection(conn);
    struct log_field fields[6] = {
        log_number("conn", (int64_t)conn->wire.number),
        log_string("protocol", conn->service->frontend->name),
        log_string("peer", peer),
    };
    size_t count = 3;

    if (protection) {
        fields[count++] = log_string("tls", protection);
    }
    if (identity) {
        fields[count++] = log_string("subject", identity->subject);
        fields[count++] = log_string("alt_names", identity->alt_names);
    }
    log_write(LOG_LEVEL_DEBUG, "connected", fields, count);
}
