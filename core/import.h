/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_IMPORT_H
#define TANDEM_CORE_IMPORT_H

// Jobs that come from another broker, or from another time of this one: with their state, counters,
// age and, where that is wanted, their ids.

#include "core/base/macros.h"
#include "core/record.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

// The highest id that can be given. A job's id has 48 bits, in a store, too; others come after it.
#define IMPORT_ID_MAX (UINT64_C(1) << 47)

struct imported {
    uint64_t id;
    bool joined; // a live job has the key already: that is the id, and nothing was brought in
};

// Brings in the job as the image has it, durable, and records it. The image is as for
// broker_restore_job(), with these differences: an id of 0 asks for the next one; `now.burial` is
// not looked at, the job is buried behind all that are; `now.keyed` is not looked at either: a job
// that has a key and is not buried holds it, or joins the live job that does; a queue that is made
// here goes when it is idle, unless `queue_kept`. A delay lasts until `now.due_at` by the wall
// clock, however long it was to last in all.
//
// An id that is given: no job may have it (STATUS_IN_USE), and the caller sees to it that no other
// job ever had it. Among equals the jobs stand in the order in which they are brought in; after a
// restart in the order of their ids.
//
// `by` is who brings it in: it must be allowed to submit to the queue, whose limits hold, and whose
// policy may make the body the key of a job that has none. NULL is the host itself, whom no limit
// and no policy of a queue concerns. STATUS_BAD_NAME and STATUS_TOO_LARGE where no
// job can be like that, and all that broker_submit() may answer; nothing is changed then. What is
// to depend on it waits for broker_position().
enum status broker_import(struct broker *broker, const struct job_image *image, struct session *by,
                          struct imported *imported) MUST_USE;

#endif
