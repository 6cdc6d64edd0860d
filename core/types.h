/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_TYPES_H
#define TANDEM_CORE_TYPES_H

// Types that all headers of the scheduler share: its objects, priorities, the states of a job, and
// the longest names.

#include <stdint.h>

struct broker;
struct session;
struct queue;
struct job;
struct watch;
struct subscription;
struct policy_rule;

// The longest queue name. A name has 1 to this many bytes, any but NUL.
#define QUEUE_NAME_MAX 512
// The longest key and reducer.
#define JOB_KEY_MAX 512
// The number of objects of one kind (closed sessions, delays, leases, notices, events ...) that one
// verb, tick or settle handles before other work has its turn. Tests make it smaller, at least 8.
#ifndef BROKER_SLICE
#define BROKER_SLICE 64
#endif

// Priorities are numbers; 0 is the most urgent. A protocol with three priorities uses the numbers
// below, and reads a number back as the band that contains it.
enum band { BAND_HIGH, BAND_NORMAL, BAND_LOW };
#define BAND_COUNT 3
#define PRI_HIGH UINT32_C(512)
#define PRI_NORMAL UINT32_C(65536)
#define PRI_LOW UINT32_C(2147549184)

// high < 1024 <= normal < 2^31 <= low
static inline enum band band_of(uint32_t pri)
{
    return pri < 1024 ? BAND_HIGH : pri < UINT32_C(1) << 31 ? BAND_NORMAL : BAND_LOW;
}

enum job_state { JOB_DELAYED, JOB_READY, JOB_RESERVED, JOB_BURIED, JOB_GONE };
#define JOB_STATES 4 // the states of a live job

#endif
