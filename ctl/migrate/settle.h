/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_SETTLE_H
#define TANDEM_CTL_MIGRATE_SETTLE_H

// Moves a batch: puts it at the target, then deletes it at the source. Each step is in the state
// file before the next one.

#include "ctl/migrate/inside.h"

// False with a problem; the state file then has the unfinished batch.
bool settle_batch(struct migration *migration);

// The steps behind the puts, for a batch that another run has left: jobs that have a copy are
// deleted, copies of those that the source does not give away are taken back and the others begin,
// and all is counted.
bool settle_deletions(struct migration *migration);
bool settle_copies(struct migration *migration);
void settle_count(struct migration *migration);

#endif
