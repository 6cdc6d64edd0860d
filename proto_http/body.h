/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_BODY_H
#define TANDEM_PROTO_HTTP_BODY_H

// The body of a request, as it comes: of a known length, or in chunks. When it is complete, its job
// is submitted.

#include "proto_http/context.h"

enum web_step web_body_step(struct web_conn *conn, struct web_turn *turn);
enum web_step web_chunks_step(struct web_conn *conn, struct web_turn *turn);

// Asks the host to put the next bytes in their place, if there are many; and they are there.
void web_body_into(struct web_conn *conn, struct feed *feed);
void web_body_filled(struct web_conn *conn, size_t len);

#endif
