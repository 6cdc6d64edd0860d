/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_JSON_BODY_H
#define TANDEM_PROTO_COMMON_JSON_BODY_H

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

#endif
