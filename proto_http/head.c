/* SPDX-License-Identifier: MIT */
#include "proto_http/head.h"

#include <stdint.h>
#include <string.h>

#define VERSION_START "HTTP/"

// Which bytes below 0x80 are those of a token, 32 to a word.
static const uint32_t tokens[4] = {
    0,          // control bytes
    0x03ff6cfa, // ! # $ % & ' * + - . and digits
    0xc7fffffe, // capital letters, ^ and _
    0x57ffffff, // `, small letters, | and ~
};

// Whether it is a byte of a token: of a method, or of a header's name.
static bool is_token(char c)
{
    unsigned char byte = (unsigned char)c;

    return byte < 0x80 && (tokens[byte / 32] >> byte % 32 & 1) != 0;
}

// Text that may stand in the value of a header.
static bool is_text(unsigned char c)
{
    return c == '\t' || (c >= 0x20 && c != 0x7f);
}

// What may stand in a target: no blank, no control byte, nothing of 0x80 and over.
static bool is_target(unsigned char c)
{
    return c > 0x20 && c < 0x7f;
}

static size_t token_len(struct slice text)
{
    size_t len = 0;

    while (len < text.len && is_token(text.ptr[len])) {
        len++;
    }
    return len;
}

// Method, target and version, with exactly one space between them.
static enum web_head_verdict check_request_line(struct slice line)
{
    const struct slice start = SLICE(VERSION_START);
    size_t method = token_len(line);
    struct slice rest = slice_from(line, method);
    size_t target = 1;
    struct slice version;

    if (method == 0 || rest.len == 0 || *rest.ptr != ' ') {
        return WEB_HEAD_BAD;
    }
    while (target < rest.len && is_target((unsigned char)rest.ptr[target])) {
        target++;
    }
    if (target == 1 || target == rest.len || rest.ptr[target] != ' ') {
        return WEB_HEAD_BAD;
    }
    version = slice_from(rest, target + 1);
    if (version.len != start.len + 3 || memcmp(version.ptr, start.ptr, start.len) != 0) {
        return WEB_HEAD_BAD;
    }
    version = slice_from(version, start.len);
    if (slice_equal(version, SLICE("1.0")) || slice_equal(version, SLICE("1.1"))) {
        return WEB_HEAD_MORE;
    }
    return version.ptr[0] >= '0' && version.ptr[0] <= '9' && version.ptr[1] == '.' &&
                   version.ptr[2] >= '0' && version.ptr[2] <= '9'
               ? WEB_HEAD_VERSION
               : WEB_HEAD_BAD;
}

// A name that is a token, a colon right behind it, a value. A line that begins with a blank would
// continue the one before.
static enum web_head_verdict check_header(struct slice line)
{
    size_t name = token_len(line);

    if (name == 0 || name == line.len || line.ptr[name] != ':') {
        return WEB_HEAD_BAD;
    }
    for (size_t i = name + 1; i < line.len; i++) {
        if (!is_text((unsigned char)line.ptr[i])) {
            return WEB_HEAD_BAD;
        }
    }
    return WEB_HEAD_MORE;
}

// Looks at the next line, without its end. DONE: it is the empty one.
static enum web_head_verdict check_line(struct web_head_scan *scan, struct slice line)
{
    if (scan->lines == 0) {
        return check_request_line(line);
    }
    if (line.len == 0) {
        return WEB_HEAD_DONE;
    }
    return scan->lines > WEB_HEADERS_MAX ? WEB_HEAD_LONG : check_header(line);
}

enum web_head_verdict web_head_check(struct web_head_scan *scan, struct slice input, size_t max,
                                     size_t *len)
{
    enum web_head_verdict verdict = WEB_HEAD_MORE;

    while (verdict == WEB_HEAD_MORE) {
        struct slice rest = slice_from(input, scan->checked);
        const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
        size_t line_len = end ? (size_t)(end - rest.ptr) + 1 : rest.len;

        if (scan->checked + line_len > max || (!end && scan->checked + line_len == max)) {
            return WEB_HEAD_LONG;
        }
        if (!end) {
            return WEB_HEAD_MORE;
        }
        // A lone LF ends a line to some, and none to others.
        if (line_len < 2 || end[-1] != '\r') {
            return WEB_HEAD_BAD;
        }
        verdict = check_line(scan, slice_of(rest.ptr, line_len - 2));
        scan->checked += line_len;
        scan->lines++;
    }
    *len = scan->checked;
    return verdict;
}
