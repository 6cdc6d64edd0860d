/* SPDX-License-Identifier: MIT */
#include "http1/target.h"

#include "http1/hex.h"

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
