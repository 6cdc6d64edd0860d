/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_SLICE_H
#define TANDEM_CORE_BASE_SLICE_H

// Bytes with their length. A slice does not own its bytes: the function that returns one states how
// long it is valid. Bytes from the network are never treated as C strings.
//
// The address of an empty slice may be NULL. C does not define the sum of NULL and a number, not
// even 0, so slice_at() and slice_end() find positions in a slice that may be empty.

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

// A slice of a string literal, without its NUL.
#define SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})

static inline struct slice slice_of(const char *ptr, size_t len)
{
    return (struct slice){ptr, len};
}

// A slice of a C string, without its NUL. Not for bytes from the network.
static inline struct slice slice_str(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static inline const char *slice_at(struct slice s, size_t at)
{
    return at ? s.ptr + at : s.ptr;
}

// The position after the last byte.
static inline const char *slice_end(struct slice s)
{
    return slice_at(s, s.len);
}

static inline struct slice slice_from(struct slice s, size_t start)
{
    return (struct slice){slice_at(s, start), s.len - start};
}

// Whether it is a space or a tab, the blanks within a line of a protocol or a file.
static inline bool slice_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

// The slice without blanks at its end.
static inline struct slice slice_trim_end(struct slice s)
{
    while (s.len > 0 && slice_is_blank(s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

// The slice without blanks at both ends.
static inline struct slice slice_trim(struct slice s)
{
    while (s.len > 0 && slice_is_blank(*s.ptr)) {
        s = slice_from(s, 1);
    }
    return slice_trim_end(s);
}

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

#endif
