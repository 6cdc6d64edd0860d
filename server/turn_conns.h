/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TURN_CONNS_H
#define TANDEM_SERVER_TURN_CONNS_H

// Which connections a turn calls, and in which order. Those whose last feeds were dear are read and
// fed behind the others, and those with much to send send behind the others: so that who asks for
// little waits for one or two of them, and not for all. The ones cannot keep the others waiting,
// however many there are: each class has its own time in every turn, and one connection at least.
// In each, those come first that have waited for the longest.

#include "server/turn.h"

// Moves the connections that have been touched for the longest to `batch`, which has `count`
// already; returns how many there are then.
unsigned turn_take_touched(struct turn *turn, struct list_node *batch, unsigned count);

// Feeds those of the batch that can go on, each once, and then reads or feeds some that are dear:
// what comes up meanwhile waits for the next turn. So do those that there is no time for, which
// stay in `batch`; the others go to `ran`.
void turn_run(struct turn *turn, struct list_node *batch, struct list_node *ran);

// Sends what they have to say, and empties both. Those that the turn has no bytes or no time left
// for come first in the next one. Those that ran send first: the one that came first of all has
// been run and has sent then, however long either took, and it comes last in the next turn. So
// nobody is passed over for ever. Those that had no time to run come first.
void turn_finish(struct turn *turn, struct list_node *ran, struct list_node *batch);

#endif
