/* SPDX-License-Identifier: MIT */
#include "core/base/base64.h"
#include "core/base/blob.h"
#include "core/base/digits.h"
#include "core/base/memory.h"
#include "core/broker.h"
#include "http1/reply.h"
#include "json/json_body.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/json/job_json.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//
// The list of the jobs of a queue
//

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

// The cursor of the page: the state and the numbers of the broker's cursor, with points between
// them.
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
    const struct job_cursor *cursor = &list->cursor;
    char end[JOBS_CURSOR_MAX + sizeof "],\"next\":\"\"}"] = "],\"next\":null}";

    if (!list->begun) {
        list->begun = true;
        admin_put(conn, SLICE("{\"jobs\":["));
    }
    if (!list->over && list->left > 0) {
        job_list_write(conn, list);
        return HTTP1_WROTE;
    }
    if (!list->over) {
        (void)snprintf(end, sizeof end,
                       "],\"next\":\"%u.%" PRIu32 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64
                       "\"}",
                       (unsigned)list->state, cursor->part, cursor->at[0], cursor->at[1],
                       cursor->at[2], cursor->at[3]);
    }
    admin_put(conn, slice_str(end));
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

static enum http1_next answer_job_list(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = job_list_make, .forget = job_list_forget, .holds = job_list_holds};
    static const char *const names[] = {"state", "limit", "cursor", NULL};
    struct job_list *list = memory_zeroed(sizeof *list);
    enum http1_next next;
    struct input input;
    struct slice name;

    (void)body;
    (void)blob;
    if (!list) {
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    list->states = 1u << JOB_READY;
    list->left = JOBS_LIMIT_DEFAULT;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    (void)input_path_text(&input, 0, list->queue, sizeof list->queue, &list->queue_len);
    (void)input_query_words(&input, "state", job_state_names, &list->states);
    while (list->states != 0 && !has_state(list, list->state)) {
        list->state++;
    }
    (void)input_query_number(&input, "limit", 1, JOBS_LIMIT_MAX, &list->left);
    read_job_list_cursor(list, &input);
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

//
// Reading one job. Its body, or the data of its result, may be long: the document that contains it
// is made in slices, as text if the bytes are UTF-8 without a NUL, otherwise in base64.
//

#define BODY_MOST ((uint64_t)1 << 20)
#define BODY_DEFAULT ((uint64_t)64 << 10)
// A browser must store the bytes, which are not trusted, and not display them.
#define BODY_HEADERS                                                                               \
    "Content-Disposition: attachment\r\n"                                                          \
    "X-Content-Type-Options: nosniff\r\n"

struct job_document {
    json_t *document; // owned; NULL once it is written
    const char *name; // of the member for the bytes
    struct json_body bytes;
};

// Writes the document up to the bytes.
static void job_document_begin(struct http1_conn *conn, struct job_document *job)
{
    char *text = admin_dump(job->document);

    json_decref(job->document);
    job->document = NULL;
    if (!text) {
        output_fail(&conn->wire->out);
        return;
    }
    admin_put(conn, slice_of(text, strlen(text) - 1));
    free(text);
    admin_put(conn, SLICE(",\""));
    admin_put(conn, slice_str(job->name));
    admin_put(conn, SLICE("\":"));
}

static enum http1_progress job_document_make(struct http1_conn *conn, void *making)
{
    struct job_document *job = making;
    char text[JSON_BODY_ROOM];
    bool ended;
    size_t len;

    if (!json_body_check(&job->bytes)) {
        return HTTP1_WROTE;
    }
    if (job->document) {
        job_document_begin(conn, job);
    }
    len = json_body_write(&job->bytes, text, &ended);
    admin_put(conn, slice_of(text, len));
    if (ended) {
        admin_put(conn, SLICE("}"));
    }
    return ended ? HTTP1_ENDED : HTTP1_WROTE;
}

static void job_document_forget(void *making)
{
    struct job_document *job = making;

    json_decref(job->document);
    json_body_end(&job->bytes);
    memory_free(job, sizeof *job);
}

static size_t job_document_holds(const void *making)
{
    const struct job_document *job = making;

    return sizeof *job + blob_slice(job->bytes.blob).len;
}

// Answers with the document and at most the first `most` bytes as the member `name`, which is null
// if that is 0. Takes over the document and the bytes; if either is needed and NULL, there is no
// memory.
static enum http1_next reply_job_document(struct http1_conn *conn, json_t *document,
                                          const char *name, struct blob *bytes, uint64_t most)
{
    static const struct admin_maker maker = {
        .make = job_document_make, .forget = job_document_forget, .holds = job_document_holds};
    struct job_document *job;

    if (most == 0) {
        blob_unref(bytes);
        if (document && json_object_set_new(document, name, json_null()) != 0) {
            json_decref(document);
            document = NULL;
        }
        return admin_reply_json(conn, 200, document);
    }
    job = memory_zeroed(sizeof *job);
    if (!document || !job || !bytes) {
        json_decref(document);
        blob_unref(bytes);
        memory_free(job, job ? sizeof *job : 0);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    job->document = document;
    job->name = name;
    json_body_begin(&job->bytes, bytes, (size_t)most);
    return admin_make_json(conn, &maker, job);
}

static enum http1_next answer_job(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const names[] = {"body", NULL};
    uint64_t most = BODY_DEFAULT;
    const struct job *job;
    struct result result;
    struct input input;
    uint64_t id;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, names);
    (void)input_query_number(&input, "body", 0, BODY_MOST, &most);
    if (!input_path_number(&input, 0, &id)) {
        return input_refuse(&input);
    }
    job = job_find_observed(conn, id);
    if (job) {
        json_t *document = job_detail_json(conn, job);
        struct blob *bytes = job_blob(job);

        job_json_hold(conn, job);
        return reply_job_document(conn, document, "body",
                                  bytes ? blob_ref(bytes) : blob_copy(job_body(job)), most);
    }
    if (result_find_observed(conn, id, &result)) {
        bool whole = result.data_state == RESULT_WHOLE;

        return reply_job_document(conn, ended_job_json(&result), "data",
                                  whole ? blob_copy(result.data) : NULL, whole ? most : 0);
    }
    return admin_refuse_status(conn, STATUS_NOT_FOUND);
}

static enum http1_next answer_job_body(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    const struct http1_reply head = {.status = 200, .type = HTTP1_BYTES, .extra = BODY_HEADERS};
    const struct job *job;
    struct input input;
    uint64_t id;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    if (!input_path_number(&input, 0, &id)) {
        return input_refuse(&input);
    }
    job = job_find_observed(conn, id);
    if (!job) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    job_json_hold(conn, job);
    if (job_blob(job)) {
        http1_reply_blob(conn, &head, job_blob(job));
    } else {
        http1_reply(conn, &head, job_body(job));
    }
    return HTTP1_NEXT_REQUEST;
}

static enum http1_next answer_job_result(struct http1_conn *conn, struct slice body,
                                         struct blob *blob)
{
    const struct http1_reply head = {.status = 200, .type = HTTP1_BYTES, .extra = BODY_HEADERS};
    struct result result;
    struct input input;
    uint64_t id;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    if (!input_path_number(&input, 0, &id)) {
        return input_refuse(&input);
    }
    if (!result_find_observed(conn, id, &result)) {
        return admin_refuse_status(conn, STATUS_NOT_FOUND);
    }
    if (result.data_state != RESULT_WHOLE) {
        return admin_refuse(conn, 410, "the data of the result was not kept");
    }
    http1_reply(conn, &head, result.data);
    return HTTP1_NEXT_REQUEST;
}

//
// Adding a job. It is durable, and no client waits for its end.
//

#define TTR_DEFAULT 60

// The body is text, or base64, which is decoded in place.
static struct slice read_job_body(struct input *input)
{
    struct slice text = SLICE("");
    struct slice encoded;
    bool plain = input_text(input, "body", &text);
    size_t len;

    if (!input_text(input, "body_base64", &encoded)) {
        return text;
    }
    if (plain) {
        input_blame(input, 400, "give either body or body_base64, not both");
    } else if (!base64_decode(encoded, (char *)(uintptr_t)encoded.ptr, &len)) {
        input_blame(input, 400, "body_base64 is not valid base64");
    } else {
        text = slice_of(encoded.ptr, len);
    }
    return text;
}

static void read_job_spec(struct input *input, struct slice *queue, struct job_spec *spec)
{
    static const char *const members[] = {
        "queue",       "queue_path", "body",         "body_base64", "priority", "delay_seconds",
        "ttr_seconds", "key",        "max_attempts", "on_failure",  NULL};
    static const char *const failures[] = {"bury", "drop", NULL};
    uint64_t pri = PRI_NORMAL;
    uint64_t ttr = TTR_DEFAULT;
    uint64_t attempts = 0;
    size_t on_fail = 0;

    input_members(input, members);
    if (!input_queue(input, queue)) {
        input_blame(input, 400, "queue is missing");
    }
    (void)input_number(input, "priority", UINT32_MAX, &pri);
    (void)input_number(input, "ttr_seconds", UINT32_MAX, &ttr);
    (void)input_number(input, "max_attempts", JOB_ATTEMPTS_MAX, &attempts);
    (void)input_word(input, "on_failure", failures, &on_fail);
    *spec = (struct job_spec){
        .pri = (uint32_t)pri,
        .ttr_for = nsec_from_seconds((uint32_t)ttr),
        .max_attempts = (uint32_t)attempts,
        .on_fail = on_fail == 0 ? ON_FAIL_BURY : ON_FAIL_DROP,
        .durable = true,
    };
    if (input_seconds(input, "delay_seconds", &spec->start) && spec->start > 0) {
        spec->start_kind = START_AFTER;
    }
    if (input_text(input, "key", &spec->key)) {
        if (spec->key.len == 0 || spec->key.len > JOB_KEY_MAX) {
            input_blame(input, 400, "key must have 1 to %d bytes", JOB_KEY_MAX);
        }
        spec->key_kind = KEY_NAME;
    }
    spec->body = read_job_body(input);
}

static enum http1_next answer_job_add(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct broker *broker = admin_broker(conn);
    struct submission submission;
    enum http1_next next;
    struct job_spec spec;
    struct slice queue;
    struct input input;
    enum status status;

    (void)blob;
    input_begin_job(&input, conn, body);
    read_job_spec(&input, &queue, &spec);
    if (!input_good(&input)) {
        next = input_refuse(&input);
        goto out;
    }
    status = broker_submit_to(broker, queue, &spec, conn->session, &submission);
    if (status != STATUS_OK) {
        next = admin_refuse_status(conn, status);
        goto out;
    }
    wire_submitted(conn->wire, broker_position(broker));
    next = admin_reply_json(
        conn, 201,
        json_pack("{s:I, s:b}", "id", (json_int_t)submission.id, "joined", (int)submission.joined));
out:
    input_end(&input);
    return next;
}

//
// Changing one job
//

// Applies the act to the job in the path. Answers with the job, or with 204 if it is gone or the
// caller may not observe it.
static enum http1_next apply_act(struct http1_conn *conn, struct input *input,
                                 const struct job_act *act)
{
    const struct job *job;
    enum status status;
    uint64_t id;

    if (!input_path_number(input, 0, &id)) {
        return input_refuse(input);
    }
    status = broker_act(admin_broker(conn), conn->session, id, act);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    admin_hold_change(conn);
    job = act->kind == ACT_DELETE ? NULL : job_find_observed(conn, id);
    if (!job) {
        return admin_reply_nothing(conn);
    }
    job_json_hold(conn, job);
    return admin_reply_json(conn, 200, job_json(conn, job));
}

// Reads the parameters of the act from the body.
static void read_act(struct input *input, struct job_act *act)
{
    uint64_t pri = 0;
    bool named;

    act->sets_pri = input_number(input, "priority", UINT32_MAX, &pri);
    act->pri = (uint32_t)pri;
    act->sets_delay = input_seconds(input, "delay_seconds", &act->delay_for);
    if (act->kind == ACT_MOVE) {
        named = input_queue(input, &act->to);
        (void)input_flag(input, "back", &act->back);
        if (named == act->back) {
            input_blame(input, 400,
                        named ? "give either queue or back, not both" : "queue is missing");
        }
    }
    if (act->kind == ACT_CHANGE && !act->sets_pri && !act->sets_delay) {
        input_blame(input, 400, "priority or delay_seconds is required");
    }
}

// Answers the routes of all acts; the variant is the kind.
static enum http1_next answer_job_act(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const priority[] = {"priority", NULL};
    static const char *const priority_and_delay[] = {"priority", "delay_seconds", NULL};
    static const char *const target[] = {"queue", "queue_path", "back", NULL};
    const struct admin_route *route = admin_request(conn)->route;
    struct job_act act = {.kind = (enum act_kind)route->variant};
    bool optional = act.kind == ACT_BURY || act.kind == ACT_RELEASE;
    enum http1_next next;
    struct input input;

    (void)blob;
    if (route->takes_body) {
        input_begin(&input, conn, body, optional);
        input_members(&input, act.kind == ACT_BURY   ? priority
                              : act.kind == ACT_MOVE ? target
                                                     : priority_and_delay);
        read_act(&input, &act);
    } else {
        input_begin_plain(&input, conn);
    }
    next = apply_act(conn, &input, &act);
    input_end(&input);
    return next;
}

#define ACT_ROUTE(word, has_body, kind)                                                            \
    {                                                                                              \
        .path = "/api/v1/jobs/{id}/" word, .method = HTTP1_POST, .right = MAY_OPERATE,             \
        .takes_body = (has_body), .variant = (kind), .answer = answer_job_act                      \
    }

const struct admin_route job_routes[] = {
    {.path = "/api/v1/queues/{name}/jobs",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_job_list},
    {.path = "/api/v1/jobs",
     .method = HTTP1_POST,
     .right = MAY_SUBMIT,
     .takes_body = true,
     .answer = answer_job_add},
    {.path = "/api/v1/jobs/{id}", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_job},
    {.path = "/api/v1/jobs/{id}",
     .method = HTTP1_DELETE,
     .right = MAY_OPERATE,
     .variant = ACT_DELETE,
     .answer = answer_job_act},
    {.path = "/api/v1/jobs/{id}/body",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_job_body},
    {.path = "/api/v1/jobs/{id}/result",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_job_result},
    ACT_ROUTE("kick", false, ACT_KICK),
    ACT_ROUTE("touch", false, ACT_TOUCH),
    ACT_ROUTE("bury", true, ACT_BURY),
    ACT_ROUTE("release", true, ACT_RELEASE),
    ACT_ROUTE("change", true, ACT_CHANGE),
    ACT_ROUTE("move", true, ACT_MOVE),
    {.path = NULL},
};
