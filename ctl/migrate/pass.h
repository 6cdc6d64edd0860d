/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_PASS_H
#define TANDEM_CTL_MIGRATE_PASS_H

// One pass over all tubes of the source, which moves the jobs that are available.

#include "ctl/migrate/inside.h"

// False with a problem. Ends early after a signal.
bool pass_run(struct migration *migration);
// Counts the jobs of the source in every state, and moves none.
bool pass_count(struct migration *migration);

#endif
