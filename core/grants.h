/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_GRANTS_H
#define TANDEM_CORE_GRANTS_H

// What a caller may do, and to which queues. The host finds out who a caller is and makes its
// grants (access/); the broker asks them, at each verb that a session calls. Nobody else compares
// names.
//
// Grants add up: what one of them allows is allowed. Whoever has no grants at all (NULL) may do
// everything; whoever has an empty list, nothing. They do not change once they are made, and are
// shared by all sessions of callers that may do the same. One thread; references are counted.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>

enum right {
    MAY_SUBMIT = 1,     // submit jobs, or join them
    MAY_WORK = 2,       // subscribe, take jobs; what a session holds already it may always finish
    MAY_OBSERVE = 4,    // see that the queue and its jobs are there, and all that is known of them
    MAY_CANCEL = 8,     // take back a job that waits
    MAY_OPERATE = 16,   // do so with any job; kick, pause, limit, create and drop; MAY_CANCEL, too
    MAY_ADMINISTER = 32 // what concerns all queues at once, and the process
};
#define MAY_EVERYTHING 63u

// A right to whatever queues the glob matches (core/base/glob.h).
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

// Whether there is a reference beside that of who asks. `grants` is not NULL.
bool grants_shared(const struct grants *grants);

// Whether both give the same in the same words; whoever has none at all (NULL) is like another
// such.
bool grants_same(const struct grants *a, const struct grants *b);

// All rights that they give on a queue of that name. `grants` is not NULL.
unsigned grants_on(const struct grants *grants, struct slice name);

// Whether they give that right on a queue of that name; `looked` becomes how many globs the name
// was compared with to know. `grants` is not NULL.
bool grants_have(const struct grants *grants, enum right right, struct slice name, size_t *looked);

// All rights that they give on some queue, whichever; and those that they give on every queue.
unsigned grants_somewhere(const struct grants *grants);
unsigned grants_everywhere(const struct grants *grants);

// The caller of a session: what it may do. Each verb asks that itself, and answers
// STATUS_FORBIDDEN. Looking (job.h) does not: who shows what it has found asks here first.

enum grant_progress {
    GRANT_DONE,
    GRANT_LOST, // done; and a subscription gives nothing now that gave something before
    GRANT_MORE  // the subscriptions are judged in slices: call again
};

// What the session's caller may do from now on; a reference is taken. NULL, as at first:
// everything. What it holds it may still finish, and what it watches it is still told of; a
// subscription that it may not have gives it nothing, until it may again.
//
// After GRANT_MORE the session calls no other verb, and this one is called with the same grants
// until it answers something else; with other grants it starts over. All verbs go by the new grants
// at once. A session that waits meanwhile is given nothing that the new grants forbid, and nothing
// that those before forbade until the subscription has been judged.
enum grant_progress broker_session_grant(struct session *session, struct grants *grants);

// Whether grants say what the caller may do: there are rules. Otherwise it may do everything.
bool session_has_grants(const struct session *session);

// Its grants, for what goes on longer than they may stay as they are; borrowed. NULL: everything.
struct grants *broker_session_grants(const struct session *session);

// Whether the caller has that right to the queue, or to one of that name. NULL stands for the host
// itself, which may do everything.
bool session_may(const struct session *session, enum right right, const struct queue *queue);
bool session_may_by_name(const struct session *session, enum right right, struct slice name);

// Whether it has the right to some queue, whichever, and to all.
bool session_may_somewhere(const struct session *session, enum right right);
bool session_may_everywhere(const struct session *session, enum right right);

#endif
