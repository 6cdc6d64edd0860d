/* SPDX-License-Identifier: MIT */
#include "server/io/batch.h"

#include "server/io/sleeper.h"

void batch_send_home(struct batch *batch)
{
    struct batch_home *home = batch->home;

    mailbox_put(&home->mailbox, &batch->mail);
    if (home->writer && atomic_load(&home->wanted) && atomic_exchange(&home->wanted, false)) {
        sleeper_wake(home->writer);
    }
}
