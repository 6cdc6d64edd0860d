/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_ABOUT_H
#define TANDEM_CTL_MIGRATE_ABOUT_H

// The properties of jobs other than their bodies, from stats-job.

#include "ctl/migrate/inside.h"

// Asks the source about all jobs of the batch. Jobs that are gone, that changed their state, or
// whose tube is not moved leave the batch.
bool about_ask(struct migration *migration);

#endif
