/* SPDX-License-Identifier: MIT */
#include "admin/api/admin_operations.h"

#include "core/base/glob.h"
#include "core/base/memory.h"

#include "admin/json/json_values.h"
#include "admin/request/admin_request.h"

#include <stdint.h>
#include <string.h>

// Maximum number of slices in a turn, of all operations.
#define SLICES_PER_TURN 4
// While the store has no room: the interval of retries, and the time until the operation fails.
#define RETRY_FOR NSEC_PER_SEC
#define STUCK_MOST (60 * NSEC_PER_SEC)

const char *const operation_actions[] = {"delete", "kick",  "bury",   "release", "move",
                                         "change", "pause", "resume", NULL};

static bool is_of_queues(const struct operation *operation)
{
    return operation->plan.action >= OPERATION_PAUSE;
}

//
// The life of an operation
//

static struct slice plan_copy_text(char **room, struct slice text)
{
    char *to = *room;

    if (text.len > 0) {
        memcpy(to, text.ptr, text.len);
    }
    *room += text.len;
    return slice_of(to, text.len);
}

static struct operation *operation_copy(const struct operation_plan *plan)
{
    const struct sweep *sweep = &plan->sweep;
    size_t size = sizeof(struct operation) + sweep->queue.len + sweep->queues.len +
                  sweep->act.to.len + sweep->filter.contains.len;
    struct operation *operation = memory_zeroed(size);
    char *room;

    if (!operation) {
        return NULL;
    }
    room = operation->kept;
    operation->size = size;
    operation->plan = *plan;
    operation->plan.sweep.queue = plan_copy_text(&room, sweep->queue);
    operation->plan.sweep.queues = plan_copy_text(&room, sweep->queues);
    operation->plan.sweep.act.to = plan_copy_text(&room, sweep->act.to);
    operation->plan.sweep.filter.contains = plan_copy_text(&room, sweep->filter.contains);
    list_init(&operation->all);
    operation->stuck_at = NSEC_NEVER;
    return operation;
}

// Checks the rights and the queue, and sets the total, as broker_sweep_begin() does for jobs.
static enum status operation_begin_queues(struct broker *broker, const struct session *by,
                                          struct sweep *sweep)
{
    struct broker_info info;

    if (sweep->queue.len == 0) {
        broker_info(broker, &info);
        sweep->total = info.queues;
        return session_may_somewhere(by, MAY_OPERATE) ? STATUS_OK : STATUS_FORBIDDEN;
    }
    sweep->total = 1;
    if (!session_may_by_name(by, MAY_OPERATE, sweep->queue)) {
        return STATUS_FORBIDDEN;
    }
    return broker_queue_find(broker, sweep->queue) ? STATUS_OK : STATUS_NOT_FOUND;
}

static void operation_free(struct operation *operation)
{
    broker_session_close(operation->session);
    grants_unref(operation->grants);
    list_remove(&operation->all);
    memory_free(operation, operation->size);
}

// Begins an operation on behalf of the session's caller. STATUS_NO_MEMORY, or an error of
// broker_sweep_begin().
static enum status operation_new(struct broker *broker, const struct session *by,
                                 const struct operation_plan *plan, struct operation **operation)
{
    struct operation *made = operation_copy(plan);
    enum status status;

    if (!made) {
        return STATUS_NO_MEMORY;
    }
    made->broker = broker;
    made->grants = by ? grants_ref(broker_session_grants(by)) : NULL;
    made->started_at = broker_now(broker).wall;
    made->again_at = broker_now(broker).mono;
    status = is_of_queues(made) ? operation_begin_queues(broker, by, &made->plan.sweep)
                                : broker_sweep_begin(broker, by, &made->plan.sweep);
    if (status == STATUS_OK) {
        status =
            broker_session_open(broker, &admin_session_ops, made, CHOICE_OLDEST, &made->session);
    }
    if (status != STATUS_OK) {
        operation_free(made);
        return status;
    }
    (void)broker_session_grant(made->session, made->grants);
    *operation = made;
    return STATUS_OK;
}

static void operation_end(struct operation *operation, enum operation_state state)
{
    operation->state = state;
    operation->finished_at = broker_now(operation->broker).wall;
    operation->again_at = NSEC_NEVER;
    broker_session_close(operation->session);
    operation->session = NULL;
}

//
// Steps of an operation
//

// Visits the next queue; NULL if the operation does not apply to it. False at the end.
static bool operation_next_queue(struct operation *operation, struct queue **queue)
{
    const struct sweep *sweep = &operation->plan.sweep;

    if (sweep->queue.len > 0) {
        *queue = broker_queue_find(operation->broker, sweep->queue);
        return *queue && !operation->one_done;
    }
    *queue = broker_queue_next(operation->broker, &operation->next_queue);
    if (!*queue) {
        return false;
    }
    if (!glob_matches(sweep->queues, queue_name(*queue)) ||
        !session_may(operation->session, MAY_OBSERVE, *queue)) {
        *queue = NULL;
    }
    return true;
}

static enum status pause_or_resume(struct operation *operation, struct queue *queue)
{
    bool resumes = operation->plan.action == OPERATION_RESUME;
    struct sweep *sweep = &operation->plan.sweep;
    enum status status = STATUS_OK;
    struct queue_info info;

    broker_queue_info(operation->broker, queue, &info);
    if (resumes && info.pause_for == 0) {
        return STATUS_OK;
    }
    if (!session_may(operation->session, MAY_OPERATE, queue)) {
        sweep->counts.forbidden++;
        return STATUS_OK;
    }
    if (!sweep->dry) {
        status = broker_pause(operation->broker, operation->session, queue,
                              resumes ? 0 : operation->plan.pause_for);
    }
    sweep->counts.done += status == STATUS_OK;
    return status;
}

// The changes so far are durable when the store has reached its present position.
static void operation_note_position(struct operation *operation)
{
    if (broker_position(operation->broker) > operation->position) {
        operation->position = broker_position(operation->broker);
    }
}

static enum status operation_step_queues(struct operation *operation)
{
    struct sweep *sweep = &operation->plan.sweep;

    for (unsigned i = 0; i < BROKER_SLICE; i++) {
        uint32_t place = operation->next_queue;
        enum status status = STATUS_OK;
        struct queue *queue;

        if (!operation_next_queue(operation, &queue)) {
            return STATUS_OK;
        }
        if (queue) {
            status = pause_or_resume(operation, queue);
            operation_note_position(operation);
        }
        if (status != STATUS_OK) {
            operation->next_queue = place;
            return status;
        }
        operation->one_done = true;
        sweep->counts.looked += queue != NULL;
    }
    return STATUS_MORE;
}

// Does a slice, and updates `position`. While the store has no room, the operation waits, but fails
// after a minute without progress.
static void operation_step(struct operation *operation)
{
    nsec_t now_at = broker_now(operation->broker).mono;
    uint64_t done = operation->plan.sweep.counts.done;
    enum status status;

    if (is_of_queues(operation)) {
        status = operation_step_queues(operation);
    } else {
        status = broker_sweep(operation->broker, operation->session, &operation->plan.sweep);
        operation_note_position(operation);
    }
    if (status != STATUS_NO_SPACE) {
        operation->stuck_at = NSEC_NEVER;
    } else if (operation->stuck_at == NSEC_NEVER || operation->plan.sweep.counts.done > done) {
        operation->stuck_at = now_at;
    }
    if (status == STATUS_NO_SPACE && now_at - operation->stuck_at < STUCK_MOST) {
        operation->again_at = now_at + RETRY_FOR;
    } else if (status == STATUS_OK) {
        operation_end(operation, OPERATION_DONE);
    } else if (status != STATUS_MORE) {
        operation->error = status_text(status);
        operation->refused++;
        operation_end(operation, OPERATION_FAILED);
    }
}

json_t *operation_json(const struct operation *operation)
{
    static const char *const states[] = {"running", "done", "cancelled", "failed"};
    const struct sweep *sweep = &operation->plan.sweep;

    return json_pack(
        "{s:I, s:s, s:o, s:o, s:b, s:s, s:I, s:I, s:I, s:{s:I, s:I, s:I}, s:o, s:o, s:s?}", "id",
        (json_int_t)operation->id, "action", operation_actions[operation->plan.action], "target",
        text_json(sweep->queue.len > 0 ? sweep->queue : sweep->queues), "to",
        text_or_null_json(sweep->act.to), "dry_run", (int)sweep->dry, "state",
        states[operation->state], "looked_at", (json_int_t)sweep->counts.looked, "total",
        (json_int_t)sweep->total, "touched", (json_int_t)sweep->counts.done, "skipped", "held",
        (json_int_t)sweep->counts.held, "forbidden", (json_int_t)sweep->counts.forbidden, "refused",
        (json_int_t)operation->refused, "started_at", seconds_json(operation->started_at),
        "finished_at",
        operation->finished_at > 0 ? seconds_json(operation->finished_at) : json_null(), "error",
        operation->error);
}

//
// All operations
//

static struct operation *operation_of_node(struct list_node *node)
{
    return list_item(node, struct operation, all);
}

void operations_begin(struct operations *operations)
{
    *operations = (struct operations){.last_id = 0};
    list_init(&operations->all);
    operations->turn = &operations->all;
}

static void operations_remove(struct operations *operations, struct operation *operation)
{
    if (operations->turn == &operation->all) {
        operations->turn = operation->all.next;
    }
    operation_free(operation);
}

void operations_end(struct operations *operations)
{
    while (!list_empty(&operations->all)) {
        operations_remove(operations, operation_of_node(list_first(&operations->all)));
    }
}

// The operation has progressed or ended.
static void operations_note_change(struct operations *operations, struct operation *operation)
{
    operation->changed = ++operations->last_change;
    if (operation->state != OPERATION_RUNNING) {
        operations->running--;
        operations->ended++;
    }
}

void operations_forget_old(struct operations *operations)
{
    struct list_node *node = operations->all.next;

    while (node != &operations->all) {
        struct operation *operation = operation_of_node(node);
        bool is_old =
            operations->ended > OPERATIONS_ENDED ||
            broker_now(operation->broker).wall - operation->finished_at > OPERATIONS_KEPT_FOR;

        node = node->next;
        if (operation->state != OPERATION_RUNNING && is_old) {
            operations->ended--;
            operations_remove(operations, operation);
        }
    }
}

enum status operations_start(struct operations *operations, struct broker *broker,
                             const struct session *by, const struct operation_plan *plan,
                             struct operation **operation)
{
    enum status status = operation_new(broker, by, plan, operation);

    if (status != STATUS_OK) {
        return status;
    }
    (*operation)->id = ++operations->last_id;
    list_append(&operations->all, &(*operation)->all);
    operations->running++;
    operation_step(*operation);
    broker_charge_links(broker, (size_t)BROKER_SLICE * LINKS_PER_COMMAND);
    operations_note_change(operations, *operation);
    return STATUS_OK;
}

void operations_cancel(struct operations *operations, struct operation *operation)
{
    if (operation->state == OPERATION_RUNNING) {
        operation_end(operation, OPERATION_CANCELLED);
        operations_note_change(operations, operation);
    }
}

nsec_t operations_due(const struct operations *operations)
{
    nsec_t due_at = NSEC_NEVER;

    if (operations->running == 0) {
        return due_at;
    }
    list_each (node, &operations->all) {
        nsec_t at = operation_of_node((struct list_node *)(uintptr_t)node)->again_at;

        due_at = at < due_at ? at : due_at;
    }
    return due_at;
}

// The next due operation, in turn; NULL if none is due.
static struct operation *next_due_operation(struct operations *operations)
{
    struct list_node *node = operations->turn;

    do {
        struct list_node *present = node;
        struct operation *operation = operation_of_node(present);

        node = node->next;
        if (present != &operations->all &&
            operation->again_at <= broker_now(operation->broker).mono) {
            operations->turn = node;
            return operation;
        }
    } while (node != operations->turn);
    return NULL;
}

void operations_work(struct operations *operations)
{
    struct operation *operation;

    for (unsigned i = 0; i < SLICES_PER_TURN && (operation = next_due_operation(operations)); i++) {
        operation_step(operation);
        operations_note_change(operations, operation);
    }
    if (operations->ended > OPERATIONS_ENDED) {
        operations_forget_old(operations);
    }
}

bool operation_visible(const struct operation *operation, const struct session *session)
{
    return session_may_everywhere(session, MAY_ADMINISTER) ||
           grants_same(operation->grants, broker_session_grants(session));
}

const struct operation *operations_next(const struct operations *operations,
                                        const struct session *session, uint64_t id,
                                        uint64_t changed)
{
    list_each (node, &operations->all) {
        const struct operation *operation = operation_of_node((struct list_node *)(uintptr_t)node);

        if (operation->id >= id && operation->changed > changed &&
            operation_visible(operation, session)) {
            return operation;
        }
    }
    return NULL;
}
