/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SUPPORT_BROKER_CHECK_H
#define TESTS_SUPPORT_BROKER_CHECK_H

// Walks the whole broker and compares its counters, lists, trees and indexes with the invariants
// that the headers of core/ state. The cost is linear in everything that the broker holds.

struct broker;

// Aborts, and names the line of the check, where a counter or an invariant is wrong.
void broker_check(const struct broker *broker);

#endif
