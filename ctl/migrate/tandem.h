/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_TANDEM_H
#define TANDEM_CTL_MIGRATE_TANDEM_H

// The side of a migration that is a Tandem, spoken to by its API. Its jobs are listed with their
// versions, exported by their ids, and deleted on the condition that they are still as they were
// exported: no job is reserved, so no attempt is spent. Jobs are brought in under the name of the
// batch and their id at the source; what was brought in under it can be asked for, so nothing has
// to be guessed when a run goes on.

#include "ctl/migrate/inside.h"

// A word that is the same for two addresses of one process. False with a problem.
bool tandem_identify(struct client *client, char id[SERVER_ID_MAX + 1], struct problem *problem);

// What a list of the source's jobs says of one.
struct listed {
    uint64_t id, burial, size;
    char state; // r, d, b; h: a worker holds it
    bool durable;
};

struct listing {
    struct listed *jobs; // in the order in which a restart would have them
    size_t count;
    size_t capacity; /* private */
};

// All jobs of the tubes that are moved. False with a problem.
bool tandem_list(struct migration *migration, struct listing *listing);
void listing_free(struct listing *listing);

// Adds those jobs to the batch, in that order; those that are not there, and held ones, are not
// added. False with a problem.
bool tandem_fetch(struct migration *migration, const uint64_t *ids, size_t count);

// Deletes the jobs of the batch that have a copy. What is not as it was exported is `gone`;
// `missing` says of these whether it is not there any more. False with a problem.
bool tandem_delete(struct migration *migration);

// Brings in the batch. Where some are refused for now, the problem says so, and `refused` is set;
// those that are refused for good are noted. False with a problem.
bool tandem_import(struct migration *migration, bool *refused);
// Deletes copies of jobs that are `gone` at the source: `back`, where no worker has had them.
bool tandem_take_back(struct migration *migration);
// Begins the jobs that were held back, and forgets what is remembered of the batch.
bool tandem_confirm(struct migration *migration);
// No import of the batch is accepted any more; its items have the ids that the target knows.
bool tandem_end_import(struct migration *migration, struct load *left);

// Reads what else is to be known of an item out of its line, which becomes its body. False: no tube
// can have the name, or the line is none.
bool tandem_open_line(struct migration *migration, struct item *item);

#endif
