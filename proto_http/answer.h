/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ANSWER_H
#define TANDEM_PROTO_HTTP_ANSWER_H

// Answers about a job: those of http1/reply.h, with the headers of Gearman over HTTP.

#include "core/base/slice.h"
#include "http1/reply.h"

#include "proto_http/context.h"

#include <stdint.h>

// The head of an answer, but for the length of what follows.
struct web_answer {
    unsigned status;
    const char *command; // X-Gearman-Command, NULL for none
    uint64_t job_id;     // X-Gearman-Job-Handle, 0 for none
    const char *type;    // Content-Type, NULL for none
    const char *extra;   // more headers, each with its CR LF; NULL for none
};

// What a page of an allowed origin may read of them.
#define WEB_EXPOSED                                                                                \
    "X-Gearman-Job-Handle, X-Gearman-Command, X-Gearman-Unique, X-Tandem-Queue, "                  \
    "X-Tandem-Attempt, X-Tandem-Deadline, X-Tandem-Lease"

// Sends the head, Content-Length included, and a body that is copied.
void web_answer(struct http1_conn *conn, const struct web_answer *answer, struct slice body);

// The head alone, for a body of so many bytes that follows.
void web_answer_head(struct http1_conn *conn, const struct web_answer *answer, uint64_t len);

// The head of a body whose end is not known: true: in chunks; false: on 1.0, until the connection
// ends.
bool web_answer_open(struct http1_conn *conn, const struct web_answer *answer);

// An error, as http1_refuse() answers it.
void web_refuse(struct http1_conn *conn, const struct web_answer *answer, const char *why);

// The same for a submission that is wrong, where clients of gearmand want 200.
void web_refuse_error(struct http1_conn *conn, unsigned status, const char *why);

// The same where it may go better in a while.
void web_refuse_later(struct http1_conn *conn, unsigned status, const char *why);
// The same where it is known when: after so long.
void web_refuse_after(struct http1_conn *conn, unsigned status, nsec_t left_for, const char *why);
// And where memory lacks for the request, though not for this answer (struct http1_user).
void web_refuse_memory(struct http1_conn *conn);

#endif
