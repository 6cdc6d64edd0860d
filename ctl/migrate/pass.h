/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_PASS_H
#define TANDEM_CTL_MIGRATE_PASS_H

// One look at all tubes of the source, and the move of what can be had there.

#include "ctl/migrate/inside.h"

// False with a problem. Ends early where a signal asks for an end.
bool pass_run(struct migration *migration);
// Only counts what the source has, in every state.
bool pass_count(struct migration *migration);

#endif
