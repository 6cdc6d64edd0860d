/* SPDX-License-Identifier: MIT */
#include "proto_http/lease_actions.h"

#include "core/base/digits.h"
#include "http1/reply.h"
#include "http1/request_target.h"

#include "proto_http/work_answer.h"

#include <stdio.h>
#include <string.h>

#define WHY_MAX 128
#define BIT(number) (1u << (number))

struct number_kind {
    struct slice name;
    uint64_t most;
};

static const struct number_kind number_kinds[WEB_NUMBERS] = {
    [WEB_DELAY] = {{"delay", 5}, UINT32_MAX},
    [WEB_PRI] = {{"pri", 3}, UINT32_MAX},
    [WEB_DONE] = {{"done", 4}, INT64_MAX},
    [WEB_TOTAL] = {{"total", 5}, INT64_MAX},
};

struct web_action_kind {
    struct slice name;
    bool ends;          // the lease
    bool reports;       // to clients that wait for the job
    bool has_body;      // a body is allowed
    bool empty_is_body; // an empty body counts as a body
    unsigned takes;     // set of numbers allowed
    unsigned needs;     // set of numbers required
    enum status (*apply)(const struct web_lease *lease, const struct web_action *action,
                         struct blob *body);
};

//
// Actions
//

static enum status action_complete(const struct web_lease *lease, const struct web_action *action,
                                   struct blob *body)
{
    (void)action;
    return broker_complete(lease->holder->session, lease->job_id, body);
}

static enum status action_fail(const struct web_lease *lease, const struct web_action *action,
                               struct blob *body)
{
    (void)action;
    (void)body;
    return broker_fail(lease->holder->session, lease->job_id, NULL);
}

static enum status action_exception(const struct web_lease *lease, const struct web_action *action,
                                    struct blob *body)
{
    (void)action;
    return broker_fail(lease->holder->session, lease->job_id, body);
}

// The new priority, by default the present one.
static uint32_t pri_of(const struct web_lease *lease, const struct web_action *action)
{
    const struct broker *broker = lease->holder->leases->broker;
    struct job_info info;

    if (action->present & BIT(WEB_PRI)) {
        return (uint32_t)action->numbers[WEB_PRI];
    }
    broker_job_info(broker, broker_find(broker, lease->job_id), &info);
    return info.pri;
}

static enum status action_release(const struct web_lease *lease, const struct web_action *action,
                                  struct blob *body)
{
    (void)body;
    return broker_release(lease->holder->session, lease->job_id, pri_of(lease, action),
                          nsec_from_seconds(action->numbers[WEB_DELAY]));
}

static enum status action_bury(const struct web_lease *lease, const struct web_action *action,
                               struct blob *body)
{
    (void)body;
    return broker_bury(lease->holder->session, lease->job_id, pri_of(lease, action));
}

static enum status action_touch(const struct web_lease *lease, const struct web_action *action,
                                struct blob *body)
{
    (void)action;
    (void)body;
    return broker_touch(lease->holder->session, lease->job_id);
}

static enum status action_progress(const struct web_lease *lease, const struct web_action *action,
                                   struct blob *body)
{
    const struct job_event event = {
        .kind = JOB_EVENT_PROGRESS,
        .numerator = action->numbers[WEB_DONE],
        .denominator = action->numbers[WEB_TOTAL],
    };

    (void)body;
    return broker_report(lease->holder->session, lease->job_id, &event);
}

static enum status action_data(const struct web_lease *lease, const struct web_action *action,
                               struct blob *body)
{
    const struct job_event event = {.kind = JOB_EVENT_DATA, .data = body};

    (void)action;
    return broker_report(lease->holder->session, lease->job_id, &event);
}

static enum status action_warning(const struct web_lease *lease, const struct web_action *action,
                                  struct blob *body)
{
    const struct job_event event = {.kind = JOB_EVENT_WARNING, .data = body};

    (void)action;
    return broker_report(lease->holder->session, lease->job_id, &event);
}

#define NAME(text) .name = {(text), sizeof(text) - 1}

static const struct web_action_kind action_kinds[] = {
    {NAME("complete"), .ends = true, .has_body = true, .apply = action_complete},
    {NAME("fail"), .ends = true, .apply = action_fail},
    {NAME("exception"), .ends = true, .has_body = true, .empty_is_body = true,
     .apply = action_exception},
    {NAME("release"), .ends = true, .takes = BIT(WEB_DELAY) | BIT(WEB_PRI),
     .apply = action_release},
    {NAME("bury"), .ends = true, .takes = BIT(WEB_PRI), .apply = action_bury},
    {NAME("touch"), .apply = action_touch},
    {NAME("progress"), .reports = true, .takes = BIT(WEB_DONE) | BIT(WEB_TOTAL),
     .needs = BIT(WEB_DONE) | BIT(WEB_TOTAL), .apply = action_progress},
    {NAME("data"), .reports = true, .has_body = true, .apply = action_data},
    {NAME("warning"), .reports = true, .has_body = true, .apply = action_warning},
};

//
// The head
//

static bool refuse_ended(struct http1_conn *conn)
{
    return web_refuse_status(conn, 410, "the lease has ended");
}

static struct slice token_of(const struct http1_conn *conn)
{
    struct slice name = web_target_name(&web_request(conn)->target);
    const char *slash = memchr(name.ptr, '/', name.len);

    return slice_of(name.ptr, slash ? (size_t)(slash - name.ptr) : name.len);
}

static const struct web_action_kind *action_kind_of(const struct http1_conn *conn)
{
    struct slice name = web_target_name(&web_request(conn)->target);
    size_t token = token_of(conn).len;

    for (size_t i = 0; token < name.len && i < sizeof action_kinds / sizeof *action_kinds; i++) {
        if (slice_equal(slice_from(name, token + 1), action_kinds[i].name)) {
            return &action_kinds[i];
        }
    }
    return NULL;
}

static bool action_read_numbers(struct http1_conn *conn, struct web_action *action)
{
    struct slice query = web_request(conn)->target.query;
    struct slice name, value;
    char why[WHY_MAX];

    while (http1_query_next(&query, &name, &value)) {
        int i = 0;

        while (i < WEB_NUMBERS &&
               (!(action->kind->takes & BIT(i)) || !slice_equal(name, number_kinds[i].name))) {
            i++;
        }
        if (i == WEB_NUMBERS) {
            return web_refuse_status(conn, 400,
                                     "the query has a parameter that this action does not have");
        }
        if ((action->present & BIT(i)) || !digits_read(value, &action->numbers[i]) ||
            action->numbers[i] > number_kinds[i].most) {
            (void)snprintf(why, sizeof why,
                           "the parameter %s is not a number in the allowed range, or is given "
                           "twice",
                           number_kinds[i].name.ptr);
            return web_refuse_status(conn, 400, why);
        }
        action->present |= BIT(i);
    }
    return (action->present & action->kind->needs) == action->kind->needs ||
           web_refuse_status(conn, 400, "progress requires two parameters, done and total");
}

bool web_action_check(struct http1_conn *conn, const struct http1_framing *framing)
{
    struct web_action *action = &web_request(conn)->action;

    action->kind = action_kind_of(conn);
    if (!action->kind) {
        return web_refuse_status(conn, 404, "unknown lease action");
    }
    if (!action_read_numbers(conn, action)) {
        return false;
    }
    if (http1_has_body(framing) && !action->kind->has_body) {
        return web_refuse_status(conn, 400, "this action must not have a body");
    }
    // Without a body, the action itself finds the lease or refuses.
    return !http1_has_body(framing) || web_lease_find(&web_shared(conn)->leases, token_of(conn)) ||
           refuse_ended(conn);
}

//
// The answer
//

static void action_apply(struct http1_conn *conn, struct web_lease *lease, struct blob *body)
{
    const struct web_action *action = &web_request(conn)->action;
    enum status status = action->kind->apply(lease, action, body);
    char deadline[LEASE_DEADLINE_ROOM];

    if (status == STATUS_OK) {
        if (action->kind->ends) {
            wire_hold(conn->wire, broker_position(conn->shared->broker));
            web_lease_end(lease);
            http1_reply(conn, &(struct http1_reply){.status = 204}, SLICE(""));
        } else {
            web_lease_renew(lease);
            lease_deadline_write(web_shared(conn), lease, deadline);
            http1_reply(conn, &(struct http1_reply){.status = 204, .extra = deadline}, SLICE(""));
        }
    } else {
        web_refuse_work(conn, status);
    }
}

static bool action_must_wait(const struct http1_conn *conn, const struct web_lease *lease)
{
    return web_request(conn)->action.kind->reports &&
           broker_report_waits(lease->holder->session, lease->job_id);
}

enum http1_next web_action_begin(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct web_action *action = &web_request(conn)->action;
    // The lease may have ended while the body arrived.
    struct web_lease *lease = web_lease_find(&web_shared(conn)->leases, token_of(conn));

    if (!lease) {
        (void)refuse_ended(conn);
        return HTTP1_NEXT_REQUEST;
    }
    if (body.len > 0 || action->kind->empty_is_body) {
        action->body = blob ? blob_ref(blob) : blob_copy(body);
        if (!action->body) {
            if (action->kind->apply == action_data) {
                broker_data_lost(lease->holder->session, lease->job_id);
            }
            http1_refuse_memory(conn);
            return HTTP1_NEXT_REQUEST;
        }
    }
    if (action_must_wait(conn, lease)) {
        return HTTP1_NEXT_WAIT;
    }
    action_apply(conn, lease, action->body);
    return HTTP1_NEXT_REQUEST;
}

enum http1_progress web_action_step(struct http1_conn *conn)
{
    struct web_lease *lease = web_lease_find(&web_shared(conn)->leases, token_of(conn));

    if (!lease) {
        (void)refuse_ended(conn);
    } else if (action_must_wait(conn, lease)) {
        return HTTP1_AGAIN;
    } else {
        action_apply(conn, lease, web_request(conn)->action.body);
    }
    return HTTP1_ENDED;
}

void web_action_stopped(struct http1_conn *conn)
{
    conn->request->keep_alive = false;
    http1_refuse_later(conn, HTTP1_STOPS);
}

void web_action_forget(struct web_action *action)
{
    blob_unref(action->body);
    action->body = NULL;
}

size_t web_action_holds(const struct web_action *action)
{
    return action->body ? action->body->len : 0;
}
