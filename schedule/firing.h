/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_FIRING_H
#define TANDEM_SCHEDULE_FIRING_H

// What becomes of one schedule's moments.

#include "core/base/macros.h"

#include "schedule/schedule_private.h"

// Its plan is new, or another one: which moments are to come.
void firing_begin(struct schedules *schedules, struct schedule *schedule);

// Its time to be looked at has come: decides at most one moment, or many that were missed at once.
// Returns what it cost of a slice.
#define FIRING_SLICE 16
unsigned firing_work(struct schedules *schedules, struct schedule *schedule);

// Until when no moment comes because the wall clock, which says `now`, was set back; 0: it was not,
// or by less than a minute.
nsec_t firing_silent_until(const struct schedule *schedule, nsec_t now);

// As schedules_replan().
enum status firing_replan(struct schedules *schedules, struct schedule *schedule) MUST_USE;

// Submits the job besides the moments of the calendar.
enum status firing_now(struct schedules *schedules, struct schedule *schedule,
                       struct submission *submission) MUST_USE;

#endif
