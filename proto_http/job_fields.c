/* SPDX-License-Identifier: MIT */
#include "proto_http/job_fields.h"

#include "core/base/digits.h"
#include "proto_common/contract.h"

#include "proto_http/answer.h"
#include "proto_http/fields.h"
#include "proto_http/once.h"
#include "proto_http/request.h"

#include <stdio.h>
#include <string.h>

#define WHY_MAX 96

// Answers 400 with the name of the header.
static bool bad_field(struct http1_conn *conn, enum web_field field, const char *why)
{
    char text[WHY_MAX];

    (void)snprintf(text, sizeof text, "%s %s", web_field_name(field), why);
    web_refuse_error(conn, 400, text);
    return false;
}

static bool read_unique(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct slice unique = fields->values[WEB_FIELD_UNIQUE];

    if (unique.len > CONTRACT_UNIQUE_MAX) {
        return bad_field(conn, WEB_FIELD_UNIQUE, "is longer than 64 bytes");
    }
    if (unique.len > 0) {
        memcpy(web_request(conn)->unique, unique.ptr, unique.len);
    }
    web_request(conn)->unique_len = (uint8_t)unique.len;
    return true;
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
           bad_field(conn, WEB_FIELD_BACKGROUND, "is neither true nor false");
}

// Reads the number in the header, if present; false (answered) if it is invalid or above `most`.
static bool read_number(struct http1_conn *conn, const struct http1_fields *fields,
                        enum web_field field, uint64_t most, uint64_t *number)
{
    if (http1_has(fields, field) &&
        (!digits_read(fields->values[field], number) || *number > most)) {
        return bad_field(conn, field, "is no number in its range");
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
        return bad_field(conn, WEB_FIELD_PRIORITY, "is neither high, normal, low nor a number");
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
    if (!read_number(conn, fields, WEB_FIELD_DELAY, UINT32_MAX, &delay) ||
        !read_number(conn, fields, WEB_FIELD_EPOCH, (uint64_t)(NSEC_NEVER / NSEC_PER_SEC),
                     &epoch)) {
        return false;
    }
    if (!request->background) {
        return bad_field(conn, delayed ? WEB_FIELD_DELAY : WEB_FIELD_EPOCH,
                         "is for background jobs only");
    }
    if (delayed && dated) {
        return bad_field(conn, WEB_FIELD_DELAY, "and X-Gearman-Epoch exclude each other");
    }
    request->start_kind = dated ? START_AT : delay ? START_AFTER : START_NOW;
    request->start = nsec_from_seconds(dated ? epoch : delay);
    return true;
}

static bool read_times(struct http1_conn *conn, const struct http1_fields *fields)
{
    struct web_request *request = web_request(conn);
    uint64_t ttr = 0;

    request->wait = (uint64_t)web_shared(conn)->options->wait_timeout;
    if (!read_number(conn, fields, WEB_FIELD_TTR, UINT32_MAX, &ttr) ||
        !read_number(conn, fields, WEB_FIELD_TIMEOUT, UINT32_MAX, &request->wait)) {
        return false;
    }
    request->ttr = (uint32_t)ttr;
    return true;
}

// Refuses a header of the job that is present twice.
static bool check_once(struct http1_conn *conn, const struct http1_fields *fields)
{
    uint32_t of_job = fields->repeated & ~(HTTP1_BIT(WEB_FIELD_UNIQUE) - 1);

    return of_job == 0 ||
           bad_field(conn, (enum web_field)__builtin_ctz(of_job), "is there more than once");
}

bool web_job_fields_read(struct http1_conn *conn, const struct http1_fields *fields)
{
    if (!check_once(conn, fields) || !read_unique(conn, fields) || !read_background(conn, fields) ||
        !read_priority(conn, fields) || !read_start(conn, fields) || !read_times(conn, fields)) {
        return false;
    }
    web_request(conn)->stream = !web_request(conn)->background && fields->events;
    return web_once_read(conn, fields);
}
