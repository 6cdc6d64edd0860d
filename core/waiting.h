/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_WAITING_H
#define TANDEM_CORE_WAITING_H

// Private to the core: how a session begins and stops to wait. While it waits for a job, each of
// its subscriptions that is not barred stands in its queue's list `job_waits`, while it waits for a
// nudge, in the list `nudge_waits`. Each link that is made or undone is charged (charge.h).
//
// Where a session has more than LINKS_IN_SLICE subscriptions, one slice of the links is made at
// once and the others in the ticks that follow: as far as it is not linked yet, it waits behind
// those that are, and what is ready there comes to it when it is. When its wait is over, the links
// are undone in the ticks that follow, too. Until then the session is `unlinking`: a link that
// somebody comes across counts for nothing and is undone then. A session that begins another wait
// meanwhile has none of its links before all of those are gone. All links are charged when the wait
// begins, and none when it ends.

#include "core/session.h"

// The session waits from now on.
void session_begin_waiting(struct session *session, enum wait_state wait_state);

// Ends a wait, without a word. `until` and `margin_ms` stay, should it wait again.
void session_stop_waiting(struct session *session);

// The subscription waits along with its session, which waits, where that is not left to a slice.
void subscription_wait_along(struct subscription *subscription);

// Makes and undoes links of wide sessions: a slice.
void waiting_relink(struct broker *broker);

// The session has fewer subscriptions than before: where these are not too many any more, nothing
// is left to slices.
void waiting_review(struct session *session);

// The session closes: its links are undone as its subscriptions end.
void waiting_leave(struct session *session);

// A lease may get a limit when it is assigned, which is no moment to ask for memory. False without.
bool session_make_spare(struct session *session) MUST_USE;

#endif
