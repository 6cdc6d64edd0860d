/* SPDX-License-Identifier: MIT */
#include "admin/job_list.h"

#include "core/base/digits.h"
#include "core/base/memory.h"
#include "core/broker.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIMIT_MAX 1000
#define LIMIT_PRESET 100
#define WRITTEN_AT_ONCE 4
// The numbers of a cursor, with a point between them; the first one is the state.
#define NUMBERS 6
#define CURSOR_MAX (NUMBERS * (DIGITS_MAX + 1))

struct job_list {
    char queue[QUEUE_NAME_MAX + 1]; // it may go at any time
    size_t queue_len;
    unsigned states;      // that were asked for, as bits
    enum job_state state; // that is being listed: the first of them, then the next
    struct job_cursor cursor;
    uint64_t left; // jobs that there is room for
    bool begun, over, wrote;
};

//
// The cursor, as numbers
//

static bool read_numbers(struct slice text, uint64_t numbers[NUMBERS])
{
    for (size_t i = 0; i < NUMBERS; i++) {
        const char *point = text.len ? memchr(text.ptr, '.', text.len) : NULL;
        size_t len = point ? (size_t)(point - text.ptr) : text.len;

        if (!digits_read(slice_of(text.ptr, len), &numbers[i]) || !point != (i == NUMBERS - 1)) {
            return false;
        }
        text = slice_from(text, len + (point != NULL));
    }
    return true;
}

static bool has_state(const struct job_list *list, uint64_t state)
{
    return state < JOB_STATES && (list->states & 1u << state) != 0;
}

static void read_cursor(struct job_list *list, struct input *input)
{
    struct job_cursor *cursor = &list->cursor;
    uint64_t numbers[NUMBERS];
    char text[CURSOR_MAX];
    size_t len;

    if (!input_query_text(input, "cursor", text, sizeof text, &len)) {
        return;
    }
    if (!read_numbers(slice_of(text, len), numbers) || !has_state(list, numbers[0]) ||
        numbers[1] > UINT32_MAX) {
        input_blame(input, 400, "cursor is not valid: use the `next` of the previous page");
        return;
    }
    list->state = (enum job_state)numbers[0];
    cursor->part = (uint32_t)numbers[1];
    memcpy(cursor->at, numbers + 2, sizeof cursor->at);
}

static void write_cursor(struct http1_conn *conn, const struct job_list *list)
{
    const struct job_cursor *cursor = &list->cursor;
    char text[CURSOR_MAX + 2];
    int len = snprintf(text, sizeof text,
                       "\"%u.%" PRIu32 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 "\"",
                       (unsigned)list->state, cursor->part, cursor->at[0], cursor->at[1],
                       cursor->at[2], cursor->at[3]);

    admin_put(conn, slice_of(text, (size_t)len));
}

//
// The list
//

static void write_job(struct http1_conn *conn, struct job_list *list, const struct job *job)
{
    shown_job_hold(conn, job);
    admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
    admin_put_json(conn, shown_job(conn, job));
    list->wrote = true;
    list->left--;
}

// Goes on with the next state that was asked for; false where there is none.
static bool next_state(struct job_list *list)
{
    for (unsigned state = (unsigned)list->state + 1; state < JOB_STATES; state++) {
        if (has_state(list, state)) {
            list->state = (enum job_state)state;
            list->cursor = (struct job_cursor){0};
            return true;
        }
    }
    return false;
}

// As many as belong into a slice.
static void write_some(struct http1_conn *conn, struct job_list *list)
{
    struct broker *broker = admin_broker(conn);
    const struct queue *queue = broker_queue_find(broker, slice_of(list->queue, list->queue_len));
    bool may = queue && session_may(conn->session, MAY_OBSERVE, queue);
    enum status status = may ? STATUS_OK : STATUS_EMPTY;
    const struct job *job;

    for (int i = 0; i < WRITTEN_AT_ONCE && list->left > 0 && status == STATUS_OK; i++) {
        status = queue_jobs_next(broker, queue, list->state, &list->cursor, &job);
        if (status == STATUS_OK) {
            write_job(conn, list, job);
        } else if (status == STATUS_EMPTY && next_state(list)) {
            status = STATUS_OK;
        }
    }
    list->over = status == STATUS_EMPTY;
}

static enum http1_progress list_make(struct http1_conn *conn, void *making)
{
    struct job_list *list = making;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"jobs\":["));
    }
    if (!list->over && list->left > 0) {
        write_some(conn, list);
        return HTTP1_WROTE;
    }
    admin_put(conn, SLICE("],\"next\":"));
    if (list->over) {
        admin_put(conn, SLICE("null"));
    } else {
        write_cursor(conn, list);
    }
    admin_put(conn, SLICE("}"));
    return HTTP1_ENDED;
}

static void list_forget(void *making)
{
    memory_free(making, sizeof(struct job_list));
}

static size_t list_holds(const void *making)
{
    (void)making;
    return sizeof(struct job_list);
}

static const struct admin_maker maker = {
    .make = list_make,
    .forget = list_forget,
    .holds = list_holds,
};

static void read_request(struct job_list *list, struct input *input)
{
    static const char *const names[] = {"state", "limit", "cursor", NULL};

    input_parameters(input, names);
    list->left = LIMIT_PRESET;
    (void)input_path_text(input, 0, list->queue, sizeof list->queue, &list->queue_len);
    list->states = 1u << JOB_READY;
    (void)input_query_words(input, "state", shown_states, &list->states);
    while (list->states != 0 && !has_state(list, list->state)) {
        list->state++;
    }
    (void)input_query_number(input, "limit", 1, LIMIT_MAX, &list->left);
    read_cursor(list, input);
}

// Whether the caller may see the queue, and it is there.
static enum status check_queue(struct http1_conn *conn, struct slice name)
{
    if (!session_may_by_name(conn->session, MAY_OBSERVE, name)) {
        return STATUS_FORBIDDEN;
    }
    return broker_queue_find(admin_broker(conn), name) ? STATUS_OK : STATUS_NOT_FOUND;
}

enum http1_next job_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct job_list *list = memory_zeroed(sizeof *list);
    enum http1_next next;
    struct input input;
    enum status status;

    (void)body;
    (void)blob;
    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    input_begin_query(&input, conn);
    read_request(list, &input);
    if (!input_good(&input)) {
        next = input_refuse(&input);
    } else {
        status = check_queue(conn, slice_of(list->queue, list->queue_len));
        if (status == STATUS_OK) {
            return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON},
                              &maker, list);
        }
        next = admin_refuse_status(conn, status);
    }
    list_forget(list);
    return next;
}
