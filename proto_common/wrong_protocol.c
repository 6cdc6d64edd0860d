/* SPDX-License-Identifier: MIT */
#include "proto_common/wrong_protocol.h"

// The end of a request line, without its last digit.
#define HTTP_VERSION " HTTP/1."

_Static_assert(WRONG_PROTOCOL_TAIL >= sizeof HTTP_VERSION + 1, "the version, its digit and a CR");

void wrong_protocol_is_tls(const struct wire *wire)
{
    wire_log_closing(wire, "it speaks TLS");
    wire_tls_hello(wire);
}

bool wrong_protocol_in_line(const struct wire *wire, struct slice line)
{
    struct slice version = SLICE(HTTP_VERSION);
    const char *tail;

    if (line.len < version.len + 1) {
        return false;
    }
    tail = line.ptr + line.len - version.len - 1;
    if (memcmp(tail, version.ptr, version.len) != 0 || tail[version.len] < '0' ||
        tail[version.len] > '9') {
        return false;
    }
    wire_log_closing(wire, "it speaks HTTP");
    return true;
}
