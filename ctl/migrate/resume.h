/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_RESUME_H
#define TANDEM_CTL_MIGRATE_RESUME_H

// What a run that was killed has left under way.
//
// Where a server has been started anew since, or another one stands at its address, it may have
// given the ids to others. Then a job is deleted at the source only where it is known again
// (identity.h); another one that has its number is left, and told. A copy of which the target, too,
// has not the same any more, from before its process began, counts for nothing: the job is moved
// again, and told.
//
// A job whose put was acknowledged is deleted at the source now. Where a worker has it there, it is
// a duplicate; where it has gone, that run had deleted it, or a worker has since. A job whose put
// was not acknowledged may stand at the target: it is moved again, and told. To find its copy's id,
// jobs of the target that are newer than the last known one are compared with it; no job is deleted
// for being alike, as clients may put equal jobs, but for the hidden copies of buried ones.

#include "ctl/migrate/inside.h"

// Settles the batch that was under way, as the state file has it. False with a problem.
bool resume(struct migration *migration, struct load *left);

#endif
