/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_WRONG_PROTOCOL_H
#define TANDEM_PROTO_COMMON_WRONG_PROTOCOL_H

// The refusal of peers that took the port of a text protocol for another one. A browser, perhaps
// tricked into it by a page, sends an HTTP request: the lines of its body would be carried out as
// commands. A client that begins with TLS would wait for ever for an answer. A front-end of a text
// protocol looks at what the first line of a connection begins and ends with, and closes the
// connection without an answer.
//
// Both functions say in the log, at debug, why the connection is closed. TLS is the host's to log,
// too: somebody has the wrong port or the wrong setting, and hears of it from nobody else.

#include "core/base/slice.h"

#include "proto_common/wire.h"

#include <stdbool.h>

// How much of the end of a long line must be at hand for wrong_protocol_in_line(), a CR behind it
// included.
#define WRONG_PROTOCOL_TAIL 11

// The first byte of a record of the TLS handshake.
#define WRONG_PROTOCOL_TLS 0x16

// The same as below, where that byte has come.
void wrong_protocol_is_tls(const struct wire *wire);

// Whether the first input of a connection, which is not empty, begins a TLS handshake.
static inline bool wrong_protocol_at_start(const struct wire *wire, struct slice input)
{
    if (*input.ptr != WRONG_PROTOCOL_TLS) {
        return false;
    }
    wrong_protocol_is_tls(wire);
    return true;
}

// Whether the first line of a connection, without CR and LF, is that of an HTTP request. Its last
// bytes are enough.
bool wrong_protocol_in_line(const struct wire *wire, struct slice line);

#endif
