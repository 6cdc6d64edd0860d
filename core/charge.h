/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CHARGE_H
#define TANDEM_CORE_CHARGE_H

// Private to the core: what work costs.
//
// A verb, a tick or a settle has a budget of BROKER_SLICE units for each kind of work, and stops
// when it is spent, so that others have their turn. Each thing that is handled costs one unit. Some
// things cost more, which is known only after they were done; what they cost is noted in the broker
// at once and taken off a budget at the next opportunity:
//   links  queues and subscriptions that were looked at: by a search among many queues, or by a
//          session that begins or stops to wait on many. 16 of them are a unit of a slice; for a
//          front-end, which counts commands, LINKS_PER_COMMAND of them are one command
//          (broker_budget_remaining()).
//   bytes  that callbacks of a settle have made. ENCODED_AT_ONCE of them are a unit.
// A budget ends at 0 and never below: of links what goes beyond it is forgotten, of bytes it is
// still owed.

#include "core/broker_private.h"

// So many links cost as much as anything else that a slice handles.
#define LINKS_AT_ONCE 16
// What a slice handles of them, where it handles nothing else.
#define LINKS_IN_SLICE (BROKER_SLICE * LINKS_AT_ONCE)

// So many queues and subscriptions were looked at.
static inline void charge_links(struct broker *broker, size_t links)
{
    broker->charge.links += links;
}

// A slice has handled one thing: takes it off the budget, with the links that were charged
// meanwhile.
void charge_pay_unit(struct broker *broker, unsigned *budget);

// Takes the bytes that tellings have made off the budget. What is more than that, or less than a
// unit, is still owed.
void charge_pay_bytes(struct broker *broker, unsigned *budget);

#endif
