/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_STATE_H
#define TANDEM_CTL_MIGRATE_STATE_H

// What a migration has under way, in a file of lines that is synced at each step:
//
//   tandem-migration 3        then   from ADDRESS   and   to ADDRESS
//   batch NAME                a random name of the batch that is about to be put: a Tandem
//                             remembers its jobs under it (admin/source_memo.h)
//   servers ID ID             which processes the two servers are, as they say
//   i ID HASH SECOND KIND ... the batch that is about to be put (identity.h), then `intended N`
//   a ID ID ...               puts that were acknowledged; `acknowledged N` behind them
//   done N N N N N N          nothing of the batch is under way; sums since the beginning
//
// A line that has no end was being written when the process died, and does not count. Where there
// is an `intended` without `done`, the jobs of that batch that have an `a` stand at the target, and
// may be deleted at the source already. Of the others a Tandem says whether it has them; of another
// target that is not known.

#include "ctl/migrate/inside.h"

struct state;

// Opens the file of these two servers, or makes it, and locks it. `left` is the batch that was
// under way, without bodies; the tally goes on. False with a problem.
bool state_open(struct state **state, struct migration *migration, struct load *left);
// Removes the file where nothing is under way.
void state_close(struct state *state);
// Whether something is; false for NULL.
bool state_open_end(const struct state *state);
const char *state_path(const struct state *state);

// The name of the batch that is put, or was under way.
const char *state_batch(const struct state *state);

// The largest id that the target has given; 0: none yet.
uint64_t state_last(const struct state *state);

// Each is synced; false with a problem.
bool state_intend(struct state *state, const struct load *batch);
bool state_acknowledge(struct state *state, const struct load *batch);
// Synced with what comes next.
bool state_done(struct state *state, const struct tally *tally);

#endif
