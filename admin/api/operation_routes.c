/* SPDX-License-Identifier: MIT */
#include "core/base/base64.h"
#include "core/broker.h"

#include "admin/api/admin_operations.h"
#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/json/job_json.h"
#include "admin/json/json_values.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <stdint.h>

//
// Reading
//

// The document. Delays the reply until the changes in it are as durable as configured.
static json_t *held_operation_json(const struct http1_conn *conn, const struct operation *operation)
{
    wire_hold(conn->wire, operation->position);
    return operation_json(operation);
}

static enum http1_next answer_operation_list(struct http1_conn *conn, struct slice body,
                                             struct blob *blob)
{
    struct operations *operations = admin_shared(conn)->operations;
    json_t *list = json_array();
    struct input input;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    if (!input_good(&input)) {
        json_decref(list);
        return input_refuse(&input);
    }
    operations_forget_old(operations);
    for (struct list_node *node = operations->all.prev; list && node != &operations->all;
         node = node->prev) {
        const struct operation *operation = list_item(node, struct operation, all);

        if (operation_visible(operation, conn->session)) {
            json_list_add(&list, held_operation_json(conn, operation));
        }
    }
    return admin_reply_json(conn, 200, json_pack("{s:o}", "operations", list));
}

// The operation that the path names; NULL if the request was refused, with `*next`.
static struct operation *find_named_operation(struct http1_conn *conn, enum http1_next *next)
{
    struct operations *operations = admin_shared(conn)->operations;
    struct input input;
    uint64_t id;

    input_begin_plain(&input, conn);
    if (!input_path_number(&input, 0, &id)) {
        *next = input_refuse(&input);
        return NULL;
    }
    list_each (node, &operations->all) {
        struct operation *operation =
            list_item((struct list_node *)(uintptr_t)node, struct operation, all);

        if (operation->id == id && operation_visible(operation, conn->session)) {
            return operation;
        }
    }
    *next = admin_refuse_status(conn, STATUS_NOT_FOUND);
    return NULL;
}

static enum http1_next answer_operation(struct http1_conn *conn, struct slice body,
                                        struct blob *blob)
{
    enum http1_next next;
    const struct operation *operation = find_named_operation(conn, &next);

    (void)body;
    (void)blob;
    return operation ? admin_reply_json(conn, 200, held_operation_json(conn, operation)) : next;
}

static enum http1_next answer_operation_cancel(struct http1_conn *conn, struct slice body,
                                               struct blob *blob)
{
    enum http1_next next;
    struct operation *operation = find_named_operation(conn, &next);

    (void)body;
    (void)blob;
    if (!operation) {
        return next;
    }
    operations_cancel(admin_shared(conn)->operations, operation);
    return admin_reply_json(conn, 200, held_operation_json(conn, operation));
}

//
// Beginning
//

// Maximum length of the text to search in bodies, because each slice of a sweep prepares the
// search.
#define CONTAINS_MOST 4096

static void read_contains(struct input *input, struct slice *contains)
{
    bool plain = input_text(input, "contains", contains);
    struct slice encoded;
    size_t len;

    if (input_text(input, "contains_base64", &encoded)) {
        if (plain) {
            input_blame(input, 400, "give either contains or contains_base64, not both");
        } else if (!base64_decode(encoded, (char *)(uintptr_t)encoded.ptr, &len)) {
            input_blame(input, 400, "contains_base64 is not valid base64");
        } else {
            *contains = slice_of(encoded.ptr, len);
        }
    }
    if (contains->len > CONTAINS_MOST) {
        input_blame(input, 400, "contains is longer than %d bytes", CONTAINS_MOST);
    }
}

static void read_job_filter(struct input *input, struct job_filter *filter)
{
    static const char *const members[] = {
        "states",    "min_age_seconds", "max_age_seconds", "min_priority",    "max_priority",
        "min_bytes", "max_bytes",       "contains",        "contains_base64", NULL};
    uint64_t min_pri = filter->min_pri, max_pri = filter->max_pri;
    uint64_t min_body = filter->min_body, max_body = filter->max_body;

    input_members(input, members);
    // The bits are those of JOB_IN(), because the names are in the order of the states.
    (void)input_words(input, "states", job_state_names, &filter->states);
    (void)input_seconds(input, "min_age_seconds", &filter->min_age_for);
    (void)input_seconds(input, "max_age_seconds", &filter->max_age_for);
    (void)input_number(input, "min_priority", UINT32_MAX, &min_pri);
    (void)input_number(input, "max_priority", UINT32_MAX, &max_pri);
    (void)input_number(input, "min_bytes", INT64_MAX, &min_body);
    (void)input_number(input, "max_bytes", INT64_MAX, &max_body);
    read_contains(input, &filter->contains);
    filter->min_pri = (uint32_t)min_pri;
    filter->max_pri = (uint32_t)max_pri;
    filter->min_body = (size_t)min_body;
    filter->max_body = (size_t)max_body;
}

// Checks that a member is given only with actions that allow it, and always if it is required.
static void check_plan_member(struct input *input, const struct operation_plan *plan,
                              const char *name, bool given, bool allowed, bool required)
{
    const char *action = operation_actions[plan->action];

    if (given && !allowed) {
        input_blame(input, 400, "%s is not allowed with %s", name, action);
    } else if (!given && required) {
        input_blame(input, 400, "%s requires %s", action, name);
    }
}

static void read_plan_act(struct input *input, struct operation_plan *plan)
{
    static const enum act_kind acts[] = {
        [OPERATION_DELETE] = ACT_DELETE, [OPERATION_KICK] = ACT_KICK,
        [OPERATION_BURY] = ACT_BURY,     [OPERATION_RELEASE] = ACT_RELEASE,
        [OPERATION_MOVE] = ACT_MOVE,     [OPERATION_CHANGE] = ACT_CHANGE,
    };
    enum operation_action action = plan->action;
    struct job_act *act = &plan->sweep.act;
    bool changes = action == OPERATION_CHANGE;
    uint64_t pri = 0;
    bool pauses;

    act->sets_pri = input_number(input, "priority", UINT32_MAX, &pri);
    act->pri = (uint32_t)pri;
    act->sets_delay = input_seconds(input, "delay_seconds", &act->delay_for);
    pauses = input_seconds(input, "pause_seconds", &plan->pause_for) && plan->pause_for > 0;
    (void)input_flag(input, "back", &act->back);
    check_plan_member(input, plan, "back", act->back, action == OPERATION_MOVE, false);
    check_plan_member(input, plan, "to", input_text(input, "to", &act->to),
                      action == OPERATION_MOVE && !act->back,
                      action == OPERATION_MOVE && !act->back);
    check_plan_member(input, plan, "priority", act->sets_pri, changes, changes && !act->sets_delay);
    check_plan_member(input, plan, "delay_seconds", act->sets_delay,
                      changes || action == OPERATION_RELEASE, false);
    check_plan_member(input, plan, "pause_seconds", pauses, action == OPERATION_PAUSE,
                      action == OPERATION_PAUSE);
    act->kind = action < OPERATION_PAUSE ? acts[action] : ACT_DELETE;
}

// Reads a `NewOperation`. Slices of the plan are borrowed from the input.
static void read_operation_plan(struct input *input, struct operation_plan *plan)
{
    static const char *const members[] = {
        "action",   "queue",         "queue_path", "queues",        "filter",  "to", "back",
        "priority", "delay_seconds", "max",        "pause_seconds", "dry_run", NULL};
    struct sweep *sweep = &plan->sweep;
    struct input filter;
    size_t action = 0;
    bool one, many;

    *plan = (struct operation_plan){.sweep.filter = JOB_FILTER_ALL};
    input_members(input, members);
    if (!input_word(input, "action", operation_actions, &action)) {
        input_blame(input, 400, "action is missing");
    }
    plan->action = (enum operation_action)action;
    one = input_queue(input, &sweep->queue);
    many = input_text(input, "queues", &sweep->queues);
    if (one == many) {
        input_blame(input, 400, "give exactly one of queue, queue_path and queues");
    } else if (sweep->queue.len + sweep->queues.len == 0) {
        input_blame(input, 400, "the name of the queue is empty");
    }
    if (input_part(input, "filter", &filter)) {
        read_job_filter(&filter, &sweep->filter);
        if (plan->action >= OPERATION_PAUSE && json_object_size(filter.json.object) > 0) {
            input_blame(&filter, 400, "pause and resume take no filter");
        }
    }
    input_part_end(input, "filter", &filter);
    read_plan_act(input, plan);
    (void)input_number(input, "max", INT64_MAX, &sweep->most);
    (void)input_flag(input, "dry_run", &sweep->dry);
}

static enum http1_next begin_operation(struct http1_conn *conn, const struct operation_plan *plan)
{
    struct operations *operations = admin_shared(conn)->operations;
    struct operation *operation;
    enum status status;

    operations_forget_old(operations);
    if (operations->running == OPERATIONS_RUNNING) {
        return admin_refuse(conn, 503, "too many operations are running: wait until one ends");
    }
    status = operations_start(operations, admin_broker(conn), conn->session, plan, &operation);
    return status == STATUS_OK ? admin_reply_json(conn, 202, held_operation_json(conn, operation))
                               : admin_refuse_status(conn, status);
}

static enum http1_next answer_operation_begin(struct http1_conn *conn, struct slice body,
                                              struct blob *blob)
{
    struct operation_plan plan;
    enum http1_next next;
    struct input input;

    (void)blob;
    input_begin(&input, conn, body, false);
    read_operation_plan(&input, &plan);
    next = input_good(&input) ? begin_operation(conn, &plan) : input_refuse(&input);
    input_end(&input);
    return next;
}

const struct admin_route operation_routes[] = {
    {.path = "/api/v1/operations",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_operation_list},
    {.path = "/api/v1/operations",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_operation_begin},
    {.path = "/api/v1/operations/{id}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_operation},
    {.path = "/api/v1/operations/{id}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .answer = answer_operation_cancel},
    {.path = NULL},
};
