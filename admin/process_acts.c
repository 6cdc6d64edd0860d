/* SPDX-License-Identifier: MIT */
#include "admin/process_acts.h"

#include "core/base/digits.h"
#include "core/broker.h"
#include "proto_common/sight_push.h"
#include "proto_common/wire.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown.h"
#include "admin/shown_push.h"

#include <string.h>

// The longest reason for which a reload fails.
#define RELOAD_WHY_MAX 512

// Notes where the caller may not, or where there is no process to do it to.
static void check(struct input *input)
{
    if (!session_may_everywhere(input->conn->session, MAY_ADMINISTER)) {
        input_blame(input, 403, "%s", status_text(STATUS_FORBIDDEN));
    } else if (!admin_shared(input->conn)->sight) {
        input_blame(input, 503, "this process cannot do that");
    }
}

static enum http1_next answer_drain(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"draining", NULL};
    const struct sight *sight = admin_shared(conn)->sight;
    enum http1_next next;
    struct input input;
    bool draining = false;

    (void)blob;
    input_begin(&input, conn, body, false);
    check(&input);
    input_members(&input, members);
    if (!input_flag(&input, "draining", &draining)) {
        input_blame(&input, 400, "draining is missing");
    }
    if (input_good(&input)) {
        sight->drain(sight->host, draining);
        next = admin_reply_json(conn, 200, json_pack("{s:b}", "draining", (int)draining));
    } else {
        next = input_refuse(&input);
    }
    input_end(&input);
    return next;
}

static enum http1_next answer_reload(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const no_parameters[] = {NULL};
    const struct sight *sight = admin_shared(conn)->sight;
    struct input input;
    char why[RELOAD_WHY_MAX];

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, no_parameters);
    check(&input);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    if (sight->reload(sight->host, why, sizeof why)) {
        return admin_reply_json(conn, 200, json_pack("{s:b}", "reloaded", 1));
    }
    return admin_reply_json(
        conn, 200, json_pack("{s:b,s:o}", "reloaded", 0, "why", shown_text(slice_str(why))));
}

// Whether it could be an address, as the log has it: with a scope perhaps, which has a name.
static bool may_be_address(struct slice text)
{
    bool divided = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        divided = divided || c == '.' || c == ':';
        if (c <= ' ' || c > '~') {
            return false;
        }
    }
    return divided;
}

// The number of a connection that is there, an address, or nothing.
static void check_whose(struct input *input, struct slice whose)
{
    const struct sight *sight = admin_shared(input->conn)->sight;
    struct sight_connection connection;
    uint64_t number;

    if (!input_good(input) || whose.len == 0) {
        return;
    }
    if (whose.len < WIRE_PEER_MAX && digits_read(whose, &number)) {
        if (!sight->connection(sight->host, number, &connection)) {
            input_blame(input, 404, "the connection does not exist");
        }
    } else if (whose.len >= WIRE_PEER_MAX || !may_be_address(whose)) {
        input_blame(input, 400, "log_commands must be an address or the number of a connection");
    }
}

// The word of an operator of all queues: the section may be for any.
static enum http1_next answer_push_resume(struct http1_conn *conn, struct slice body,
                                          struct blob *blob)
{
    static const char *const no_parameters[] = {NULL};
    const struct sight *sight = admin_shared(conn)->sight;
    char section[QUEUE_NAME_MAX + 1];
    struct input input;
    size_t len = 0;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, no_parameters);
    if (!session_may_everywhere(conn->session, MAY_OPERATE)) {
        input_blame(&input, 403, "%s", status_text(STATUS_FORBIDDEN));
    }
    (void)input_path_text(&input, 0, section, sizeof section, &len);
    if (input_good(&input) &&
        (!sight || !sight->pushes->resume(sight->host, slice_of(section, len)))) {
        input_blame(&input, 404, "no section of that name has an endpoint");
    }
    return input_good(&input)
               ? admin_reply_json(conn, 200, shown_endpoint_named(sight, slice_of(section, len)))
               : input_refuse(&input);
}

static enum http1_next answer_log_commands(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    static const char *const members[] = {"log_commands", NULL};
    const struct sight *sight = admin_shared(conn)->sight;
    struct slice whose = SLICE("");
    char text[WIRE_PEER_MAX];
    enum http1_next next;
    struct input input;

    (void)blob;
    input_begin(&input, conn, body, false);
    check(&input);
    input_members(&input, members);
    if (!input_text(&input, "log_commands", &whose)) {
        input_blame(&input, 400, "log_commands is missing");
    }
    check_whose(&input, whose);
    if (!input_good(&input)) {
        next = input_refuse(&input);
        input_end(&input);
        return next;
    }
    memcpy(text, whose.ptr, whose.len);
    text[whose.len] = '\0';
    input_end(&input);
    return sight->log_commands(sight->host, text)
               ? admin_reply_json(conn, 200,
                                  json_pack("{s:o}", "log_commands", shown_text(slice_str(text))))
               : admin_refuse_status(conn, STATUS_NO_MEMORY);
}

const struct admin_route process_act_routes[] = {
    {.path = "/api/v1/drain",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .takes_body = true,
     .answer = answer_drain},
    {.path = "/api/v1/reload",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .answer = answer_reload},
    {.path = "/api/v1/push/{section}/resume",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_push_resume},
    {.path = "/api/v1/log-commands",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .takes_body = true,
     .answer = answer_log_commands},
    {.path = NULL},
};
