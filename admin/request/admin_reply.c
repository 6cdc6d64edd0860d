/* SPDX-License-Identifier: MIT */
#include "admin/request/admin_reply.h"

#include "core/base/macros.h"
#include "http1/http1_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Keeps a tenth of a microsecond in numbers of seconds since 1970.
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))
#define REASON_MAX 180

char *admin_dump(const json_t *document)
{
    return document ? json_dumps(document, DUMP_FLAGS) : NULL;
}

enum http1_next admin_reply_json(struct http1_conn *conn, unsigned status, json_t *document)
{
    char *text = admin_dump(document);

    json_decref(document);
    if (!text) {
        http1_refuse_memory(conn);
        return HTTP1_NEXT_REQUEST;
    }
    http1_reply(conn, &(struct http1_reply){.status = status, .type = HTTP1_JSON}, slice_str(text));
    free(text);
    return HTTP1_NEXT_REQUEST;
}

enum http1_next admin_reply_nothing(struct http1_conn *conn)
{
    http1_reply(conn, &(struct http1_reply){.status = 204}, SLICE(""));
    return HTTP1_NEXT_REQUEST;
}

enum http1_next admin_refuse(struct http1_conn *conn, unsigned status, const char *why)
{
    const char *extra = status == 503 ? HTTP1_RETRY : NULL;

    http1_refuse(conn, &(struct http1_reply){.status = status, .extra = extra}, why);
    return HTTP1_NEXT_REQUEST;
}

enum http1_next admin_refuse_text(struct http1_conn *conn, unsigned status, const char *why)
{
    char text[REASON_MAX];
    size_t len = 0;

    for (; *why && len < sizeof text - 1; why++) {
        bool plain = *why >= ' ' && *why <= '~' && *why != '"' && *why != '\\';
        char c = '?';

        if (plain) {
            c = *why;
        }
        text[len++] = c;
    }
    text[len] = '\0';
    return admin_refuse(conn, status, text);
}

unsigned admin_status_code(enum status status)
{
    switch (status) {
    case STATUS_NO_MEMORY:
    case STATUS_NO_SPACE:
    case STATUS_DRAINING:
        return 503;
    case STATUS_TOO_LARGE:
    case STATUS_JOB_TOO_LARGE:
        return 413;
    case STATUS_NOT_FOUND:
        return 404;
    case STATUS_FORBIDDEN:
        return 403;
    case STATUS_QUEUE_FULL:
    case STATUS_TOO_MANY_QUEUES:
    case STATUS_IN_USE:
    case STATUS_HELD:
    case STATUS_WRONG_STATE:
        return 409;
    case STATUS_BAD_NAME:
        return 400;
    case STATUS_OK:
    case STATUS_MORE:
    case STATUS_EMPTY:
    case STATUS_LEASE_SOON:
    case STATUS_TIMED_OUT:
    case STATUS_LAST_ONE:
        break;
    }
    UNREACHABLE();
}

enum http1_next admin_refuse_status(struct http1_conn *conn, enum status status)
{
    return admin_refuse(conn, admin_status_code(status), status_text(status));
}

void admin_hold_change(struct http1_conn *conn)
{
    wire_hold(conn->wire, broker_position(admin_broker(conn)));
}

enum http1_next admin_make(struct http1_conn *conn, const struct http1_reply *head,
                           const struct admin_maker *maker, void *making)
{
    struct admin_request *request = admin_request(conn);

    request->maker = maker;
    request->making = making;
    request->chunked = http1_reply_open(conn, head);
    return request->http1.method == HTTP1_HEAD_METHOD ? HTTP1_NEXT_REQUEST : HTTP1_NEXT_WAIT;
}

enum http1_next admin_make_json(struct http1_conn *conn, const struct admin_maker *maker,
                                void *making)
{
    return admin_make(conn, &(struct http1_reply){.status = 200, .type = HTTP1_JSON}, maker,
                      making);
}

void admin_put(struct http1_conn *conn, struct slice piece)
{
    if (piece.len > 0) {
        http1_piece(&conn->wire->out, admin_request(conn)->chunked, &piece, 1);
    }
}

void admin_put_json(struct http1_conn *conn, json_t *document)
{
    char *text = admin_dump(document);

    json_decref(document);
    if (!text) {
        output_fail(&conn->wire->out);
        return;
    }
    admin_put(conn, slice_str(text));
    free(text);
}
