/* SPDX-License-Identifier: MIT */
#include "proto_common/wrong_protocol.h"

// The first byte of a record of the TLS handshake.
#define TLS_HANDSHAKE 0x16
// What a request line ends with, and one digit.
#define HTTP_VERSION " HTTP/1."

_Static_assert(WRONG_PROTOCOL_TAIL >= sizeof HTTP_VERSION + 1, "the version, its digit and a CR");

static bool is_request_line(struct slice line)
{
    struct slice version = SLICE(HTTP_VERSION);
    const char *tail;

    if (line.len < version.len + 1) {
        return false;
    }
    tail = line.ptr + line.len - version.len - 1;
    return memcmp(tail, version.ptr, version.len) == 0 && tail[version.len] >= '0' &&
           tail[version.len] <= '9';
}

bool wrong_protocol_at_start(const struct wire *wire, struct slice input)
{
    if (*input.ptr != TLS_HANDSHAKE) {
        return false;
    }
    wire_log_closing(wire, "it speaks TLS");
    return true;
}

bool wrong_protocol_in_line(const struct wire *wire, struct slice line)
{
    if (!is_request_line(line)) {
        return false;
    }
    wire_log_closing(wire, "it speaks HTTP");
    return true;
}
