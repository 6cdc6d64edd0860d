/* SPDX-License-Identifier: MIT */
#include "proto_common/wrong_protocol.h"

#define TLS_HANDSHAKE 0x16
// What the request line ends with, and one digit.
#define HTTP_VERSION " HTTP/1."

_Static_assert(STRAY_TAIL >= sizeof HTTP_VERSION + 1, "the version, its digit and a CR");

bool stray_is_http(struct slice line)
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

bool stray_is_tls(char first)
{
    return first == TLS_HANDSHAKE;
}
