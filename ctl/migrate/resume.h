/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_RESUME_H
#define TANDEM_CTL_MIGRATE_RESUME_H

// Finishes the batch that a killed run has left unfinished.
//
// If a server was restarted since, or another server has its address, other jobs may have the ids.
// A job at the source is then deleted only if it is identified (identity.h); another job with its
// id is left alone, and reported. If the target does not have the copy any more, or has one from
// before its process began, the job is moved again, and reported.
//
// A job whose put was acknowledged is now deleted at the source. If a worker holds it there, it is
// a duplicate. If it does not exist, the killed run had deleted it, or a worker has done so since.
//
// A job whose put was not acknowledged may be at the target. It is moved again, and reported. To
// find the id of its copy, jobs of the target that are newer than the last known one are compared
// with it. No job is deleted because it is equal, since clients may put equal jobs, except for the
// hidden copies of buried jobs.

#include "ctl/migrate/migration_private.h"

// `unfinished` is the batch from the state file. False with a problem.
bool migration_resume(struct migration *migration, struct job_batch *unfinished);

#endif
