/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_GRANTS_H
#define TANDEM_CORE_GRANTS_H

// Grants: the rights of a caller on queues. The host authenticates a caller and makes its grants
// (access/). Each verb that a session calls checks them, and answers STATUS_FORBIDDEN; reading
// (job.h, queue.h, statistics.h) does not, so that a host checks before it shows what it has read.
//
// Grants add up: an act is allowed if one of them allows it. A caller without grants (NULL) may do
// everything, a caller with an empty list nothing. Grants do not change once they are made, and all
// sessions of callers with the same rights share them. They are counted by reference, in one
// thread.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>

enum right {
    MAY_SUBMIT = 1,     // submit jobs, or join them
    MAY_WORK = 2,       // subscribe, take jobs; a job that is held may always be finished
    MAY_OBSERVE = 4,    // see the queue, its jobs, and all that is known of them
    MAY_CANCEL = 8,     // cancel a job that is not held
    MAY_OPERATE = 16,   // cancel any job; kick, pause, limit, create and drop; includes MAY_CANCEL
    MAY_ADMINISTER = 32 // act on all queues at once, and on the process
};
#define MAY_EVERYTHING 63u

// Rights on all queues whose names match the glob (core/base/glob.h).
struct grant {
    unsigned rights; // enum right, one or more
    struct slice queues;
};

struct grants;

// A copy of the list, with one reference; NULL without memory.
struct grants *grants_new(const struct grant *list, size_t count) MUST_USE;

// NULL is allowed.
struct grants *grants_ref(struct grants *grants);
void grants_unref(struct grants *grants);

// True if there is a reference besides that of the caller. `grants` is not NULL.
bool grants_shared(const struct grants *grants);

// True if both have the same rights on the same globs, in the same order, or both are NULL.
bool grants_same(const struct grants *a, const struct grants *b);

// True if they include that right on the queue of that name. `looked` becomes the number of globs
// that the name was compared with. `grants` is not NULL.
bool grants_have(const struct grants *grants, enum right right, struct slice name, size_t *looked);

// All rights on at least one queue, and all rights on every queue.
unsigned grants_somewhere(const struct grants *grants);
unsigned grants_everywhere(const struct grants *grants);

//
// The grants of a session
//

enum grant_progress {
    GRANT_DONE,
    GRANT_LOST, // done; a subscription that had jobs to give before has none now
    GRANT_MORE  // there are more subscriptions to check: call again
};

// Sets the grants of the session's caller, and takes a reference. NULL, the default: everything is
// allowed. The caller may still finish the jobs that it holds, and is still told of the jobs that
// it watches. A subscription to a forbidden queue gives no jobs until the queue is allowed again.
//
// After GRANT_MORE the session calls no other verb, and this function is called with the same
// grants until it answers something else; with other grants it starts again. All verbs use the new
// grants at once. A session that waits meanwhile gets no job that the new grants forbid, and no job
// that the old ones forbade until its subscription has been checked.
enum grant_progress broker_session_grant(struct session *session, struct grants *grants);

// False if the session's caller may do everything.
bool session_has_grants(const struct session *session);

// The session's grants, borrowed; NULL: everything is allowed. Work that lasts longer than these
// may stay the same takes a reference.
struct grants *broker_session_grants(const struct session *session);

// True if the caller has that right on the queue, or on the queue of that name. A NULL session is
// the host itself, which may do everything.
bool session_may(const struct session *session, enum right right, const struct queue *queue);
bool session_may_by_name(const struct session *session, enum right right, struct slice name);

// True if it has the right on at least one queue, and on every queue.
bool session_may_somewhere(const struct session *session, enum right right);
bool session_may_everywhere(const struct session *session, enum right right);

#endif
