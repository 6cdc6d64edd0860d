/* SPDX-License-Identifier: MIT */
#include "core/charge.h"

void charge_pay_unit(struct broker *broker, unsigned *budget)
{
    size_t cost = 1 + broker_take_links(broker) / LINKS_AT_ONCE;

    *budget -= cost < *budget ? (unsigned)cost : *budget;
}

size_t broker_take_links(struct broker *broker)
{
    size_t links = broker->charge.links;

    broker->charge.links = 0;
    return links;
}

void broker_charge_links(struct broker *broker, size_t links)
{
    charge_links(broker, links);
}

void broker_charge_bytes(struct broker *broker, size_t len)
{
    broker->charge.bytes += len;
}

void charge_pay_bytes(struct broker *broker, unsigned *budget)
{
    size_t cost = broker->charge.bytes / ENCODED_AT_ONCE;

    if (cost > 0) {
        cost = cost < *budget ? cost : *budget;
        broker->charge.bytes -= cost * ENCODED_AT_ONCE;
        *budget -= (unsigned)cost;
    }
}
