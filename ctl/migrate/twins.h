/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TWINS_H
#define TANDEM_CTL_MIGRATE_TWINS_H

// Jobs of the target that are as jobs of the source whose put was not acknowledged: copies, in all
// likelihood.

#include "ctl/migrate/inside.h"

// Looks for them among the jobs of the target that are newer than the last one known. An item that
// has one gets its id; the hidden copy of a buried one is deleted, and the item is `back`. False
// with a problem.
bool twins_find(struct migration *migration, struct load *unknown);

#endif
