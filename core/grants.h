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

#endif
