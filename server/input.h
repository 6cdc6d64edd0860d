/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_INPUT_H
#define TANDEM_SERVER_INPUT_H

// Input that a front-end could not use yet: the beginning of a command, or what stands behind a
// blocked one. Most connections have none most of the time, and then this holds no memory.

#include "core/base/macros.h"
#include "core/base/slice.h"

struct kept_bytes {
    size_t start; // of what is kept
    size_t end;
    size_t room;
    char bytes[];
};

struct kept {
    struct kept_bytes *bytes; /* private: NULL while nothing is kept */
};

static inline size_t kept_len(const struct kept *kept)
{
    return kept->bytes ? kept->bytes->end - kept->bytes->start : 0;
}

// What is kept; valid until the next call.
static inline struct slice kept_slice(const struct kept *kept)
{
    return slice_of(kept->bytes ? kept->bytes->bytes + kept->bytes->start : "", kept_len(kept));
}

// Adds a copy. False without memory: what was kept is kept.
bool kept_append(struct kept *kept, struct slice input) MUST_USE;

// Forgets the first `len` bytes.
void kept_drop(struct kept *kept, size_t len);

#endif
