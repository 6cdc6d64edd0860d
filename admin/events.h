/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_EVENTS_H
#define TANDEM_ADMIN_EVENTS_H

// Streams of what changes, as server-sent events, so that a page need not ask again and again.
//
// A stream looks, rather than being told: once in a second it has its sources (event_source.h) make
// what they show, and sends what is not as it was. So it costs nothing where none is open, and as
// much, however much happens. The work is done in slices, in turns of its connection, and a round
// that needed many is followed by a longer rest. While the client does not take what it was sent,
// nothing is made for it; what it misses so it does not need, since each event has all of what it
// is about.

#include "admin/route.h"

// So many may be open at a time; more are refused, 503.
#define EVENTS_STREAMS 32

extern const struct admin_route events_routes[];

#endif
