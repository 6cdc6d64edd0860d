/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_LEASE_H
#define TANDEM_CORE_LEASE_H

// Private to the core: leases. A session holds a job until its time to run is over, counted from
// the last report, or until the limit of the subscription that it was taken by, whichever is first.

#include "core/session_private.h"

// Gives the job, a new one or one that is not held, to the session: RESERVED, with a lease. `by` is
// the subscription that it was taken by, NULL for none; the room for its limit is there.
void lease_begin(struct session *session, struct job *job, const struct subscription *by);

// The time to run of a job that the session holds starts anew; a limit that its subscription set
// does not.
void lease_renew(struct session *session, struct job *job);

// Does this to the leases of the session that end at that moment or before, one slice of them at a
// time, soonest first; one whose end is moved behind is met again. True: all have been met.
// False: to be called again, with the same, before anything else is done with the session's leases.
// (Without memory to note how far it got, it does all at once.)
typedef void (*lease_fn)(struct session *session, struct job *job,
                         const struct subscription *subscription);
bool session_walk_leases(struct session *session, nsec_t until, lease_fn act,
                         const struct subscription *subscription);

#endif
