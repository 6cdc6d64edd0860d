/* SPDX-License-Identifier: MIT */
#include "admin/list_maker.h"

#include "core/base/memory.h"

#include "admin/reply.h"

#include <string.h>

#define WRITTEN_AT_ONCE 8

struct list {
    list_maker_item *item;
    const char *after;
    size_t at;
    bool begun;
    size_t before_len;
    char before[];
};

static enum http1_progress list_make(struct http1_conn *conn, void *making)
{
    struct list *list = making;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, slice_of(list->before, list->before_len));
    }
    for (int i = 0; i < WRITTEN_AT_ONCE; i++) {
        json_t *shown;

        if (!list->item(conn, list->at, &shown)) {
            admin_put(conn, slice_str(list->after));
            return HTTP1_ENDED;
        }
        admin_put(conn, list->at++ > 0 ? SLICE(",") : SLICE(""));
        admin_put_json(conn, shown);
    }
    return HTTP1_WROTE;
}

static size_t list_size(const struct list *list)
{
    return sizeof *list + list->before_len;
}

static void list_forget(void *making)
{
    struct list *list = making;

    memory_free(list, list_size(list));
}

static size_t list_holds(const void *making)
{
    return list_size(making);
}

static const struct admin_maker maker = {
    .make = list_make,
    .forget = list_forget,
    .holds = list_holds,
};

enum http1_next list_maker_answer(struct http1_conn *conn, const char *before,
                                  list_maker_item *item, const char *after)
{
    size_t len = strlen(before);
    struct list *list = memory_zeroed(sizeof *list + len);

    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    list->item = item;
    list->after = after;
    list->before_len = len;
    memcpy(list->before, before, len);
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &maker, list);
}
