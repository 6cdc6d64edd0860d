/* SPDX-License-Identifier: MIT */
#include "http1/request_target.h"

#include <http_parser.h>
#include <string.h>

bool http1_decode(struct slice text, char *to, size_t *len)
{
    char *at = to;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%') {
            int high = i + 2 < text.len ? http1_hex_value(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? http1_hex_value(text.ptr[i + 2]) : -1;

            if (high < 0 || low < 0) {
                return false;
            }
            *at++ = (char)(high * 16 + low);
            i += 2;
        } else {
            *at++ = text.ptr[i];
        }
    }
    *len = (size_t)(at - to);
    return true;
}

static struct slice part(struct slice text, const struct http_parser_url *url,
                         enum http_parser_url_fields which)
{
    return url->field_set & (1u << which)
               ? slice_of(text.ptr + url->field_data[which].off, url->field_data[which].len)
               : slice_of(text.ptr, 0);
}

void http1_target_read(struct slice text, struct http1_target *target)
{
    const char *mark = memchr(text.ptr, '?', text.len);
    struct http_parser_url url;

    *target = (struct http1_target){.path = SLICE(""), .query = SLICE("")};
    if (slice_equal(text, SLICE("*"))) {
        target->kind = HTTP1_TARGET_SERVER;
        return;
    }
    if (memchr(text.ptr, '#', text.len)) {
        return;
    }
    if (*text.ptr == '/') {
        size_t path_len = mark ? (size_t)(mark - text.ptr) : text.len;

        target->has_query = mark != NULL;
        target->query = mark ? slice_from(text, path_len + 1) : target->query;
        target->path = slice_of(text.ptr, path_len);
        target->kind = HTTP1_TARGET_PATH;
        return;
    }
    // The form of a target that is sent to a proxy. The parser also accepts targets that only
    // CONNECT may have. It does not report an empty query.
    http_parser_url_init(&url);
    if (memchr(text.ptr, ':', text.len) && *text.ptr != '*' &&
        http_parser_parse_url(text.ptr, text.len, 0, &url) == 0) {
        target->has_query = mark != NULL;
        target->query = part(text, &url, UF_QUERY);
        target->path = part(text, &url, UF_PATH);
        target->kind = HTTP1_TARGET_PATH;
    }
}

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
