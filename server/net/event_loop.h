/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_EVENT_LOOP_H
#define TANDEM_SERVER_NET_EVENT_LOOP_H

#include <event2/event.h>

// An event base for connections. They ask for edges and for the news that their peer has gone;
// without these they would be deaf, or turn for ever. What the library's variables in the
// environment (EVENT_NOEPOLL) would choose instead is not heard. NULL without memory, descriptors
// or what the system must have for it (Linux's epoll).
struct event_base *event_loop_new(void);

#endif
