/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_LEASE_H
#define TANDEM_CTL_MIGRATE_LEASE_H

// Ready jobs are reserved, so that no worker of the source gets them. If this process or the
// connection ends, the source makes them ready again.

#include "ctl/migrate/inside.h"

// Adds ready jobs to the empty batch, of tubes from *next on, which goes on with them. The batch
// stays empty if there are none.
bool lease_take(struct migration *migration, size_t *next);

// To be called before a put that follows: where half of the shortest ttr has passed, all begin
// theirs anew, and those that were lost by then leave the batch.
bool lease_keep(struct migration *migration);

#endif
