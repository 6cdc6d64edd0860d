/* SPDX-License-Identifier: MIT */
#include "proto_http/web_work.h"

#include "core/base/digits.h"
#include "http1/caller.h"
#include "http1/reply.h"
#include "http1/request_target.h"

#include "proto_http/accept.h"
#include "proto_http/work_answer.h"

#include <stdio.h>

#define ALL_TAKEN "all leases that http.max_leases allows are in use"
// The most queues in one request.
#define QUEUES_MAX 64
#define WHY_MAX 96

//
// The query
//

static bool bad_parameter(struct http1_conn *conn, const char *name, const char *why)
{
    char text[WHY_MAX];

    (void)snprintf(text, sizeof text, "the parameter %s %s", name, why);
    return web_refuse_status(conn, 400, text);
}

static bool check_queue(struct http1_conn *conn, struct slice value)
{
    char text[HTTP1_QUERY_VALUE_MAX];
    struct slice name = {.ptr = text};

    if (!http1_query_decode(value, text, &name.len) || name.len == 0 || name.len > QUEUE_NAME_MAX ||
        memchr(text, '\0', name.len)) {
        return bad_parameter(conn, "queue", "is not a valid queue name");
    }
    if (!session_may_by_name(conn->session, MAY_WORK, name)) {
        http1_caller_refuse(conn, name);
        return false;
    }
    return web_function_offered(web_shared(conn), name) ||
           web_refuse_status(conn, 403, "http.functions does not include this queue");
}

// The arguments that may be given once.
enum arg { ARG_WAIT, ARG_TTR, ARG_MAX, ARGS };

struct arg_kind {
    const char *name;
    uint64_t least, most;
};

static const struct arg_kind kinds[ARGS] = {
    [ARG_WAIT] = {"wait", 0, UINT32_MAX},
    [ARG_TTR] = {"ttr", 1, UINT32_MAX},
    [ARG_MAX] = {"max", 1, WEB_BATCH_MAX},
};

struct args {
    uint64_t numbers[ARGS];
    bool present[ARGS];
    unsigned queues;
};

static bool read_args(struct http1_conn *conn, struct args *args)
{
    struct slice query = web_request(conn)->target.query;
    struct slice name, value;

    while (http1_query_next(&query, &name, &value)) {
        int i = 0;

        if (slice_equal(name, SLICE("queue"))) {
            if (++args->queues > QUEUES_MAX) {
                return bad_parameter(conn, "queue", "is given too often");
            }
            if (!check_queue(conn, value)) {
                return false;
            }
            continue;
        }
        while (i < ARGS && !slice_equal(name, slice_str(kinds[i].name))) {
            i++;
        }
        if (i == ARGS) {
            return web_refuse_status(
                conn, 400, "unknown parameter in the query; allowed are queue, wait, ttr and max");
        }
        if (args->present[i]) {
            return bad_parameter(conn, kinds[i].name, "is given more than once");
        }
        args->present[i] = true;
        if (!digits_read(value, &args->numbers[i]) || args->numbers[i] < kinds[i].least ||
            args->numbers[i] > kinds[i].most) {
            return bad_parameter(conn, kinds[i].name, "is not a number in the allowed range");
        }
    }
    return args->queues > 0 || bad_parameter(conn, "queue", "is missing");
}

bool web_work_check(struct http1_conn *conn, const struct http1_fields *fields,
                    const struct http1_framing *framing)
{
    struct web_work *work = &web_request(conn)->work;
    struct args args = {.queues = 0};

    if (web_shared(conn)->options->max_leases == 0) {
        return web_refuse_status(conn, 403, "work over HTTP is disabled: http.max_leases is 0");
    }
    if (http1_has_body(framing)) {
        return web_refuse_status(
            conn, 400, "a request for work must not have a body; its parameters are in the query");
    }
    if (!read_args(conn, &args)) {
        return false;
    }
    work->wait_for = nsec_from_seconds(args.numbers[ARG_WAIT]);
    work->ttr_for = nsec_from_seconds(args.numbers[ARG_TTR]);
    work->max = (uint32_t)args.numbers[ARG_MAX];
    work->multipart =
        http1_accept_names(fields->values[HTTP1_FIELD_ACCEPT], SLICE("multipart/mixed"));
    return true;
}

static struct web_work *work_of(const struct http1_conn *conn)
{
    return &web_request(conn)->work;
}

//
// Answers
//

static enum http1_progress refuse_work(struct http1_conn *conn, enum status status)
{
    web_work_forget(work_of(conn));
    if (status == STATUS_FORBIDDEN) {
        // The access rules were reloaded.
        http1_caller_refuse(conn, SLICE(""));
    } else {
        web_refuse_work(conn, status);
    }
    return HTTP1_ENDED;
}

static enum http1_progress answer_none(struct http1_conn *conn)
{
    web_work_forget(work_of(conn));
    http1_reply(conn, &(struct http1_reply){.status = 204}, SLICE(""));
    return HTTP1_ENDED;
}

// The answer is complete, and the jobs belong to the worker, unless memory was short: then the
// connection closes, and the jobs return.
static enum http1_progress hand_over(struct http1_conn *conn)
{
    struct web_holder *holder = work_of(conn)->holder;

    if (!output_failed(&conn->wire->out)) {
        work_of(conn)->holder = NULL;
        web_holder_leave(holder);
    }
    return HTTP1_ENDED;
}

// Writes the headers in pieces, because long names exceed the buffer of a head.
static bool put_headers(struct http1_answer *head, struct slice headers)
{
    enum { AT_ONCE = 900 };

    for (; headers.len > AT_ONCE; headers = slice_from(headers, AT_ONCE)) {
        http1_answer_put(head, slice_of(headers.ptr, AT_ONCE));
        if (!http1_answer_more(head)) {
            return false;
        }
    }
    http1_answer_put(head, headers);
    return true;
}

static enum http1_progress answer_one(struct http1_conn *conn)
{
    struct web_holder *holder = work_of(conn)->holder;
    const struct job *job = broker_find(conn->shared->broker, holder->only.job_id);
    char headers[LEASE_HEADERS_ROOM];
    size_t len = lease_headers_write(web_shared(conn), &holder->only, headers);
    struct http1_answer head;

    holder->held_until = broker_job_position(conn->shared->broker, job);
    wire_hold(conn->wire, holder->held_until);
    (void)output_deliver(&conn->wire->out, HTTP1_ANSWER_MAX, holder->only.job_id);
    if (http1_reply_begin(conn, 200, &head)) {
        http1_answer_put(&head, SLICE("Content-Type: " HTTP1_BYTES "\r\n"
                                      "Cache-Control: no-store\r\n"));
        if (put_headers(&head, slice_of(headers, len))) {
            http1_reply_end(conn, &head, job_body(job).len);
            http1_reply_body(conn, job_body(job), job_blob(job));
        }
    }
    return hand_over(conn);
}

//
// Jobs
//

// The limit of the lease, which each report restarts; 0: only the job's time to run counts.
static nsec_t limit_of(const struct http1_conn *conn, const struct job *job)
{
    nsec_t asked_for = work_of(conn)->ttr_for;
    struct job_info info;

    broker_job_info(conn->shared->broker, job, &info);
    if (asked_for == 0 && info.ttr_for == 0) {
        return nsec_from_seconds((uint64_t)web_shared(conn)->options->lease);
    }
    // A limit beyond the time to run has no effect.
    return asked_for;
}

// Takes further jobs for a batch within its limits; returns the number of all.
static uint32_t take_more(struct http1_conn *conn, const struct job *first, uint64_t *ids)
{
    const struct web_work *work = work_of(conn);
    uint64_t left = (uint64_t)web_shared(conn)->options->max_leases;
    size_t bytes = job_body(first).len;
    const struct job *job;
    uint32_t count = 1;

    left = left > work->holder->leases->count ? left - work->holder->leases->count : 0;
    ids[0] = job_id(first);
    while (count < work->max && count <= left && bytes < WEB_BATCH_BYTES &&
           broker_take(work->holder->session, &job) == STATUS_OK) {
        bytes += job_body(job).len;
        ids[count++] = job_id(job);
    }
    // Each further job costs as much as a request for one.
    broker_charge_links(conn->shared->broker, (size_t)(count - 1) * LINKS_PER_COMMAND);
    return count;
}

// Answers with that job, and further ones if a batch is wanted.
static enum http1_progress answer_jobs(struct http1_conn *conn, const struct job *job)
{
    struct web_work *work = work_of(conn);
    uint64_t ids[WEB_BATCH_MAX];
    uint32_t count = take_more(conn, job, ids);
    enum status status = web_holder_room(work->holder, count);

    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        job = broker_find(conn->shared->broker, ids[i]);
        status = web_lease_add(work->holder, ids[i], limit_of(conn, job));
    }
    if (status != STATUS_OK) {
        return refuse_work(conn, status);
    }
    web_holder_take_no_more(work->holder);
    if (work->max == 0) {
        return answer_one(conn);
    }
    status = work->multipart ? web_batch_multipart(conn, work->holder)
                             : web_batch_begin(conn, work->holder, &work->batch);
    if (status != STATUS_OK) {
        return refuse_work(conn, status);
    }
    return work->multipart ? hand_over(conn) : HTTP1_WROTE;
}

// Takes a job, or begins to wait for one.
static enum http1_progress work_take(struct http1_conn *conn)
{
    struct web_work *work = work_of(conn);
    const struct job *job;
    enum status status = broker_take(work->holder->session, &job);

    if (status == STATUS_OK) {
        return answer_jobs(conn, job);
    }
    if (status == STATUS_EMPTY) {
        status = broker_wait(work->holder->session, work->until, -1);
    }
    if (status == STATUS_OK) {
        return HTTP1_BLOCKED;
    }
    return status == STATUS_TIMED_OUT ? answer_none(conn) : refuse_work(conn, status);
}

//
// The request
//

static enum status subscribe_all(struct http1_conn *conn, struct web_holder *holder)
{
    const struct subscription_terms terms = {.limit_for = 0};
    struct slice query = web_request(conn)->target.query;
    struct slice name, value;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && http1_query_next(&query, &name, &value)) {
        char text[HTTP1_QUERY_VALUE_MAX];
        struct slice queue = slice_of(text, 0);

        if (slice_equal(name, SLICE("queue"))) {
            bool good = http1_query_decode(value, text, &queue.len);

            ENSURE(good); // it was checked with the head
            status = broker_subscribe(holder->session, queue, &terms);
        }
    }
    return status;
}

enum http1_next web_work_begin(struct http1_conn *conn)
{
    struct web_work *work = work_of(conn);
    struct web_leases *leases = &web_shared(conn)->leases;
    enum status status;

    if (leases->count >= (uint64_t)web_shared(conn)->options->max_leases) {
        wire_refused(conn->wire, REFUSAL_LIMIT);
        http1_refuse_later(conn, ALL_TAKEN);
        return HTTP1_NEXT_REQUEST;
    }
    status = web_holder_open(leases, conn, &work->holder);
    if (status == STATUS_OK) {
        status = subscribe_all(conn, work->holder);
    }
    if (status != STATUS_OK) {
        (void)refuse_work(conn, status);
        return HTTP1_NEXT_REQUEST;
    }
    work->until = nsec_add(broker_now(conn->shared->broker).mono, work->wait_for);
    return work_take(conn) == HTTP1_ENDED ? HTTP1_NEXT_REQUEST : HTTP1_NEXT_WAIT;
}

enum http1_progress web_work_step(struct http1_conn *conn, struct feed_turn *turn)
{
    struct web_work *work = work_of(conn);
    struct web_holder *holder = work->holder;
    uint64_t id = holder->told_of;

    if (work->batch) {
        // Jobs of a batch belong to the worker once the whole batch is written: the client may
        // not use a part of it.
        enum http1_progress progress = web_batch_step(conn, work->batch, turn);

        return progress == HTTP1_ENDED ? hand_over(conn) : progress;
    }
    if (holder->waited_enough) {
        return answer_none(conn);
    }
    if (id) {
        const struct job *job = broker_find(conn->shared->broker, id);

        holder->told_of = 0;
        // The job may have been taken away since.
        return job && job_held_by(conn->shared->broker, job, holder->session)
                   ? answer_jobs(conn, job)
                   : work_take(conn);
    }
    return HTTP1_BLOCKED;
}

void web_work_stopped(struct http1_conn *conn)
{
    struct web_work *work = work_of(conn);
    bool begun = work->batch;

    web_work_forget(work);
    conn->request->keep_alive = false;
    if (!begun) {
        http1_refuse_later(conn, HTTP1_STOPS);
    }
}

enum grant_progress web_work_granted(struct http1_conn *conn, struct grants *grants)
{
    struct web_holder *holder = work_of(conn)->holder;

    return holder ? broker_session_grant(holder->session, grants) : GRANT_DONE;
}

void web_work_forget(struct web_work *work)
{
    web_batch_free(work->batch);
    work->batch = NULL;
    web_holder_undelivered(work->holder);
    work->holder = NULL;
}

static void tell_undelivered(void *context, uint64_t job_id)
{
    const struct http1_conn *conn = context;

    web_holder_undelivered(web_holder_of(&web_shared(conn)->leases, job_id, conn->wire->number));
}

void web_work_undelivered(struct http1_conn *conn)
{
    output_undelivered(&conn->wire->out, tell_undelivered, conn);
}

size_t web_work_holds(const struct web_work *work)
{
    return web_batch_holds(work->batch);
}
