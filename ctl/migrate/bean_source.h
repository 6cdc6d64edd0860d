/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_BEAN_SOURCE_H
#define TANDEM_CTL_MIGRATE_BEAN_SOURCE_H

// The jobs of a source that speaks beanstalk.
//
// Ready jobs are reserved, so that no worker of the source gets them. If this process or the
// connection ends, the source makes them ready again.
//
// Delayed and buried jobs are peeked at, and stay unchanged at the source until they are deleted.
// The protocol shows only the first job of each tube. For delayed jobs, which are in the order of
// their times, stats-job is also asked for ids near the id of the first one: jobs that were put
// together are moved together. Buried jobs are moved one of each tube at a time, in the order in
// which they were buried.

#include "ctl/migrate/migration_private.h"

// Adds ready jobs to the empty batch, of tubes from index `*next` on, and advances `*next`. The
// batch stays empty if there are none. False with a problem.
bool source_reserve_ready(struct migration *migration, size_t *next);

// Called before a put: if half of the shortest TTR has passed, touches all jobs. Jobs whose lease
// has ended leave the batch. False with a problem.
bool source_extend_leases(struct migration *migration);

// Add delayed or buried jobs to the empty batch, which stays empty if none can be moved. False with
// a problem.
bool source_peek_delayed(struct migration *migration);
bool source_peek_buried(struct migration *migration);

// Deletes the jobs whose put was acknowledged. A job that a worker of the source has got meanwhile
// is `gone`. False with a problem.
bool source_delete_originals(struct migration *migration);

#endif
