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
    struct link *newest = atomic_load(&thread->arrivals);

    do {
        link->next = newest;
    } while (!atomic_compare_exchange_weak(&thread->arrivals, &newest, link));
    sleeper_wake(&thread->sleeper);
}

struct link *arrivals_take(struct io_thread *thread)
{
    struct link *newest = atomic_exchange(&thread->arrivals, NULL);
    struct link *oldest = NULL;

    while (newest) {
        struct link *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

bool arrivals_empty(const struct io_thread *thread)
{
    return atomic_load(&thread->arrivals) == NULL;
}
