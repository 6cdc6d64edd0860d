/* SPDX-License-Identifier: MIT */
#include "proto_http/web_answer.h"

#include "core/base/base64.h"
#include "core/base/macros.h"
#include "proto_common/field_name.h"

#include "proto_http/web_request.h"

#include <stdlib.h>
#include <string.h>

// Writes the head up to the header that determines the length of the body; false without memory.
static bool web_begin_head(struct http1_conn *conn, const struct web_answer *answer,
                           struct http1_answer *head)
{
    char handle[HANDLE_MAX];

    if (!http1_reply_begin(conn, answer->status, head)) {
        return false;
    }
    if (answer->job_id) {
        char *end = handle_write(&web_shared(conn)->handles, answer->job_id, handle);

        http1_answer_put(head, SLICE("X-Gearman-Job-Handle: "));
        http1_answer_put(head, slice_of(handle, (size_t)(end - handle)));
        http1_answer_put(head, SLICE("\r\n"));
    }
    http1_answer_header(head, SLICE("X-Gearman-Command: "), answer->command);
    http1_answer_header(head, SLICE("Content-Type: "), answer->type);
    if (answer->extra) {
        http1_answer_put(head, slice_str(answer->extra));
    }
    return true;
}

void web_answer_head(struct http1_conn *conn, const struct web_answer *answer, uint64_t len)
{
    struct http1_answer head;

    if (web_begin_head(conn, answer, &head)) {
        http1_reply_end(conn, &head, len);
    }
}

void web_answer(struct http1_conn *conn, const struct web_answer *answer, struct slice body)
{
    web_answer_head(conn, answer, body.len);
    http1_reply_body(conn, body, NULL);
}

bool web_answer_open(struct http1_conn *conn, const struct web_answer *answer)
{
    struct http1_answer head;

    return web_begin_head(conn, answer, &head) && http1_reply_end_open(conn, &head);
}

void web_refuse(struct http1_conn *conn, const struct web_answer *answer, const char *why)
{
    struct web_answer error = *answer;
    char room[HTTP1_ERROR_MAX];
    struct slice body = http1_error(conn, answer->status, SLICE(""), why, room);

    error.type = HTTP1_JSON;
    web_answer(conn, &error, body);
}

// With http.status_codes for gearmand, a failed submission is answered 200. Other requests have the
// real status, since their clients could take a 200 for a job.
static unsigned code_of(const struct http1_conn *conn, unsigned status)
{
    if (conn->request && web_request(conn)->target.place != WEB_PLACE_FUNCTION &&
        web_request(conn)->target.place != WEB_PLACE_NONE) {
        return status;
    }
    return web_shared(conn)->options->status_codes == WEB_CODES_GEARMAND ? 200 : status;
}

void web_refuse_error(struct http1_conn *conn, unsigned status, const char *why)
{
    const struct web_answer answer = {.status = code_of(conn, status), .command = "ERROR"};

    web_refuse(conn, &answer, why);
}

void web_refuse_later(struct http1_conn *conn, unsigned status, const char *why)
{
    const struct web_answer answer = {
        .status = code_of(conn, status), .command = "ERROR", .extra = HTTP1_RETRY};

    web_refuse(conn, &answer, why);
}

void web_refuse_after(struct http1_conn *conn, unsigned status, nsec_t left_for, const char *why)
{
    char extra[48];
    const struct web_answer answer = {
        .status = code_of(conn, status), .command = "ERROR", .extra = extra};
    nsec_t seconds = left_for > 0 ? (left_for - 1) / NSEC_PER_SEC + 1 : 1;

    (void)snprintf(extra, sizeof extra, "Retry-After: %lld\r\n", (long long)seconds);
    web_refuse(conn, &answer, why);
}

void web_refuse_memory(struct http1_conn *conn)
{
    wire_refused(conn->wire, REFUSAL_MEMORY);
    web_refuse_later(conn, 503, status_text(STATUS_NO_MEMORY));
}

void web_refuse_work(struct http1_conn *conn, enum status status)
{
    if (status == STATUS_NO_MEMORY) {
        web_refuse_memory(conn);
    } else {
        wire_refused_status(conn->wire, status);
        http1_refuse_later(conn, status_text(status));
    }
}

bool web_refuse_status(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse_status(conn, status, why);
    return false;
}

json_t *web_name_json(struct slice name)
{
    json_t *text = json_stringn(name.ptr, name.len);
    char escaped[WEB_NAME_ROOM];

    return text ? text : json_stringn(escaped, (size_t)(field_name_write(name, escaped) - escaped));
}

bool web_data_json(json_t *object, struct slice data)
{
    json_t *text = json_stringn(data.len > 0 ? data.ptr : "", data.len);
    char *base64;
    size_t len;
    bool good;

    if (text) {
        return json_object_set_new(object, "data", text) == 0;
    }
    len = base64_encoded_len(data.len);
    base64 = malloc(len + 1);
    if (!base64) {
        return false;
    }
    base64_encode(data, base64);
    good = json_object_set_new(object, "data", json_stringn_nocheck(base64, len)) == 0 &&
           json_object_set_new(object, "encoding", json_string("base64")) == 0;
    free(base64);
    return good;
}
