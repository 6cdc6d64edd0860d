/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TARGET_H
#define TANDEM_CTL_MIGRATE_TARGET_H

// The jobs of a batch at the target. A buried one is put with a delay of decades, reserved by its
// number and buried: no worker can get it in between.

#include "ctl/migrate/inside.h"

// Asks the target for its capabilities.
bool target_ask(struct migration *migration);

// Puts all; those that are acknowledged have an id then. Where some were refused, the problem says
// so, and `refused` is set; copies that were buried for want of memory are deleted again. False:
// the connection is of no use any more.
bool target_put(struct migration *migration, bool *refused);
// Buries the jobs of that kind. The id of a job that is gone is cleared.
bool target_bury(struct migration *migration);
// Deletes the copies of jobs that the source did not delete.
bool target_take_back(struct migration *migration);
// Copies of a Tandem's ready jobs are delayed until the source has deleted them: they are ready
// now. Where this process ends before, they are ready by themselves.
bool target_begin(struct migration *migration);

// The delay of a job that is going to be buried, in seconds.
#define HIDDEN_FOR 2147483647U
// The longest delay of the copy of a ready job, in seconds.
#define STAGED_FOR 30U

#endif
