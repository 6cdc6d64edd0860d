/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONN_LINK_H
#define TANDEM_SERVER_CONN_LINK_H

// Connections whose sockets are an I/O thread's. To the rest of the connection that is one more
// transport; here it goes to the thread and comes back.

#include "server/io/io.h"

// What the I/O threads call; the context is the struct turn of the loop.
extern const struct io_host conn_io_host;

#endif
