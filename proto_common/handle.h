/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_HANDLE_H
#define TANDEM_PROTO_COMMON_HANDLE_H

// Handles: how protocols that do not name jobs by their bare id do name them. A handle is the
// prefix of this broker, a colon, and the id.

#include "core/base/digits.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// The longest prefix: with a colon and any id, it fits the 63 bytes that clients keep.
#define HANDLE_PREFIX_MAX 42
#define HANDLE_MAX (HANDLE_PREFIX_MAX + 1 + DIGITS_MAX)

struct handles {
    size_t prefix_len;                  // with the colon
    char prefix[HANDLE_PREFIX_MAX + 1]; // no NUL behind it
};

// Whether handles that begin with it are one word of a line. Empty is allowed.
bool handle_prefix_fits(const char *prefix);

// Settles what handles begin with: `prefix`, or H: and the host's name where that is empty. A
// longer prefix is cut, and the log says so. False, which the log explains, for a prefix with which
// a handle would not be one word of a line.
bool handles_begin(struct handles *handles, const char *prefix, const char *hostname);

// The host is known by another name to those who have handles: with an empty `prefix`, they begin
// with that from now on. A name of which no handle can be made changes nothing.
void handles_name_host(struct handles *handles, const char *prefix, const char *hostname);

// Writes the handle, at most HANDLE_MAX bytes; returns where it ends.
char *handle_write(const struct handles *handles, uint64_t id, char *at);

// The id in a handle of this broker; false for anything else.
bool handle_read(const struct handles *handles, struct slice text, uint64_t *id);

#endif
