/* SPDX-License-Identifier: MIT */
#include "admin/api/admin_operations.h"

#include "core/base/glob.h"
#include "core/base/memory.h"

#include "admin/json/json_values.h"
#include "admin/request/admin_request.h"

#include <string.h>

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
// Life
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

// The checks for an operation on queues, as broker_sweep_begin() does them for jobs.
static enum status check_operation_queues(const struct operation *operation,
                                          const struct session *by)
{
    struct slice name = operation->plan.sweep.queue;
    bool may = name.len > 0 ? session_may_by_name(by, MAY_OPERATE, name)
                            : session_may_somewhere(by, MAY_OPERATE);

    if (!may) {
        return STATUS_FORBIDDEN;
    }
    return name.len > 0 && !broker_queue_find(operation->broker, name) ? STATUS_NOT_FOUND
                                                                       : STATUS_OK;
}

static enum status operation_begin(struct operation *operation, const struct session *by)
{
    struct sweep *sweep = &operation->plan.sweep;
    struct broker *broker = operation->broker;
    struct broker_info info;
    enum status status;

    if (!is_of_queues(operation)) {
        status = broker_sweep_begin(broker, by, sweep);
    } else {
        broker_info(broker, &info);
        sweep->total = sweep->queue.len > 0 ? 1 : info.queues;
        status = check_operation_queues(operation, by);
    }
    if (status == STATUS_OK) {
        status = broker_session_open(broker, &admin_session_ops, operation, CHOICE_OLDEST,
                                     &operation->session);
    }
    return status;
}

enum status operation_new(struct broker *broker, const struct session *by,
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
    status = operation_begin(made, by);
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

void operation_free(struct operation *operation)
{
    broker_session_close(operation->session);
    grants_unref(operation->grants);
    list_remove(&operation->all);
    memory_free(operation, operation->size);
}

void operation_cancel(struct operation *operation)
{
    if (operation->state == OPERATION_RUNNING) {
        operation_end(operation, OPERATION_CANCELLED);
    }
}

//
// Steps
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

static void operation_fail(struct operation *operation, enum status status)
{
    operation->error = status_text(status);
    operation->refused++;
    operation_end(operation, OPERATION_FAILED);
}

// The store has no room: waits, or fails after a minute without progress.
static void operation_wait_for_room(struct operation *operation, bool progressed)
{
    nsec_t now_at = broker_now(operation->broker).mono;

    if (progressed || operation->stuck_at == NSEC_NEVER) {
        operation->stuck_at = now_at;
    }
    if (now_at - operation->stuck_at >= STUCK_MOST) {
        operation_fail(operation, STATUS_NO_SPACE);
    } else {
        operation->again_at = now_at + RETRY_FOR;
    }
}

void operation_step(struct operation *operation)
{
    uint64_t done = operation->plan.sweep.counts.done;
    enum status status;

    if (is_of_queues(operation)) {
        status = operation_step_queues(operation);
    } else {
        status = broker_sweep(operation->broker, operation->session, &operation->plan.sweep);
        operation_note_position(operation);
    }
    if (status == STATUS_NO_SPACE) {
        operation_wait_for_room(operation, operation->plan.sweep.counts.done > done);
        return;
    }
    operation->stuck_at = NSEC_NEVER;
    if (status == STATUS_OK) {
        operation_end(operation, OPERATION_DONE);
    } else if (status != STATUS_MORE) {
        operation_fail(operation, status);
    }
}

//
// The document
//

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
