/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_MIGRATION_H
#define TANDEM_CTL_MIGRATE_MIGRATION_H

// All jobs of a server (the source), moved to another (the target), while clients of both go on.
// Each is a Tandem, spoken to by its API, or a beanstalkd, by its protocol. Each job is put on the
// target, and when that is acknowledged, deleted at the source; what is under way stands in a state
// file, so that whichever of the three processes is killed, no job is lost, and the next run knows
// which may stand on both sides (state.h).
//
// No job changes at the source before it is deleted there. A Tandem deletes it on the condition
// that it is as it was exported, and held by no worker; until then the copy of a ready job waits. A
// beanstalkd's ready jobs are reserved meanwhile; if this process dies, the server gives them back.
// Its delayed and buried ones are only looked at: to reserve them would make them ready where this
// process dies. A worker at the source may get a job first; then it cannot be deleted, and its
// copy, which no worker could have had yet, is taken back.
//
// A Tandem as the target remembers what was brought in under the name of a batch (tandem.h): when
// an interrupted run goes on, no job is in doubt.

#include "ctl/api/client.h"
#include "ctl/beanstalk/remote.h"

#include <stdbool.h>
#include <stdint.h>

struct migration_settings {
    const struct remote_address *from, *to; // those that speak beanstalk; NULL otherwise
    struct client *from_api, *to_api;       // those that are a Tandem; NULL otherwise
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
