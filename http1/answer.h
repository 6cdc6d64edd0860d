/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_ANSWER_H
#define TANDEM_HTTP1_ANSWER_H

// The head of an answer, written right into a connection's output: the status line, the headers
// that every answer has, those that the caller adds, how the body comes, and whether the connection
// stays. The body is the caller's to write behind it.
//
// In this order: begin, common, any of put and header; length or chunked, or neither where the body
// ends with the connection; end.
//
// Only the beginning can fail, for memory, and asking for more room: the output remembers that, and
// the host closes the connection. A head has at most HTTP1_ANSWER_MAX bytes, and as many more for
// each time that room for them was made; more is a bug of the caller, who must know how long what
// it adds can be.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "proto_common/output.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HTTP1_ANSWER_MAX 2048

// Server and Date, written once for all answers of a second. All zero at first.
struct http1_common {
    int64_t second; /* private: the one that `text` is for */
    char text[96];  /* private */
    uint8_t len;    /* private */
};

struct http1_answer {
    struct output *out;     /* private */
    char *start, *at, *end; /* private */
    unsigned status;        /* private */
    bool version_1_0;       /* private */
};

// The status line, in the request's version; the status is one of those in answer.c. False without
// memory.
bool http1_answer_begin(struct http1_answer *answer, struct output *out, unsigned status,
                        bool version_1_0) MUST_USE;

// Server and Date, at that time since the Unix epoch; `version` is Tandem's.
void http1_answer_common(struct http1_answer *answer, struct http1_common *common,
                         const char *version, nsec_t wall);

// Whole headers, each with its CR LF, or parts of one.
static inline void http1_answer_put(struct http1_answer *answer, struct slice text)
{
    ENSURE(text.len <= (size_t)(answer->end - answer->at));
    memcpy(answer->at, text.ptr, text.len);
    answer->at += text.len;
}

// Room for HTTP1_ANSWER_MAX further bytes behind those that were put; false without memory: then
// nothing else may be done with it.
bool http1_answer_more(struct http1_answer *answer) MUST_USE;

// One header; `name` with the colon and the blank behind it. Where the value is NULL, there is
// none.
static inline void http1_answer_header(struct http1_answer *answer, struct slice name,
                                       const char *value)
{
    if (value) {
        http1_answer_put(answer, name);
        http1_answer_put(answer, slice_str(value));
        http1_answer_put(answer, SLICE("\r\n"));
    }
}

// Content-Length; but a 204 has no body by its meaning, and must not say how long it is; nor does a
// 304, whose length would be that of another answer.
void http1_answer_length(struct http1_answer *answer, uint64_t len);

// Transfer-Encoding: chunked, for http1_piece(). Not on 1.0.
void http1_answer_chunked(struct http1_answer *answer);

// Whether the connection stays, and the end of the head.
void http1_answer_end(struct http1_answer *answer, bool keep_alive);

#endif
