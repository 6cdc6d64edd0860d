/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_UNREAD_H
#define TANDEM_SERVER_IO_UNREAD_H

// Links with output that their peers have not taken. A connection knows how long its own output has
// waited; what it has handed over is the thread's, so that the thread sees to it that a peer which
// takes nothing for too long is dropped, be the connection open or closed. Called by the I/O
// thread.

#include "server/io/thread.h"

// How much waits in the link has changed.
void unread_note(struct link *link);

// Has the thread look at them in a while, if there are any.
void unread_look_again(struct io_thread *thread);

// Whether its peer has taken nothing for so long since it was first looked at. 0: it may.
bool unread_too_long(struct link *link, nsec_t now_at, nsec_t unread_for);

#endif
