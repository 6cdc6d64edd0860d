/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_WALK_H
#define TANDEM_CTL_MIGRATE_WALK_H

// Delayed and buried jobs are peeked at, and stay unchanged at the source until they are deleted.
// The protocol shows only the first job of each tube, until that job is deleted.
//
// Of delayed jobs, whose order is that of their moments, those with ids near the first one's are
// looked at, too, by stats-job: many are moved together where many were put together. Buried ones
// come one of a tube at a time, in the order in which they were buried.

#include "ctl/migrate/inside.h"

// Add such jobs to the empty batch, which stays empty if none can be moved.
bool walk_delayed(struct migration *migration);
bool walk_buried(struct migration *migration);

#endif
