/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BROKER_PRIVATE_H
#define TANDEM_CORE_BROKER_PRIVATE_H

// Private to the core: the broker's own state, put together of its parts.

#include "core/broker_parts.h"

#include <stdbool.h>
#include <stdint.h>

struct broker {
    struct instant now;
    struct siphash_key key; // of the hashes of names and keys
    struct slab slab;       // jobs, sessions and what belongs to them
    struct calendar calendar;
    struct store_link store;
    struct next_numbers next;
    struct broker_index index;
    struct broker_counts count;
    struct open_queues open;
    struct matching matching;
    struct telling telling;
    struct charged charge;
    struct timers timers;
    struct paused_queues paused;
    struct policies policies;
    struct gates gates;
    struct memos memos;
    struct restoring restoring;
    struct rolls rolls;
    struct loss_rate loss_rate;
    struct queue_times times; // of all queues that there ever were
    struct list_node closing; // closed sessions that are not taken apart yet
    uint64_t max_queues;      // 0: any number
    bool draining;
    bool rare;      // there have been rules or memos: what these need is looked at (tick.c)
    bool observing; // times are counted (observe.h)
    bool retired;   // the process ends: jobs that are lost cost nothing
    bool settling;  // callbacks run: no verb may be called
};

#endif
