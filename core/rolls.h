/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_ROLLS_H
#define TANDEM_CORE_ROLLS_H

// Private to the core: what the broker knows of its rolls (roll.h).

#include "core/base/list.h"
#include "core/queues.h"

#include <stdint.h>

struct rolls {
    struct list_node all;     // struct queue_roll, oldest first; the first one is `none`
    struct list_node to_sort; // those that have queues to sort
    struct queue_roll none;   // of the time before all queues: it has none
    uint64_t moment;          // the last one: rises with each queue that comes or goes
    uint64_t kept;            // queues that have gone and are still at their places
    uint32_t first, last;     // places of the queues that came first and last; TABLE_NONE: no queue
};

#endif
