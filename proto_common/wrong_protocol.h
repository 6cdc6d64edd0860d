/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_WRONG_PROTOCOL_H
#define TANDEM_PROTO_COMMON_WRONG_PROTOCOL_H

// Refuses peers that speak another protocol than the text protocol of the port. A browser, perhaps
// tricked by a page, sends an HTTP request, and the lines of its body would be carried out as
// commands. A client that begins with TLS would wait for a reply for ever. The front-end checks the
// beginning and the end of the first line of a connection, and closes the connection without a
// reply.
//
// A proxy that names its client by the PROXY protocol expects no reply to that. If it were taken
// for a command, each later reply would seem to belong to the command before. The front-end replies
// with an error and closes the connection.
//
// The functions log, at level debug, why the connection is closed. TLS and the PROXY protocol are
// also reported to the host, which logs it, because a wrong port or setting would otherwise not be
// noticed.

#include "core/base/slice.h"

#include "proto_common/wire.h"

#include <stdbool.h>

// The bytes at the end of a long line that wrong_protocol_in_line() requires, including a CR after
// it.
#define WRONG_PROTOCOL_TAIL 11

// The first byte of a TLS handshake record.
#define WRONG_PROTOCOL_TLS 0x16

// Reports TLS; for wrong_protocol_at_start().
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

// Whether the first line of a connection, without CR and LF, is a request line of HTTP. The last
// bytes of the line are enough.
bool wrong_protocol_in_line(const struct wire *wire, struct slice line);

// The message to the peer, where the protocol has room for one.
#define WRONG_PROTOCOL_PROXY                                                                       \
    "no PROXY protocol is expected here: only one head, at a listen address with proxy: in front"

// Whether the first input of a connection, from the first line on, is a head of the PROXY protocol,
// version 1 or 2. Empty lines in front of it may be missing.
bool wrong_protocol_is_proxy(const struct wire *wire, struct slice input);

#endif
