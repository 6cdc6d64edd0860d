/* SPDX-License-Identifier: MIT */
#include "server/conn/conn_log.h"

#include "core/base/log.h"
#include "server/conn/conn_private.h"
#include "server/net/admission.h"
#include "server/net/proxied.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// TLS version and cipher; NULL without TLS.
static const char *conn_protection(const struct conn *conn)
{
    const struct transport *transport = conn_transport(conn);

    return transport->protection ? transport->protection(conn_transport_own(conn)) : NULL;
}

// A line of that kind, which names the client.
static void conn_log_client(const struct conn *conn, const char *event, enum limited_log kind)
{
    char peer[WIRE_PEER_MAX];

    if (turn_may_log(conn_turn(conn), kind)) {
        wire_peer(&conn->wire, peer);
        log_warn(event, log_number("conn", (int64_t)conn->wire.number), log_string("peer", peer),
                 log_string("protocol", conn->service->frontend->name));
    }
}

void conn_log_tls_hello(const struct wire *wire)
{
    const struct conn *conn = conn_of_wire(wire);

    if (!conn_protection(conn)) {
        conn_log_client(conn, "tls_on_plain_port", LIMITED_LOG_TLS_HELLO);
    }
}

void conn_log_proxy_head(const struct wire *wire)
{
    conn_log_client(conn_of_wire(wire), "proxy_head_unexpected", LIMITED_LOG_PROXY_HEAD);
}

void conn_log_too_large(const struct wire *wire, const char *what, uint64_t size,
                        const char *setting)
{
    const struct conn *conn = conn_of_wire(wire);
    const char *protocol = conn->service->frontend->name;
    struct log_field number = log_number("conn", (int64_t)wire->number);

    if (!turn_may_log(conn_turn(conn), LIMITED_LOG_TOO_LARGE)) {
        return;
    }
    if (size > 0) {
        log_info("too_large", number, log_string("protocol", protocol), log_string("what", what),
                 log_number("size", (int64_t)size), log_string("setting", setting));
    } else {
        log_info("too_large", number, log_string("protocol", protocol), log_string("what", what),
                 log_string("setting", setting));
    }
}

// Lines about commands per second.
#define COMMAND_LINES_MAX 1000
// Bytes of a command's subject that are logged.
#define COMMAND_SUBJECT_MAX 512

void conn_choose_trace(struct conn *conn)
{
    const char *wanted = conn_turn(conn)->log_commands;
    char text[WIRE_PEER_MAX];

    conn->wire.traced = false;
    if (!wanted || *wanted == '\0') {
        return;
    }
    (void)snprintf(text, sizeof text, "%" PRIu64, (uint64_t)conn->wire.number);
    if (strcmp(text, wanted) != 0) {
        wire_peer(&conn->wire, text);
    }
    conn->wire.traced = strcmp(text, wanted) == 0;
}

// Whether a command may be logged now. Sets how many were not logged since the last line.
static bool turn_may_log_command(struct turn *turn, uint64_t *unsaid)
{
    nsec_t now_at = broker_now(turn->broker).mono;

    if (now_at - turn->commands_since >= NSEC_PER_SEC) {
        turn->commands_since = now_at;
        turn->command_lines = 0;
    }
    if (turn->command_lines == COMMAND_LINES_MAX) {
        turn->commands_unsaid++;
        return false;
    }
    turn->command_lines++;
    *unsaid = turn->commands_unsaid;
    turn->commands_unsaid = 0;
    return true;
}

void conn_log_command(const struct wire *wire, struct slice command, struct slice about,
                      uint64_t size)
{
    const struct conn *conn = conn_of_wire(wire);
    struct log_field fields[6] = {
        log_number("conn", (int64_t)wire->number),
        log_string("protocol", conn->service->frontend->name),
        log_text("command", command),
    };
    size_t count = 3;
    uint64_t unsaid;

    if (!turn_may_log_command(conn_turn(conn), &unsaid)) {
        return;
    }
    if (about.len > 0) {
        fields[count++] = log_text(
            "about",
            slice_of(about.ptr, about.len < COMMAND_SUBJECT_MAX ? about.len : COMMAND_SUBJECT_MAX));
    }
    if (size > 0) {
        fields[count++] = log_number("size", (int64_t)size);
    }
    if (unsaid > 0) {
        fields[count++] = log_number("unsaid", (int64_t)unsaid);
    }
    log_write(LOG_LEVEL_INFO, "command", fields, count);
}

void conn_log_refused(const struct service *service, const char *peer, enum status status)
{
    service_count_refusal(service->counters, REFUSAL_MEMORY);
    if (turn_may_log(service->turn, LIMITED_LOG_MEMORY)) {
        log_warn("connection_refused", log_string("protocol", service->frontend->name),
                 log_string("peer", peer), log_string("why", status_text(status)));
    }
}

void conn_log_opened(const struct conn *conn, const char *peer)
{
    const struct peer_identity *identity = conn_identity(conn);
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

// The peer: the subject of its certificate, or else its user or address.
static struct log_field conn_peer_field(const struct conn *conn, char text[ORIGIN_TEXT_MAX])
{
    const struct peer_identity *identity = conn_identity(conn);
    struct origin origin;

    if (identity) {
        return log_string("cert", identity->subject);
    }
    origin = conn_origin(conn);
    origin_text(&origin, text);
    return log_string("who", text);
}

void conn_log_caller(const struct conn *conn, struct slice token, struct slice role)
{
    char text[ORIGIN_TEXT_MAX];
    const struct log_field fields[] = {
        log_number("conn", (int64_t)conn->wire.number),
        token.len > 0 ? log_text("token", token) : conn_peer_field(conn, text),
        log_text("role", role),
    };

    log_write(LOG_LEVEL_DEBUG, "caller", fields, role.len > 0 ? 3 : 2);
}

void conn_log_wrong_token(const struct conn *conn)
{
    conn_log_client(conn, "wrong_token", LIMITED_LOG_TOKEN);
}

void conn_log_delayed_token(const struct conn *conn)
{
    conn_log_client(conn, "token_delayed", LIMITED_LOG_TOKEN_DELAYED);
}

void conn_log_access_lost(const struct conn *conn)
{
    char text[ORIGIN_TEXT_MAX];

    log_warn("access_lost", log_number("conn", (int64_t)conn->wire.number),
             log_string("protocol", conn->service->frontend->name), conn_peer_field(conn, text));
}

static void service_log_limited(const struct service *service, const char *peer, const char *why,
                                const char *event, enum limited_log kind)
{
    if (turn_may_log(service->turn, kind)) {
        log_warn(event, log_string("peer", peer), log_string("protocol", service->frontend->name),
                 log_string("why", why));
    }
}

void service_log_refused(const struct service *service, const char *peer, const char *why)
{
    if (*why == '\0') {
        log_debug("no_handshake", log_string("peer", peer),
                  log_string("protocol", service->frontend->name));
    } else if (strcmp(why, PEER_LIMITS_REACHED) == 0) {
        service_count_refusal(service->counters, REFUSAL_CONNECTION);
        service_log_limited(service, peer, why, "address_limit", LIMITED_LOG_ADDRESS);
    } else if (strcmp(why, PROXIED_STRANGER) == 0) {
        service_count_refusal(service->counters, REFUSAL_PROXY);
        service_log_limited(service, peer, why, "proxy_unknown", LIMITED_LOG_PROXY);
    } else {
        service_count_refusal(service->counters, REFUSAL_HANDSHAKE);
        service_log_limited(service, peer, why, "handshake_failed", LIMITED_LOG_HANDSHAKE);
    }
}
