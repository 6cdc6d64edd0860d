/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_BACKLOG_H
#define TANDEM_SERVER_NET_BACKLOG_H

// Bytes that could not be passed on yet, in order: input that a front-end cannot use, such as an
// incomplete command or commands behind a blocked one, and output that the peer has not taken. It
// is usually empty, and takes no memory then.

#include "core/base/macros.h"
#include "core/base/slice.h"

struct backlog_bytes {
    size_t start; // of the bytes that are kept
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

// Bytes of memory that it takes.
static inline size_t backlog_holds(const struct backlog *backlog)
{
    return backlog->bytes ? sizeof *backlog->bytes + backlog->bytes->room : 0;
}

// The bytes; valid until the next call.
static inline struct slice backlog_slice(const struct backlog *backlog)
{
    return slice_of(backlog->bytes ? backlog->bytes->bytes + backlog->bytes->start : "",
                    backlog_len(backlog));
}

// Adds a copy. False without memory: nothing has changed.
bool backlog_append(struct backlog *backlog, struct slice bytes) MUST_USE;

// Drops the first `len` bytes.
void backlog_drop(struct backlog *backlog, size_t len);

#endif
