/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_ACCEPT_H
#define TANDEM_HTTP1_ACCEPT_H

// Handles a complete head: accepts the request and finds its body's framing, or answers it at once.

#include "core/base/macros.h"

#include "http1/context.h"
#include "http1/framing.h"
#include "http1/head.h"

#include <stdbool.h>

// Begins a new request from a head that http1_head_check() found complete. True: the request is
// accepted, and its body arrives with this framing. False: it has been answered.
bool http1_accept(struct http1_conn *conn, const struct http1_head *head,
                  struct http1_framing *framing) MUST_USE;

#endif
