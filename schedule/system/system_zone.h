/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_SYSTEM_SYSTEM_ZONE_H
#define TANDEM_SCHEDULE_SYSTEM_SYSTEM_ZONE_H

// Time zones as the machine has them (the IANA database, mostly the package tzdata).

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "schedule/zone.h"

// The zone of that name, such as Europe/Berlin or UTC; an empty name is the machine's local time.
// NULL where there is none of that name, or no memory. Changes of the database are seen by zones
// that are opened after all others are closed.
struct zone *system_zone_open(struct slice name) MUST_USE;

// NULL is allowed.
void system_zone_close(struct zone *zone);

#endif
