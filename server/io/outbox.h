/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_OUTBOX_H
#define TANDEM_SERVER_IO_OUTBOX_H

// Where one thread writes what it tells another: the batch that is being written, and those that
// have come home.

#include "core/base/macros.h"
#include "server/io/batch.h"
#include "server/io/sleeper.h"

struct outbox {
    struct batch_home home; // batches come back here when they have been read
    struct mailbox *to;     // where full ones go
    struct sleeper *reader; // who takes them there
    struct batch *batch;    /* private: being written, or NULL */
    struct mail *spare;     /* private: those that may be written next */
    unsigned made;          /* private: how many exist */
    unsigned most;          // that may exist
    bool denied;            /* private: there was no memory for one more */
};

// Frees the batches. All have come home.
void outbox_clear(struct outbox *outbox);

// Room for a note and for `least` bytes, at most BATCH_BYTES. Hands over a batch that has not that.
// NULL where there is none: too many are still to be read, or there is no memory.
struct batch *outbox_room(struct outbox *outbox, size_t least) MUST_USE;

// Whether there may be room now where there was none. Where not, the writer is woken when there is.
bool outbox_may_write(struct outbox *outbox);

// Adds a note; outbox_room() has just said that there is room. The bytes that belong to it, `len`
// of them, stand at the end of what is used in the batch.
struct note *outbox_note(struct outbox *outbox, struct link *link, unsigned what, size_t len);

// Hands over what has been written, and wakes the reader.
void outbox_flush(struct outbox *outbox);

#endif
