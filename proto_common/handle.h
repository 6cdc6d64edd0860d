/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_HANDLE_H
#define TANDEM_PROTO_COMMON_HANDLE_H

// Job handles: the names of jobs in Gearman and HTTP. A handle is a prefix, which is the same for
// all jobs of this broker, a colon, and the job's id in decimal: H:host:17. Clients treat handles
// as opaque, and may store them across a restart of the broker.

#include "core/base/digits.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// The maximum length of a prefix: with a colon and any id, the handle fits the 63 bytes that
// clients store.
#define HANDLE_PREFIX_MAX 42
#define HANDLE_MAX (HANDLE_PREFIX_MAX + 1 + DIGITS_MAX)

struct handles {
    size_t prefix_len;                  // including the colon
    char prefix[HANDLE_PREFIX_MAX + 1]; // without a NUL
};

// Whether handle_prefix is valid: without blanks and control bytes, so that a handle is one word of
// a line. An empty one is valid.
bool handle_prefix_is_valid(const char *prefix);

// Sets the prefix: `prefix`, or, if it is empty, H: and the host name. A prefix longer than
// HANDLE_PREFIX_MAX is cut, which is logged. False: the prefix is invalid, which is logged, too.
bool handles_set_prefix(struct handles *handles, const char *prefix, const char *hostname);

// Sets the host name in handles that clients have stored: if `prefix` is empty, handles have this
// name from now on. An invalid name changes nothing.
void handles_set_host(struct handles *handles, const char *prefix, const char *hostname);

// Writes the handle, at most HANDLE_MAX bytes. Returns the end.
char *handle_write(const struct handles *handles, uint64_t id, char *at);

// Reads the id from a handle with this prefix. False: the text is not such a handle.
bool handle_read(const struct handles *handles, struct slice text, uint64_t *id);

#endif
