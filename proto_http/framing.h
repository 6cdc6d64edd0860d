/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_FRAMING_H
#define TANDEM_PROTO_HTTP_FRAMING_H

// How the body of a request comes. What is wrong here is wrong with all that follows on the
// connection: where the body ends is not known.

#include "core/base/macros.h"
#include "proto_common/http1/fields.h"

#include "proto_http/context.h"

#include <stdbool.h>
#include <stdint.h>

struct web_framing {
    bool chunked;
    bool expects; // the client waits for 100 Continue before it sends the body
    uint64_t len; // of a body that is not chunked; 0 for none
};

static inline bool web_framing_has_body(const struct web_framing *framing)
{
    return framing->chunked || framing->len > 0;
}

// Reads it from the head. False where it is wrong, which is answered.
bool web_framing_read(struct web_conn *conn, const struct http1_fields *fields,
                      struct web_framing *framing) MUST_USE;

#endif
