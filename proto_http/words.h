/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_WORDS_H
#define TANDEM_PROTO_HTTP_WORDS_H

// What workers say of the jobs that they have: POST /-/leases/<token>/<word>. The token is the
// right to do so, whoever shows it.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/user.h"

#include "proto_http/context.h"
#include "proto_http/request.h"

#include <stdbool.h>

// When the head is there: whether there is such a word and such a lease. False: answered.
bool web_word_check(struct http1_conn *conn, const struct http1_framing *framing) MUST_USE;

// Of struct http1_user, for these requests: `complete`, `step` and `stopping`. One waits only where
// very much is still to be told of what was said before.
enum http1_next web_word_say(struct http1_conn *conn, struct slice body,
                             struct blob *blob) MUST_USE;
enum http1_progress web_word_step(struct http1_conn *conn) MUST_USE;
void web_word_stopped(struct http1_conn *conn);

void web_word_forget(struct web_word *word);
size_t web_word_holds(const struct web_word *word);

#endif
