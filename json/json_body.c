/* SPDX-License-Identifier: MIT */
#include "json/json_body.h"

#include "core/base/base64.h"
#include "core/base/macros.h"
#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>

#define WORD sizeof(uint64_t)
#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool is_ascii_word(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return !(word & HIGH_BITS);
}

bool json_check_utf8(struct slice bytes, size_t *checked, size_t most)
{
    const unsigned char *start = (const unsigned char *)bytes.ptr;
    size_t end = bytes.len - *checked < most ? bytes.len : *checked + most;

    while (*checked < end) {
        const unsigned char *at = start + *checked;
        size_t left = bytes.len - *checked;
        size_t len = left >= WORD && is_ascii_word(at) ? WORD : utf8_sequence(at, left);

        if (len == 0) {
            return false;
        }
        *checked += len;
    }
    return true;
}

// The letter after the backslash that escapes the byte; 0: there is none.
static char json_escape_letter(unsigned char byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return (char)byte;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    }
    return 0;
}

static char *json_escape_byte(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    char letter = json_escape_letter(byte);

    *to++ = '\\';
    if (letter) {
        *to++ = letter;
        return to;
    }
    *to++ = 'u';
    *to++ = '0';
    *to++ = '0';
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
    return to;
}

size_t json_escape(char *to, struct slice text)
{
    char *end = to;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte >= ' ' && byte != '"' && byte != '\\') {
            *end++ = (char)byte;
        } else {
            end = json_escape_byte(end, byte);
        }
    }
    return (size_t)(end - to);
}

size_t json_base64(char *to, struct slice bytes)
{
    base64_encode(bytes, to);
    return base64_encoded_len(bytes.len);
}

// The size of a slice. The size of a written slice is a multiple of 3, because base64 makes 4 bytes
// of 3.
#define CHECKED_AT_ONCE ((size_t)64 * 1024)
#define WRITTEN_AT_ONCE ((size_t)3 * 1024)
#define BESIDE_DATA 128

_Static_assert(JSON_BODY_ROOM >= JSON_ESCAPED_MAX * WRITTEN_AT_ONCE + BESIDE_DATA,
               "a slice has room");

void json_body_begin(struct json_body *body, struct blob *blob, size_t most)
{
    *body = (struct json_body){.blob = blob, .shown = blob_slice(blob)};
    body->truncated = body->shown.len > most;
    body->shown.len = body->truncated ? most : body->shown.len;
}

void json_body_end(struct json_body *body)
{
    blob_unref(body->blob);
    body->blob = NULL;
}

// Without an incomplete character at the end.
static size_t whole_characters(struct slice bytes)
{
    for (size_t back = 1; back <= 3 && back <= bytes.len; back++) {
        unsigned char byte = (unsigned char)bytes.ptr[bytes.len - back];
        size_t wants = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;

        if (byte >= 0xc0) {
            return wants > back ? bytes.len - back : bytes.len;
        }
        if (byte < 0x80) {
            break;
        }
    }
    return bytes.len;
}

bool json_body_check(struct json_body *body)
{
    struct slice text = body->shown;

    if (body->checked) {
        return true;
    }
    if (body->truncated) {
        text.len = whole_characters(text);
    }
    if ((body->at == 0 && text.len > 0 && memchr(text.ptr, '\0', text.len)) ||
        !json_check_utf8(text, &body->at, CHECKED_AT_ONCE)) {
        body->checked = true;
    } else if (body->at == text.len) {
        body->checked = true;
        body->text = true;
        body->shown = text;
    }
    body->at = body->checked ? 0 : body->at;
    return body->checked;
}

static char *json_put(char *to, struct slice text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

size_t json_body_write(struct json_body *body, char *to, bool *ended)
{
    struct slice slice = slice_from(body->shown, body->at);
    char *at = to;

    ENSURE(body->checked);
    if (!body->begun) {
        body->begun = true;
        at = json_put(at, body->text ? SLICE("{\"encoding\":\"text\",\"data\":\"")
                                     : SLICE("{\"encoding\":\"base64\",\"data\":\""));
    }
    slice.len = slice.len < WRITTEN_AT_ONCE ? slice.len : WRITTEN_AT_ONCE;
    at += body->text ? json_escape(at, slice) : json_base64(at, slice);
    body->at += slice.len;
    *ended = body->at == body->shown.len;
    if (*ended) {
        at = json_put(at, body->truncated ? SLICE("\",\"truncated\":true}")
                                          : SLICE("\",\"truncated\":false}"));
    }
    return (size_t)(at - to);
}
