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

static void read_origin_form(struct slice text, struct http1_target *target)
{
    const char *mark = memchr(text.ptr, '?', text.len);
    size_t path_len = mark ? (size_t)(mark - text.ptr) : text.len;

    if (memchr(text.ptr, '#', text.len)) {
        return;
    }
    if (mark) {
        target->has_query = true;
        target->query = slice_from(text, path_len + 1);
    }
    target->path = slice_of(text.ptr, path_len);
    target->kind = HTTP1_TARGET_PATH;
}

static struct slice part(struct slice text, const struct http_parser_url *url,
                         enum http_parser_url_fields which)
{
    return url->field_set & (1u << which)
               ? slice_of(text.ptr + url->field_data[which].off, url->field_data[which].len)
               : slice_of(text.ptr, 0);
}

// The form of a target that is sent to a proxy.
static void read_absolute_form(struct slice text, struct http1_target *target)
{
    struct http_parser_url url;

    http_parser_url_init(&url);
    // The parser also accepts targets that only CONNECT may have.
    if (!memchr(text.ptr, ':', text.len) || *text.ptr == '*' || memchr(text.ptr, '#', text.len) ||
        http_parser_parse_url(text.ptr, text.len, 0, &url) != 0) {
        return;
    }
    target->query = part(text, &url, UF_QUERY);
    // The parser does not report an empty query.
    target->has_query = memchr(text.ptr, '?', text.len) != NULL;
    target->path = part(text, &url, UF_PATH);
    target->kind = HTTP1_TARGET_PATH;
}

void http1_target_read(struct slice text, struct http1_target *target)
{
    *target = (struct http1_target){.path = SLICE(""), .query = SLICE("")};
    if (*text.ptr == '/') {
        read_origin_form(text, target);
    } else if (slice_equal(text, SLICE("*"))) {
        target->kind = HTTP1_TARGET_SERVER;
    } else {
        read_absolute_form(text, target);
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
