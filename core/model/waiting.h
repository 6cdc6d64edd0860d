/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_MODEL_WAITING_H
#define TANDEM_CORE_MODEL_WAITING_H

// Private to the core: how a session begins and stops to wait. While it waits for a job, each of
// its subscriptions that is not barred stands in its queue's list `job_waits`, while it waits for a
// nudge, in the list `nudge_waits`. Each link that is made or undone is charged (charge.h).

#include "core/model/session.h"

// The session waits from now on.
void session_begin_waiting(struct session *session, enum wait_state wait_state);

// Ends a wait, without a word. `until` and `margin_ms` stay, should it wait again.
void session_stop_waiting(struct session *session);

// A lease may get a limit when it is assigned, which is no moment to ask for memory. False without.
bool session_make_spare(struct session *session) MUST_USE;

#endif
