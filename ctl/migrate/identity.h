/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_IDENTITY_H
#define TANDEM_CTL_MIGRATE_IDENTITY_H

// Identifies a job when a run continues with another process of a server. The id is not enough: a
// server without a journal begins at 1 again after a restart, and another server may have the same
// address. So a job is identified by what no client can change: its tube and its body, as a hash,
// and the time at which it was put. Priority, delay and state may have changed since.

#include "ctl/migrate/migration_private.h"

// Computes the hash of each job of the batch, for the state file.
void identity_note(struct migration *migration);

// The latest second at which a job with these statistics can have been put.
uint64_t identity_put_by(struct slice stats);

enum job_identity {
    IDENTITY_MISSING, // no job has the id
    IDENTITY_SAME,    // the job itself
    IDENTITY_OTHER,   // another job
};

// Which job has the id of the item at the source, or of its copy at the target. False with a
// problem.
bool identity_check_source(struct migration *migration, const struct item *item,
                           enum job_identity *identity);
bool identity_check_target(struct migration *migration, const struct item *item,
                           enum job_identity *identity);

#endif
