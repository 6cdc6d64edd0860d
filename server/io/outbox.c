/* SPDX-License-Identifier: MIT */
#include "server/io/outbox.h"

#include "core/base/memory.h"

// How many that have come home are kept for the next time.
enum { OUTBOX_SPARE = 2 };

static void outbox_take_home(struct outbox *outbox)
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
            memory_free(batch_of(mail), sizeof(struct batch));
            outbox->made--;
        }
        mail = next;
    }
}

static struct batch *outbox_begin(struct outbox *outbox)
{
    struct batch *batch;

    outbox_take_home(outbox);
    batch = batch_of(outbox->spare);
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
    // Whoever sends one home looks at this afterwards.
    atomic_store(&outbox->home.wanted, true);
    return !mailbox_empty(&outbox->home.mailbox);
}

void outbox_clear(struct outbox *outbox)
{
    if (outbox->batch) {
        mailbox_put(&outbox->home.mailbox, &outbox->batch->mail);
        outbox->batch = NULL;
    }
    outbox_take_home(outbox);
    while (outbox->spare) {
        struct mail *next = outbox->spare->next;

        memory_free(batch_of(outbox->spare), sizeof(struct batch));
        outbox->spare = next;
        outbox->made--;
    }
    ENSURE(outbox->made == 0);
}

struct batch *outbox_room(struct outbox *outbox, size_t least)
{
    struct batch *batch = outbox->batch;

    if (batch && (batch->count == BATCH_NOTES || BATCH_BYTES - batch->used < least)) {
        outbox_flush(outbox);
        batch = NULL;
    }
    if (!batch) {
        batch = outbox_begin(outbox);
        outbox->batch = batch;
    }
    return batch;
}

struct note *outbox_note(struct outbox *outbox, struct link *link, unsigned what, size_t len)
{
    struct batch *batch = outbox->batch;
    struct note *note = &batch->notes[batch->count++];

    *note = (struct note){.link = link, .what = what, .len = (uint32_t)len, .at = batch->used};
    batch->used += (uint32_t)len;
    return note;
}

void outbox_flush(struct outbox *outbox)
{
    struct batch *batch = outbox->batch;

    if (batch && batch->count > 0) {
        outbox->batch = NULL;
        mailbox_put(outbox->to, &batch->mail);
        sleeper_wake(outbox->reader);
    }
    if (outbox->made > OUTBOX_SPARE && !mailbox_empty(&outbox->home.mailbox)) {
        outbox_take_home(outbox);
    }
}
