/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_API_ADMIN_OPERATIONS_H
#define TANDEM_ADMIN_API_ADMIN_OPERATIONS_H

// Operations: changes of many jobs or queues, made in slices in the background. An operation has a
// session of its own, with the rights that its caller had when it began.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/broker.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

//
// One operation
//

enum operation_state { OPERATION_RUNNING, OPERATION_DONE, OPERATION_CANCELLED, OPERATION_FAILED };

// In the order of operation_actions.
enum operation_action {
    OPERATION_DELETE,
    OPERATION_KICK,
    OPERATION_BURY,
    OPERATION_RELEASE,
    OPERATION_MOVE,
    OPERATION_CHANGE,
    OPERATION_PAUSE, // this one and the following ones change queues
    OPERATION_RESUME
};
// The names in the API, ending with NULL.
extern const char *const operation_actions[];

// The request. Its slices are borrowed, and copied by operations_start().
struct operation_plan {
    enum operation_action action;
    struct sweep sweep;
    nsec_t pause_for; // OPERATION_PAUSE
};

struct operation {
    struct list_node all; // in struct operations, the oldest first
    uint64_t id;
    uint64_t changed; // the number of its last change, which rises over all operations
    enum operation_state state;
    struct operation_plan plan; // with the progress in its sweep
    struct broker *broker;
    struct session *session; // NULL after the end
    struct grants *grants;   // of the caller: a reference; NULL: all rights
    uint32_t next_queue;     // of queues: the next place to visit
    bool one_done;           // the named queue was visited
    uint64_t refused;
    uint64_t position; // in the store; its changes are durable when this is
    nsec_t again_at;   // monotonic: the next slice
    nsec_t stuck_at;   // since when the store has had no room, or NSEC_NEVER
    nsec_t started_at; // wall
    nsec_t finished_at;
    const char *error; // static, or NULL
    size_t size;
    char kept[]; // the bytes of the plan's slices
};

// Whether the session's caller may see the operation.
bool operation_visible(const struct operation *operation, const struct session *session);

// `Operation`; NULL if there is no memory.
json_t *operation_json(const struct operation *operation);

//
// All operations: the running ones, which do a slice in turn, and the last ones that have ended.
// Administrators see all; other callers see those of callers with the same rights.
//

// Maximum number of running operations; further requests get 503.
#define OPERATIONS_RUNNING 16
// Maximum number of ended operations that are kept, and for how long.
#define OPERATIONS_ENDED 32
#define OPERATIONS_KEPT_FOR (3600 * NSEC_PER_SEC)

struct operations {
    struct list_node all;   // struct operation, the oldest first
    struct list_node *turn; // the operation with the next slice
    unsigned running, ended;
    uint64_t last_id;
    uint64_t last_change;
};

void operations_begin(struct operations *operations);

// Frees all operations; completed changes stay.
void operations_end(struct operations *operations);

// Begins an operation on behalf of the session's caller, and does its first slice, with which a
// short operation ends. Fewer than OPERATIONS_RUNNING must be running. STATUS_NO_MEMORY, or an
// error of broker_sweep_begin().
enum status operations_start(struct operations *operations, struct broker *broker,
                             const struct session *by, const struct operation_plan *plan,
                             struct operation **operation) MUST_USE;

// Ends the operation; completed changes stay. Does nothing if it has ended.
void operations_cancel(struct operations *operations, struct operation *operation);

// Frees ended operations that are no longer kept.
void operations_forget_old(struct operations *operations);

// When the next slice is due, monotonic.
nsec_t operations_due(const struct operations *operations);

// Does a number of due slices.
void operations_work(struct operations *operations);

// The first operation with at least this id that the session's caller may see and that has changed
// since `last_change` was `changed`; NULL if there is none.
const struct operation *operations_next(const struct operations *operations,
                                        const struct session *session, uint64_t id,
                                        uint64_t changed);

#endif
