/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CHECK_H
#define TANDEM_CORE_CHECK_H

// Walks the whole broker and compares what it finds with the counts and invariants that the
// headers state. For tests: the cost is everything there is.

struct broker;

// Does not return where the books do not balance: it says which line does not hold, and aborts.
void broker_check(const struct broker *broker);

#endif
