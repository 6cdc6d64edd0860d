/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SLICE_H
#define TANDEM_CORE_SLICE_H

// Bytes with their length. A slice borrows: it owns nothing, and whoever hands one out says how
// long it stays valid. Bytes from the network are never treated as C strings.

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

// A slice of a string literal, its closing NUL not counted.
#define SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})

static inline struct slice slice_of(const char *ptr, size_t len)
{
    return (struct slice){ptr, len};
}

static inline struct slice slice_from(struct slice s, size_t start)
{
    return (struct slice){s.ptr + start, s.len - start};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

#endif
