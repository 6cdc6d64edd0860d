/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_MIGRATION_PRIVATE_H
#define TANDEM_CTL_MIGRATE_MIGRATION_PRIVATE_H

// The state of a migration, which all parts of it share.

#include "core/base/nsec.h"
#include "ctl/api/client.h"
#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/job_batch.h"
#include "ctl/migrate/migration.h"
#include "ctl/print/screen.h"

// Numbers of jobs by what became of them.
struct migration_counts {
    uint64_t moved;      // at the target, and no longer at the source
    uint64_t duplicates; // on both servers, or done by a worker of one and still on the other
    uint64_t doubtful;   // possibly on both servers
    uint64_t taken_back; // a worker of the source got the job first; the copy was deleted
    uint64_t no_ttr;     // jobs without a TTR, which got one
    uint64_t joined;     // moved jobs whose key a live job of the target had
    uint64_t keys;       // jobs whose key was lost, because tubes have no keys
    uint64_t lost;       // leases that ended before the put; these jobs are moved later
};

struct tubes;
struct migration_state;
struct unmoved_job;

#define SERVER_ID_MAX 64
// The largest body of a job; a server that says more is not believed.
#define JOB_SIZE_MOST (UINT64_C(1) << 30)

struct migration {
    const struct migration_settings *settings;
    struct problem *problem;
    struct screen screen;
    struct text out; // lines that are not printed yet
    const char *from_name, *to_name;
    struct remote *source, *target; // connections by beanstalk; NULL: the server is a Tandem
    struct client *source_api, *target_api; // connections to a Tandem; NULL: by beanstalk
    struct migration_state *state;
    char source_id[SERVER_ID_MAX + 1]; // identifies the process; empty: it does not say
    char target_id[SERVER_ID_MAX + 1];
    char source_id_before[SERVER_ID_MAX + 1]; // when the unfinished batch was put
    char target_id_before[SERVER_ID_MAX + 1];
    struct tubes *tubes;
    struct job_batch batch;
    struct migration_counts counts;
    uint64_t source_body_max;    // in bytes, as the source says
    uint64_t target_body_max;    // in bytes
    struct unmoved_job *unmoved; // jobs that cannot be moved, by id
    size_t unmoved_count, unmoved_capacity;
    size_t unmoved_held;   // of these, the number that the connection to the source has reserved
    bool refused;          // the target has refused a job for a temporary reason
    uint64_t held;         // jobs that workers of the source hold
    uint64_t foreground;   // jobs whose clients wait for them; these are not moved
    uint64_t total;        // approximate number of jobs to move in this pass
    uint64_t moved_before; // before this pass
    bool buries;           // the target can bury a job by its id: it knows reserve-job
    bool kicks;            // the target knows kick-job
    char watched[204];     // the tube that the connection to the source watches
    size_t want;           // jobs of the next batch
    uint64_t window;       // delayed jobs are searched in ranges of this number of ids
    nsec_t leased_at;      // before the jobs of the batch were reserved
    nsec_t began_at, said_at;
    bool stopped; // a signal has asked for the end
};

#endif
