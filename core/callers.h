/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_CALLERS_H
#define TANDEM_CORE_CALLERS_H

// The caller of a session: what it may do. Each verb asks that itself, and answers
// STATUS_FORBIDDEN. Looking (look.h) does not: who shows what it has found asks here first.

#include "core/base/slice.h"
#include "core/grants.h"
#include "core/types.h"

#include <stdbool.h>

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
