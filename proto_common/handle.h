/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_HANDLE_H
#define TANDEM_PROTO_COMMON_HANDLE_H

// Job handles: the names that Gearman and HTTP give to jobs. A handle is a prefix, which is the
// same for all jobs of this broker, a colon, and the job's id in decimal: H:host:17. Clients treat
// it as opaque and may keep it over a restart.

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

// Whether the setting handle_prefix can be used: it has neither blanks nor control bytes, so that a
// handle is one word of a line. Empty is allowed.
bool handle_prefix_is_valid(const char *prefix);

// Sets what handles begin with: `prefix`, or H: and the host's name where that is empty. One that
// is longer than HANDLE_PREFIX_MAX is cut, and the log says so. False for one that cannot be used,
// which the log says, too.
bool handles_set_prefix(struct handles *handles, const char *prefix, const char *hostname);

// Clients have handles with another name of the host in them: with an empty `prefix`, handles begin
// with that name from now on. A name that cannot be used changes nothing.
void handles_set_host(struct handles *handles, const char *prefix, const char *hostname);

// Writes the handle, at most HANDLE_MAX bytes; returns where it ends.
char *handle_write(const struct handles *handles, uint64_t id, char *at);

// Reads the id from a handle that begins as ours do; false for anything else.
bool handle_read(const struct handles *handles, struct slice text, uint64_t *id);

#endif
