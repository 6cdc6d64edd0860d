/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_INSIDE_H
#define TANDEM_CTL_MIGRATE_INSIDE_H

// What the parts of a migration share.

#include "core/base/nsec.h"
#include "ctl/api/client.h"
#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/load.h"
#include "ctl/migrate/migration.h"
#include "ctl/print/screen.h"

// How many jobs met which fate.
struct tally {
    uint64_t moved;      // they are at the target, and no longer at the source
    uint64_t duplicates; // they stand on both sides, or were worked at one and stand at the other
    uint64_t doubtful;   // they may
    uint64_t taken_back; // workers of the source were faster; the copies are no more
    uint64_t no_ttr;     // they got one
    uint64_t joined;     // of the moved ones: the target had a live job of their key
    uint64_t keys;       // jobs that a tube has no place for the key of
    uint64_t lost;       // leases that ended before the put; such jobs come again
};

struct tubes;
struct state;
struct left_job;

#define SERVER_ID_MAX 64
// No server has larger bodies, whatever it says.
#define JOB_SIZE_MOST (UINT64_C(1) << 30)

struct migration {
    const struct migration_settings *settings;
    struct problem *problem;
    struct screen screen;
    struct text out; // lines that are not printed yet
    const char *from_name, *to_name;
    struct remote *source, *target;         // those that speak beanstalk; NULL otherwise
    struct client *source_api, *target_api; // those that are a Tandem
    struct state *state;
    char source_id[SERVER_ID_MAX + 1]; // which process it is; empty: it does not say
    char target_id[SERVER_ID_MAX + 1];
    char source_then[SERVER_ID_MAX + 1]; // when the batch that was left was put
    char target_then[SERVER_ID_MAX + 1];
    struct tubes *tubes;
    struct load batch;
    struct tally tally;
    uint64_t has_most;     // bytes of a body at the source, as it says
    uint64_t takes_most;   // bytes that the target takes
    struct left_job *left; // that cannot be moved, by their ids
    size_t left_count, left_capacity;
    size_t left_held;      // of those, how many the source's connection has reserved
    bool refused;          // the target has refused a job for now
    uint64_t held;         // jobs that workers of the source have
    uint64_t foreground;   // jobs whose clients wait for them, which no restart would find
    uint64_t total;        // jobs to be moved in this pass, about
    uint64_t moved_before; // before this pass
    bool buries;           // the target can have buried jobs: it knows reserve-job
    bool kicks;            // the target knows kick-job
    char watched[204];     // the tube that the source's connection watches
    size_t want;           // jobs of a batch
    uint64_t window;       // ids that are looked at together
    nsec_t leased_at;      // when the jobs of the batch were asked for
    nsec_t began_at, said_at;
    bool stopped; // a signal asks for an end
};

#endif
