/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CALENDAR_H
#define TANDEM_SERVER_CALENDAR_H

// The schedules of the process: what the sections [schedule NAME] say, and what operators have
// said.

#include "core/broker.h"
#include "schedule/schedule.h"
#include "server/chores.h"
#include "server/config/settings.h"

// Schedules of a broker that has its jobs back. NULL with the reason in `why`.
struct schedules *calendar_open(struct broker *broker, const struct settings *settings,
                                struct error_text *why) MUST_USE;

// What they have done in the turns of the loop. They submit: while the store is behind, they wait.
struct chore calendar_chore(struct schedules *schedules);

// The sections are others. False, with all as it was and the reason in `why`, without memory, or
// where there are too many.
bool calendar_adopt(struct schedules *schedules, const struct settings *settings,
                    struct error_text *why) MUST_USE;

#endif
