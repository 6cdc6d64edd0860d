/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_IMPORT_H
#define TANDEM_CORE_IMPORT_H

// Import: jobs from another broker, or from an earlier export of this one, with their states,
// counters, ages and, if wanted, their ids.

#include "core/base/macros.h"
#include "core/record.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

// The highest id that an import may give. Ids have 48 bits, in a store, too; later ids follow it.
#define IMPORT_ID_MAX (UINT64_C(1) << 47)

struct imported {
    uint64_t id;
    bool joined; // a live job has the key already: `id` is that job's, and nothing was imported
};

// Imports the job that the image describes, durable, and records it. The image is as for
// broker_restore_job(), but: an id of 0 means the next one; `now.burial` is ignored, the job is
// buried behind all buried jobs; `now.keyed` is ignored, a job that has a key and is not buried
// holds it, or joins the live job that does; a queue that is made here is removed when it is idle,
// unless `queue_kept`. A delay ends at `now.due_at` by the wall clock, whatever its length.
//
// A given id must not be in use (STATUS_IN_USE), and the caller ensures that no other job ever had
// it. Jobs of equal priority stand in the order of their import; after a restart in that of their
// ids.
//
// `by` is the session that imports: it must have the right to submit to the queue, whose limits
// apply, and whose policy may make the body the key of a job without one. NULL is the host itself,
// to which no limit and no policy of a queue applies. STATUS_BAD_NAME and STATUS_TOO_LARGE if no
// job can be like that, and all answers of broker_submit(); nothing has changed then. Output that
// depends on the job waits for broker_position().
enum status broker_import(struct broker *broker, const struct job_image *image, struct session *by,
                          struct imported *imported) MUST_USE;

#endif
