/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JOB_BODY_H
#define TANDEM_ADMIN_JOB_BODY_H

// A document of a job with its body in it, or its result's data, which may be long: it is written
// in slices, as text where it is UTF-8 without a NUL, else in base64.

#include "core/base/blob.h"
#include "http1/user.h"

#include <jansson.h>
#include <stddef.h>

// Answers with the document, and as its member of that name, a literal, the first `most` bytes of
// the blob, or all of it where that is shorter. Both become the answer's; where one is NULL, for
// want of memory, that is answered 503.
enum http1_next job_body_answer(struct http1_conn *conn, json_t *document, const char *name,
                                struct blob *blob, size_t most);

#endif
