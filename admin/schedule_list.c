/* SPDX-License-Identifier: MIT */
#include "admin/schedule_list.h"

#include "core/base/memory.h"
#include "core/broker.h"
#include "schedule/schedule.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown_schedule.h"

#include <stdbool.h>
#include <string.h>

#define LIMIT_MAX 1000
#define LIMIT_PRESET 100
// What a slice looks at, and what it writes.
#define LOOKED_AT_ONCE BROKER_SLICE
#define WRITTEN_AT_ONCE 16

struct schedule_list {
    char looked[SCHEDULE_NAME_MAX + 1]; // the name that was looked at last
    size_t looked_len;
    char shown[SCHEDULE_NAME_MAX]; // that was shown last
    size_t shown_len;
    uint64_t left; // for how many there is room
    bool begun, over, more, wrote;
};

static void write_one(struct http1_conn *conn, struct schedule_list *list,
                      const struct schedule_info *info)
{
    admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
    admin_put_json(conn, shown_schedule(info));
    list->wrote = true;
    list->left--;
    memcpy(list->shown, info->spec->name.ptr, info->spec->name.len);
    list->shown_len = info->spec->name.len;
}

// The next schedule, whoever may see it.
static bool look(const struct http1_conn *conn, struct schedule_list *list,
                 struct schedule_info *info)
{
    const struct sight *sight = admin_shared(conn)->sight;
    const struct schedules *schedules = sight ? sight->schedules(sight->host) : NULL;

    if (!schedules || !schedules_next(schedules, slice_of(list->looked, list->looked_len), info)) {
        return false;
    }
    memcpy(list->looked, info->spec->name.ptr, info->spec->name.len);
    list->looked_len = info->spec->name.len;
    return true;
}

// A slice. Where the page is full, it is looked whether there is another.
static void write_some(struct http1_conn *conn, struct schedule_list *list)
{
    struct schedule_info info;
    int written = 0;

    for (int i = 0; i < LOOKED_AT_ONCE && written < WRITTEN_AT_ONCE && !list->over; i++) {
        if (!look(conn, list, &info)) {
            list->over = true;
        } else if (!session_may_by_name(conn->session, MAY_OBSERVE, info.spec->queue)) {
            continue;
        } else if (list->left == 0) {
            list->more = true;
            list->over = true;
        } else {
            write_one(conn, list, &info);
            written++;
        }
    }
}

// Names have nothing in them that JSON would escape.
static void write_end(struct http1_conn *conn, const struct schedule_list *list)
{
    if (!list->more) {
        admin_put(conn, SLICE("],\"next\":null}"));
        return;
    }
    admin_put(conn, SLICE("],\"next\":\""));
    admin_put(conn, slice_of(list->shown, list->shown_len));
    admin_put(conn, SLICE("\"}"));
}

static enum http1_progress list_make(struct http1_conn *conn, void *making)
{
    struct schedule_list *list = making;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"schedules\":["));
    }
    if (!list->over) {
        write_some(conn, list);
        return HTTP1_WROTE;
    }
    write_end(conn, list);
    return HTTP1_ENDED;
}

static void list_forget(void *making)
{
    memory_free(making, sizeof(struct schedule_list));
}

static size_t list_holds(const void *making)
{
    (void)making;
    return sizeof(struct schedule_list);
}

static const struct admin_maker maker = {
    .make = list_make,
    .forget = list_forget,
    .holds = list_holds,
};

enum http1_next schedule_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const parameters[] = {"limit", "cursor", NULL};
    struct schedule_list *list = memory_zeroed(sizeof *list);
    struct input input;

    (void)body;
    (void)blob;
    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    list->left = LIMIT_PRESET;
    input_begin_query(&input, conn);
    input_parameters(&input, parameters);
    (void)input_query_number(&input, "limit", 1, LIMIT_MAX, &list->left);
    (void)input_query_text(&input, "cursor", list->looked, sizeof list->looked, &list->looked_len);
    if (!input_good(&input)) {
        list_forget(list);
        return input_refuse(&input);
    }
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, &maker, list);
}
