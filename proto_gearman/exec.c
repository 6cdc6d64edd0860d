/* SPDX-License-Identifier: MIT */
#include "proto_gearman/exec.h"

#include "core/base/macros.h"

#include "proto_gearman/ability.h"
#include "proto_gearman/caller.h"
#include "proto_gearman/client.h"
#include "proto_gearman/reply.h"
#include "proto_gearman/worker.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void exec_echo(struct gear_conn *conn, const struct gear_packet *packet)
{
    gear_reply_data(conn, GEAR_ECHO_RES, packet->data, packet->blob);
}

static bool begins_with(struct slice text, struct slice start)
{
    return text.len >= start.len && strncasecmp(text.ptr, start.ptr, start.len) == 0;
}

static void exec_option(struct gear_conn *conn, const struct gear_packet *packet)
{
    const struct slice exceptions = SLICE("exceptions"), auth = SLICE("auth:");
    struct slice name = packet->args[0];

    if (name.len == exceptions.len && begins_with(name, exceptions)) {
        conn->exceptions = true;
        gear_reply_data(conn, GEAR_OPTION_RES, name, NULL);
    } else if (begins_with(name, auth)) {
        gear_auth(conn, slice_from(name, auth.len));
    } else {
        gear_refuse(conn, GEAR_REFUSE_OPTION);
    }
}

static void exec_set_client_id(struct gear_conn *conn, const struct gear_packet *packet)
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

// It would mean that the worker offers all functions; no worker that is known relies on it.
static void exec_all_yours(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)conn;
    (void)packet;
}

typedef void (*exec_fn)(struct gear_conn *conn, const struct gear_packet *packet);

static const exec_fn execs[GEAR_TYPE_COUNT] = {
    [GEAR_CAN_DO] = gear_can_do,
    [GEAR_CANT_DO] = gear_cant_do,
    [GEAR_RESET_ABILITIES] = gear_reset_abilities,
    [GEAR_PRE_SLEEP] = gear_pre_sleep,
    [GEAR_SUBMIT_JOB] = gear_submit,
    [GEAR_GRAB_JOB] = gear_grab,
    [GEAR_WORK_STATUS] = gear_work_status,
    [GEAR_WORK_COMPLETE] = gear_work_complete,
    [GEAR_WORK_FAIL] = gear_work_fail,
    [GEAR_GET_STATUS] = gear_get_status,
    [GEAR_ECHO_REQ] = exec_echo,
    [GEAR_SUBMIT_JOB_BG] = gear_submit,
    [GEAR_SUBMIT_JOB_HIGH] = gear_submit,
    [GEAR_SET_CLIENT_ID] = exec_set_client_id,
    [GEAR_CAN_DO_TIMEOUT] = gear_can_do,
    [GEAR_ALL_YOURS] = exec_all_yours,
    [GEAR_WORK_EXCEPTION] = gear_work_exception,
    [GEAR_OPTION_REQ] = exec_option,
    [GEAR_WORK_DATA] = gear_work_data,
    [GEAR_WORK_WARNING] = gear_work_data,
    [GEAR_GRAB_JOB_UNIQ] = gear_grab,
    [GEAR_SUBMIT_JOB_HIGH_BG] = gear_submit,
    [GEAR_SUBMIT_JOB_LOW] = gear_submit,
    [GEAR_SUBMIT_JOB_LOW_BG] = gear_submit,
    [GEAR_SUBMIT_JOB_SCHED] = gear_submit,
    [GEAR_SUBMIT_JOB_EPOCH] = gear_submit,
    [GEAR_SUBMIT_REDUCE_JOB] = gear_submit,
    [GEAR_SUBMIT_REDUCE_JOB_BACKGROUND] = gear_submit,
    [GEAR_GRAB_JOB_ALL] = gear_grab,
    [GEAR_GET_STATUS_UNIQUE] = gear_get_status_unique,
};

static const char *const names[GEAR_TYPE_COUNT] = {
#define X(number, name, args, data) [number] = #name,
    GEAR_TYPES(X)
#undef X
};

// Its arguments, divided by spaces, but for a token.
static APART void trace(const struct gear_conn *conn, const struct gear_packet *packet)
{
    const char *name = names[packet->type];
    char about[512];
    size_t len = 0;

    for (unsigned i = 0; i < gear_type_args(packet->type); i++) {
        struct slice arg = packet->args[i];

        if (packet->type == GEAR_OPTION_REQ && begins_with(arg, SLICE("auth:"))) {
            arg.len = strlen("auth:");
        }
        if (len > 0 && len < sizeof about) {
            about[len++] = ' ';
        }
        arg.len = arg.len < sizeof about - len ? arg.len : sizeof about - len;
        memcpy(about + len, arg.ptr, arg.len);
        len += arg.len;
    }
    wire_log_command(conn->wire, slice_str(name), slice_of(about, len), packet->data.len);
}

void gear_exec(struct gear_conn *conn, const struct gear_packet *packet)
{
    if (conn->wire->traced) {
        trace(conn, packet);
    }
    execs[packet->type](conn, packet);
}
