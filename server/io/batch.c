/* SPDX-License-Identifier: MIT */
#include "server/io/batch.h"

#include "server/io/sleeper.h"

void batch_push(struct batch_queue *queue, struct batch *batch)
{
    struct batch *newest = atomic_load(&queue->newest);

    do {
        batch->next = newest;
    } while (!atomic_compare_exchange_weak(&queue->newest, &newest, batch));
}

struct batch *batch_take_all(struct batch_queue *queue)
{
    struct batch *newest = atomic_exchange(&queue->newest, NULL);
    struct batch *oldest = NULL;

    while (newest) {
        struct batch *next = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

bool batch_queue_empty(struct batch_queue *queue)
{
    return atomic_load(&queue->newest) == NULL;
}

void batch_send_home(struct batch *batch)
{
    struct batch_home *home = batch->home;

    batch_push(&home->queue, batch);
    if (home->writer && atomic_load(&home->wanted) && atomic_exchange(&home->wanted, false)) {
        sleeper_wake(home->writer);
    }
}
