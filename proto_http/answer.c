/* SPDX-License-Identifier: MIT */
#include "proto_http/answer.h"

#include "core/base/log.h"
#include "core/base/macros.h"
#include "proto_common/http1/answer.h"

#include <stdio.h>
#include <string.h>

// Room for an error as JSON.
#define ERROR_MAX 256

static void put_job(struct http1_answer *head, const struct web_conn *conn, uint64_t id)
{
    char handle[HANDLE_MAX];

    if (id) {
        char *end = handle_write(&conn->shared->handles, id, handle);

        http1_answer_put(head, SLICE("X-Gearman-Job-Handle: "));
        http1_answer_put(head, slice_of(handle, (size_t)(end - handle)));
        http1_answer_put(head, SLICE("\r\n"));
    }
}

static void put_origin(struct http1_answer *head, const struct web_conn *conn)
{
    if (conn->request && conn->request->origin) {
        http1_answer_header(head, SLICE("Access-Control-Allow-Origin: "), conn->request->origin);
        http1_answer_put(head, SLICE("Access-Control-Expose-Headers: X-Gearman-Job-Handle, "
                                     "X-Gearman-Command\r\n"));
    }
    if (*conn->shared->options->cors_origins) {
        http1_answer_put(head, SLICE("Vary: Origin\r\n"));
    }
}

// Up to the header that says where the body ends; false without memory.
static bool begin_head(struct web_conn *conn, const struct web_answer *answer,
                       struct http1_answer *head)
{
    struct web_shared *shared = conn->shared;

    if (!http1_answer_begin(head, &conn->wire->out, answer->status,
                            conn->request && conn->request->version_1_0)) {
        return false;
    }
    http1_answer_common(head, &shared->common, shared->facts->version,
                        broker_now(shared->broker).wall);
    put_job(head, conn, answer->job_id);
    http1_answer_header(head, SLICE("X-Gearman-Command: "), answer->command);
    http1_answer_header(head, SLICE("Content-Type: "), answer->type);
    if (answer->extra) {
        http1_answer_put(head, slice_of(answer->extra, strlen(answer->extra)));
    }
    return true;
}

static void end_head(struct web_conn *conn, struct http1_answer *head)
{
    put_origin(head, conn);
    http1_answer_end(head, conn->request && conn->request->keep_alive);
}

void web_answer_head(struct web_conn *conn, const struct web_answer *answer, uint64_t len)
{
    struct http1_answer head;

    if (begin_head(conn, answer, &head)) {
        http1_answer_length(&head, len);
        end_head(conn, &head);
    }
}

void web_answer(struct web_conn *conn, const struct web_answer *answer, struct slice body)
{
    web_answer_head(conn, answer, body.len);
    // To a HEAD, the head says what a body would be like.
    if (!conn->request || conn->request->method != HTTP1_HEAD_METHOD) {
        output_write(&conn->wire->out, body);
    }
}

void web_answer_open(struct web_conn *conn, const struct web_answer *answer)
{
    bool chunked = !conn->request->version_1_0;
    struct http1_answer head;

    conn->request->keep_alive = conn->request->keep_alive && chunked;
    if (!begin_head(conn, answer, &head)) {
        return;
    }
    if (chunked) {
        http1_answer_chunked(&head);
    }
    end_head(conn, &head);
}

static void log_error_answer(const struct web_conn *conn, const struct web_answer *answer,
                             const char *why)
{
    struct log_field conn_field = log_number("conn", (int64_t)conn->wire->number);
    struct log_field status = log_number("status", answer->status);

    if (answer->shown.len > 0) {
        log_debug("error_answered", conn_field, status, log_text("value", answer->shown),
                  log_string("why", why));
    } else {
        log_debug("error_answered", conn_field, status, log_string("why", why));
    }
}

void web_refuse(struct web_conn *conn, const struct web_answer *answer, const char *why)
{
    struct web_answer error = *answer;
    char body[ERROR_MAX];
    int len = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", why);

    ENSURE(len > 0 && (size_t)len < sizeof body);
    log_error_answer(conn, answer, why);
    error.type = WEB_JSON;
    web_answer(conn, &error, slice_of(body, (size_t)len));
}

void web_refuse_status(struct web_conn *conn, unsigned status, const char *why)
{
    web_refuse(conn, &(struct web_answer){.status = status}, why);
}

// Clients of gearmand want 200 whatever becomes of a submission.
static unsigned code_of(const struct web_conn *conn, unsigned status)
{
    return conn->shared->options->status_codes == WEB_CODES_GEARMAND ? 200 : status;
}

void web_refuse_error(struct web_conn *conn, unsigned status, const char *why)
{
    const struct web_answer answer = {.status = code_of(conn, status), .command = "ERROR"};

    web_refuse(conn, &answer, why);
}

void web_refuse_later(struct web_conn *conn, unsigned status, const char *why)
{
    const struct web_answer answer = {
        .status = code_of(conn, status), .command = "ERROR", .extra = WEB_RETRY};

    web_refuse(conn, &answer, why);
}

void web_refuse_memory(struct web_conn *conn)
{
    web_refuse_later(conn, 503, status_text(STATUS_NO_MEMORY));
}
