/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TARGET_H
#define TANDEM_CTL_MIGRATE_TARGET_H

// A target that speaks beanstalk. The copy of a buried job is put with a delay of decades, reserved
// by its id and buried, so that no worker can get it in between.

#include "ctl/migrate/migration_private.h"

// The delay of a copy that will be buried, in seconds.
#define HIDDEN_FOR 2147483647U
// The maximum delay of the copy of a ready job, in seconds.
#define STAGED_FOR 30U

// Asks the target for its capabilities. This and the functions below return false with a problem;
// the connection cannot be used then.
bool target_ask(struct migration *migration);

// Puts the batch. Each job whose put is acknowledged has an id then. If some were refused, the
// problem says so and `refused` is set; copies that were buried for lack of memory are deleted.
bool target_put(struct migration *migration, bool *refused);
// Buries the copies of buried jobs. The id of a copy that does not exist is cleared.
bool target_bury(struct migration *migration);
// Deletes the copies of jobs that the source did not delete.
bool target_take_back(struct migration *migration);
// Makes the staged copies of a Tandem's ready jobs ready. If this process ends before, they become
// ready after STAGED_FOR.
bool target_begin(struct migration *migration);

#endif
