/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_IDENTITY_H
#define TANDEM_CTL_MIGRATE_IDENTITY_H

// By what a job is known again when a run goes on beside another process of a server. Its number
// alone does not do: a server without a journal begins at 1 again when it is started anew, and
// another one may be reached at the same address. What no client can change of a job does: its tube
// and its body, as a hash, and the moment at which it was put. Priority, delay and state may have
// changed since.

#include "ctl/migrate/inside.h"

// Notes of each job of the batch what the state file is to have.
void identity_note(struct migration *migration);

// The latest second at which a job can have been put that has these statistics now.
uint64_t identity_put_by(struct slice stats);

enum seen {
    SEEN_NONE,  // no job has the number
    SEEN_SAME,  // the job
    SEEN_OTHER, // another one
};

// What has the number of the item, or of its copy, at its server. False with a problem.
bool identity_see_source(struct migration *migration, const struct item *item, enum seen *seen);
bool identity_see_target(struct migration *migration, const struct item *item, enum seen *seen);

#endif
