/* SPDX-License-Identifier: MIT */

// A page of queues is made in two rounds, both in slices: first all queues are looked at
// (queue_page.h), then those of the page are written.

#include "admin/queue_list.h"

#include "core/base/memory.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/queue_page.h"
#include "admin/reply.h"
#include "admin/shown_queue.h"

#include <inttypes.h>
#include <stdio.h>

#define LIMIT_MAX 1000
#define LIMIT_PRESET 100
#define WRITTEN_AT_ONCE 4

struct queue_list {
    struct queue_page page;
    bool begun; // to be written
    size_t at;  // how far the page was written
    bool wrote;
};

static void write_some(struct http1_conn *conn, struct queue_list *list)
{
    for (int i = 0; i < WRITTEN_AT_ONCE && list->at < list->page.picks.count; i++) {
        const struct queue *queue = queue_page_at(&list->page, list->at++);

        if (queue) {
            admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
            admin_put_json(conn, shown_queue(list->page.broker, queue));
            list->wrote = true;
        }
    }
}

static void write_end(struct http1_conn *conn, const struct queue_list *list)
{
    char text[120], cursor[QUEUE_CURSOR_MAX];
    int len =
        snprintf(text, sizeof text,
                 "],\"total\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"next\":", list->page.total,
                 list->page.matched);

    admin_put(conn, slice_of(text, (size_t)len));
    admin_put(conn, queue_page_next(&list->page, cursor));
    admin_put(conn, SLICE("}"));
}

static enum http1_progress list_make(struct http1_conn *conn, void *making)
{
    struct queue_list *list = making;

    if (!list->page.looked) {
        queue_page_look(&list->page, conn->session);
        return HTTP1_WROTE;
    }
    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"queues\":["));
    }
    if (list->at < list->page.picks.count) {
        write_some(conn, list);
        return HTTP1_WROTE;
    }
    write_end(conn, list);
    return HTTP1_ENDED;
}

static void list_forget(void *making)
{
    struct queue_list *list = making;

    queue_page_end(&list->page);
    memory_free(list, sizeof *list);
}

static size_t list_holds(const void *making)
{
    const struct queue_list *list = making;

    return sizeof *list + queue_page_holds(&list->page);
}

static const struct admin_maker maker = {
    .make = list_make,
    .forget = list_forget,
    .holds = list_holds,
};

enum http1_next queue_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const names[] = {"search", "name", "with", "sort", "limit", "cursor", NULL};
    struct queue_list *list = memory_zeroed(sizeof *list);
    uint64_t limit = LIMIT_PRESET;
    struct input input;

    (void)body;
    (void)blob;
    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    queue_page_read(&list->page, &input, true);
    (void)input_query_number(&input, "limit", 1, LIMIT_MAX, &limit);
    if (!input_good(&input) || !queue_page_begin(&list->page, admin_broker(conn), (size_t)limit)) {
        memory_free(list, sizeof *list);
        return input_good(&input) ? admin_refuse_status(conn, STATUS_NO_MEMORY)
                                  : input_refuse(&input);
    }
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &maker, list);
}
