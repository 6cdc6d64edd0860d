/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_EVENTS_EVENT_STREAM_H
#define TANDEM_ADMIN_EVENTS_EVENT_STREAM_H

// GET /api/v1/events: streams of changes as server-sent events, so that a page need not poll.
//
// A stream polls its sources (event_source.h) once a second and sends documents that have changed.
// So it costs nothing while no stream is open, and its cost does not depend on the number of
// changes. The work is done in slices, in turns of its connection, and a round of many slices is
// followed by a longer pause. While the client has not read the last output, nothing is made for
// it; it loses nothing, because each event contains the complete state.

#include "admin/request/route.h"

// Maximum number of open streams; further requests get 503.
#define EVENTS_STREAMS 32

extern const struct admin_route event_routes[];

#endif
