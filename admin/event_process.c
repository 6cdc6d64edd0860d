/* SPDX-License-Identifier: MIT */

// The process: `process`, in each round.

#include "admin/event_source.h"
#include "admin/event_sources.h"
#include "admin/shown_process.h"

#include "core/base/memory.h"

static void *open_process(struct input *input)
{
    bool *made = memory_zeroed(sizeof *made);

    if (!made) {
        input_blame(input, 503, "%s", status_text(STATUS_NO_MEMORY));
    }
    return made;
}

static enum status make_process(struct http1_conn *conn, void *state, const char **event,
                                char **text)
{
    bool *made = state;

    *made = !*made;
    if (!*made) {
        return STATUS_EMPTY;
    }
    *event = "process";
    return event_text(shown_process(conn), text);
}

static void close_process(void *state)
{
    memory_free(state, sizeof(bool));
}

const struct event_source event_process = {
    .open = open_process, .make = make_process, .close = close_process};
