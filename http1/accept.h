/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_ACCEPT_H
#define TANDEM_HTTP1_ACCEPT_H

// What is decided about a request when its head is there: whether the user takes it, how its body
// will come, or how it is answered at once.

#include "core/base/macros.h"

#include "http1/context.h"
#include "http1/framing.h"
#include "http1/head.h"

#include <stdbool.h>

// The head, which http1_head_check() found complete, is of a new request. True: it is taken, and
// its body comes as the framing says; false: answered.
bool http1_accept(struct http1_conn *conn, const struct http1_head *head,
                  struct http1_framing *framing) MUST_USE;

#endif
