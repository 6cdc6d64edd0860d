/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SUPPORT_BROKER_CHECK_H
#define TESTS_SUPPORT_BROKER_CHECK_H

// Walks the whole broker and compares its counters, lists, trees and indexes with the invariants
// that the headers of core/ state. The cost is linear in everything that the broker holds.

#include <stdbool.h>
#include <stdint.h>

struct broker;

// Aborts, and names the line of the check, where a counter or an invariant is wrong.
void broker_check(const struct broker *broker);

// The same, after a step of a test. With many jobs and queues, only after one step of several, so
// that the cost of a step does not grow with them.
void broker_check_step(const struct broker *broker);

// True if all queues have the policies that were set last.
bool check_policies_settled(const struct broker *broker);

// The number of removed queues that snapshots still contain.
uint64_t check_retained_queues(const struct broker *broker);

#endif
