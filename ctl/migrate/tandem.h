/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TANDEM_H
#define TANDEM_CTL_MIGRATE_TANDEM_H

// A Tandem as source or target, which is called by its API. Its jobs are listed with their
// versions, exported by their ids, and deleted if they are still as they were exported: no job is
// reserved, so no attempt is used. Jobs are imported with the name of the batch and their id at the
// source. A Tandem can be asked which jobs it has imported with a name, so that nothing has to be
// guessed when a run continues.

#include "ctl/migrate/migration_private.h"

// Sets an id of the process, which is the same for two of its addresses. False with a problem.
bool tandem_identify(struct client *client, char id[SERVER_ID_MAX + 1], struct problem *problem);

// A job in the list of the source.
struct listed {
    uint64_t id, burial, size;
    char state; // r, d, b; h: a worker holds it
    bool durable;
};

struct listing {
    struct listed *jobs; // in the order of a restart
    size_t count;
    size_t capacity; /* private */
};

// Lists all jobs of the tubes that are moved. False with a problem.
bool tandem_list(struct migration *migration, struct listing *listing);
void listing_free(struct listing *listing);

// Adds the jobs with these ids to the batch, in that order, except for those that do not exist or
// are held. False with a problem.
bool tandem_fetch(struct migration *migration, const uint64_t *ids, size_t count);

// Deletes the jobs of the batch that have a copy. A job that has changed since its export is
// `gone`; it is also `missing` if it does not exist. False with a problem.
bool tandem_delete(struct migration *migration);

// Imports the batch. If some jobs were refused for a temporary reason, the problem says so and
// `refused` is set; jobs that were refused permanently are noted. False with a problem.
bool tandem_import(struct migration *migration, bool *refused);
// Deletes copies of jobs that are `gone` at the source; a copy that no worker has had is `back`.
bool tandem_take_back(struct migration *migration);
// Makes the copies ready that were held back, and ends the record of the batch.
bool tandem_confirm(struct migration *migration);
// Makes the target refuse further imports of the batch, and sets the ids of the copies it has.
bool tandem_end_import(struct migration *migration, struct job_batch *unfinished);

// Reads the properties of an item from its line, which is replaced by its body. False: the name of
// its queue is not valid for a tube, or the line is not a job.
bool tandem_open_line(struct migration *migration, struct item *item);

#endif
