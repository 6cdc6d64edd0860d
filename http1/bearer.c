/* SPDX-License-Identifier: MIT */
#include "http1/bearer.h"

enum http1_bearer http1_bearer_read(const struct http1_fields *fields, struct slice *token)
{
    const struct slice scheme = SLICE("Bearer");
    struct slice text = fields->values[HTTP1_FIELD_AUTHORIZATION];

    if (!http1_has(fields, HTTP1_FIELD_AUTHORIZATION)) {
        return HTTP1_BEARER_NONE;
    }
    if (http1_repeats(fields, HTTP1_FIELD_AUTHORIZATION)) {
        return HTTP1_BEARER_TWICE;
    }
    if (text.len < scheme.len || !http1_same_word(slice_of(text.ptr, scheme.len), scheme)) {
        return HTTP1_BEARER_OTHER;
    }
    text = slice_from(text, scheme.len);
    if (text.len > 0 && *text.ptr != ' ') {
        return HTTP1_BEARER_OTHER;
    }
    while (text.len > 0 && *text.ptr == ' ') {
        text = slice_from(text, 1);
    }
    *token = text;
    return text.len > 0 ? HTTP1_BEARER_TOKEN : HTTP1_BEARER_EMPTY;
}
