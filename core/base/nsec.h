/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_NSEC_H
#define TANDEM_CORE_BASE_NSEC_H

// Time in the core: numbers passed in by the owner of a clock. A moment or a duration is a number
// of nanoseconds. Moments of the monotonic clock and of the wall clock are never mixed; names end
// in `_at` for a moment and in `_for` for a duration.

#include <stdint.h>

typedef int64_t nsec_t;

#define NSEC_NEVER INT64_MAX
#define NSEC_PER_SEC ((nsec_t)1000000000)
#define NSEC_PER_MSEC ((nsec_t)1000000)
#define NSEC_PER_USEC ((nsec_t)1000)

// The current time on both clocks. Leases, delays, pauses and waits use `mono`, which is never set
// and continues while the machine is suspended; calendar moments from clients use `wall`
// (nanoseconds since 1970).
struct instant {
    nsec_t mono;
    nsec_t wall;
};

// A number of seconds below 2^33 always fits.
static inline nsec_t nsec_from_seconds(uint64_t seconds)
{
    return (nsec_t)seconds * NSEC_PER_SEC;
}

// The duration in units, rounded up, and at most `most`.
static inline uint32_t nsec_units(nsec_t duration, nsec_t unit, uint32_t most)
{
    nsec_t units = duration / unit + (duration % unit > 0);

    return units > (nsec_t)most ? most : (uint32_t)units;
}

// In milliseconds, at most 49 days.
static inline uint32_t nsec_to_msec(nsec_t duration)
{
    return nsec_units(duration, NSEC_PER_MSEC, UINT32_MAX - 1);
}

// `moment + duration`, or NSEC_NEVER on overflow. Both >= 0.
static inline nsec_t nsec_add(nsec_t moment, nsec_t duration)
{
    return moment > NSEC_NEVER - duration ? NSEC_NEVER : moment + duration;
}

#endif
