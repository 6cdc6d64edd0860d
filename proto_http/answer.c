/* SPDX-License-Identifier: MIT */
#include "proto_http/answer.h"

#include "core/base/digits.h"
#include "core/base/log.h"
#include "core/base/macros.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// Room for a head: its own lines, a handle and an origin.
#define HEAD_MAX 2048
// Room for an error as JSON.
#define ERROR_MAX 256

// What the status line says behind the version.
struct reason {
    unsigned status;
    size_t len;
    const char *text;
};

#define REASON(status, text)                                                                       \
    {                                                                                              \
        (status), sizeof(#status " " text) - 1, #status " " text                                   \
    }

static const struct reason reasons[] = {
    REASON(200, "OK"),
    REASON(204, "No Content"),
    REASON(400, "Bad Request"),
    REASON(401, "Unauthorized"),
    REASON(403, "Forbidden"),
    REASON(404, "Not Found"),
    REASON(405, "Method Not Allowed"),
    REASON(408, "Request Timeout"),
    REASON(409, "Conflict"),
    REASON(410, "Gone"),
    REASON(413, "Content Too Large"),
    REASON(417, "Expectation Failed"),
    REASON(429, "Too Many Requests"),
    REASON(431, "Request Header Fields Too Large"),
    REASON(500, "Internal Server Error"),
    REASON(501, "Not Implemented"),
    REASON(502, "Bad Gateway"),
    REASON(503, "Service Unavailable"),
    REASON(504, "Gateway Timeout"),
    REASON(505, "HTTP Version Not Supported"),
};

static struct slice reason_of(unsigned status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].status == status) {
            return slice_of(reasons[i].text, reasons[i].len);
        }
    }
    UNREACHABLE();
}

// Server and Date, written once for all answers of a second.
static struct slice common_of(struct web_shared *shared)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = (time_t)(broker_now(shared->broker).wall / NSEC_PER_SEC);
    struct tm utc;
    int len;

    if ((now != shared->date_at || shared->common_len == 0) && gmtime_r(&now, &utc)) {
        len = snprintf(shared->common, sizeof shared->common,
                       "Server: Tandem/%s\r\nDate: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n",
                       shared->facts->version, days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon],
                       (utc.tm_year + 1900) % 10000, utc.tm_hour, utc.tm_min, utc.tm_sec);
        ENSURE(len > 0 && (size_t)len < sizeof shared->common);
        shared->common_len = (uint8_t)len;
        shared->date_at = now;
    }
    return slice_of(shared->common, shared->common_len);
}

// A head that is being written.
struct writing {
    char *start, *at, *end;
};

static void put(struct writing *writing, struct slice text)
{
    // Nothing that comes from outside is longer than what was allowed for it.
    ENSURE(text.len <= (size_t)(writing->end - writing->at));
    memcpy(writing->at, text.ptr, text.len);
    writing->at += text.len;
}

static void put_text(struct writing *writing, const char *text)
{
    put(writing, slice_of(text, strlen(text)));
}

static void put_number(struct writing *writing, uint64_t number)
{
    ENSURE(writing->end - writing->at >= DIGITS_MAX);
    writing->at = digits_write(writing->at, number);
}

// A header with a value that may be NULL: then there is none.
static void put_header(struct writing *writing, struct slice name, const char *value)
{
    if (value) {
        put(writing, name);
        put_text(writing, value);
        put(writing, SLICE("\r\n"));
    }
}

static void put_job(struct writing *writing, const struct web_conn *conn, uint64_t id)
{
    if (id) {
        put(writing, SLICE("X-Gearman-Job-Handle: "));
        ENSURE(writing->end - writing->at >= HANDLE_MAX);
        writing->at = handle_write(&conn->shared->handles, id, writing->at);
        put(writing, SLICE("\r\n"));
    }
}

static void put_status(struct writing *writing, const struct web_request *request, unsigned status)
{
    put(writing, request && request->version_1_0 ? SLICE("HTTP/1.0 ") : SLICE("HTTP/1.1 "));
    put(writing, reason_of(status));
    put(writing, SLICE("\r\n"));
}

static void put_origin(struct writing *writing, const struct web_conn *conn)
{
    if (conn->request && conn->request->origin) {
        put_header(writing, SLICE("Access-Control-Allow-Origin: "), conn->request->origin);
        put(writing, SLICE("Access-Control-Expose-Headers: X-Gearman-Job-Handle, "
                           "X-Gearman-Command\r\n"));
    }
    if (*conn->shared->options->cors_origins) {
        put(writing, SLICE("Vary: Origin\r\n"));
    }
}

// An answer in its own version, and whether the connection stays.
static void put_connection(struct writing *writing, const struct web_request *request)
{
    if (!request || !request->keep_alive) {
        put(writing, SLICE("Connection: close\r\n"));
    } else if (request->version_1_0) {
        put(writing, SLICE("Connection: keep-alive\r\n"));
    }
}

// Up to the header that says where the body ends; false without memory.
static bool begin_head(struct web_conn *conn, const struct web_answer *answer,
                       struct writing *writing)
{
    writing->start = output_reserve(&conn->wire->out, HEAD_MAX);
    if (!writing->start) {
        return false;
    }
    writing->at = writing->start;
    writing->end = writing->start + HEAD_MAX;
    put_status(writing, conn->request, answer->status);
    put(writing, common_of(conn->shared));
    put_job(writing, conn, answer->job_id);
    put_header(writing, SLICE("X-Gearman-Command: "), answer->command);
    put_header(writing, SLICE("Content-Type: "), answer->type);
    if (answer->extra) {
        put_text(writing, answer->extra);
    }
    return true;
}

static void end_head(struct web_conn *conn, struct writing *writing)
{
    put_origin(writing, conn);
    put_connection(writing, conn->request);
    put(writing, SLICE("\r\n"));
    output_commit(&conn->wire->out, (size_t)(writing->at - writing->start));
}

void web_answer_head(struct web_conn *conn, const struct web_answer *answer, uint64_t len)
{
    struct writing writing;

    if (!begin_head(conn, answer, &writing)) {
        return;
    }
    // A 204 has no body by its meaning, and must not say how long it is.
    if (answer->status != 204) {
        put(&writing, SLICE("Content-Length: "));
        put_number(&writing, len);
        put(&writing, SLICE("\r\n"));
    }
    end_head(conn, &writing);
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
    struct writing writing;

    conn->request->keep_alive = conn->request->keep_alive && chunked;
    if (!begin_head(conn, answer, &writing)) {
        return;
    }
    if (chunked) {
        put(&writing, SLICE("Transfer-Encoding: chunked\r\n"));
    }
    end_head(conn, &writing);
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
