/* SPDX-License-Identifier: MIT */
#include "admin/operations.h"

#include "core/broker.h"
#include "core/grants.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/operation_plan.h"
#include "admin/reply.h"

// So many slices in a turn.
#define SLICES 4

static struct operation *operation_in(struct list_node *node)
{
    return list_item(node, struct operation, all);
}

//
// Life
//

void operations_begin(struct operations *operations)
{
    *operations = (struct operations){.last_id = 0};
    list_init(&operations->all);
    operations->turn = &operations->all;
}

static void forget(struct operations *operations, struct operation *operation)
{
    if (operations->turn == &operation->all) {
        operations->turn = operation->all.next;
    }
    operation_free(operation);
}

void operations_end(struct operations *operations)
{
    while (!list_empty(&operations->all)) {
        forget(operations, operation_in(list_first(&operations->all)));
    }
}

// It has got on, or ended.
static void note(struct operations *operations, struct operation *operation)
{
    operation->changed = ++operations->last_change;
    if (operation->state != OPERATION_RUNNING) {
        operations->running--;
        operations->ended++;
    }
}

static bool is_old(const struct operations *operations, const struct operation *operation)
{
    return operations->ended > OPERATIONS_ENDED ||
           broker_now(operation->broker).wall - operation->finished_at > OPERATIONS_KEPT_FOR;
}

static void forget_old(struct operations *operations)
{
    struct list_node *node = operations->all.next;

    while (node != &operations->all) {
        struct operation *operation = operation_in(node);

        node = node->next;
        if (operation->state != OPERATION_RUNNING && is_old(operations, operation)) {
            operations->ended--;
            forget(operations, operation);
        }
    }
}

//
// Work
//

nsec_t operations_due(const struct operations *operations)
{
    nsec_t due_at = NSEC_NEVER;

    if (operations->running == 0) {
        return due_at;
    }
    list_each (node, &operations->all) {
        nsec_t at = operation_in((struct list_node *)(uintptr_t)node)->again_at;

        due_at = at < due_at ? at : due_at;
    }
    return due_at;
}

// The next one that is due, in turn; NULL: none is.
static struct operation *next_due(struct operations *operations)
{
    struct list_node *node = operations->turn;

    do {
        struct list_node *present = node;

        node = node->next;
        if (present != &operations->all &&
            operation_in(present)->again_at <= broker_now(operation_in(present)->broker).mono) {
            operations->turn = node;
            return operation_in(present);
        }
    } while (node != operations->turn);
    return NULL;
}

void operations_work(struct operations *operations)
{
    struct operation *operation;

    for (unsigned i = 0; i < SLICES && (operation = next_due(operations)); i++) {
        operation_step(operation);
        note(operations, operation);
    }
    if (operations->ended > OPERATIONS_ENDED) {
        forget_old(operations);
    }
}

//
// Seeing
//

static bool may_see(const struct session *session, const struct operation *operation)
{
    return session_may_everywhere(session, MAY_ADMINISTER) ||
           grants_same(operation->grants, broker_session_grants(session));
}

const struct operation *operations_next(const struct operations *operations,
                                        const struct session *session, uint64_t id,
                                        uint64_t changed)
{
    list_each (node, &operations->all) {
        const struct operation *operation = operation_in((struct list_node *)(uintptr_t)node);

        if (operation->id >= id && operation->changed > changed && may_see(session, operation)) {
            return operation;
        }
    }
    return NULL;
}

// What it is shown to have done is safe.
static json_t *shown(const struct http1_conn *conn, const struct operation *operation)
{
    wire_hold(conn->wire, operation->position);
    return operation_shown(operation);
}

static enum http1_next answer_list(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const names[] = {NULL};
    struct operations *operations = &admin_shared(conn)->operations;
    json_t *list = json_array();
    struct input input;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    if (!input_good(&input)) {
        json_decref(list);
        return input_refuse(&input);
    }
    forget_old(operations);
    for (struct list_node *node = operations->all.prev; list && node != &operations->all;
         node = node->prev) {
        if (may_see(conn->session, operation_in(node)) &&
            json_array_append_new(list, shown(conn, operation_in(node))) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return admin_reply_json(conn, 200, json_pack("{s:o}", "operations", list));
}

// The operation that the path names; NULL: refused.
static struct operation *find(struct http1_conn *conn, enum http1_next *next)
{
    static const char *const names[] = {NULL};
    struct operations *operations = &admin_shared(conn)->operations;
    struct input input;
    uint64_t id;

    input_begin_query(&input, conn);
    input_parameters(&input, names);
    if (!input_path_number(&input, 0, &id)) {
        *next = input_refuse(&input);
        return NULL;
    }
    list_each (node, &operations->all) {
        struct operation *operation = operation_in((struct list_node *)(uintptr_t)node);

        if (operation->id == id && may_see(conn->session, operation)) {
            return operation;
        }
    }
    *next = admin_refuse_status(conn, STATUS_NOT_FOUND);
    return NULL;
}

static enum http1_next answer_one(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    enum http1_next next;
    const struct operation *operation = find(conn, &next);

    (void)body;
    (void)blob;
    return operation ? admin_reply_json(conn, 200, shown(conn, operation)) : next;
}

//
// Doing
//

static enum http1_next answer_cancel(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    enum http1_next next;
    struct operation *operation = find(conn, &next);

    (void)body;
    (void)blob;
    if (!operation) {
        return next;
    }
    if (operation->state == OPERATION_RUNNING) {
        operation_cancel(operation);
        note(&admin_shared(conn)->operations, operation);
    }
    return admin_reply_json(conn, 200, shown(conn, operation));
}

// A short one has ended when its beginning is answered.
static enum http1_next begin(struct http1_conn *conn, const struct operation_plan *plan)
{
    struct operations *operations = &admin_shared(conn)->operations;
    struct operation *operation;
    enum status status;

    forget_old(operations);
    if (operations->running == OPERATIONS_RUNNING) {
        return admin_refuse(conn, 503, "too many operations are running: wait until one ends");
    }
    status = operation_new(admin_broker(conn), conn->session, plan, &operation);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    operation->id = ++operations->last_id;
    list_append(&operations->all, &operation->all);
    operations->running++;
    operation_step(operation);
    broker_charge_links(admin_broker(conn), (size_t)BROKER_SLICE * LINKS_PER_COMMAND);
    note(operations, operation);
    return admin_reply_json(conn, 202, shown(conn, operation));
}

static enum http1_next answer_begin(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct operation_plan plan;
    enum http1_next next;
    struct input input;

    (void)blob;
    input_begin(&input, conn, body, false);
    operation_plan_read(&input, &plan);
    next = input_good(&input) ? begin(conn, &plan) : input_refuse(&input);
    input_end(&input);
    return next;
}

const struct admin_route operation_routes[] = {
    {.path = "/api/v1/operations",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_list},
    {.path = "/api/v1/operations",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .takes_body = true,
     .answer = answer_begin},
    {.path = "/api/v1/operations/{id}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_one},
    {.path = "/api/v1/operations/{id}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .answer = answer_cancel},
    {.path = NULL},
};
