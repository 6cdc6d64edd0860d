/* SPDX-License-Identifier: MIT */
#include "proto_http/jobs.h"

#include "proto_http/answer.h"
#include "proto_http/guard.h"
#include "proto_http/request.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {
    [JOB_DELAYED] = "delayed",
    [JOB_READY] = "ready",
    [JOB_RESERVED] = "running",
    [JOB_BURIED] = "buried",
};

// A name of any bytes as a string of JSON: what is no UTF-8 is shown as in a target.
static json_t *text_of(struct slice name)
{
    static const char hex[] = "0123456789ABCDEF";
    json_t *text = json_stringn(name.ptr, name.len);
    char escaped[3 * QUEUE_NAME_MAX];
    char *at = escaped;

    if (text) {
        return text;
    }
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];

        if (c > 0x20 && c < 0x7f && c != '%') {
            *at++ = (char)c;
        } else {
            *at++ = '%';
            *at++ = hex[c >> 4];
            *at++ = hex[c & 15];
        }
    }
    return json_stringn(escaped, (size_t)(at - escaped));
}

static json_t *describe(const struct web_conn *conn, const struct job_info *info)
{
    const struct web_target *target = &conn->request->target;

    return json_pack(
        "{s:s%, s:o, s:s, s:I, s:{s:I, s:I}, s:I, s:I}", "handle", target->name, target->name_len,
        "function", text_of(queue_name(info->queue)), "state", states[info->state], "priority",
        (json_int_t)info->pri, "progress", "numerator", (json_int_t)info->numerator, "denominator",
        (json_int_t)info->denominator, "created", (json_int_t)(info->created_at / NSEC_PER_SEC),
        "waiting", (json_int_t)info->watches);
}

static void answer_job(struct web_conn *conn, const struct job_info *info)
{
    const struct web_answer answer = {
        .status = 200, .type = WEB_JSON, .extra = "Cache-Control: no-store\r\n"};
    json_t *object = describe(conn, info);
    char *text = object ? json_dumps(object, 0) : NULL;

    if (text) {
        web_answer(conn, &answer, slice_of(text, strlen(text)));
    } else {
        web_refuse_memory(conn);
    }
    free(text);
    json_decref(object);
}

static void cancel(struct web_conn *conn, uint64_t id)
{
    if (broker_cancel(conn->shared->broker, id, false) == STATUS_OK) {
        wire_hold(conn->wire, broker_position(conn->shared->broker));
        web_answer(conn, &(struct web_answer){.status = 204}, SLICE(""));
    } else {
        web_refuse_status(conn, 409, "a worker has the job");
    }
}

static bool is_for(const struct web_conn *conn, const char *globs, struct slice function)
{
    return web_function_granted(globs, function) && web_function_offered(conn->shared, function);
}

void web_job_answer(struct web_conn *conn, const char *globs)
{
    const struct web_target *target = &conn->request->target;
    struct slice handle = slice_of(target->name, target->name_len);
    const struct job *job = NULL;
    struct job_info info;
    uint64_t id;

    if (handle_read(&conn->shared->handles, handle, &id)) {
        job = broker_find(conn->shared->broker, id);
    }
    if (job) {
        broker_job_info(conn->shared->broker, job, &info);
    }
    // Handles can be guessed, and the jobs of other protocols have handles, too.
    if (!job || !is_for(conn, globs, queue_name(info.queue))) {
        web_refuse_status(conn, 404, "there is no such job");
    } else if (conn->request->method == HTTP1_GET) {
        answer_job(conn, &info);
    } else {
        cancel(conn, id);
    }
}
