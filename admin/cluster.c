/* SPDX-License-Identifier: MIT */
#include "admin/cluster.h"

#include "core/broker.h"

#include "admin/cluster_look.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown_cluster.h"

static void check(struct input *input, struct http1_conn *conn)
{
    static const char *const none[] = {NULL};

    input_begin_query(input, conn);
    input_parameters(input, none);
}

static enum http1_next answer_cluster(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct input input;

    (void)body;
    (void)blob;
    check(&input, conn);
    return input_good(&input) ? admin_reply_json(conn, 200, shown_cluster(conn))
                              : input_refuse(&input);
}

static enum http1_next answer_hand_over(struct http1_conn *conn, struct slice body,
                                        struct blob *blob)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_cluster cluster;
    struct input input;

    (void)body;
    (void)blob;
    check(&input, conn);
    if (!session_may_everywhere(conn->session, MAY_ADMINISTER)) {
        input_blame(&input, 403, "%s", status_text(STATUS_FORBIDDEN));
    }
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    // As it is before: what comes of it takes a turn or more.
    cluster_look(sight, &cluster);
    if (!sight || !sight->hand_over || !sight->hand_over(sight->host)) {
        return admin_refuse(conn, 409, "no standby can take over from this process");
    }
    return admin_reply_json(
        conn, 202,
        json_pack("{s:s, s:I}", "from", cluster.node, "epoch", (json_int_t)cluster.epoch));
}

const struct admin_route cluster_routes[] = {
    {.path = "/api/v1/cluster",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .early = true,
     .answer = answer_cluster},
    {.path = "/api/v1/cluster/handover",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .early = true,
     .answer = answer_hand_over},
    {.path = NULL},
};
