/* SPDX-License-Identifier: MIT */
#include "server/io/mailbox.h"

#include <stddef.h>

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
