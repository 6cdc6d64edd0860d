/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CHARGE_H
#define TANDEM_CORE_CHARGE_H

// Private to the core: the cost of work.
//
// A verb, a tick or a settle has a budget of BROKER_SLICE units for each kind of work, and stops
// when it is spent, so that other work has its turn. Each handled object costs one unit. Additional
// costs are known only after the work: they are counted in the broker at once and subtracted from
// the next budget:
//   links  queues and subscriptions that were looked at: by a search among many queues, or by a
//          session that begins or stops to wait on many. 16 of them are a unit of a slice; for a
//          front-end, which counts commands, LINKS_PER_COMMAND of them are one command
//          (broker_budget_remaining()).
//   bytes  that callbacks of a settle have encoded. ENCODED_AT_ONCE of them are a unit.
// A budget never falls below 0: links beyond it are forgotten, bytes are charged to the next one.

#include "core/broker_private.h"

// The links that cost one unit.
#define LINKS_AT_ONCE 16
// The links of a slice that handles nothing else.
#define LINKS_IN_SLICE (BROKER_SLICE * LINKS_AT_ONCE)

static inline void charge_links(struct broker *broker, size_t links)
{
    broker->charge.links += links;
}

// Subtracts one handled object from the budget, with the links charged meanwhile.
void charge_pay_unit(struct broker *broker, unsigned *budget);

// Subtracts the bytes encoded by callbacks from the budget. The rest, beyond the budget or less
// than a unit, stays charged.
void charge_pay_bytes(struct broker *broker, unsigned *budget);

#endif
