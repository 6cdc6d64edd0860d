/* SPDX-License-Identifier: MIT */
#include "proto_http/target.h"

#include "proto_common/http1/hex.h"

#include <http_parser.h>
#include <string.h>

#define OURS "-/"
#define JOBS "-/jobs/"

bool web_decode(struct slice text, char *to, size_t *len)
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

static bool starts_with(struct slice text, struct slice start)
{
    return text.len >= start.len && memcmp(text.ptr, start.ptr, start.len) == 0;
}

static enum web_place place_of(struct slice raw, struct web_target *target)
{
    struct slice name = slice_of(target->name, target->name_len);

    if (!starts_with(name, SLICE(OURS))) {
        // Only an escape, which makes the name shorter, can have brought a NUL.
        return name.len < raw.len && memchr(name.ptr, 0, name.len) ? WEB_PLACE_NONE
                                                                   : WEB_PLACE_FUNCTION;
    }
    if (!starts_with(raw, SLICE(JOBS)) || name.len == sizeof JOBS - 1) {
        return WEB_PLACE_UNKNOWN;
    }
    target->name_len -= sizeof JOBS - 1;
    memmove(target->name, target->name + sizeof JOBS - 1, target->name_len);
    return WEB_PLACE_JOB;
}

// False where it is no name: an escape is incomplete, or it is too long.
static bool decode_name(struct slice raw, struct web_target *target)
{
    char decoded[3 * sizeof target->name];

    if (raw.len <= sizeof target->name) {
        return web_decode(raw, target->name, &target->name_len);
    }
    if (raw.len > sizeof decoded || !web_decode(raw, decoded, &target->name_len) ||
        target->name_len > sizeof target->name) {
        return false;
    }
    memcpy(target->name, decoded, target->name_len);
    return true;
}

static void read_path(struct slice path, struct web_target *target)
{
    struct slice raw = path;

    while (raw.len > 0 && *raw.ptr == '/') {
        raw = slice_from(raw, 1);
    }
    if (raw.len == 0) {
        target->place = WEB_PLACE_ROOT;
    } else if (decode_name(raw, target)) {
        target->place = place_of(raw, target);
    }
}

// A path, and a query if there is one.
static void read_origin_form(struct slice text, struct web_target *target)
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
    read_path(slice_of(text.ptr, path_len), target);
}

static struct slice field(struct slice text, const struct http_parser_url *url,
                          enum http_parser_url_fields which)
{
    return url->field_set & (1u << which)
               ? slice_of(text.ptr + url->field_data[which].off, url->field_data[which].len)
               : slice_of(text.ptr, 0);
}

// What a proxy is asked for.
static void read_absolute_form(struct slice text, struct web_target *target)
{
    struct http_parser_url url;

    http_parser_url_init(&url);
    // The parser also takes what only CONNECT may name.
    if (!memchr(text.ptr, ':', text.len) || *text.ptr == '*' || memchr(text.ptr, '#', text.len) ||
        http_parser_parse_url(text.ptr, text.len, 0, &url) != 0) {
        return;
    }
    target->query = field(text, &url, UF_QUERY);
    // The parser knows no query that is empty.
    target->has_query = memchr(text.ptr, '?', text.len) != NULL;
    read_path(field(text, &url, UF_PATH), target);
}

void web_target_read(struct slice text, struct web_target *target)
{
    target->place = WEB_PLACE_NONE;
    target->has_query = false;
    target->query = SLICE("");
    target->name_len = 0;
    if (*text.ptr == '/') {
        read_origin_form(text, target);
    } else if (slice_equal(text, SLICE("*"))) {
        target->place = WEB_PLACE_SERVER;
    } else {
        read_absolute_form(text, target);
    }
}
