/* SPDX-License-Identifier: MIT */
#include "http1/head.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define VERSION_START "HTTP/"
// The longest name that is not a token and is ignored; a longer one is refused.
#define ODD_NAME_MAX 256

// The bytes of a token: a method, or a header's name.
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

// Whether a byte may be in a target: not a blank, a control byte, or above 0x7F.
static bool is_target(unsigned char c)
{
    return c > 0x20 && c < 0x7f;
}

// Whether a byte may be in the value of a header.
static bool is_text(unsigned char c)
{
    return c < 0x20 ? c == '\t' : c != 0x7f;
}

// Whether eight bytes are text without a tab. Checking them together saves 1 % of a POST.
static bool is_plain_text(const char *at)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t bytes, del;

    memcpy(&bytes, at, sizeof bytes);
    del = bytes ^ each * 0x7f;
    // Some high bit remains if a byte is below 0x20, or if one of `del` is 0.
    return ((((bytes - each * 0x20) & ~bytes) | ((del - each) & ~del)) & each * 0x80) == 0;
}

// These return the length of the line's prefix of one kind of bytes. The CR at the end of a line is
// of no kind, so they stop before it.
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

static enum http1_head_verdict check_version(struct slice version)
{
    const struct slice start = SLICE(VERSION_START);

    if (version.len != start.len + 3 || memcmp(version.ptr, start.ptr, start.len) != 0) {
        return HTTP1_HEAD_BAD;
    }
    version = slice_from(version, start.len);
    if (slice_equal(version, SLICE("1.1")) || slice_equal(version, SLICE("1.0"))) {
        return HTTP1_HEAD_MORE;
    }
    return version.ptr[0] >= '0' && version.ptr[0] <= '9' && version.ptr[1] == '.' &&
                   version.ptr[2] >= '0' && version.ptr[2] <= '9'
               ? HTTP1_HEAD_VERSION
               : HTTP1_HEAD_BAD;
}

// Checks method, target and version, with exactly one space between them.
static enum http1_head_verdict check_request_line(struct slice line)
{
    size_t len = token_len(line.ptr);

    if (len == 0 || line.ptr[len] != ' ') {
        return HTTP1_HEAD_BAD;
    }
    line = slice_from(line, len + 1);
    len = target_len(line.ptr);
    if (len == 0 || line.ptr[len] != ' ') {
        return HTTP1_HEAD_BAD;
    }
    return check_version(slice_from(line, len + 1));
}

// Whether the letters of a name are, or contain, the name of a header that determines the framing
// or the caller: some parser might treat the name as that header.
static bool resembles_framing(struct slice name)
{
    static const char *const words[] = {"contentlength", "transferencoding", "trailer", "host",
                                        "connection",    "upgrade",          "expect"};
    char letters[ODD_NAME_MAX + 1];
    size_t count = 0;

    for (size_t i = 0; i < name.len; i++) {
        if (isalpha((unsigned char)name.ptr[i])) {
            letters[count++] = (char)tolower((unsigned char)name.ptr[i]);
        }
    }
    letters[count] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(letters, words[i])) {
            return true;
        }
    }
    return false;
}

// A line whose name is not a token, such as one that begins with a quote, is ignored, as in
// gearmand and nginx. It is refused if the name has a blank or an invisible byte, because parsers
// disagree on such a name.
static enum http1_head_verdict check_odd_line(struct slice line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    struct slice name = slice_of(line.ptr, colon ? (size_t)(colon - line.ptr) : 0);
    struct slice value = slice_from(line, name.len);

    if (name.len == 0 || name.len > ODD_NAME_MAX || target_len(name.ptr) < name.len ||
        resembles_framing(name) || text_len(value) < value.len) {
        return HTTP1_HEAD_BAD;
    }
    return HTTP1_HEAD_MORE;
}

// Whether a line begins with a token and a colon.
static bool has_name(struct slice line, size_t *len)
{
    *len = token_len(line.ptr);
    return *len > 0 && line.ptr[*len] == ':';
}

// Checks a line of a token, a colon and a value. A line that begins with a blank would continue the
// last one.
static enum http1_head_verdict check_header(struct http1_head_scan *scan, struct slice line)
{
    size_t len;
    struct slice value;

    if (!has_name(line, &len)) {
        scan->odd = true;
        return check_odd_line(line);
    }
    value = slice_from(line, len + 1);
    return text_len(value) == value.len ? HTTP1_HEAD_MORE : HTTP1_HEAD_BAD;
}

// Checks the next line, without its CRLF. DONE: it is the empty line.
static enum http1_head_verdict check_line(struct http1_head_scan *scan, struct slice line)
{
    if (scan->lines == 0) {
        return check_request_line(line);
    }
    if (line.len == 0) {
        return HTTP1_HEAD_DONE;
    }
    return scan->lines > HTTP1_HEADERS_MAX ? HTTP1_HEAD_LONG : check_header(scan, line);
}

enum http1_head_verdict http1_head_check(struct http1_head_scan *scan, struct slice input,
                                         size_t max, struct http1_head *head)
{
    enum http1_head_verdict verdict = HTTP1_HEAD_MORE;

    while (verdict == HTTP1_HEAD_MORE) {
        struct slice rest = slice_from(input, scan->checked);
        const char *end = rest.len ? memchr(rest.ptr, '\n', rest.len) : NULL;
        size_t line_len = end ? (size_t)(end - rest.ptr) + 1 : rest.len;

        if (scan->checked + line_len > max || (!end && scan->checked + line_len == max)) {
            return HTTP1_HEAD_LONG;
        }
        if (!end) {
            return HTTP1_HEAD_MORE;
        }
        // Only some parsers accept a lone LF as the end of a line.
        if (line_len < 2 || end[-1] != '\r') {
            return HTTP1_HEAD_BAD;
        }
        verdict = check_line(scan, slice_of(rest.ptr, line_len - 2));
        scan->checked += line_len;
        scan->lines++;
    }
    *head = (struct http1_head){slice_of(input.ptr, scan->checked), scan->odd};
    return verdict;
}

// The line at `at`, including its LF; the bytes end with an LF.
static struct slice line_at(const char *at, const char *end)
{
    const char *lf = memchr(at, '\n', (size_t)(end - at));

    return slice_of(at, (size_t)(lf - at) + 1);
}

bool http1_head_next_odd(const struct http1_head *head, struct slice *line)
{
    const char *end = slice_end(head->bytes);
    // The first line is the request line, the last one the empty line.
    struct slice next = line->len ? *line : line_at(head->bytes.ptr, end);
    size_t len;

    for (;;) {
        next = line_at(slice_end(next), end);
        if (slice_end(next) == end) {
            return false;
        }
        if (!has_name(next, &len)) {
            *line = next;
            return true;
        }
    }
}
