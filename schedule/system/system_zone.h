/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_SYSTEM_SYSTEM_ZONE_H
#define TANDEM_SCHEDULE_SYSTEM_SYSTEM_ZONE_H

// The time zones of the machine: the IANA database, usually the package tzdata.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "schedule/zone.h"

// Opens the zone of that name, such as Europe/Berlin or UTC; an empty name is the local time of the
// machine. NULL: no such zone, or no memory. The database is read again only after all zones are
// closed.
struct zone *system_zone_open(struct slice name) MUST_USE;

// NULL is allowed.
void system_zone_close(struct zone *zone);

#endif
