/* SPDX-License-Identifier: MIT */
#include "proto_http/submission.h"

#include "core/base/digits.h"
#include "core/base/macros.h"
#include "http1/caller.h"
#include "http1/head.h"
#include "http1/request_target.h"
#include "proto_common/contract.h"
#include "proto_common/intake.h"

#include "proto_http/web_answer.h"
#include "proto_http/web_request.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *const web_field_names[WEB_FIELD_COUNT] = {
#define X(name, text) [WEB_FIELD_##name - WEB_FIELD_BEFORE - 1] = (text),
    WEB_FIELDS(X)
#undef X
};

#define WHY_MAX 96

// Answers 400 with the name of the header.
static bool bad_field(struct http1_conn *conn, enum web_field field, const char *why)
{
    char text[WHY_MAX];

    (void)snprintf(text, sizeof text, "%s %s", web_field_names[field - WEB_FIELD_BEFORE - 1], why);
    web_refuse_error(conn, 400, text);
    return false;
}

static bool read_background(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice text = fields->values[WEB_FIELD_BACKGROUND];

    web_request(conn)->background = http1_same_word(text, SLICE("true")) ||
                                    http1_same_word(text, SLICE("1")) ||
                                    http1_same_word(text, SLICE("yes"));
    return web_request(conn)->background || text.len == 0 ||
           http1_same_word(text, SLICE("false")) || http1_same_word(text, SLICE("0")) ||
           http1_same_word(text, SLICE("no")) ||
           bad_field(conn, WEB_FIELD_BACKGROUND, "is not true or false");
}

// Reads the number in the header, if present; false (answered) if it is invalid or above `most`.
static bool read_number_field(struct http1_conn *conn, const struct http1_fields *fields,
                              enum web_field field, uint64_t most, uint64_t *number)
{
    if (http1_has(fields, field) &&
        (!digits_read(fields->values[field], number) || *number > most)) {
        return bad_field(conn, field, "is not a number in the allowed range");
    }
    return true;
}

static bool read_priority(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice text = fields->values[WEB_FIELD_PRIORITY];
    uint64_t number;

    if (!http1_has(fields, WEB_FIELD_PRIORITY) || http1_same_word(text, SLICE("normal"))) {
        number = PRI_NORMAL;
    } else if (http1_same_word(text, SLICE("high"))) {
        number = PRI_HIGH;
    } else if (http1_same_word(text, SLICE("low"))) {
        number = PRI_LOW;
    } else if (!digits_read(text, &number) || number > UINT32_MAX) {
        return bad_field(conn, WEB_FIELD_PRIORITY, "is not high, normal, low or a number");
    }
    web_request(conn)->pri = (uint32_t)number;
    return true;
}

static bool read_start(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct web_request *request = web_request(conn);
    bool delayed = http1_has(fields, WEB_FIELD_DELAY);
    bool dated = http1_has(fields, WEB_FIELD_EPOCH);
    uint64_t delay = 0, epoch = 0;

    if (!delayed && !dated) {
        request->start_kind = START_NOW;
        request->start = 0;
        return true;
    }
    if (!read_number_field(conn, fields, WEB_FIELD_DELAY, UINT32_MAX, &delay) ||
        !read_number_field(conn, fields, WEB_FIELD_EPOCH, (uint64_t)(NSEC_NEVER / NSEC_PER_SEC),
                           &epoch)) {
        return false;
    }
    if (!request->background) {
        return bad_field(conn, delayed ? WEB_FIELD_DELAY : WEB_FIELD_EPOCH,
                         "requires X-Gearman-Background");
    }
    if (delayed && dated) {
        return bad_field(conn, WEB_FIELD_DELAY, "and X-Gearman-Epoch cannot both be given");
    }
    request->start_kind = dated ? START_AT : delay ? START_AFTER : START_NOW;
    request->start = nsec_from_seconds(dated ? epoch : delay);
    return true;
}

bool web_job_fields_read(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct web_request *request = web_request(conn);
    uint32_t repeated = fields->repeated & ~(HTTP1_BIT(WEB_FIELD_UNIQUE) - 1);
    struct slice unique = fields->values[WEB_FIELD_UNIQUE];
    uint64_t ttr = 0;

    if (repeated) {
        return bad_field(conn, (enum web_field)__builtin_ctz(repeated), "is given more than once");
    }
    if (unique.len > CONTRACT_UNIQUE_MAX) {
        return bad_field(conn, WEB_FIELD_UNIQUE, "is longer than 64 bytes");
    }
    if (unique.len > 0) {
        memcpy(request->unique, unique.ptr, unique.len);
    }
    request->unique_len = (uint8_t)unique.len;
    request->wait = (uint64_t)web_shared(conn)->options->wait_timeout;
    if (!read_background(conn, fields) || !read_priority(conn, fields) ||
        !read_start(conn, fields) ||
        !read_number_field(conn, fields, WEB_FIELD_TTR, UINT32_MAX, &ttr) ||
        !read_number_field(conn, fields, WEB_FIELD_TIMEOUT, UINT32_MAX, &request->wait)) {
        return false;
    }
    request->ttr = (uint32_t)ttr;
    request->stream = !request->background && fields->events;
    return true;
}

void web_submit_refuse(struct http1_conn *conn, enum status status)
{
    const char *why = status_text(status);

    if (status == STATUS_FORBIDDEN) {
        // The access rules were reloaded while the body arrived.
        http1_caller_refuse(conn, web_target_name(&web_request(conn)->target));
    } else if (status == STATUS_TOO_LARGE || status == STATUS_BAD_NAME) {
        web_refuse_error(conn, 400, why);
    } else if (status == STATUS_JOB_TOO_LARGE) {
        wire_log_too_large(conn->wire, "a job", 0, WIRE_QUEUE_JOB_SIZE);
        web_refuse_error(conn, 413, why);
    } else {
        wire_refused_status(conn->wire, status);
        web_refuse_later(conn, status == STATUS_QUEUE_FULL ? 429 : 503, why);
    }
}

enum status web_submit_job(struct http1_conn *conn, struct slice workload, struct blob *blob,
                           struct submission *submission)
{
    const struct web_options *options = web_shared(conn)->options;
    const struct web_request *request = web_request(conn);
    struct job_spec spec = contract_begin(request->pri, request->background, options->job_retries,
                                          (enum contract_on_fail)options->on_fail);
    bool good;

    spec.start_kind = request->start_kind;
    spec.start = request->start;
    spec.ttr_for = nsec_from_seconds(request->ttr);
    good = contract_set_unique(&spec, slice_of(request->unique, request->unique_len));
    ENSURE(good); // its length was checked with the head
    intake_set_body(&spec, workload, blob);
    return contract_submit(conn->shared->broker, conn->wire, conn->session,
                           web_target_name(&request->target), &spec, submission);
}

void web_submit_answer(struct http1_conn *conn, uint64_t id)
{
    web_answer(conn, &(struct web_answer){.status = 200, .command = "JOB_CREATED", .job_id = id},
               SLICE(""));
}
