/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_WRONG_PROTOCOL_H
#define TANDEM_PROTO_COMMON_WRONG_PROTOCOL_H

// Peers that took this port for another: a browser, perhaps tricked into it by a page, would have
// the lines of its request's body carried out as commands. Front-ends of text protocols look at the
// first line and hang up.

#include "core/base/slice.h"

#include <stdbool.h>

// How much of the end of a long line must be at hand to tell, a CR behind it included.
#define STRAY_TAIL 11

// Whether the line, without CR and LF, ends as the first line of an HTTP request does.
bool stray_is_http(struct slice line);

// Whether the first byte of a connection is that of a TLS hello.
bool stray_is_tls(char first);

#endif
