/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_MAILBOX_H
#define TANDEM_SERVER_IO_MAILBOX_H

// What one thread leaves for another, without a lock: any thread may put something in, one takes it
// all. What is put in is embedded in what it brings, and belongs to the taker afterwards. All
// operations have one order with those of a sleeper (sleeper.h): whoever puts something in wakes
// the taker afterwards, if it sleeps.

#include <stdatomic.h>
#include <stdbool.h>

struct mail {
    struct mail *next;
};

// A zeroed mailbox is empty.
struct mailbox {
    _Atomic(struct mail *) newest; /* private */
};

void mailbox_put(struct mailbox *mailbox, struct mail *mail);

// All of it, the oldest first, linked by `next`; NULL where there is none.
struct mail *mailbox_take(struct mailbox *mailbox);

bool mailbox_empty(const struct mailbox *mailbox);

#endif
