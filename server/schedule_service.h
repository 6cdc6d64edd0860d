/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_SCHEDULE_SERVICE_H
#define TANDEM_SERVER_SCHEDULE_SERVICE_H

// Schedules (schedule/schedule.h) in this process: the sections [schedule NAME], and what
// operators have set; a background task submits their jobs.

#include "core/broker.h"
#include "schedule/schedule.h"
#include "server/conn/loop_turn.h"
#include "server/config/settings.h"

// The schedules of a broker whose jobs are restored. NULL with the reason in `why`.
struct schedules *schedule_service_open(struct broker *broker, const struct settings *settings,
                                        struct error_text *why) MUST_USE;

// Their background task. It submits jobs, so it waits while the store is behind.
struct background_task schedule_service_task(struct schedules *schedules);

// Sets other sections. False with the reason in `why`: there are too many, or no memory; then
// nothing has changed.
bool schedule_service_adopt(struct schedules *schedules, const struct settings *settings,
                            struct error_text *why) MUST_USE;

#endif
