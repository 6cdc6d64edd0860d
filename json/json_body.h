/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JSON_JSON_BODY_H
#define TANDEM_JSON_JSON_BODY_H

// The body of a job as a JSON object, made in slices because it may be long: `encoding`, which is
// `text` if the body is UTF-8 without a NUL, otherwise `base64`; then `data`, and whether that is
// `truncated`.

#include "core/base/blob.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// All private.
struct json_body {
    struct blob *blob; // a reference: the job may end at any time
    struct slice shown;
    bool truncated, checked, text, begun;
    size_t at; // the position of the check, then of the writing
};

// Begins with the first `most` bytes of the blob. Takes over a reference to it.
void json_body_begin(struct json_body *body, struct blob *blob, size_t most);
void json_body_end(struct json_body *body);

// Checks a slice of the body. True: it was the last one, and the object can be written.
bool json_body_check(struct json_body *body);

// Writes a slice of the object to `to`, of JSON_BODY_ROOM bytes. Returns its length. `*ended`: it
// was the last one.
#define JSON_BODY_ROOM ((size_t)19 * 1024)
size_t json_body_write(struct json_body *body, char *to, bool *ended);

//
// Long JSON strings, made in parts. The escapes are those of jansson.
//

// The maximum number of bytes that a byte becomes.
#define JSON_ESCAPED_MAX 6

// Checks about `most` bytes of `bytes` from `*checked`, the beginning of a sequence, and moves
// `*checked` to the end of the valid UTF-8. False: the bytes are not UTF-8.
bool json_check_utf8(struct slice bytes, size_t *checked, size_t most);

// Writes UTF-8, which may begin or end within a sequence, as the inside of a string to `to`, which
// has room for JSON_ESCAPED_MAX times its length. Returns the number of bytes written.
size_t json_escape(char *to, struct slice text);

// The same for any bytes, in base64. The length of each part except the last must be a multiple of
// 3.
size_t json_base64(char *to, struct slice bytes);

#endif
