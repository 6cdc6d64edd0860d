/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_CLOSING_H
#define TANDEM_SERVER_IO_CLOSING_H

// Links that the core has closed while something was on its way to their peers. The kernel does as
// much for a socket that is closed; a link keeps a descriptor, so that a peer which takes nothing
// for too long is dropped. Called by the I/O thread.

#include "server/io/thread.h"

// The link is closed when what is on its way has left.
void closing_begin(struct link *link);

// It is one no more.
void closing_end(struct link *link);

// Has the thread look at them in a while, if there are any.
void closing_look_again(struct io_thread *thread);

#endif
