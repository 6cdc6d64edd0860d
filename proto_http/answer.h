/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_ANSWER_H
#define TANDEM_PROTO_HTTP_ANSWER_H

// What is sent back. Where memory lacks, the output remembers it and the host closes the
// connection.

#include "core/base/slice.h"

#include "proto_http/context.h"
#include "proto_http/request.h"

#include <stdint.h>

// The head of an answer, but for the length of what follows.
struct web_answer {
    unsigned status;
    const char *command; // X-Gearman-Command, NULL for none
    uint64_t job_id;     // X-Gearman-Job-Handle, 0 for none
    const char *type;    // Content-Type, NULL for none
    const char *extra;   // more headers, each with its CR LF; NULL for none
    struct slice shown;  // of an error: what in the request was wrong, for the log; may be empty
};

#define WEB_JSON "application/json"
#define WEB_BYTES "application/octet-stream"
// The header of what may go better in a while.
#define WEB_RETRY "Retry-After: 1\r\n"
// Why a request is refused at the end of the process.
#define WEB_STOPS "the broker stops"

// Sends the head, Content-Length included, and a body that is copied.
void web_answer(struct web_conn *conn, const struct web_answer *answer, struct slice body);

// The head alone, for a body of so many bytes that follows.
void web_answer_head(struct web_conn *conn, const struct web_answer *answer, uint64_t len);

// The head of a body whose end is not known: in chunks, or, on 1.0, until the connection ends.
void web_answer_open(struct web_conn *conn, const struct web_answer *answer);

// An answer with {"error": why}; `why` has nothing in it that would need an escape. The log has a
// line of it at debug.
void web_refuse(struct web_conn *conn, const struct web_answer *answer, const char *why);

// The same for a request that is wrong by itself; the second form for a submission that is, where
// clients of gearmand want 200.
void web_refuse_status(struct web_conn *conn, unsigned status, const char *why);
void web_refuse_error(struct web_conn *conn, unsigned status, const char *why);

// The same where it may go better in a while.
void web_refuse_later(struct web_conn *conn, unsigned status, const char *why);
// And where memory lacks for the request, though not for this answer.
void web_refuse_memory(struct web_conn *conn);

#endif
