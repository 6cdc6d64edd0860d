/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_KEPT_H
#define TANDEM_SCHEDULE_KEPT_H

// What is kept of schedules as memos: those made at run time, and what came of moments. Numbers are
// little-endian.
//
//   SCHEDULE, key: the name      u8 version 1, u8 missed, u8 overlap, u32 priority,
//                                u32 time to run (seconds), then cron, timezone, queue and body,
//                                each behind its length (u32)
//   FIRED, key: the name         u8 version 1, u64 moment up to which all are decided, u64 moment
//                                that was fired last, 0 for none (nanoseconds since 1970), then
//                                cron and timezone, each behind its length (u32): the moments are
//                                these

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "schedule/schedule_private.h"

#include <stdbool.h>

// STATUS_NO_MEMORY, STATUS_NO_SPACE.
enum status kept_put_spec(struct broker *broker, const struct schedule_spec *spec) MUST_USE;

// Texts are borrowed from the memo. False where it cannot be read.
bool kept_read_spec(const struct memo *memo, struct schedule_spec *spec);

// Keeps what came of the schedule's moments. STATUS_NO_MEMORY, STATUS_NO_SPACE.
enum status kept_put_fired(struct broker *broker, const struct schedule *schedule) MUST_USE;

// What was kept of it, if it was of a schedule with these moments; false where it was not.
bool kept_read_fired(const struct broker *broker, struct schedule *schedule);

#endif
