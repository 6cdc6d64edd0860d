/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_BACKLOG_H
#define TANDEM_SERVER_NET_BACKLOG_H

// Bytes on their way through that could not be passed on yet, in order: input that a front-end
// could not use, such as the beginning of a command or what stands behind a blocked one, and output
// that its peer did not take. Most connections have none most of the time, and then this holds no
// memory.

#include "core/base/macros.h"
#include "core/base/slice.h"

struct backlog_bytes {
    size_t start; // of what is kept
    size_t end;
    size_t room;
    char bytes[];
};

struct backlog {
    struct backlog_bytes *bytes; /* private: NULL while nothing is kept */
};

static inline size_t backlog_len(const struct backlog *backlog)
{
    return backlog->bytes ? backlog->bytes->end - backlog->bytes->start : 0;
}

// How many bytes of memory it has for that.
static inline size_t backlog_holds(const struct backlog *backlog)
{
    return backlog->bytes ? sizeof *backlog->bytes + backlog->bytes->room : 0;
}

// What is kept; valid until the next call.
static inline struct slice backlog_slice(const struct backlog *backlog)
{
    return slice_of(backlog->bytes ? backlog->bytes->bytes + backlog->bytes->start : "",
                    backlog_len(backlog));
}

// Adds a copy. False without memory: what was kept is kept.
bool backlog_append(struct backlog *backlog, struct slice bytes) MUST_USE;

// Forgets the first `len` bytes.
void backlog_drop(struct backlog *backlog, size_t len);

#endif
