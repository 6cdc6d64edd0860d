/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_BATCH_H
#define TANDEM_SERVER_IO_BATCH_H

// What the core's thread and the I/O threads tell each other: notes about links (link.h), many in
// one batch, and the bytes that belong to them. A batch is written by one thread, handed over
// whole, read by another, and sent home to be written again. So no thread ever waits for another
// one, and what it costs to hand over is shared by all notes of a batch.

#include "core/base/slice.h"

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
    struct batch *next;
    struct batch_home *home; // where it goes when it has been read
    unsigned count;
    uint32_t used;
    struct note notes[BATCH_NOTES];
    char bytes[BATCH_BYTES];
};

// Any thread may push, one takes. A zeroed queue is empty.
struct batch_queue {
    _Atomic(struct batch *) newest; /* private */
};

void batch_push(struct batch_queue *queue, struct batch *batch);

// Where the batches of one writer come back to.
struct batch_home {
    struct batch_queue queue; /* private */
    struct sleeper *writer;   // is woken where it waits for a batch; NULL: it never does
    atomic_bool wanted;       /* private: it does */
};

// The batch has been read.
void batch_send_home(struct batch *batch);

// All of them, the oldest first, linked by `next`; NULL where there is none.
struct batch *batch_take_all(struct batch_queue *queue);

bool batch_queue_empty(struct batch_queue *queue);

static inline struct slice note_bytes(const struct batch *batch, const struct note *note)
{
    return slice_of(batch->bytes + note->at, note->len);
}

#endif
