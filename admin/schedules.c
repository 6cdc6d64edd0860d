/* SPDX-License-Identifier: MIT */
#include "admin/schedules.h"

#include "core/broker.h"
#include "schedule/schedule.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/schedule_list.h"
#include "admin/shown_schedule.h"

static const char *const none[] = {NULL};

static struct schedules *schedules_of(const struct http1_conn *conn)
{
    const struct sight *sight = admin_shared(conn)->sight;

    return sight ? sight->schedules(sight->host) : NULL;
}

static bool may_see(const struct http1_conn *conn, const struct schedule_info *info)
{
    return session_may_by_name(conn->session, MAY_OBSERVE, info->spec->queue);
}

static bool may_change(const struct http1_conn *conn, struct slice queue)
{
    return session_may_by_name(conn->session, MAY_OPERATE, queue) &&
           session_may_by_name(conn->session, MAY_SUBMIT, queue);
}

// The schedule that the path names, where the caller may see it, or also do something to it.
static enum status find(struct http1_conn *conn, struct slice name, bool change,
                        struct schedule_info *info)
{
    struct schedules *schedules = schedules_of(conn);

    if (!schedules || !schedules_find(schedules, name, info) || !may_see(conn, info)) {
        return STATUS_NOT_FOUND;
    }
    return change && !may_change(conn, info->spec->queue) ? STATUS_FORBIDDEN : STATUS_OK;
}

static enum http1_next show(struct http1_conn *conn, struct slice name)
{
    struct schedule_info info;

    if (find(conn, name, false, &info) != STATUS_OK) {
        return admin_reply_nothing(conn);
    }
    return admin_reply_json(conn, 200, shown_schedule_detail(&info));
}

// What was changed is answered when it is as safe as was asked for.
static void hold(struct http1_conn *conn)
{
    wire_hold(conn->wire, schedules_position(schedules_of(conn)));
}

// Reads the name, of a request without a document.
static struct slice read_name(struct input *input, struct http1_conn *conn,
                              char text[SCHEDULE_NAME_MAX + 1])
{
    size_t len = 0;

    input_begin_query(input, conn);
    input_parameters(input, none);
    (void)input_path_text(input, 0, text, SCHEDULE_NAME_MAX + 1, &len);
    return slice_of(text, len);
}

static enum http1_next answer_one(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    char text[SCHEDULE_NAME_MAX + 1];
    struct schedule_info info;
    struct input input;
    enum status status;
    struct slice name = read_name(&input, conn, text);

    (void)body;
    (void)blob;
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    status = find(conn, name, false, &info);
    return status == STATUS_OK ? admin_reply_json(conn, 200, shown_schedule_detail(&info))
                               : admin_refuse_status(conn, status);
}

//
// Changing
//

static void need_text(struct input *input, const char *name, struct slice *text)
{
    if (!input_text(input, name, text)) {
        input_blame(input, 400, "%s is missing", name);
    }
}

static void read_spec(struct input *input, struct schedule_spec *spec)
{
    static const char *const members[] = {"cron",        "timezone", "queue",   "body", "priority",
                                          "ttr_seconds", "missed",   "overlap", NULL};
    uint64_t pri = PRI_NORMAL, ttr = 0;
    size_t missed = SCHEDULE_MISSED_SKIP, overlap = SCHEDULE_OVERLAP_ALLOW;

    input_members(input, members);
    need_text(input, "cron", &spec->cron);
    need_text(input, "queue", &spec->queue);
    (void)input_text(input, "timezone", &spec->timezone);
    (void)input_text(input, "body", &spec->body);
    (void)input_number(input, "priority", UINT32_MAX, &pri);
    (void)input_number(input, "ttr_seconds", UINT32_MAX, &ttr);
    (void)input_word(input, "missed", shown_missed, &missed);
    (void)input_word(input, "overlap", shown_overlap, &overlap);
    spec->pri = (uint32_t)pri;
    spec->ttr_for = nsec_from_seconds((uint32_t)ttr);
    spec->missed = (enum schedule_missed)missed;
    spec->overlap = (enum schedule_overlap)overlap;
}

// Whoever changes a schedule must have the rights on both queues, that of before and the new one.
static enum status put(struct http1_conn *conn, const struct schedule_spec *spec,
                       struct error_text *why)
{
    struct schedules *schedules = schedules_of(conn);
    struct schedule_info info;

    if (!schedules) {
        return STATUS_NOT_FOUND;
    }
    if (!may_change(conn, spec->queue) ||
        (schedules_find(schedules, spec->name, &info) && !may_change(conn, info.spec->queue))) {
        return STATUS_FORBIDDEN;
    }
    return schedules_put(schedules, spec, why);
}

static enum http1_next answer_put(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    char text[SCHEDULE_NAME_MAX + 1];
    struct error_text why = {""};
    struct schedule_spec spec = {.name = SLICE("")};
    enum http1_next next;
    struct input input;
    enum status status;
    size_t len = 0;

    (void)blob;
    input_begin(&input, conn, body, false);
    (void)input_path_text(&input, 0, text, sizeof text, &len);
    spec.name = slice_of(text, len);
    read_spec(&input, &spec);
    if (!input_good(&input)) {
        next = input_refuse(&input);
        goto out;
    }
    status = put(conn, &spec, &why);
    if (status != STATUS_OK) {
        next =
            *why.text ? admin_refuse_shown(conn, 400, why.text) : admin_refuse_status(conn, status);
        goto out;
    }
    hold(conn);
    next = show(conn, spec.name);
out:
    input_end(&input);
    return next;
}

// The schedule that the path names, where the caller may change it. False: the request has been
// answered, by `next`.
static bool find_to_change(struct http1_conn *conn, char text[SCHEDULE_NAME_MAX + 1],
                           struct slice *name, enum http1_next *next)
{
    struct schedule_info info;
    struct input input;
    enum status status;

    *name = read_name(&input, conn, text);
    if (!input_good(&input)) {
        *next = input_refuse(&input);
        return false;
    }
    status = find(conn, *name, true, &info);
    if (status != STATUS_OK) {
        *next = admin_refuse_status(conn, status);
    }
    return status == STATUS_OK;
}

static enum http1_next answer_delete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    char text[SCHEDULE_NAME_MAX + 1];
    enum http1_next next;
    enum status status;
    struct slice name;

    (void)body;
    (void)blob;
    if (!find_to_change(conn, text, &name, &next)) {
        return next;
    }
    status = schedules_remove(schedules_of(conn), name);
    if (status == STATUS_IN_USE) {
        return admin_refuse(conn, 409,
                            "the schedule is in the configuration file: remove it there");
    }
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    hold(conn);
    return admin_reply_nothing(conn);
}

static enum http1_next answer_run(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    char text[SCHEDULE_NAME_MAX + 1];
    struct submission submission;
    enum http1_next next;
    enum status status;
    struct slice name;

    (void)body;
    (void)blob;
    if (!find_to_change(conn, text, &name, &next)) {
        return next;
    }
    status = schedules_run(schedules_of(conn), name, &submission);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    hold(conn);
    return admin_reply_json(
        conn, 201,
        json_pack("{s:I, s:b}", "id", (json_int_t)submission.id, "joined", (int)submission.joined));
}

static enum http1_next answer_replan(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    char text[SCHEDULE_NAME_MAX + 1];
    enum http1_next next;
    enum status status;
    struct slice name;

    (void)body;
    (void)blob;
    if (!find_to_change(conn, text, &name, &next)) {
        return next;
    }
    status = schedules_replan(schedules_of(conn), name);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    hold(conn);
    return show(conn, name);
}

const struct admin_route schedule_routes[] = {
    {.path = "/api/v1/schedules",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = schedule_list_answer},
    {.path = "/api/v1/schedules/{name}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_one},
    {.path = "/api/v1/schedules/{name}",
     .method = HTTP1_PUT,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_put},
    {.path = "/api/v1/schedules/{name}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .answer = answer_delete},
    {.path = "/api/v1/schedules/{name}/run",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_run},
    {.path = "/api/v1/schedules/{name}/replan",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_replan},
    {.path = NULL},
};
