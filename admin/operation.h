/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_OPERATION_H
#define TANDEM_ADMIN_OPERATION_H

// An operation: one thing done to many jobs or queues, in the background, in slices. It has a
// session of its own, with the grants of whoever began it, as they were then.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/broker.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum operation_state { OPERATION_RUNNING, OPERATION_DONE, OPERATION_CANCELLED, OPERATION_FAILED };

// In the order of the words of the API: those of acts come first.
enum operation_action {
    OPERATION_DELETE,
    OPERATION_KICK,
    OPERATION_BURY,
    OPERATION_RELEASE,
    OPERATION_MOVE,
    OPERATION_CHANGE,
    OPERATION_PAUSE, // from here on, done to queues
    OPERATION_RESUME
};
extern const char *const operation_actions[];

// What is wanted. Slices are borrowed, and copied by operation_new().
struct operation_plan {
    enum operation_action action;
    struct sweep sweep; // the first part of it
    nsec_t pause_for;   // PAUSE
};

struct operation {
    struct list_node all; // the oldest first
    uint64_t id;
    uint64_t changed; // rising over all operations: when it got on last
    enum operation_state state;
    struct operation_plan plan; // with how far it is
    struct broker *broker;
    struct session *session; // NULL once it has ended
    struct grants *grants;   // of whoever began it: a reference; NULL: everything
    uint32_t next_queue;     // of queues: the place to look at next
    bool one_done;           // the queue that has a name was looked at
    uint64_t refused;
    uint64_t position; // in the store: what it has done is safe then
    nsec_t again_at;   // monotonic: the next slice
    nsec_t stuck_at;   // since when the store has had no room; NSEC_NEVER: it has
    nsec_t started_at; // wall
    nsec_t finished_at;
    const char *error; // static; NULL: none
    size_t size;
    char kept[]; // what the slices of the plan refer to
};

// One that has begun, by the session's caller. STATUS_NO_MEMORY, or as broker_sweep_begin().
enum status operation_new(struct broker *broker, const struct session *by,
                          const struct operation_plan *plan, struct operation **operation) MUST_USE;

void operation_free(struct operation *operation);

// A slice of it. What it has recorded is in `position`.
void operation_step(struct operation *operation);

// It ends as it is. One that has ended is left alone.
void operation_cancel(struct operation *operation);

// As the API shows it; NULL without memory.
json_t *operation_shown(const struct operation *operation);

#endif
