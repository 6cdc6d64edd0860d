/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_IO_BATCH_H
#define TANDEM_SERVER_IO_IO_BATCH_H

// How threads hand work to each other without locks. A thread writes notes about links, and the
// bytes that belong to them, to a batch; puts the batch into the mailbox of another thread; and
// wakes that thread if it sleeps. The reader returns the batch to its pool. So no thread ever waits
// for another, and the cost of handing over is shared by all notes of a batch.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct io_link;

// A mailbox: any thread puts in, one thread takes everything. The mail is embedded in what is
// handed over, which belongs to the taker then. All operations have one order with those of a
// sleeper (sequential consistency): a thread that puts something in wakes the taker afterwards.

struct mail {
    struct mail *next;
};

// A zeroed mailbox is empty.
struct mailbox {
    _Atomic(struct mail *) newest; /* private */
};

void mailbox_put(struct mailbox *mailbox, struct mail *mail);

// Takes everything, the oldest first, linked by `next`; NULL: it was empty.
struct mail *mailbox_take(struct mailbox *mailbox);

bool mailbox_empty(const struct mailbox *mailbox);

// A sleeper: wakes a thread that waits in its event loop, and costs others nothing while the thread
// is awake. Before it waits, the thread calls sleeper_begin() and then checks its mailboxes once
// more; another thread puts something in and then calls sleeper_wake(). So one of them sees the
// other.

struct sleeper {
    int fd;             // an eventfd, watched for edges so that it is not read
    atomic_bool asleep; /* private */
};

// False without a descriptor.
bool sleeper_open(struct sleeper *sleeper) MUST_USE;
void sleeper_close(struct sleeper *sleeper);

// The thread is about to wait; it checks for work afterwards, and does not wait if there is some.
static inline void sleeper_begin(struct sleeper *sleeper)
{
    atomic_store(&sleeper->asleep, true);
}

static inline void sleeper_end(struct sleeper *sleeper)
{
    atomic_store_explicit(&sleeper->asleep, false, memory_order_relaxed);
}

void sleeper_wake(struct sleeper *sleeper);

#define IO_BATCH_NOTES 256
#define IO_BATCH_BYTES ((size_t)64 * 1024)

struct note {
    struct io_link *link;
    uint32_t len;   // bytes that belong to it ...
    uint32_t at;    // ... from here in the batch
    uint32_t count; // news: bytes sent since the last note; ORDER_READ_ON: bytes that may be read
    int error;      // news only: of errno.h
    unsigned what;  // enum link_order, enum link_news or enum thread_news (io_link.h), as bits
};

// Where the batches of one writer return to.
struct io_batch_pool {
    struct mailbox mailbox; /* private */
    struct sleeper *writer; // is woken if it waits for a batch; NULL: it never does
    atomic_bool wanted;     /* private: it waits */
};

struct io_batch {
    struct mail mail;
    struct io_batch_pool *home;
    unsigned count;
    uint32_t used;
    struct note notes[IO_BATCH_NOTES];
    char bytes[IO_BATCH_BYTES];
};

// Returns a batch that was read.
void io_batch_return(struct io_batch *batch);

// The batch of the mail; NULL for NULL.
static inline struct io_batch *io_batch_of(struct mail *mail)
{
    return mail ? container_of(mail, struct io_batch, mail) : NULL;
}

// The next of the batches that were taken together.
static inline struct io_batch *io_batch_next(const struct io_batch *batch)
{
    return io_batch_of(batch->mail.next);
}

static inline struct slice note_bytes(const struct io_batch *batch, const struct note *note)
{
    return slice_of(batch->bytes + note->at, note->len);
}

// An outbox: where one thread writes to one mailbox of another.
struct outbox {
    struct io_batch_pool home; // batches return here after they were read
    struct mailbox *to;        // where full batches go
    struct sleeper *reader;    // the thread that takes them there
    struct io_batch *batch;    /* private: being written, or NULL */
    struct mail *spare;        /* private: batches to be written next */
    unsigned made;             /* private: how many exist */
    unsigned most;             // that may exist
    bool denied;               /* private: there was no memory for one more */
};

// Frees the batches, all of which have returned.
void outbox_clear(struct outbox *outbox);

// A batch with room for a note and for `least` bytes, at most IO_BATCH_BYTES; hands over a batch
// that has less. NULL: too many are still to be read, or there is no memory.
struct io_batch *outbox_room(struct outbox *outbox, size_t least) MUST_USE;

// Whether there may be room now after there was none. If not, the writer is woken when there is.
bool outbox_may_write(struct outbox *outbox);

// Adds a note to the batch that outbox_room() has just returned. The `len` bytes that belong to the
// note stand behind the used bytes of the batch.
struct note *outbox_note(struct outbox *outbox, struct io_link *link, unsigned what, size_t len);

// Hands over what was written, and wakes the reader.
void outbox_flush(struct outbox *outbox);

#endif
