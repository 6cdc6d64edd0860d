/* SPDX-License-Identifier: MIT */
#include "admin/job_acts.h"

#include "core/broker.h"

#include "admin/change.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/job_add.h"
#include "admin/reply.h"

// Does it to the job that the path names.
static enum http1_next act_on(struct http1_conn *conn, struct input *input, const struct act *act)
{
    enum status status;
    uint64_t id;

    if (!input_path_number(input, 0, &id)) {
        return input_refuse(input);
    }
    status = broker_act(admin_broker(conn), conn->session, id, act);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    if (act->kind == ACT_DELETE) {
        change_hold(conn);
        return admin_reply_nothing(conn);
    }
    return change_show_job(conn, id);
}

static enum http1_next act_plainly(struct http1_conn *conn, enum act_kind kind)
{
    static const char *const parameters[] = {NULL};
    struct input input;

    input_begin_query(&input, conn);
    input_parameters(&input, parameters);
    return act_on(conn, &input, &(struct act){.kind = kind});
}

static void read_target(struct input *input, struct act *act)
{
    bool named = input_queue(input, &act->to);

    (void)input_flag(input, "back", &act->back);
    if (named == act->back) {
        input_blame(input, 400, named ? "give either queue or back, not both" : "queue is missing");
    }
}

// With what the body says, of those members.
static enum http1_next act_as_told(struct http1_conn *conn, struct slice body, enum act_kind kind,
                                   const char *const *members)
{
    struct act act = {.kind = kind};
    enum http1_next next;
    struct input input;
    uint64_t pri = 0;

    input_begin(&input, conn, body, kind == ACT_BURY || kind == ACT_RELEASE);
    input_members(&input, members);
    act.sets_pri = input_number(&input, "priority", UINT32_MAX, &pri);
    act.pri = (uint32_t)pri;
    act.sets_delay = input_seconds(&input, "delay_seconds", &act.delay_for);
    if (kind == ACT_MOVE) {
        read_target(&input, &act);
    }
    if (kind == ACT_CHANGE && !act.sets_pri && !act.sets_delay) {
        input_blame(&input, 400, "priority or delay_seconds is required");
    }
    next = act_on(conn, &input, &act);
    input_end(&input);
    return next;
}

static enum http1_next answer_delete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    (void)body;
    (void)blob;
    return act_plainly(conn, ACT_DELETE);
}

static enum http1_next answer_kick(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    (void)body;
    (void)blob;
    return act_plainly(conn, ACT_KICK);
}

static enum http1_next answer_touch(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    (void)body;
    (void)blob;
    return act_plainly(conn, ACT_TOUCH);
}

static enum http1_next answer_bury(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"priority", NULL};

    (void)blob;
    return act_as_told(conn, body, ACT_BURY, members);
}

static enum http1_next answer_release(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"priority", "delay_seconds", NULL};

    (void)blob;
    return act_as_told(conn, body, ACT_RELEASE, members);
}

static enum http1_next answer_change(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"priority", "delay_seconds", NULL};

    (void)blob;
    return act_as_told(conn, body, ACT_CHANGE, members);
}

static enum http1_next answer_move(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"queue", "queue_path", "back", NULL};

    (void)blob;
    return act_as_told(conn, body, ACT_MOVE, members);
}

#define ACT_ROUTE(word, has_body, function)                                                        \
    {                                                                                              \
        .path = "/api/v1/jobs/{id}/" word, .method = HTTP1_POST, .right = MAY_OPERATE,             \
        .takes_body = (has_body), .answer = (function)                                             \
    }

const struct admin_route job_act_routes[] = {
    {.path = "/api/v1/jobs",
     .method = HTTP1_POST,
     .right = MAY_SUBMIT,
     .takes_body = true,
     .answer = job_add_answer},
    {.path = "/api/v1/jobs/{id}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .answer = answer_delete},
    ACT_ROUTE("kick", false, answer_kick),
    ACT_ROUTE("touch", false, answer_touch),
    ACT_ROUTE("bury", true, answer_bury),
    ACT_ROUTE("release", true, answer_release),
    ACT_ROUTE("change", true, answer_change),
    ACT_ROUTE("move", true, answer_move),
    {.path = NULL},
};
