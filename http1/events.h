/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_EVENTS_H
#define TANDEM_HTTP1_EVENTS_H

// Bodies of answers whose length is not known when they begin, and streams of server-sent events,
// which are such bodies. On HTTP/1.1 each piece is one chunk, and a last chunk ends the body
// (`chunked`, as http1_answer_chunked() announced); on HTTP/1.0 the end of the connection ends the
// body.
//
// All bytes are copied into the output. If there is no memory, the output remembers that, and the
// host closes the connection.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "proto_common/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Writes the parts, concatenated, as the next piece. They must not all be empty: an empty chunk
// ends the body.
void http1_piece(struct output *out, bool chunked, const struct slice *parts, size_t count);

// Ends the body.
void http1_pieces_end(struct output *out, bool chunked);

// Writes an event: its id, which a client repeats when it reconnects, its name, of at most
// HTTP1_EVENT_NAME_MAX bytes, and its data, which contains neither CR nor LF.
#define HTTP1_EVENT_NAME_MAX 64
void http1_event(struct output *out, bool chunked, uint64_t id, const char *name,
                 struct slice data);

// Writes a comment, which clients ignore. If a stream has sent nothing for HTTP1_QUIET_FOR, a
// comment keeps proxies from closing it, and detects a dead client.
#define HTTP1_QUIET_FOR (15 * NSEC_PER_SEC)
void http1_event_comment(struct output *out, bool chunked);

// Headers of a stream. The second one stops nginx from buffering events.
#define HTTP1_EVENTS_EXTRA "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n"

#endif
