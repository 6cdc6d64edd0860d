/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_STATE_H
#define TANDEM_CTL_MIGRATE_STATE_H

// The unfinished batch of a migration, in a file of lines that is synced at each step:
//
//   tandem-migration 3        then   from ADDRESS   and   to ADDRESS
//   batch NAME                a random name of the batch that is about to be put: a Tandem
//                             remembers its jobs by this name (admin/api/source_memo.h)
//   servers ID ID             the ids of both server processes
//   i ID HASH SECOND KIND ... the jobs of the batch (identity.h), then `intended N`
//   a ID ID ...               acknowledged puts, then `acknowledged N`
//   done N N N N N N          the batch is finished; sums since the beginning
//
// A line without an end was being written when the process died, and does not count. If `intended`
// has no `done` after it, the jobs of that batch with an `a` are at the target, and may have been
// deleted at the source. For the other jobs, a Tandem says whether it has them; for another target,
// this is unknown.

#include "ctl/migrate/migration_private.h"

struct migration_state;

// Opens the file for these two servers, or creates it, and locks it. `unfinished` gets the
// unfinished batch without bodies, and the counts continue. False with a problem.
bool state_open(struct migration_state **state, struct migration *migration,
                struct job_batch *unfinished);
// Removes the file if no batch is unfinished.
void state_close(struct migration_state *state);
// Whether a batch is unfinished; false for NULL.
bool state_has_unfinished(const struct migration_state *state);
const char *state_path(const struct migration_state *state);

// The name of the current or unfinished batch.
const char *state_batch(const struct migration_state *state);

// The largest id that the target has given; 0: none.
uint64_t state_last(const struct migration_state *state);

// The first two are synced; the third is synced with the next step. False with a problem.
bool state_intend(struct migration_state *state, const struct job_batch *batch);
bool state_acknowledge(struct migration_state *state, const struct job_batch *batch);
bool state_done(struct migration_state *state, const struct migration_counts *counts);

#endif
