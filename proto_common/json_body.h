/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_JSON_BODY_H
#define TANDEM_PROTO_COMMON_JSON_BODY_H

// The body of a job as an object of JSON, made a slice at a time, since it may be long: `encoding`
// is text where it is UTF-8 without a NUL, else base64, then come `data` and whether that is
// `truncated`.

#include "core/base/blob.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

// All private.
struct json_body {
    struct blob *blob; // a reference: the job may go at any time
    struct slice shown;
    bool truncated, checked, text, begun;
    size_t at; // how far it was looked through, then written
};

// The first `most` bytes of the blob, of which a reference is taken over, or all of it where that
// is shorter.
void json_body_begin(struct json_body *body, struct blob *blob, size_t most);
void json_body_end(struct json_body *body);

// Looks through a slice of it. True: that was the last; it may be written.
bool json_body_check(struct json_body *body);

// Writes a slice of the object to `to`, of JSON_BODY_ROOM bytes; returns how many there are.
// `*ended`: that was the last.
#define JSON_BODY_ROOM ((size_t)19 * 1024)
size_t json_body_write(struct json_body *body, char *to, bool *ended);

#endif
