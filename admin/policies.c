/* SPDX-License-Identifier: MIT */
#include "admin/policies.h"

#include "core/broker.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/list_maker.h"
#include "admin/reply.h"
#include "admin/shown_section.h"

#include <string.h>

static const char *const none[] = {NULL};

// A glob says nothing of what queues there are, but of what concerns all of them.
static void check(struct input *input)
{
    input_parameters(input, none);
    if (!session_may_everywhere(input->conn->session, MAY_OBSERVE)) {
        input_blame(input, 403, "%s", status_text(STATUS_FORBIDDEN));
    }
}

static bool next_policy(const struct http1_conn *conn, size_t index, json_t **shown)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_policy policy;

    if (!sight || !sight->policies->at(sight->host, index, &policy)) {
        return false;
    }
    *shown = shown_policy(sight, index, &policy);
    return true;
}

static enum http1_next answer_list(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct input input;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    check(&input);
    return input_good(&input) ? list_maker_answer(conn, "{\"policies\":[", next_policy, "]}")
                              : input_refuse(&input);
}

static enum http1_next answer_one(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct sight *sight = admin_shared(conn)->sight;
    char glob[QUEUE_NAME_MAX + 1];
    struct sight_policy policy;
    struct input input;
    size_t len = 0;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    check(&input);
    (void)input_path_text(&input, 0, glob, sizeof glob, &len);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    for (size_t i = 0; sight && sight->policies->at(sight->host, i, &policy); i++) {
        if (slice_equal(slice_str(policy.glob), slice_of(glob, len))) {
            return admin_reply_json(conn, 200, shown_policy(sight, i, &policy));
        }
    }
    return admin_refuse_status(conn, STATUS_NOT_FOUND);
}

const struct admin_route policy_routes[] = {
    {.path = "/api/v1/policies", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_list},
    {.path = "/api/v1/policies/{glob}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_one},
    {.path = NULL},
};
