/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

// Of the header of a record (RFC 8446, 5.1) and of a message (4).
enum { RECORD_HANDSHAKE = 22, RECORD_HEADER = 5, MESSAGE_HEADER = 4, CLIENT_HELLO = 1 };

// Whether a command or a request can begin so: with text, or as a packet of Gearman, whose first
// byte is 0 and whose second is R.
static bool is_plain(const unsigned char *bytes, size_t len)
{
    unsigned char first = bytes[0];

    if (first == 0) {
        return len > 1 && bytes[1] == 'R';
    }
    return (first >= ' ' && first < 0x7f) || first == '\r' || first == '\n' || first == '\t';
}

// A hello of which the first record does not even hold the header of the message would leave its
// length unseen until OpenSSL has made room for it. No client sends such.
static bool is_client_hello(const unsigned char *bytes)
{
    size_t record_len = (size_t)bytes[3] << 8 | bytes[4];
    size_t hello_len = (size_t)bytes[6] << 16 | (size_t)bytes[7] << 8 | bytes[8];

    return record_len >= MESSAGE_HEADER && bytes[5] == CLIENT_HELLO && hello_len <= TLS_HELLO_MAX;
}

enum tls_hello tls_hello_judge(const unsigned char *bytes, size_t len)
{
    _Static_assert((int)RECORD_HEADER + (int)MESSAGE_HEADER == (int)TLS_HELLO_LEN, "both headers");

    if (len == 0 || (len == 1 && bytes[0] == 0)) {
        return TLS_HELLO_AWAITED;
    }
    if (bytes[0] != RECORD_HANDSHAKE) {
        return is_plain(bytes, len) ? TLS_HELLO_PLAIN : TLS_HELLO_OTHER;
    }
    if (len > 1 && bytes[1] != 3) {
        return TLS_HELLO_OTHER;
    }
    if (len < TLS_HELLO_LEN) {
        return TLS_HELLO_AWAITED;
    }
    return is_client_hello(bytes) ? TLS_HELLO_GOOD : TLS_HELLO_OTHER;
}
