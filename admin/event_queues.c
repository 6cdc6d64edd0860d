/* SPDX-License-Identifier: MIT */

// The first queues of the list that the parameters name, as many as `queues` says: `queues`. All
// queues are looked at anew in each round.

#include "core/base/memory.h"

#include "admin/context.h"
#include "admin/event_source.h"
#include "admin/event_sources.h"
#include "admin/queue_page.h"
#include "admin/reply.h"
#include "admin/shown_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUES_MAX 200
#define WRITTEN_AT_ONCE 8
// Behind the queues.
#define END_MAX (QUEUE_CURSOR_MAX + 120)

// What was written so far. It comes from malloc, and is counted here.
struct buffer {
    char *text;
    size_t len, room;
};

struct list {
    struct queue_page page;
    size_t count; // of the queues that it may have
    bool begun, made;
    size_t at; // how far the page was written
    struct buffer buffer;
};

static void buffer_forget(struct buffer *buffer)
{
    memory_uncount(buffer->room);
    *buffer = (struct buffer){.text = NULL};
}

// False without memory. There is always room for a NUL.
static bool buffer_put(struct buffer *buffer, struct slice bytes)
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

//
// The text
//

static bool put_queue(struct list *list, const struct queue *queue)
{
    bool first = list->buffer.text[list->buffer.len - 1] == '[';
    char *text;
    bool good;

    if (event_text(shown_queue(list->page.broker, queue), &text) != STATUS_OK) {
        return false;
    }
    good = buffer_put(&list->buffer, first ? SLICE("") : SLICE(",")) &&
           buffer_put(&list->buffer, slice_str(text));
    free(text);
    return good;
}

static bool put_end(struct list *list)
{
    char text[END_MAX], cursor[QUEUE_CURSOR_MAX];
    struct slice next = queue_page_next(&list->page, cursor);
    int len = snprintf(text, sizeof text,
                       "],\"total\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"next\":%.*s}",
                       list->page.total, list->page.matched, (int)next.len, next.ptr);

    return buffer_put(&list->buffer, slice_of(text, (size_t)len));
}

// Queues that have gone since are left out.
static enum status write_some(struct list *list)
{
    if (list->at == 0 && !buffer_put(&list->buffer, SLICE("{\"queues\":["))) {
        return STATUS_NO_MEMORY;
    }
    for (int i = 0; i < WRITTEN_AT_ONCE && list->at < list->page.picks.count; i++) {
        const struct queue *queue = queue_page_at(&list->page, list->at++);

        if (queue && !put_queue(list, queue)) {
            return STATUS_NO_MEMORY;
        }
    }
    if (list->at < list->page.picks.count) {
        return STATUS_MORE;
    }
    return put_end(list) ? STATUS_OK : STATUS_NO_MEMORY;
}

//
// The source
//

static void end(struct list *list)
{
    queue_page_end(&list->page);
    free(list->buffer.text);
    buffer_forget(&list->buffer);
    list->begun = false;
    list->at = 0;
}

static enum status begin(struct http1_conn *conn, struct list *list)
{
    list->begun = queue_page_begin(&list->page, admin_broker(conn), list->count);
    return list->begun ? STATUS_MORE : STATUS_NO_MEMORY;
}

static enum status make(struct http1_conn *conn, void *state, const char **event, char **text)
{
    struct list *list = state;
    enum status status;

    if (list->made) {
        list->made = false;
        return STATUS_EMPTY;
    }
    if (!list->begun) {
        return begin(conn, list);
    }
    if (!list->page.looked) {
        queue_page_look(&list->page, conn->session);
        return STATUS_MORE;
    }
    status = write_some(list);
    if (status == STATUS_OK) {
        *event = "queues";
        *text = list->buffer.text;
        buffer_forget(&list->buffer);
        end(list);
        list->made = true;
    }
    return status;
}

static void *open_list(struct input *input)
{
    struct list *list = memory_zeroed(sizeof *list);
    uint64_t count = 0;
    bool asked;

    if (!list) {
        input_blame(input, 503, "%s", status_text(STATUS_NO_MEMORY));
        return NULL;
    }
    asked = input_query_number(input, "queues", 1, QUEUES_MAX, &count);
    queue_page_read(&list->page, input, false);
    if (!asked) {
        memory_free(list, sizeof *list);
        return NULL;
    }
    list->count = (size_t)count;
    return list;
}

static void close_list(void *state)
{
    struct list *list = state;

    end(list);
    memory_free(list, sizeof *list);
}

static size_t holds(const void *state)
{
    const struct list *list = state;

    return sizeof *list + queue_page_holds(&list->page) + list->buffer.room;
}

const struct event_source event_queues = {
    .open = open_list, .make = make, .close = close_list, .holds = holds};
