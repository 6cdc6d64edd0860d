/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_ROSTER_H
#define TANDEM_SERVER_ROSTER_H

// All connections of a turn, by number, which is the order in which they came. One is found, comes
// and goes in as many steps as a tree of them is deep.

#include "server/turn.h"

struct conn;

// The connection is new, and has its number; or it is about to be freed.
void roster_add(struct conn *conn);
void roster_remove(struct conn *conn);

// The one that has been connected longest, and the one that came next; NULL: there is none.
struct conn *roster_first(const struct turn *turn);
struct conn *roster_next(const struct conn *conn);

// The first whose number is above that; NULL: there is none.
struct conn *roster_after(const struct turn *turn, uint64_t number);

// The one of that number; NULL: there is none.
struct conn *roster_find(const struct turn *turn, uint64_t number);

// The one that has that session; NULL: none has. Each connection opens a session when it begins, so
// that sessions are in the order of connections.
struct conn *roster_find_session(const struct turn *turn, const struct session *session);

// The next one of a walk; NULL: there is none, and the walk rests.
struct conn *roster_walk(struct turn *turn, enum turn_walk walk);

// The walk comes to that connection once more.
void roster_walk_back(struct conn *conn, enum turn_walk walk);

#endif
