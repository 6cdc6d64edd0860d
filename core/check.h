/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CHECK_H
#define TANDEM_CORE_CHECK_H

// Walks the whole broker and compares what it finds with the counts and invariants that the
// headers state. For tests: the cost is everything there is.

struct broker;

// Where a count or an invariant does not hold, it says which line does not, and aborts.
void broker_check(const struct broker *broker);

#endif
