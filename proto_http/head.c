/* SPDX-License-Identifier: MIT */
#include "proto_http/head.h"

#include <stdint.h>
#include <string.h>

#define VERSION_START "HTTP/"

// The bytes of a token: of a method, or of a header's name.
static const bool tokens[UINT8_MAX + 1] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // control bytes
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // control bytes
    0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0, //   ! " # $ % & ' ( ) * + , - . /
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, // 0 1 2 3 4 5 6 7 8 9 : ; < = > ?
    0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // @ A B C D E F G H I J K L M N O
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, // P Q R S T U V W X Y Z [ \ ] ^ _
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // ` a b c d e f g h i j k l m n o
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0  // p q r s t u v w x y z { | } ~
};

// What may stand in a target: no blank, no control byte, nothing of 0x80 and over.
static bool is_target(unsigned char c)
{
    return c > 0x20 && c < 0x7f;
}

// Text that may stand in the value of a header.
static bool is_text(unsigned char c)
{
    return c < 0x20 ? c == '\t' : c != 0x7f;
}

// Whether eight bytes are text without a tab.
static bool is_plain_text(const char *at)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t bytes, del;

    memcpy(&bytes, at, sizeof bytes);
    del = bytes ^ each * 0x7f;
    // Some high bit remains if a byte is below 0x20, or if one of `del` is 0.
    return ((((bytes - each * 0x20) & ~bytes) | ((del - each) & ~del)) & each * 0x80) == 0;
}

// How long what a line begins with is. No kind of byte has the CR in it that the line ends with, so
// that none of these runs past it.
static size_t token_len(const char *line)
{
    size_t len = 0;

    while (tokens[(unsigned char)line[len]]) {
        len++;
    }
    return len;
}

static size_t target_len(const char *line)
{
    size_t len = 0;

    while (is_target((unsigned char)line[len])) {
        len++;
    }
    return len;
}

static size_t text_len(struct slice line)
{
    size_t len = 0;

    while (line.len - len >= sizeof(uint64_t) && is_plain_text(line.ptr + len)) {
        len += sizeof(uint64_t);
    }
    while (is_text((unsigned char)line.ptr[len])) {
        len++;
    }
    return len;
}

static enum web_head_verdict check_version(struct slice version)
{
    const struct slice start = SLICE(VERSION_START);

    if (version.len != start.len + 3 || memcmp(version.ptr, start.ptr, start.len) != 0) {
        return WEB_HEAD_BAD;
    }
    version = slice_from(version, start.len);
    if (slice_equal(version, SLICE("1.1")) || slice_equal(version, SLICE("1.0"))) {
        return WEB_HEAD_MORE;
    }
    return version.ptr[0] >= '0' && version.ptr[0] <= '9' && version.ptr[1] == '.' &&
                   version.ptr[2] >= '0' && version.ptr[2] <= '9'
               ? WEB_HEAD_VERSION
               : WEB_HEAD_BAD;
}

// Method, target and version, with exactly one space between them.
static enum web_head_verdict check_request_line(struct slice line, struct web_head *head)
{
    head->method = slice_of(line.ptr, token_len(line.ptr));
    line = slice_from(line, head->method.len);
    if (head->method.len == 0 || *line.ptr != ' ') {
        return WEB_HEAD_BAD;
    }
    line = slice_from(line, 1);
    head->target = slice_of(line.ptr, target_len(line.ptr));
    line = slice_from(line, head->target.len);
    if (head->target.len == 0 || *line.ptr != ' ') {
        return WEB_HEAD_BAD;
    }
    head->version = slice_from(line, 1);
    return check_version(head->version);
}

// A name that is a token, a colon right behind it, a value. A line that begins with a blank would
// continue the one before.
static enum web_head_verdict check_header(struct slice line, struct web_header *header)
{
    header->name = slice_of(line.ptr, token_len(line.ptr));
    line = slice_from(line, header->name.len);
    if (header->name.len == 0 || *line.ptr != ':') {
        return WEB_HEAD_BAD;
    }
    header->value = slice_from(line, 1);
    return text_len(header->value) == header->value.len ? WEB_HEAD_MORE : WEB_HEAD_BAD;
}

// Looks at the next line, without its end. DONE: it is the empty one.
static enum web_head_verdict check_line(unsigned number, struct slice line, struct web_head *head)
{
    if (number == 0) {
        return check_request_line(line, head);
    }
    head->count = number - 1;
    if (line.len == 0) {
        return WEB_HEAD_DONE;
    }
    return number > WEB_HEADERS_MAX ? WEB_HEAD_LONG
                                    : check_header(line, &head->headers[number - 1]);
}

static enum web_head_verdict check_lines(struct web_head_scan *scan, struct slice input, size_t max,
                                         struct web_head *head)
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
        verdict = check_line(scan->lines, slice_of(rest.ptr, line_len - 2), head);
        scan->checked += line_len;
        scan->lines++;
    }
    return verdict;
}

enum web_head_verdict web_head_check(struct web_head_scan *scan, struct slice input, size_t max,
                                     struct web_head *head)
{
    bool in_pieces = scan->checked > 0;
    enum web_head_verdict verdict = check_lines(scan, input, max, head);

    if (verdict == WEB_HEAD_DONE && in_pieces) {
        // The parts of its first lines are not where they were, if they were kept at all.
        *scan = (struct web_head_scan){0};
        verdict = check_lines(scan, input, max, head);
    }
    head->bytes = slice_of(input.ptr, scan->checked);
    return verdict;
}
