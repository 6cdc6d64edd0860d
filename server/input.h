/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_INPUT_H
#define TANDEM_SERVER_INPUT_H

// Input that a front-end could not use yet: the beginning of a command, or what stands behind a
// blocked one. Most connections have none most of the time, and then this holds no memory.

#include "core/base/macros.h"
#include "core/base/slice.h"

struct input_bytes {
    size_t start; // of what is kept
    size_t end;
    size_t room;
    char bytes[];
};

struct input {
    struct input_bytes *bytes; /* private: NULL while nothing is kept */
};

static inline size_t input_len(const struct input *in)
{
    return in->bytes ? in->bytes->end - in->bytes->start : 0;
}

// What is kept; valid until the next call.
static inline struct slice input_slice(const struct input *in)
{
    return slice_of(in->bytes ? in->bytes->bytes + in->bytes->start : "", input_len(in));
}

// Adds a copy. False without memory: what was kept is kept.
bool input_append(struct input *in, struct slice input) MUST_USE;

// Forgets the first `len` bytes.
void input_drop(struct input *in, size_t len);

#endif
