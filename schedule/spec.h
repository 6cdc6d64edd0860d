/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SCHEDULE_SPEC_H
#define TANDEM_SCHEDULE_SPEC_H

// What is said of a schedule, in the configuration or at run time.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/slice.h"

#include "schedule/zone.h"

#include <stdbool.h>
#include <stdint.h>

// Names have 1 to this many letters, digits, dots, `_` and `-`.
#define SCHEDULE_NAME_MAX 64
#define SCHEDULE_CRON_MAX 256
#define SCHEDULE_ZONE_MAX 64
#define SCHEDULE_BODY_MAX 65535

// What becomes of moments that have passed for a minute or more, because the broker did not run, or
// the clock was set: none happens, the last one does, or each of the last SCHEDULE_MISSED_MAX.
enum schedule_missed { SCHEDULE_MISSED_SKIP, SCHEDULE_MISSED_ONCE, SCHEDULE_MISSED_ALL };
#define SCHEDULE_MISSED_MAX 100

// Whether a moment happens while the job of the one before is not done.
enum schedule_overlap { SCHEDULE_OVERLAP_ALLOW, SCHEDULE_OVERLAP_SKIP };

struct schedule_spec {
    struct slice name;
    struct slice cron;     // as cron.h has it
    struct slice timezone; // IANA name; empty: the machine's local time
    struct slice queue, body;
    uint32_t pri;
    nsec_t ttr_for; // whole seconds; 0: none
    enum schedule_missed missed;
    enum schedule_overlap overlap;
};

// What is wrong with a spec; it begins with the key.
struct schedule_reason {
    char text[192];
};

// Where zones come from: the machine's are in schedule/system.
struct zone_source {
    struct zone *(*open)(struct slice name); // NULL: none of that name
    void (*close)(struct zone *zone);        // NULL is allowed
};

// Whether a schedule may have that name.
bool schedule_is_name(struct slice name);

// All missed moments, but none beside another: only the first of them would have a job.
bool schedule_contradicts(const struct schedule_spec *spec);

// Whether the spec makes sense, whatever its name. False, with the reason.
bool schedule_check(const struct schedule_spec *spec, const struct zone_source *zones,
                    struct schedule_reason *why) MUST_USE;

#endif
