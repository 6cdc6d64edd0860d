/* SPDX-License-Identifier: MIT */
#include "admin/events/event_source.h"

#include "core/base/macros.h"
#include "core/base/memory.h"

#include "admin/api/admin_operations.h"
#include "admin/api/queue_page.h"
#include "admin/json/json_values.h"
#include "admin/json/process_json.h"
#include "admin/json/queue_json.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Allocates the zeroed state of a source; NULL, which is noted, if there is no memory.
static void *source_state_new(struct input *input, size_t size)
{
    void *state = memory_zeroed(size);

    if (!state) {
        input_blame(input, 503, "%s", status_text(STATUS_NO_MEMORY));
    }
    return state;
}

// Writes the document, whose ownership passes.
MUST_USE static enum status event_text(json_t *document, char **text)
{
    *text = admin_dump(document);
    json_decref(document);
    return *text ? STATUS_OK : STATUS_NO_MEMORY;
}

//
// `process`: the process, in each round
//

static void *open_process_source(struct input *input)
{
    return source_state_new(input, sizeof(bool));
}

static enum status make_process_event(struct http1_conn *conn, void *state, const char **event,
                                      char **text)
{
    bool *made = state; // in this round

    *made = !*made;
    if (!*made) {
        return STATUS_EMPTY;
    }
    *event = "process";
    return event_text(process_json(conn), text);
}

static void close_process_source(void *state)
{
    memory_free(state, sizeof(bool));
}

static const struct event_source process_source = {
    .open = open_process_source, .make = make_process_event, .close = close_process_source};

//
// `queue`: the queue that the parameter `queue` names; `gone` while it does not exist
//

struct queue_source {
    bool made; // in this round
    size_t len;
    char name[QUEUE_NAME_MAX + 1];
};

static void close_queue_source(void *state)
{
    memory_free(state, sizeof(struct queue_source));
}

static void *open_queue_source(struct input *input)
{
    struct queue_source *source = source_state_new(input, sizeof *source);

    if (!source) {
        return NULL;
    }
    if (!input_query_text(input, "queue", source->name, sizeof source->name, &source->len)) {
        close_queue_source(source);
        return NULL;
    }
    // Other callers may not even know whether the queue exists.
    if (!session_may_by_name(input->conn->session, MAY_OBSERVE,
                             slice_of(source->name, source->len))) {
        input_blame(input, 403, "%s", status_text(STATUS_FORBIDDEN));
    }
    return source;
}

static enum status make_queue_event(struct http1_conn *conn, void *state, const char **event,
                                    char **text)
{
    struct queue_source *source = state;
    struct slice name = slice_of(source->name, source->len);
    const struct queue *queue = broker_queue_find(admin_broker(conn), name);

    source->made = !source->made;
    if (!source->made) {
        return STATUS_EMPTY;
    }
    if (queue && session_may(conn->session, MAY_OBSERVE, queue)) {
        *event = "queue";
        return event_text(
            queue_detail_json(admin_broker(conn), admin_shared(conn)->introspect, queue), text);
    }
    *event = "gone";
    return event_text(json_pack("{s:o, s:o}", "name", text_json(name), "path", path_json(name)),
                      text);
}

static size_t queue_source_holds(const void *state)
{
    (void)state;
    return sizeof(struct queue_source);
}

static const struct event_source queue_source = {.open = open_queue_source,
                                                 .make = make_queue_event,
                                                 .close = close_queue_source,
                                                 .holds = queue_source_holds};

//
// `queues`: the first queues of a filtered and sorted list; the parameter `queues` is their number.
// Each round looks at all queues again.
//

#define LIST_QUEUES_MAX 200
#define WRITTEN_AT_ONCE 8
// Maximum length of the text after the queues.
#define LIST_END_MAX (QUEUE_CURSOR_MAX + 120)

// The text so far. It comes from realloc(), and its memory is counted here.
struct text_buffer {
    char *text;
    size_t len, room;
};

struct list_source {
    struct queue_page page;
    size_t count; // of queues
    bool begun, made;
    size_t at; // the number of queues of the page that were written
    struct text_buffer buffer;
};

static void buffer_release(struct text_buffer *buffer)
{
    memory_uncount(buffer->room);
    *buffer = (struct text_buffer){.text = NULL};
}

// Returns false if there is no memory. The text always ends with a NUL.
static bool buffer_put(struct text_buffer *buffer, struct slice bytes)
{
    size_t wanted = buffer->len + bytes.len + 1;

    if (wanted > buffer->room) {
        size_t room = 2 * buffer->room > wanted ? 2 * buffer->room : wanted;
        char *text = realloc(buffer->text, room);

        if (!text) {
            return false;
        }
        memory_count(room - buffer->room);
        buffer->text = text;
        buffer->room = room;
    }
    memcpy(buffer->text + buffer->len, bytes.ptr, bytes.len);
    buffer->len += bytes.len;
    buffer->text[buffer->len] = '\0';
    return true;
}

static bool list_put_queue(struct list_source *list, const struct queue *queue)
{
    bool first = list->buffer.text[list->buffer.len - 1] == '[';
    char *text;
    bool good;

    if (event_text(queue_json(list->page.broker, queue), &text) != STATUS_OK) {
        return false;
    }
    good = buffer_put(&list->buffer, first ? SLICE("") : SLICE(",")) &&
           buffer_put(&list->buffer, slice_str(text));
    free(text);
    return good;
}

static bool list_put_end(struct list_source *list)
{
    char text[LIST_END_MAX], cursor[QUEUE_CURSOR_MAX];
    struct slice next = queue_page_next(&list->page, cursor);
    int len = snprintf(text, sizeof text,
                       "],\"total\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"next\":%.*s}",
                       list->page.total, list->page.matched, (int)next.len, next.ptr);

    return buffer_put(&list->buffer, slice_of(text, (size_t)len));
}

// Writes a slice of the document. Queues that were removed since are left out.
static enum status list_write(struct list_source *list)
{
    if (list->at == 0 && !buffer_put(&list->buffer, SLICE("{\"queues\":["))) {
        return STATUS_NO_MEMORY;
    }
    for (int i = 0; i < WRITTEN_AT_ONCE && list->at < list->page.top.count; i++) {
        const struct queue *queue = queue_page_at(&list->page, list->at++);

        if (queue && !list_put_queue(list, queue)) {
            return STATUS_NO_MEMORY;
        }
    }
    if (list->at < list->page.top.count) {
        return STATUS_MORE;
    }
    return list_put_end(list) ? STATUS_OK : STATUS_NO_MEMORY;
}

static void list_end(struct list_source *list)
{
    queue_page_end(&list->page);
    free(list->buffer.text);
    buffer_release(&list->buffer);
    list->begun = false;
    list->at = 0;
}

static enum status make_list_event(struct http1_conn *conn, void *state, const char **event,
                                   char **text)
{
    struct list_source *list = state;
    enum status status;

    if (list->made) {
        list->made = false;
        return STATUS_EMPTY;
    }
    if (!list->begun) {
        list->begun = queue_page_begin(&list->page, admin_broker(conn), list->count);
        return list->begun ? STATUS_MORE : STATUS_NO_MEMORY;
    }
    if (!list->page.complete) {
        queue_page_step(&list->page, conn->session);
        return STATUS_MORE;
    }
    status = list_write(list);
    if (status == STATUS_OK) {
        *event = "queues";
        *text = list->buffer.text;
        buffer_release(&list->buffer);
        list_end(list);
        list->made = true;
    }
    return status;
}

static void *open_list_source(struct input *input)
{
    struct list_source *list = source_state_new(input, sizeof *list);
    uint64_t count = 0;
    bool asked;

    if (!list) {
        return NULL;
    }
    asked = input_query_number(input, "queues", 1, LIST_QUEUES_MAX, &count);
    queue_page_read(&list->page, input, false);
    if (!asked) {
        memory_free(list, sizeof *list);
        return NULL;
    }
    list->count = (size_t)count;
    return list;
}

static void close_list_source(void *state)
{
    struct list_source *list = state;

    list_end(list);
    memory_free(list, sizeof *list);
}

static size_t list_source_holds(const void *state)
{
    const struct list_source *list = state;

    return sizeof *list + queue_page_holds(&list->page) + list->buffer.room;
}

static const struct event_source list_source = {.open = open_list_source,
                                                .make = make_list_event,
                                                .close = close_list_source,
                                                .holds = list_source_holds};

//
// `operation`: each operation that has progressed since the last round
//

struct operation_source {
    uint64_t changed;  // operations that have changed since then are sent
    uint64_t next;     // in this round: the next id; 0: it has not begun
    uint64_t began_at; // the number of the last change at its beginning
};

static void *open_operation_source(struct input *input)
{
    struct operation_source *source = source_state_new(input, sizeof *source);

    if (source) {
        source->changed = admin_shared(input->conn)->operations->last_change;
    }
    return source;
}

static enum status make_operation_event(struct http1_conn *conn, void *state, const char **event,
                                        char **text)
{
    const struct operations *operations = admin_shared(conn)->operations;
    struct operation_source *source = state;
    const struct operation *operation;

    if (source->next == 0) {
        source->next = 1;
        source->began_at = operations->last_change;
    }
    operation = operations_next(operations, conn->session, source->next, source->changed);
    if (!operation) {
        source->next = 0;
        source->changed = source->began_at;
        return STATUS_EMPTY;
    }
    source->next = operation->id + 1;
    wire_hold(conn->wire, operation->position);
    *event = "operation";
    return event_text(operation_json(operation), text);
}

static void close_operation_source(void *state)
{
    memory_free(state, sizeof(struct operation_source));
}

static const struct event_source operation_source = {.open = open_operation_source,
                                                     .make = make_operation_event,
                                                     .close = close_operation_source,
                                                     .always = true};

// In the order of their events in a round.
const struct event_source *const event_sources[EVENT_SOURCES_MAX + 1] = {
    &process_source, &list_source, &queue_source, &operation_source};

const char *const event_parameters[] = {"queues", "search", "name", "with", "sort", "queue", NULL};
