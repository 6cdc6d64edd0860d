/* SPDX-License-Identifier: MIT */
#include "proto_http/answer.h"

#include "core/digits.h"
#include "core/macros.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// Room for a head: its own lines, a handle and an origin.
#define HEAD_MAX 2048
// Room for an error as JSON.
#define ERROR_MAX 256

struct reason {
    unsigned status;
    const char *text;
};

static const struct reason reasons[] = {
    {200, "OK"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {417, "Expectation Failed"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

static const char *reason_of(unsigned status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].status == status) {
            return reasons[i].text;
        }
    }
    return "";
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
    char *at, *end;
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
    char digits[DIGITS_MAX];

    put(writing, slice_of(digits, (size_t)(digits_write(digits, number) - digits)));
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
    char handle[HANDLE_MAX];

    if (id) {
        char *end = handle_write(&conn->shared->handles, id, handle);

        put(writing, SLICE("X-Gearman-Job-Handle: "));
        put(writing, slice_of(handle, (size_t)(end - handle)));
        put(writing, SLICE("\r\n"));
    }
}

static void put_status(struct writing *writing, const struct web_request *request, unsigned status)
{
    put(writing, request && request->version_1_0 ? SLICE("HTTP/1.0 ") : SLICE("HTTP/1.1 "));
    put_number(writing, status);
    put(writing, SLICE(" "));
    put_text(writing, reason_of(status));
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

static void head(struct web_conn *conn, const struct web_answer *answer, struct slice length)
{
    char *start = output_reserve(&conn->wire->out, HEAD_MAX);
    struct writing writing = {.at = start};

    if (!start) {
        return;
    }
    writing.end = start + HEAD_MAX;
    put_status(&writing, conn->request, answer->status);
    put(&writing, common_of(conn->shared));
    put_job(&writing, conn, answer->job_id);
    put_header(&writing, SLICE("X-Gearman-Command: "), answer->command);
    put_header(&writing, SLICE("Content-Type: "), answer->type);
    put_text(&writing, answer->extra ? answer->extra : "");
    put(&writing, length);
    put_origin(&writing, conn);
    put_connection(&writing, conn->request);
    put(&writing, SLICE("\r\n"));
    output_commit(&conn->wire->out, (size_t)(writing.at - start));
}

void web_answer_head(struct web_conn *conn, const struct web_answer *answer, uint64_t len)
{
    char text[64];
    struct writing length = {.at = text, .end = text + sizeof text};

    // A 204 has no body by its meaning, and must not say how long it is.
    if (answer->status != 204) {
        put(&length, SLICE("Content-Length: "));
        put_number(&length, len);
        put(&length, SLICE("\r\n"));
    }
    head(conn, answer, slice_of(text, (size_t)(length.at - text)));
}

void web_answer(struct web_conn *conn, const struct web_answer *answer, struct slice body)
{
    web_answer_head(conn, answer, body.len);
    // To a HEAD, the head says what a body would be like.
    if (!conn->request || conn->request->method != WEB_HEAD_METHOD) {
        output_write(&conn->wire->out, body);
    }
}

void web_answer_open(struct web_conn *conn, const struct web_answer *answer)
{
    bool chunked = !conn->request->version_1_0;

    conn->request->keep_alive = conn->request->keep_alive && chunked;
    head(conn, answer, chunked ? SLICE("Transfer-Encoding: chunked\r\n") : SLICE(""));
}

void web_refuse(struct web_conn *conn, const struct web_answer *answer, const char *why)
{
    struct web_answer error = *answer;
    char body[ERROR_MAX];
    int len = snprintf(body, sizeof body, "{\"error\": \"%s\"}\n", why);

    ENSURE(len > 0 && (size_t)len < sizeof body);
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
        .status = code_of(conn, status), .command = "ERROR", .extra = "Retry-After: 1\r\n"};

    web_refuse(conn, &answer, why);
}
