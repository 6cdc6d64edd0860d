/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TARGET_H
#define TANDEM_CTL_MIGRATE_TARGET_H

// The jobs of a batch at the target. A buried one is put with a delay of decades, reserved by its
// number and buried: no worker can get it in between.

#include "ctl/migrate/inside.h"

// Asks what the target can do.
bool target_ask(struct migration *migration);

// Puts all; those that are acknowledged have an id then. Where some were refused, the problem says
// so, and `refused` is set; copies that were buried for want of memory are deleted again. False:
// the connection is of no use any more.
bool target_put(struct migration *migration, bool *refused);
// Buries those of that kind. One that has gone meanwhile has no id any more.
bool target_bury(struct migration *migration);
// Deletes the copies of those that the source does not give away.
bool target_take_back(struct migration *migration);
// Copies of a Tandem's ready jobs are delayed until the source has deleted them: they are ready
// now. Where this process ends before, they are ready by themselves.
bool target_begin(struct migration *migration);

// How long a job that is to be buried is delayed, in seconds.
#define HIDDEN_FOR 2147483647U
// How long the copy of a ready job is delayed at most.
#define STAGED_FOR 30U

#endif
