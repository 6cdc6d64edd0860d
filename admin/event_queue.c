/* SPDX-License-Identifier: MIT */

// The queue that the parameter `queue` names: `queue`, as long as it is there, else `gone`.

#include "core/base/memory.h"

#include "admin/context.h"
#include "admin/event_source.h"
#include "admin/event_sources.h"
#include "admin/shown.h"
#include "admin/shown_queue.h"

struct watched {
    bool made; // in this round
    size_t len;
    char name[QUEUE_NAME_MAX + 1];
};

// Whether there is such a queue is told only to those who may know.
static void check(const struct watched *watched, struct input *input)
{
    struct slice name = slice_of(watched->name, watched->len);

    if (!session_may_by_name(input->conn->session, MAY_OBSERVE, name)) {
        input_blame(input, 403, "%s", status_text(STATUS_FORBIDDEN));
    }
}

static void *open_queue(struct input *input)
{
    struct watched *watched = memory_zeroed(sizeof *watched);

    if (!watched) {
        input_blame(input, 503, "%s", status_text(STATUS_NO_MEMORY));
        return NULL;
    }
    if (input_query_text(input, "queue", watched->name, sizeof watched->name, &watched->len)) {
        check(watched, input);
        return watched;
    }
    memory_free(watched, sizeof *watched);
    return NULL;
}

static json_t *gone(struct slice name)
{
    return json_pack("{s:o, s:o}", "name", shown_text(name), "path", shown_path(name));
}

static enum status make_queue(struct http1_conn *conn, void *state, const char **event, char **text)
{
    struct watched *watched = state;
    struct slice name = slice_of(watched->name, watched->len);
    const struct queue *queue = broker_queue_find(admin_broker(conn), name);

    watched->made = !watched->made;
    if (!watched->made) {
        return STATUS_EMPTY;
    }
    if (queue && session_may(conn->session, MAY_OBSERVE, queue)) {
        *event = "queue";
        return event_text(shown_queue_detail(admin_broker(conn), admin_shared(conn)->sight, queue),
                          text);
    }
    *event = "gone";
    return event_text(gone(name), text);
}

static void close_queue(void *state)
{
    memory_free(state, sizeof(struct watched));
}

static size_t holds_queue(const void *state)
{
    (void)state;
    return sizeof(struct watched);
}

const struct event_source event_queue = {
    .open = open_queue, .make = make_queue, .close = close_queue, .holds = holds_queue};
