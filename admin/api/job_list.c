/* SPDX-License-Identifier: MIT */
#include "core/base/digits.h"
#include "core/base/memory.h"
#include "core/broker.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/json/job_json.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define JOBS_LIMIT_MAX 1000
#define JOBS_LIMIT_DEFAULT 100
#define JOBS_WRITTEN_AT_ONCE 4

// A page of the jobs of a queue. It continues from the cursor of the broker, so a late page costs
// no more than an early one.
struct job_list {
    char queue[QUEUE_NAME_MAX + 1]; // the queue may be removed at any time
    size_t queue_len;
    unsigned states;      // requested states, as bits
    enum job_state state; // of them, the one that is being listed
    struct job_cursor cursor;
    uint64_t left; // the number of further jobs on the page
    bool begun, over, wrote;
};

//
// The cursor of the page: the state and the numbers of the broker's cursor, with points between
// them
//

#define CURSOR_NUMBERS 6
#define JOBS_CURSOR_MAX (CURSOR_NUMBERS * (DIGITS_MAX + 1))

static bool has_state(const struct job_list *list, uint64_t state)
{
    return state < JOB_STATES && (list->states & 1u << state) != 0;
}

static bool read_cursor_numbers(struct slice text, uint64_t numbers[CURSOR_NUMBERS])
{
    for (size_t i = 0; i < CURSOR_NUMBERS; i++) {
        const char *point = text.len ? memchr(text.ptr, '.', text.len) : NULL;
        size_t len = point ? (size_t)(point - text.ptr) : text.len;

        if (!digits_read(slice_of(text.ptr, len), &numbers[i]) ||
            !point != (i == CURSOR_NUMBERS - 1)) {
            return false;
        }
        text = slice_from(text, len + (point != NULL));
    }
    return true;
}

static void read_job_list_cursor(struct job_list *list, struct input *input)
{
    struct job_cursor *cursor = &list->cursor;
    uint64_t numbers[CURSOR_NUMBERS];
    char text[JOBS_CURSOR_MAX];
    size_t len;

    if (!input_query_text(input, "cursor", text, sizeof text, &len)) {
        return;
    }
    if (!read_cursor_numbers(slice_of(text, len), numbers) || !has_state(list, numbers[0]) ||
        numbers[1] > UINT32_MAX) {
        input_blame_cursor(input);
        return;
    }
    list->state = (enum job_state)numbers[0];
    cursor->part = (uint32_t)numbers[1];
    memcpy(cursor->at, numbers + 2, sizeof cursor->at);
}

static void write_job_list_cursor(struct http1_conn *conn, const struct job_list *list)
{
    const struct job_cursor *cursor = &list->cursor;
    char text[JOBS_CURSOR_MAX + 2];
    int len = snprintf(text, sizeof text,
                       "\"%u.%" PRIu32 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 "\"",
                       (unsigned)list->state, cursor->part, cursor->at[0], cursor->at[1],
                       cursor->at[2], cursor->at[3]);

    admin_put(conn, slice_of(text, (size_t)len));
}

//
// The list
//

// Continues with the next requested state; false if there is none.
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

static void job_list_write(struct http1_conn *conn, struct job_list *list)
{
    struct broker *broker = admin_broker(conn);
    const struct queue *queue = broker_queue_find(broker, slice_of(list->queue, list->queue_len));
    bool may = queue && session_may(conn->session, MAY_OBSERVE, queue);
    enum status status = may ? STATUS_OK : STATUS_EMPTY;
    const struct job *job;

    for (int i = 0; i < JOBS_WRITTEN_AT_ONCE && list->left > 0 && status == STATUS_OK; i++) {
        status = queue_jobs_next(broker, queue, list->state, &list->cursor, &job);
        if (status == STATUS_OK) {
            job_json_hold(conn, job);
            admin_put(conn, list->wrote ? SLICE(",") : SLICE(""));
            admin_put_json(conn, job_json(conn, job));
            list->wrote = true;
            list->left--;
        } else if (status == STATUS_EMPTY && next_state(list)) {
            status = STATUS_OK;
        }
    }
    list->over = status == STATUS_EMPTY;
}

static enum http1_progress job_list_make(struct http1_conn *conn, void *making)
{
    struct job_list *list = making;

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"jobs\":["));
    }
    if (!list->over && list->left > 0) {
        job_list_write(conn, list);
        return HTTP1_WROTE;
    }
    admin_put(conn, SLICE("],\"next\":"));
    if (list->over) {
        admin_put(conn, SLICE("null"));
    } else {
        write_job_list_cursor(conn, list);
    }
    admin_put(conn, SLICE("}"));
    return HTTP1_ENDED;
}

static void job_list_forget(void *making)
{
    memory_free(making, sizeof(struct job_list));
}

static size_t job_list_holds(const void *making)
{
    (void)making;
    return sizeof(struct job_list);
}

static void read_job_list(struct job_list *list, struct input *input)
{
    static const char *const names[] = {"state", "limit", "cursor", NULL};

    input_parameters(input, names);
    list->left = JOBS_LIMIT_DEFAULT;
    (void)input_path_text(input, 0, list->queue, sizeof list->queue, &list->queue_len);
    list->states = 1u << JOB_READY;
    (void)input_query_words(input, "state", job_state_names, &list->states);
    while (list->states != 0 && !has_state(list, list->state)) {
        list->state++;
    }
    (void)input_query_number(input, "limit", 1, JOBS_LIMIT_MAX, &list->left);
    read_job_list_cursor(list, input);
}

static enum http1_next answer_job_list(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = job_list_make, .forget = job_list_forget, .holds = job_list_holds};
    struct job_list *list = memory_zeroed(sizeof *list);
    enum http1_next next;
    struct input input;
    struct slice name;

    (void)body;
    (void)blob;
    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    input_begin_query(&input, conn);
    read_job_list(list, &input);
    name = slice_of(list->queue, list->queue_len);
    if (!input_good(&input)) {
        next = input_refuse(&input);
    } else if (!session_may_by_name(conn->session, MAY_OBSERVE, name)) {
        next = admin_refuse_status(conn, STATUS_FORBIDDEN);
    } else if (!broker_queue_find(admin_broker(conn), name)) {
        next = admin_refuse_status(conn, STATUS_NOT_FOUND);
    } else {
        return admin_make_json(conn, &maker, list);
    }
    job_list_forget(list);
    return next;
}

const struct admin_route job_list_routes[] = {
    {.path = "/api/v1/queues/{name}/jobs",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_job_list},
    {.path = NULL},
};
