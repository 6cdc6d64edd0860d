/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_FRAMING_H
#define TANDEM_HTTP1_FRAMING_H

// The framing of a request's body, as its head gives it. If it is invalid, the end of the request
// is unknown, and the connection must be closed after the answer.

#include "core/base/macros.h"

#include "http1/fields.h"

#include <stdbool.h>
#include <stdint.h>

struct http1_framing {
    bool chunked;
    bool expects; // the client waits for 100 Continue before it sends the body
    uint64_t len; // if not chunked; 0: there is no body
};

// The answer to a request that is refused.
struct http1_refusal {
    unsigned status;
    const char *why; // static; contains nothing that JSON would escape
};

// Reads the framing. False: `*refusal` has the reason. Requires one Host (optional on HTTP/1.0), at
// most one Content-Length or one Transfer-Encoding, which must be `chunked`, and no expectation but
// `100-continue`. http-parser has checked that a length is a number; the caller limits it. Upgrade
// is ignored: the answer is HTTP/1.1 (RFC 9110, section 7.8).
bool http1_framing_read(const struct http1_fields *fields, struct http1_framing *framing,
                        struct http1_refusal *refusal) MUST_USE;

static inline bool http1_has_body(const struct http1_framing *framing)
{
    return framing->chunked || framing->len > 0;
}

#endif
