/* SPDX-License-Identifier: MIT */

// Operations: `operation`, each that has got on since the last round.

#include "admin/event_source.h"
#include "admin/event_sources.h"

#include "core/base/memory.h"

#include "admin/context.h"
#include "admin/operations.h"

struct rounds {
    uint64_t changed; // operations that have got on since then are news
    uint64_t next;    // in this round: the id to go on with; 0: it has not begun
    uint64_t began;   // where changes were when it did
};

static void *open_operations(struct input *input)
{
    struct rounds *rounds = memory_zeroed(sizeof *rounds);

    if (!rounds) {
        input_blame(input, 503, "%s", status_text(STATUS_NO_MEMORY));
        return NULL;
    }
    rounds->changed = admin_shared(input->conn)->operations.last_change;
    return rounds;
}

static enum status make_operation(struct http1_conn *conn, void *state, const char **event,
                                  char **text)
{
    const struct operations *operations = &admin_shared(conn)->operations;
    const struct operation *operation;
    struct rounds *rounds = state;

    if (rounds->next == 0) {
        rounds->next = 1;
        rounds->began = operations->last_change;
    }
    operation = operations_next(operations, conn->session, rounds->next, rounds->changed);
    if (!operation) {
        rounds->next = 0;
        rounds->changed = rounds->began;
        return STATUS_EMPTY;
    }
    rounds->next = operation->id + 1;
    wire_hold(conn->wire, operation->position);
    *event = "operation";
    return event_text(operation_shown(operation), text);
}

static void close_operations(void *state)
{
    memory_free(state, sizeof(struct rounds));
}

const struct event_source event_operation = {
    .open = open_operations, .make = make_operation, .close = close_operations, .always = true};
