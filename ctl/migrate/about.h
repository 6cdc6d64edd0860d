/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_ABOUT_H
#define TANDEM_CTL_MIGRATE_ABOUT_H

// What is to be known of jobs beside their bodies, from their statistics.

#include "ctl/migrate/inside.h"

// Asks the source about all jobs of the batch. Those that are not there any more, or not in the
// state in which they are moved, leave it, and so do those of tubes that are not moved.
bool about_ask(struct migration *migration);

#endif
