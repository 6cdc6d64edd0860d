/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_IMAGE_H
#define TANDEM_CORE_IMAGE_H

// Private to the core: jobs made from images, which a store gives back or an import brings.

#include "core/broker_private.h"
#include "core/job_state.h"
#include "core/record.h"
#include "core/status.h"

// Whether a job can be in that state; whether it can be that dead letter.
bool image_possible_change(const struct job_change *change);
bool image_possible_dead_letter(const struct dead_letter *letter);
// STATUS_BAD_NAME, STATUS_TOO_LARGE: no job can be like that.
enum status image_check(const struct job_image *image);

// The monotonic moment for the end of a delay or pause that is to last until `at` by the wall
// clock. The wall clock may have been ahead when `at` was written, or be behind now: from now on
// the delay lasts no longer than `most_for`, its whole length.
nsec_t image_on_mono_clock(const struct broker *broker, nsec_t at, nsec_t most_for);
// The place of a job that is in that state. Burials that are given out later are above that of a
// buried job.
struct job_place image_place(struct broker *broker, const struct job_change *change);
// Makes the job that dead letter, or, for DEAD_NOT, none. False without memory.
bool image_set_dead_letter(struct broker *broker, struct job *job,
                           const struct dead_letter *letter);
// Sets the counters of the job. False without memory: some of them may not be set then.
bool image_set_counters(struct broker *broker, struct job *job,
                        const struct job_counters *counters);
// The job, durable, in no container and no index yet; NULL without memory.
struct job *image_job_new(struct broker *broker, struct queue *queue,
                          const struct job_image *image);

#endif
