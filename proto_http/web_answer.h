/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WEB_ANSWER_H
#define TANDEM_PROTO_HTTP_WEB_ANSWER_H

// Answers about a job: as in http1/reply.h, with the headers of Gearman over HTTP.

#include "core/base/slice.h"
#include "core/broker.h"
#include "http1/reply.h"

#include "proto_http/web_request.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The head of an answer, without the length of its body.
struct web_answer {
    unsigned status;
    const char *command; // X-Gearman-Command, NULL for none
    uint64_t job_id;     // X-Gearman-Job-Handle, 0 for none
    const char *type;    // Content-Type, NULL for none
    const char *extra;   // more headers, each with its CR LF; NULL for none
};

// The headers that a page of an allowed origin may read.
#define WEB_EXPOSED                                                                                \
    "X-Gearman-Job-Handle, X-Gearman-Command, X-Gearman-Unique, X-Tandem-Queue, "                  \
    "X-Tandem-Attempt, X-Tandem-Deadline, X-Tandem-Lease"

// Sends the head, with Content-Length, and a copy of the body.
void web_answer(struct http1_conn *conn, const struct web_answer *answer, struct slice body);

// Sends the head alone; a body of `len` bytes follows.
void web_answer_head(struct http1_conn *conn, const struct web_answer *answer, uint64_t len);

// Sends the head of a body of unknown length. True: the body is in chunks; false: on HTTP/1.0, it
// lasts until the connection closes.
bool web_answer_open(struct http1_conn *conn, const struct web_answer *answer);

// Answers an error, as http1_refuse() does.
void web_refuse(struct http1_conn *conn, const struct web_answer *answer, const char *why);

// The same for an invalid submission, for which clients of gearmand expect 200.
void web_refuse_error(struct http1_conn *conn, unsigned status, const char *why);

// The same for an error that may be temporary: the client may try again.
void web_refuse_later(struct http1_conn *conn, unsigned status, const char *why);
// The same if the remaining time is known.
void web_refuse_after(struct http1_conn *conn, unsigned status, nsec_t left_for, const char *why);
// The same if there is not enough memory for the request (there is for this answer; struct
// http1_user).
void web_refuse_memory(struct http1_conn *conn);

// Answers a worker that the broker has refused its request for a reason that may be temporary.
void web_refuse_work(struct http1_conn *conn, enum status status);

// Answers an error of another request, with this status. Always false.
bool web_refuse_status(struct http1_conn *conn, unsigned status, const char *why);

//
// Names of queues, keys and data may contain any bytes. These functions encode them as JSON.
//

// The longest name, escaped.
#define WEB_NAME_ROOM (3 * QUEUE_NAME_MAX)
_Static_assert(JOB_KEY_MAX <= QUEUE_NAME_MAX, "keys are no longer than names of queues");

// The name as a JSON string: unchanged if it is UTF-8, otherwise escaped (field_name.h). NULL
// without memory.
json_t *web_name_json(struct slice name);

// Sets `data` of the object to the bytes, as a JSON string, or in base64 with the member
// `encoding`. False without memory.
bool web_data_json(json_t *object, struct slice data);

#endif
