/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_FRAMING_H
#define TANDEM_HTTP1_FRAMING_H

// Where a request ends: how its body comes, as its head says. What is wrong here is wrong with all
// that follows on the connection, which must be closed behind the answer.

#include "core/base/macros.h"

#include "http1/fields.h"

#include <stdbool.h>
#include <stdint.h>

struct http1_framing {
    bool chunked;
    bool expects; // the client waits for 100 Continue before it sends the body
    uint64_t len; // where it is not; 0: there is no body
};

// The answer to a request that is refused.
struct http1_refusal {
    unsigned status;
    const char *why; // static; has nothing in it that JSON would escape
};

// False: `*refusal` says why. That a length is a number, http-parser has seen to. One Host (on 1.0
// it may lack), one Content-Length or one Transfer-Encoding, which can only be `chunked`; nothing
// to expect but `100-continue`. How long a body may be is the caller's business. What the client
// would like to upgrade to is not looked at: we answer in HTTP/1.1 (RFC 9110, section 7.8).
bool http1_framing_read(const struct http1_fields *fields, struct http1_framing *framing,
                        struct http1_refusal *refusal) MUST_USE;

static inline bool http1_has_body(const struct http1_framing *framing)
{
    return framing->chunked || framing->len > 0;
}

#endif
