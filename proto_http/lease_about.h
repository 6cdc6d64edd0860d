/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_LEASE_ABOUT_H
#define TANDEM_PROTO_HTTP_LEASE_ABOUT_H

// What a worker is told of a job that it gets, beside its body: as headers of an answer or of a
// part of one, or as members of an object.

#include "core/base/slice.h"

#include "proto_http/context.h"
#include "proto_http/names.h"

#include <jansson.h>
#include <stddef.h>

// Room for all headers.
#define LEASE_HEADERS_ROOM (2 * WEB_NAME_ROOM + 512)

// Writes the headers, each with its CR LF; returns how many bytes.
size_t lease_headers_write(const struct web_shared *shared, const struct web_lease *lease,
                           char *to);

// The header that says when the lease ends, in LEASE_DEADLINE_ROOM bytes with a NUL.
#define LEASE_DEADLINE_ROOM 64
void lease_deadline_write(const struct web_shared *shared, const struct web_lease *lease, char *to);

// The same as an object; NULL without memory.
json_t *lease_describe(const struct web_shared *shared, const struct web_lease *lease);

#endif
