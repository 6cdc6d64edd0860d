/* SPDX-License-Identifier: MIT */
#include "core/charge.h"

// How many subscriptions cost as much to get up from as anything else that a slice does.
#define LINKS_AT_ONCE 16

void charge_unit(struct broker *broker, unsigned *budget)
{
    size_t cost = 1 + broker_bill(broker) / LINKS_AT_ONCE;

    *budget -= cost < *budget ? (unsigned)cost : *budget;
}

size_t broker_bill(struct broker *broker)
{
    size_t bill = broker->bill;

    broker->bill = 0;
    return bill;
}

void broker_encoded(struct broker *broker, size_t len)
{
    broker->encoded += len;
}

void charge_bytes(struct broker *broker, unsigned *budget)
{
    size_t cost = broker->encoded / ENCODED_AT_ONCE;

    if (cost > 0) {
        cost = cost < *budget ? cost : *budget;
        broker->encoded -= cost * ENCODED_AT_ONCE;
        *budget -= (unsigned)cost;
    }
}
