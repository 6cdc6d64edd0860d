/* SPDX-License-Identifier: MIT */

// Parses the query of a request for work.

#include "proto_http/work.h"

#include "core/base/digits.h"
#include "http1/caller.h"
#include "http1/request_target.h"
#include "http1/reply.h"

#include "proto_http/batch.h"
#include "proto_http/functions.h"

#include <stdio.h>

// The most queues in one request.
#define QUEUES_MAX 64
#define WHY_MAX 96

// Answers an error and ends the request; always false.
static bool refuse(struct http1_conn *conn, unsigned status, const char *why)
{
    http1_refuse_status(conn, status, why);
    return false;
}

static bool bad(struct http1_conn *conn, const char *name, const char *why)
{
    char text[WHY_MAX];

    (void)snprintf(text, sizeof text, "the parameter %s %s", name, why);
    return refuse(conn, 400, text);
}

static bool check_queue(struct http1_conn *conn, struct slice value)
{
    char text[HTTP1_QUERY_VALUE_MAX];
    struct slice name = slice_of(text, 0);

    if (!http1_query_decode(value, text, &name.len) || name.len == 0 || name.len > QUEUE_NAME_MAX ||
        memchr(text, '\0', name.len)) {
        return bad(conn, "queue", "is no name of a queue");
    }
    if (!session_may_by_name(conn->session, MAY_WORK, name)) {
        http1_caller_refuse(conn, name);
        return false;
    }
    return web_function_offered(web_shared(conn), name) ||
           refuse(conn, 403, "http.functions does not have this queue");
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

static bool read_number(struct http1_conn *conn, const struct arg_kind *kind, struct slice value,
                        uint64_t *number)
{
    return (digits_read(value, number) && *number >= kind->least && *number <= kind->most) ||
           bad(conn, kind->name, "is no number in its range");
}

static bool read_arg(struct http1_conn *conn, struct slice name, struct slice value,
                     struct args *args)
{
    if (slice_equal(name, SLICE("queue"))) {
        return (++args->queues <= QUEUES_MAX || bad(conn, "queue", "is there too often")) &&
               check_queue(conn, value);
    }
    for (int i = 0; i < ARGS; i++) {
        if (slice_equal(name, slice_str(kinds[i].name))) {
            if (args->present[i]) {
                return bad(conn, kinds[i].name, "is there more than once");
            }
            args->present[i] = true;
            return read_number(conn, &kinds[i], value, &args->numbers[i]);
        }
    }
    return refuse(conn, 400,
                  "the query has a parameter that is none of these: "
                  "queue, wait, ttr, max");
}

static bool read_args(struct http1_conn *conn, struct args *args)
{
    struct slice query = web_request(conn)->target.query;
    struct slice name, value;

    while (http1_query_next(&query, &name, &value)) {
        if (!read_arg(conn, name, value, args)) {
            return false;
        }
    }
    return args->queues > 0 || bad(conn, "queue", "is missing");
}

bool web_work_check(struct http1_conn *conn, const struct http1_fields *fields,
                    const struct http1_framing *framing)
{
    struct web_work *work = &web_request(conn)->work;
    struct args args = {.queues = 0};

    if (web_shared(conn)->options->max_leases == 0) {
        return refuse(conn, 403, "http.max_leases is 0: nobody works over HTTP");
    }
    if (http1_has_body(framing)) {
        return refuse(conn, 400, "a request for work has no body: what it asks for is its query");
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
