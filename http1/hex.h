/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HEX_H
#define TANDEM_HTTP1_HEX_H

// The value of a hexadecimal digit, -1 for any other byte.
static inline int http1_hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
