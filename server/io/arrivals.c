/* SPDX-License-Identifier: MIT */
#include "server/io/arrivals.h"

struct io_thread *arrivals_fewest(const struct thread_common *common)
{
    struct io_thread *fewest = &common->threads[0];

    for (unsigned i = 1; i < common->count; i++) {
        if (arrivals_count(&common->threads[i]) < arrivals_count(fewest)) {
            fewest = &common->threads[i];
        }
    }
    return fewest;
}

void arrivals_send(struct io_thread *thread, struct link *link)
{
    mailbox_put(&thread->arrivals, &link->mail);
    sleeper_wake(&thread->sleeper);
}

static struct link *link_of(struct mail *mail)
{
    return mail ? container_of(mail, struct link, mail) : NULL;
}

struct link *arrivals_take(struct io_thread *thread)
{
    return link_of(mailbox_take(&thread->arrivals));
}

struct link *arrivals_next(const struct link *link)
{
    return link_of(link->mail.next);
}
