/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_LINK_LIFE_H
#define TANDEM_SERVER_IO_LINK_LIFE_H

// A link in its I/O thread, from the first order to the last news: what it is watched for, what it
// is ordered, and how it ends. Called by its thread only.

#include "server/io/link.h"

// A connection that this thread has accepted, or whose handshake it has made, begins.
void link_open(struct link *link);

// Does what the core's thread has ordered; `room` belongs to ORDER_READ_ON. The link may be gone
// afterwards.
void link_obey(struct link *link, unsigned orders, uint32_t room, struct slice bytes);

// Does what could not be done in an earlier round.
void link_go_on(struct link *link);

// Its peer has taken nothing for too long: the core is told, unless it has closed the link already.
void link_give_up(struct link *link);

// Ends it at once.
void link_drop(struct link *link);

#endif
