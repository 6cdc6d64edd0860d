/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_KEPT_H
#define TANDEM_SERVER_KEPT_H

// Input that a front-end could not use yet: the beginning of a command, or what stands behind a
// blocked one. Most connections have none most of the time, and then this holds no memory.

#include "core/macros.h"
#include "core/slice.h"

struct kept {
    char *bytes;  /* private */
    size_t start; /* private */
    size_t end;   /* private */
    size_t room;  /* private */
};

static inline size_t kept_len(const struct kept *kept)
{
    return kept->end - kept->start;
}

// What is kept; valid until the next call.
static inline struct slice kept_slice(const struct kept *kept)
{
    return slice_of(kept->bytes ? kept->bytes + kept->start : "", kept_len(kept));
}

// Adds a copy. False without memory: what was kept is kept.
bool kept_append(struct kept *kept, struct slice input) MUST_USE;

// Forgets the first `len` bytes.
void kept_drop(struct kept *kept, size_t len);

#endif
