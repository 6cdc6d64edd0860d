/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_IMAGE_H
#define TANDEM_CORE_IMAGE_H

// Private to the core: jobs made of images, whether a store gives them back or they come from
// elsewhere.

#include "core/broker_private.h"
#include "core/job_state.h"
#include "core/job_private.h"
#include "core/record.h"
#include "core/status.h"

// Whether a job could be in that state; have that past.
bool image_possible_change(const struct job_change *change);
bool image_possible_past(const struct dead_letter *past);
// Whether a job could be like that: STATUS_BAD_NAME, STATUS_TOO_LARGE.
enum status image_check(const struct job_image *image);

// When a delay or a pause that is to last until `at` by the wall clock ends, by the monotonic one.
// The wall clock may have been ahead when that was written, or be behind now: it never lasts longer
// from here on than it was to last in all.
nsec_t image_on_mono_clock(const struct broker *broker, nsec_t at, nsec_t most_for);
// Where a job stands that is in that state. No burial is given out any more up to that of a buried
// one.
struct job_place image_place(struct broker *broker, const struct job_change *change);
// The job has that past, or, where that is DEAD_NOT, none. False without memory.
bool image_set_past(struct broker *broker, struct job *job, const struct dead_letter *past);
// The job has been through that. False without memory: a part of it may be unsaid then.
bool image_set_counters(struct broker *broker, struct job *job,
                        const struct job_counters *counters);
// The job, durable, in no container and no index yet; NULL without memory.
struct job *image_job_new(struct broker *broker, struct queue *queue,
                          const struct job_image *image);

#endif
