/* SPDX-License-Identifier: MIT */
#include "admin/process_acts.h"

#include "core/broker.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown.h"

#include <string.h>

// The longest reason for which a reload fails.
#define RELOAD_WHY_MAX 512

// Notes where the caller may not, or where there is no process to do it to.
static void check(struct input *input)
{
    if (!session_may_everywhere(input->conn->session, MAY_ADMINISTER)) {
        input_blame(input, 403, "%s", status_text(STATUS_FORBIDDEN));
    } else if (!admin_shared(input->conn)->sight) {
        input_blame(input, 503, "the process does not do that");
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
        input_blame(&input, 400, "draining lacks");
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
        conn, 200,
        json_pack("{s:b,s:o}", "reloaded", 0, "why", shown_text(slice_of(why, strlen(why)))));
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
    {.path = NULL},
};
