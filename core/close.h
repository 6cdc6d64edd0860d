/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CLOSE_H
#define TANDEM_CORE_CLOSE_H

// Private to the core: the end of a session. It is closed at once; what it held, watched and
// subscribed to is taken apart in slices.

#include "core/session_private.h"

// Takes watches, leases and subscriptions of a closed session apart, at most `*budget` of them, and
// frees it when nothing is left.
void session_dismantle(struct session *session, unsigned *budget);

#endif
