/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_BATCH_H
#define TANDEM_SERVER_IO_BATCH_H

// What the core's thread and the I/O threads tell each other: notes about links (link.h), many in
// one batch, and the bytes that belong to them. A batch is written by one thread, handed over
// whole, read by another, and sent home to be written again. So no thread ever waits for another
// one, and what it costs to hand over is shared by all notes of a batch.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "server/io/mailbox.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct link;
struct sleeper;

// What a batch has room for.
#define BATCH_NOTES 256
#define BATCH_BYTES ((size_t)64 * 1024)

struct note {
    struct link *link;
    uint32_t len;   // bytes that belong to it ...
    uint32_t at;    // ... from here in the batch
    uint32_t count; // news: bytes that have left since the last note; ORDER_READ_ON: that may be
                    // read at most
    int error;      // news only: of errno.h
    unsigned what;  // enum order or enum news (link.h), as bits
};

struct batch_home;

struct batch {
    struct mail mail;
    struct batch_home *home; // where it goes when it has been read
    unsigned count;
    uint32_t used;
    struct note notes[BATCH_NOTES];
    char bytes[BATCH_BYTES];
};

// Where the batches of one writer come back to.
struct batch_home {
    struct mailbox mailbox; /* private */
    struct sleeper *writer; // is woken where it waits for a batch; NULL: it never does
    atomic_bool wanted;     /* private: it does */
};

// The batch has been read.
void batch_send_home(struct batch *batch);

// The batch that is in the mail; NULL for NULL.
static inline struct batch *batch_of(struct mail *mail)
{
    return mail ? container_of(mail, struct batch, mail) : NULL;
}

// The one behind it among those that were taken.
static inline struct batch *batch_next(const struct batch *batch)
{
    return batch_of(batch->mail.next);
}

static inline struct slice note_bytes(const struct batch *batch, const struct note *note)
{
    return slice_of(batch->bytes + note->at, note->len);
}

#endif
