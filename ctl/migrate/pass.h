/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_PASS_H
#define TANDEM_CTL_MIGRATE_PASS_H

// One pass over all jobs of the source that are available, batch by batch. A batch is put at the
// target, then deleted at the source; each step is in the state file before the next one begins.

#include "ctl/migrate/migration_private.h"

// False with a problem. Ends early after a signal.
bool pass_run(struct migration *migration);
// Counts the jobs of the source in every state, and moves none.
bool pass_count(struct migration *migration);

// The steps after the puts, also for a batch that another run has left unfinished. The first
// deletes the jobs that have a copy. The second deletes the copies of jobs that the source did not
// delete, and makes the others ready. The third counts the batch, and reports duplicates.
bool migrate_delete_originals(struct migration *migration);
bool migrate_release_copies(struct migration *migration);
void migrate_count_batch(struct migration *migration);

#endif
