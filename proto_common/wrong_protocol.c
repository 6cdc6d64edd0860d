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

bool wrong_protocol_is_proxy(const struct wire *wire, struct slice input)
{
    // The signature of version 2 continues so behind its two empty lines.
    static const struct slice starts[] = {
        {"PROXY TCP", 9}, {"PROXY UNKNOWN", 13}, {"\0\r\nQUIT\n", 8}};

    while (input.len >= 2 && input.ptr[0] == '\r' && input.ptr[1] == '\n') {
        input = slice_from(input, 2);
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (input.len >= starts[i].len && memcmp(input.ptr, starts[i].ptr, starts[i].len) == 0) {
            wire_log_closing(wire, "it speaks the PROXY protocol");
            wire_proxy_head(wire);
            return true;
        }
    }
    return false;
}
