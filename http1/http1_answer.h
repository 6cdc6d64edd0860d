/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HTTP1_ANSWER_H
#define TANDEM_HTTP1_HTTP1_ANSWER_H

// Writes the head of an answer directly into a connection's output: status line, common headers,
// the caller's headers, body framing and connection persistence. The caller writes the body after
// it; a body of unknown length, such as a stream of server-sent events, in pieces.
//
// Call order of a head: begin, common, any of put and header; length or chunked, or neither if the
// end of the connection ends the body; end.
//
// Only begin and more can fail, for lack of memory: the output remembers that, and the host closes
// the connection. A head has at most HTTP1_ANSWER_MAX bytes, and the same again for each call of
// more. The caller must know how long its headers can be: a longer head is a bug.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "proto_common/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HTTP1_ANSWER_MAX 2048

// Server and Date, formatted once per second. Initialized to zero.
struct http1_common {
    int64_t second; /* private: the second for which `text` was formatted */
    char text[96];  /* private */
    uint8_t len;    /* private */
};

struct http1_answer {
    struct output *out;     /* private */
    char *start, *at, *end; /* private */
    unsigned status;        /* private */
    bool version_1_0;       /* private */
};

// Begins with the status line, in the request's version. The status is one of those in
// http1_answer.c. False: no memory.
bool http1_answer_begin(struct http1_answer *answer, struct output *out, unsigned status,
                        bool version_1_0) MUST_USE;

// Adds Server and Date; `wall` is since the Unix epoch, `version` is Tandem's.
void http1_answer_common(struct http1_answer *answer, struct http1_common *common,
                         const char *version, nsec_t wall);

// Adds whole headers, each with its CRLF, or parts of one.
static inline void http1_answer_put(struct http1_answer *answer, struct slice text)
{
    ENSURE(text.len <= (size_t)(answer->end - answer->at));
    memcpy(answer->at, text.ptr, text.len);
    answer->at += text.len;
}

// Makes room for HTTP1_ANSWER_MAX more bytes. False: no memory; the answer must not be used
// further.
bool http1_answer_more(struct http1_answer *answer) MUST_USE;

// Adds one header, unless the value is NULL. `name` includes the colon and a space.
static inline void http1_answer_header(struct http1_answer *answer, struct slice name,
                                       const char *value)
{
    if (value) {
        http1_answer_put(answer, name);
        http1_answer_put(answer, slice_str(value));
        http1_answer_put(answer, SLICE("\r\n"));
    }
}

// Adds Content-Length, except to a 204, which must not have one, and to a 304, where it would
// describe the length of the answer that is not sent.
void http1_answer_length(struct http1_answer *answer, uint64_t len);

// Adds Transfer-Encoding: chunked, for http1_piece(). Not for HTTP/1.0.
void http1_answer_chunked(struct http1_answer *answer);

// Adds Connection and ends the head.
void http1_answer_end(struct http1_answer *answer, bool keep_alive);

//
// Bodies of unknown length. On HTTP/1.1 each piece is one chunk, and a last chunk ends the body
// (`chunked`, as http1_answer_chunked() announced); on HTTP/1.0 the end of the connection ends the
// body.
//
// All bytes are copied into the output. If there is no memory, the output remembers that, and the
// host closes the connection.
//

// Writes the parts, concatenated, as the next piece. They must not all be empty: an empty chunk
// ends the body.
void http1_piece(struct output *out, bool chunked, const struct slice *parts, size_t count);

// Ends the body.
void http1_pieces_end(struct output *out, bool chunked);

// Writes an event: its id, which a client repeats when it reconnects, its name, of at most
// HTTP1_EVENT_NAME_MAX bytes, and its data, which contains neither CR nor LF.
#define HTTP1_EVENT_NAME_MAX 64
void http1_event(struct output *out, bool chunked, uint64_t id, const char *name,
                 struct slice data);

// Writes a comment, which clients ignore. If a stream has sent nothing for HTTP1_QUIET_FOR, a
// comment keeps proxies from closing it, and detects a dead client.
#define HTTP1_QUIET_FOR (15 * NSEC_PER_SEC)
void http1_event_comment(struct output *out, bool chunked);

// Headers of a stream. The second one stops nginx from buffering events.
#define HTTP1_EVENTS_EXTRA "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n"

#endif
