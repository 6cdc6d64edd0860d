/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_SCHEDULE_H
#define TANDEM_PROTO_GEARMAN_SCHEDULE_H

// Moments of the wall clock as clients write them.

#include "core/base/nsec.h"
#include "core/base/slice.h"

#include <stdbool.h>

// A number of seconds since 1970. False for anything else.
bool gear_epoch_parse(struct slice text, nsec_t *at);

// Minute, hour, day of month, month and day of week (0 is Monday).
#define GEAR_SCHEDULE_FIELDS 5

// The first minute that begins after `now` and matches all fields, by the local time of the
// machine. A field that is empty or `*` matches everything. False where a field is no number in
// its range, or where no such minute ever comes.
bool gear_schedule_next(const struct slice fields[GEAR_SCHEDULE_FIELDS], nsec_t now, nsec_t *at);

#endif
