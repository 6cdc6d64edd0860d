/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_LEASE_ABOUT_H
#define TANDEM_PROTO_HTTP_LEASE_ABOUT_H

// The description of a job for the worker that receives it, without its body: as headers of an
// answer or of a part, or as an object.

#include "core/base/slice.h"

#include "proto_http/context.h"
#include "proto_http/names.h"

#include <jansson.h>
#include <stddef.h>

// Room for all headers.
#define LEASE_HEADERS_ROOM (2 * WEB_NAME_ROOM + 512)

// Writes the headers, each with its CR LF; returns the number of bytes.
size_t lease_headers_write(const struct web_shared *shared, const struct web_lease *lease,
                           char *to);

// Writes the header with the end of the lease: LEASE_DEADLINE_ROOM bytes with a NUL.
#define LEASE_DEADLINE_ROOM 64
void lease_deadline_write(const struct web_shared *shared, const struct web_lease *lease, char *to);

// The description as an object; NULL without memory.
json_t *lease_describe(const struct web_shared *shared, const struct web_lease *lease);

#endif
