/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_EVENTS_H
#define TANDEM_HTTP1_EVENTS_H

// The body of an answer whose end is not known when it begins, and streams of server-sent events,
// which are such bodies. On 1.1 each piece is a chunk of its own and the end is a last chunk
// (`chunked`, as http1_answer_chunked() has told the client); on 1.0 the pieces follow one another
// and the end of the connection is the end of the body.
//
// All is copied into the output, which remembers where memory lacks: the host closes the connection
// then.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "proto_common/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The next piece: those parts, one behind the other. Together they must not be empty, which would
// be the end.
void http1_piece(struct output *out, bool chunked, const struct slice *parts, size_t count);

// The end of the body.
void http1_pieces_end(struct output *out, bool chunked);

// An event: its number, by which the client says what it has seen last, its name, of at most
// HTTP1_EVENT_NAME_MAX bytes, and its data, which has neither CR nor LF in it.
#define HTTP1_EVENT_NAME_MAX 64
void http1_event(struct output *out, bool chunked, uint64_t id, const char *name,
                 struct slice data);

// A comment, which clients pass over. Where a stream says nothing else for HTTP1_QUIET_FOR, this
// keeps proxies from ending it, and shows that the client is still there.
#define HTTP1_QUIET_FOR (15 * NSEC_PER_SEC)
void http1_event_comment(struct output *out, bool chunked);

// Headers of a stream. nginx would collect events before it passes them on.
#define HTTP1_EVENTS_EXTRA "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n"

#endif
