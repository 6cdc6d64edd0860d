/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_CONNECTION_MEMORY_H
#define TANDEM_SERVER_CONFIG_CONNECTION_MEMORY_H

// server.max_connection_memory: what a connection may keep at most, of output that its peer has not
// read, of input, and in its front-end. Every job must find room, whatever else is kept, and so
// must every answer: it is more than the largest of them by CONNECTION_MEMORY_BESIDE at least.

#include "server/config/settings.h"

#define CONNECTION_MEMORY_BESIDE ((uint64_t)2 << 20)

// Whether it is. False with the reason in `why`.
bool connection_memory_check(const struct settings *settings, struct error_text *why) MUST_USE;

// What may be kept before another job's worth is added: with that, it is not more than the limit.
uint64_t connection_memory_before(const struct settings *settings);

#endif
