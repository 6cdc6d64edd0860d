/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_LINK_SOCKET_H
#define TANDEM_SERVER_IO_LINK_SOCKET_H

// What an I/O thread does with the socket of a link: it receives, sends, and tells the core's
// thread. Called by its thread only.

#include "server/io/link.h"

// Reads once and hands over what was read, where there may be something and the core has taken what
// it had.
void link_read(struct link *link);

// Sends the bytes behind those that are on their way; keeps what the peer does not take.
void link_send(struct link *link, struct slice bytes);

// Sends what was kept, while the fence is open. Where it is not, the thread comes back to the link
// when that is open again (link_go_on).
void link_send_backlog(struct link *link);

// The connection is lost by that error of errno.h.
void link_lose(struct link *link, int error);

// Tells the core's thread, in the next round where there is no batch to write to now.
void link_tell(struct link *link, unsigned news);

// Has the thread come back to it in its next round (link_go_on).
void link_wait(struct link *link);

#endif
