/* SPDX-License-Identifier: MIT */
#include "server/io/io_batch.h"

#include "core/base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

void mailbox_put(struct mailbox *mailbox, struct mail *mail)
{
    struct mail *newest = atomic_load(&mailbox->newest);

    do {
        mail->next = newest;
    } while (!atomic_compare_exchange_weak(&mailbox->newest, &newest, mail));
}

struct mail *mailbox_take(struct mailbox *mailbox)
{
    struct mail *newest = atomic_exchange(&mailbox->newest, NULL);
    struct mail *oldest = NULL;

    while (newest) {
        struct mail *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

bool mailbox_empty(const struct mailbox *mailbox)
{
    return atomic_load(&mailbox->newest) == NULL;
}

bool sleeper_open(struct sleeper *sleeper)
{
    atomic_init(&sleeper->asleep, false);
    sleeper->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return sleeper->fd >= 0;
}

void sleeper_close(struct sleeper *sleeper)
{
    if (sleeper->fd >= 0) {
        (void)close(sleeper->fd);
        sleeper->fd = -1;
    }
}

// The counter cannot overflow within the life of a process; each write is an edge.
void sleeper_wake(struct sleeper *sleeper)
{
    const uint64_t one = 1;

    if (atomic_load(&sleeper->asleep) && atomic_exchange(&sleeper->asleep, false)) {
        ssize_t ignored = write(sleeper->fd, &one, sizeof one);

        (void)ignored;
    }
}

void io_batch_return(struct io_batch *batch)
{
    struct io_batch_pool *home = batch->home;

    mailbox_put(&home->mailbox, &batch->mail);
    if (home->writer && atomic_load(&home->wanted) && atomic_exchange(&home->wanted, false)) {
        sleeper_wake(home->writer);
    }
}

// Returned batches that are kept for the next use.
enum { OUTBOX_SPARE = 2 };

static void outbox_collect(struct outbox *outbox)
{
    struct mail *mail = mailbox_take(&outbox->home.mailbox);
    unsigned kept = 0;

    for (const struct mail *spare = outbox->spare; spare; spare = spare->next) {
        kept++;
    }
    while (mail) {
        struct mail *next = mail->next;

        if (kept < OUTBOX_SPARE) {
            mail->next = outbox->spare;
            outbox->spare = mail;
            kept++;
        } else {
            memory_free(io_batch_of(mail), sizeof(struct io_batch));
            outbox->made--;
        }
        mail = next;
    }
}

static struct io_batch *outbox_begin(struct outbox *outbox)
{
    struct io_batch *batch;

    outbox_collect(outbox);
    batch = io_batch_of(outbox->spare);
    if (batch) {
        outbox->spare = batch->mail.next;
    } else if (outbox->made < outbox->most) {
        batch = memory_alloc(sizeof *batch);
        outbox->made += batch ? 1 : 0;
        outbox->denied = !batch;
    }
    if (batch) {
        batch->home = &outbox->home;
        batch->count = 0;
        batch->used = 0;
    }
    return batch;
}

bool outbox_may_write(struct outbox *outbox)
{
    if (outbox->batch || outbox->spare || (outbox->made < outbox->most && !outbox->denied)) {
        return true;
    }
    // A thread that returns a batch checks this afterwards.
    atomic_store(&outbox->home.wanted, true);
    return !mailbox_empty(&outbox->home.mailbox);
}

void outbox_clear(struct outbox *outbox)
{
    if (outbox->batch) {
        mailbox_put(&outbox->home.mailbox, &outbox->batch->mail);
        outbox->batch = NULL;
    }
    outbox_collect(outbox);
    while (outbox->spare) {
        struct mail *next = outbox->spare->next;

        memory_free(io_batch_of(outbox->spare), sizeof(struct io_batch));
        outbox->spare = next;
        outbox->made--;
    }
    ENSURE(outbox->made == 0);
}

struct io_batch *outbox_room(struct outbox *outbox, size_t least)
{
    struct io_batch *batch = outbox->batch;

    if (batch && (batch->count == IO_BATCH_NOTES || IO_BATCH_BYTES - batch->used < least)) {
        outbox_flush(outbox);
        batch = NULL;
    }
    if (!batch) {
        batch = outbox_begin(outbox);
        outbox->batch = batch;
    }
    return batch;
}

struct note *outbox_note(struct outbox *outbox, struct io_link *link, unsigned what, size_t len)
{
    struct io_batch *batch = outbox->batch;
    struct note *note = &batch->notes[batch->count++];

    *note = (struct note){.link = link, .what = what, .len = (uint32_t)len, .at = batch->used};
    batch->used += (uint32_t)len;
    return note;
}

void outbox_flush(struct outbox *outbox)
{
    struct io_batch *batch = outbox->batch;

    if (batch && batch->count > 0) {
        outbox->batch = NULL;
        mailbox_put(outbox->to, &batch->mail);
        sleeper_wake(outbox->reader);
    }
    if (outbox->made > OUTBOX_SPARE && !mailbox_empty(&outbox->home.mailbox)) {
        outbox_collect(outbox);
    }
}
