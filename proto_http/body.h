/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_BODY_H
#define TANDEM_PROTO_HTTP_BODY_H

// The workload of a request's job: its body, of a known length or in chunks, as it comes, or its
// query. What is wrong with it is answered, and the rest of the body is not wanted.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "proto_common/http1/framing.h"

#include "proto_http/context.h"

// A workload that is complete.
struct web_workload {
    struct slice bytes; // in the blob, or in the input
    struct blob *blob;  // owned by whoever has the struct; NULL where the bytes are the input's
};

// The head is accepted. WEB_NEXT_BODY: a body is to come; WEB_NEXT_SUBMIT: there is none, and the
// workload is the query of a GET, or empty; WEB_NEXT_REQUEST: answered.
enum web_next web_body_begin(struct web_conn *conn, const struct http1_framing *framing,
                             struct web_workload *workload) MUST_USE;

// Takes what there is of a body of a known length, or of one in chunks, off the front of the input.
// WEB_NEXT_MORE: the input is used up; WEB_NEXT_BODY: there may be more in it; WEB_NEXT_SUBMIT: it
// is complete, and the workload; WEB_NEXT_REQUEST: answered.
enum web_next web_body_take(struct web_conn *conn, struct slice *input,
                            struct web_workload *workload) MUST_USE;
enum web_next web_chunks_take(struct web_conn *conn, struct slice *input,
                              struct web_workload *workload) MUST_USE;

#endif
