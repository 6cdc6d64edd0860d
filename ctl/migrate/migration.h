/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_MIGRATION_H
#define TANDEM_CTL_MIGRATE_MIGRATION_H

// Moves all jobs of a server (the source) to another one (the target), while clients of both
// continue. Each server is a Tandem, called by its API, or a beanstalkd, by its protocol. A job is
// put at the target, and deleted at the source when the put is acknowledged. The unfinished batch
// is in a state file (state.h): if any of the three processes is killed, no job is lost, and the
// next run knows which jobs may be on both servers.
//
// No job changes at the source before it is deleted there. A Tandem deletes a job if it is still as
// it was exported and no worker holds it; until then the copy of a ready job is held back. Ready
// jobs of a beanstalkd are reserved; if this process dies, the server makes them ready again. Its
// delayed and buried jobs are only peeked at: reserved ones would become ready if this process
// died. A worker of the source may get a job first; then it cannot be deleted, and its copy, which
// no worker can have had yet, is deleted again.
//
// A Tandem as the target remembers the jobs that were imported with the name of a batch (tandem.h):
// when an interrupted run continues, no job is in doubt.

#include "ctl/api/client.h"
#include "ctl/beanstalk/remote.h"

#include <stdbool.h>
#include <stdint.h>

struct migration_settings {
    const struct remote_address *from, *to; // by beanstalk; NULL: a Tandem
    struct client *from_api, *to_api;       // Tandems; NULL: by beanstalk
    const char *tubes;                      // a glob; NULL: all
    const char *state;                      // a file; NULL: named after both addresses
    double timeout;                         // seconds for an answer
    uint64_t ttr;                           // seconds for jobs that have none
    bool wait;                              // until no job of the source is held by a worker
    bool follow;                            // until a signal
};

// Prints what it does. The problem says what is left, and why.
enum outcome migration_run(const struct migration_settings *settings, struct problem *problem);

#endif
