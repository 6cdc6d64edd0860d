/* SPDX-License-Identifier: MIT */

// Carries out packets: by the functions of client.c and worker.c, and the packets here that belong
// to neither.

#include "proto_gearman/gear_conn.h"

#include "core/base/macros.h"

#include "proto_gearman/gear_reply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

//
// The caller's rights
//

// Functions that the worker may no longer work give it no jobs. A worker with many functions gets
// its reply after all of them have been checked.
static void gear_grant(struct gear_conn *conn, struct grants *grants)
{
    if (broker_session_grant(conn->session, grants) == GRANT_MORE) {
        conn->state = GEAR_GRANTING;
    } else {
        conn->state = GEAR_MESSAGE;
        gear_reply_data(conn, GEAR_OPTION_RES, SLICE("auth"), NULL);
    }
}

enum step gear_grant_step(struct gear_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    gear_grant(conn, broker_session_grants(conn->session));
    return conn->state == GEAR_GRANTING ? STEP_AGAIN : STEP_ON;
}

// From now on, the connection has the rights of the token's owner only. An invalid token is refused
// and changes nothing. After too many invalid tokens from the peer's address, the packet waits, and
// so does the input after it.
static void gear_auth(struct gear_conn *conn, struct slice token)
{
    const struct wire_claim claim = {.token = &token};
    struct wire_caller caller;

    if (!wire_token_valid(token)) {
        gear_refuse(conn, GEAR_REFUSE_TOKEN);
        return;
    }
    caller = wire_identify(conn->wire, &claim);
    switch (caller.kind) {
    case CALLER_ADDRESS:
    case CALLER_KNOWN:
        gear_grant(conn, caller.grants);
        return;
    case CALLER_UNKNOWN:
        gear_refuse(conn, GEAR_REFUSE_FORBIDDEN);
        return;
    case CALLER_LATER:
        conn->wire->deadline_at = caller.again_at;
        conn->state = GEAR_AUTH_LATER;
        return;
    }
    UNREACHABLE();
}

void gear_auth_expired(struct gear_conn *conn)
{
    if (conn->state == GEAR_AUTH_LATER) {
        conn->state = GEAR_MESSAGE;
        wire_wake(conn->wire);
    }
}

//
// Packets
//

static void gear_echo(struct gear_conn *conn, const struct gear_packet *packet)
{
    gear_reply_data(conn, GEAR_ECHO_RES, packet->data, packet->blob);
}

// Regardless of case.
static bool gear_begins_with(struct slice text, struct slice start)
{
    return text.len >= start.len && strncasecmp(text.ptr, start.ptr, start.len) == 0;
}

static void gear_option(struct gear_conn *conn, const struct gear_packet *packet)
{
    const struct slice exceptions = SLICE("exceptions"), auth = SLICE("auth:");
    struct slice name = packet->args[0];

    if (name.len == exceptions.len && gear_begins_with(name, exceptions)) {
        conn->exceptions = true;
        gear_reply_data(conn, GEAR_OPTION_RES, name, NULL);
    } else if (gear_begins_with(name, auth)) {
        gear_auth(conn, slice_from(name, auth.len));
    } else {
        gear_refuse(conn, GEAR_REFUSE_OPTION);
    }
}

static void gear_set_client_id(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct slice name = packet->args[0];
    size_t len = name.len < GEAR_CLIENT_ID_MAX ? name.len : GEAR_CLIENT_ID_MAX;
    char *client_id = malloc(len + 1);

    if (!client_id) {
        gear_refuse(conn, GEAR_REFUSE_MEMORY);
        return;
    }
    memcpy(client_id, name.ptr, len);
    client_id[len] = '\0';
    free(conn->client_id);
    conn->client_id = client_id;
}

// The worker offers all functions. This is ignored: no known worker relies on it.
static void gear_all_yours(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)conn;
    (void)packet;
}

typedef void (*gear_exec_fn)(struct gear_conn *conn, const struct gear_packet *packet);

static const gear_exec_fn gear_execs[GEAR_TYPE_COUNT] = {
#define X(number, name, args, data, exec) [number] = (exec),
    GEAR_TYPES(X)
#undef X
};

static const char *const gear_type_names[GEAR_TYPE_COUNT] = {
#define X(number, name, args, data, exec) [number] = #name,
    GEAR_TYPES(X)
#undef X
};

// Logs the arguments, separated by spaces, except a token.
static APART void gear_log_command(const struct gear_conn *conn, const struct gear_packet *packet)
{
    char text[512];
    size_t len = 0;

    for (unsigned i = 0; i < gear_type_args(packet->type); i++) {
        struct slice arg = packet->args[i];

        if (packet->type == GEAR_OPTION_REQ && gear_begins_with(arg, SLICE("auth:"))) {
            arg.len = strlen("auth:");
        }
        if (len > 0 && len < sizeof text) {
            text[len++] = ' ';
        }
        arg.len = arg.len < sizeof text - len ? arg.len : sizeof text - len;
        memcpy(text + len, arg.ptr, arg.len);
        len += arg.len;
    }
    wire_log_command(conn->wire, slice_str(gear_type_names[packet->type]), slice_of(text, len),
                     packet->data.len);
}

void gear_exec(struct gear_conn *conn, const struct gear_packet *packet)
{
    if (conn->wire->traced) {
        gear_log_command(conn, packet);
    }
    gear_execs[packet->type](conn, packet);
}
