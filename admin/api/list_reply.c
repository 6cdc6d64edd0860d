/* SPDX-License-Identifier: MIT */
#include "admin/api/list_reply.h"

#include "core/base/memory.h"

#include "admin/request/admin_reply.h"

#include <string.h>

#define WRITTEN_AT_ONCE 8

struct indexed_list {
    list_reply_item *item;
    const char *after;
    size_t at;
    bool begun;
    size_t before_len;
    char before[];
};

static enum http1_progress indexed_list_make(struct http1_conn *conn, void *making)
{
    struct indexed_list *list = making;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, slice_of(list->before, list->before_len));
    }
    for (int i = 0; i < WRITTEN_AT_ONCE; i++) {
        json_t *item;

        if (!list->item(conn, list->at, &item)) {
            admin_put(conn, slice_str(list->after));
            return HTTP1_ENDED;
        }
        admin_put(conn, list->at++ > 0 ? SLICE(",") : SLICE(""));
        admin_put_json(conn, item);
    }
    return HTTP1_WROTE;
}

static size_t indexed_list_holds(const void *making)
{
    const struct indexed_list *list = making;

    return sizeof *list + list->before_len;
}

static void indexed_list_forget(void *making)
{
    memory_free(making, indexed_list_holds(making));
}

enum http1_next list_reply(struct http1_conn *conn, const char *before, list_reply_item *item,
                           const char *after)
{
    static const struct admin_maker maker = {
        .make = indexed_list_make, .forget = indexed_list_forget, .holds = indexed_list_holds};
    size_t len = strlen(before);
    struct indexed_list *list = memory_zeroed(sizeof *list + len);

    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    list->item = item;
    list->after = after;
    list->before_len = len;
    memcpy(list->before, before, len);
    return admin_make_json(conn, &maker, list);
}
