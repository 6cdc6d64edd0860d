/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_LISTS_H
#define TANDEM_SERVER_CONN_LISTS_H

// Private to connections: where one waits, which is one of the lists of its turn (turn.h).

#include <stdbool.h>

struct conn;

// Has the connection looked at when the turn ends.
void conn_touch(struct conn *conn);

// Has it read or fed in a turn, and looked at when that ends: where it is dear, it waits for the
// others.
void conn_await_turn(struct conn *conn);

// It was fed, or has received much: whether that was dear.
void conn_rate(struct conn *conn, bool dear);

// At the end of a turn, puts the connection where it waits until it is touched again: among those
// that are read or fed in the next turn, or in the list of those that wait for the store.
void conn_park(struct conn *conn);

#endif
