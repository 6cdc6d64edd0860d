/* SPDX-License-Identifier: MIT */
#include "http1/query.h"

#include "http1/target.h"

#include <string.h>

bool http1_query_next(struct slice *query, struct slice *name, struct slice *value)
{
    const char *end, *equals;

    while (query->len > 0 && *query->ptr == '&') {
        *query = slice_from(*query, 1);
    }
    if (query->len == 0) {
        return false;
    }
    end = memchr(query->ptr, '&', query->len);
    end = end ? end : slice_end(*query);
    equals = memchr(query->ptr, '=', (size_t)(end - query->ptr));
    equals = equals ? equals : end;
    *name = slice_of(query->ptr, (size_t)(equals - query->ptr));
    *value = equals < end ? slice_of(equals + 1, (size_t)(end - equals) - 1) : SLICE("");
    *query = slice_from(*query, (size_t)(end - query->ptr));
    return true;
}

bool http1_query_decode(struct slice value, char *to, size_t *len)
{
    char plain[3 * HTTP1_QUERY_VALUE_MAX];

    if (value.len > sizeof plain) {
        return false;
    }
    for (size_t i = 0; i < value.len; i++) {
        plain[i] = value.ptr[i];
        if (plain[i] == '+') {
            plain[i] = ' ';
        }
    }
    if (!http1_decode(slice_of(plain, value.len), plain, len) || *len > HTTP1_QUERY_VALUE_MAX) {
        return false;
    }
    memcpy(to, plain, *len);
    return true;
}
