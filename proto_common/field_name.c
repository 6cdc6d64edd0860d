/* SPDX-License-Identifier: MIT */
#include "proto_common/field_name.h"

char *field_name_write(struct slice name, char *to)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];

        if (c > 0x20 && c < 0x7f && c != '%') {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = hex[c >> 4];
            *to++ = hex[c & 15];
        }
    }
    return to;
}
