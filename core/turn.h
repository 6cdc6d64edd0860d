/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_TURN_H
#define TANDEM_CORE_TURN_H

// Private to the core: the slices of a turn that broker_free() needs, too.

#include "core/broker.h"

// Tells the watches of all jobs of the events that wait, in turn, at most `*budget` times.
void interest_tell_all(struct broker *broker, unsigned *budget);

// Removes at most `*budget` watches, leases and subscriptions of a closed session, and frees it
// when none is left.
void session_dismantle(struct session *session, unsigned *budget);

#endif
