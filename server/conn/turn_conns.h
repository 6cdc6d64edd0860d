/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_TURN_CONNS_H
#define TANDEM_SERVER_CONN_TURN_CONNS_H

// Which connections a turn calls, and in which order. Expensive connections are read and fed after
// the others, and bulky ones send after the others, so that a client with a small request waits for
// one or two of them and not for all. Neither class can starve the other: each has its own time in
// every turn, and at least one connection. Within a class, the connection that has waited longest
// comes first.

#include "server/conn/turn.h"

// Moves the connections that have been touched for longest to `batch`, which has `count` already;
// returns its new count.
unsigned turn_take_touched(struct turn *turn, struct list_node *batch, unsigned count);

// Feeds the connections of the batch that can go on, each once; then reads or feeds some expensive
// ones. Moves them to `ran`; those for which there is no time stay in `batch`.
void turn_run(struct turn *turn, struct list_node *batch, struct list_node *ran);

// Finishes the connections of both lists, which are empty then, within the budget; the others come
// first in the next turn. Those that ran are finished first. So the connection that came first of
// all was run and finished, however long either took, and comes last in the next turn: no
// connection is passed over for ever. In the next turn, those that had no time to run come first.
void turn_finish(struct turn *turn, struct list_node *ran, struct list_node *batch);

#endif
