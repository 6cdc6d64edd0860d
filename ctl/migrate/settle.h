/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_SETTLE_H
#define TANDEM_CTL_MIGRATE_SETTLE_H

// A batch on its way: put at the target, deleted at the source, and each step in the state file
// before the next one.

#include "ctl/migrate/inside.h"

// False with a problem; what is under way stands in the state file then.
bool settle_batch(struct migration *migration);

#endif
