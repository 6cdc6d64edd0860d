/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SIGHT_CONNS_H
#define TANDEM_SERVER_SIGHT_CONNS_H

// What operators are shown of connections (proto_common/sight.h).

#include "proto_common/sight.h"
#include "server/turn.h"

// The first whose number is above `*after`, which becomes its number; false: there is none.
bool sight_conns_next(const struct turn *turn, uint64_t *after,
                      struct sight_connection *connection);

// The one of that number; false: there is none.
bool sight_conns_find(const struct turn *turn, uint64_t number,
                      struct sight_connection *connection);

// The number of the one that has that session; 0: none has.
uint64_t sight_conns_of(const struct turn *turn, const struct session *session);

#endif
