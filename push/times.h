/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_TIMES_H
#define TANDEM_PUSH_TIMES_H

// How long requests have taken, counted in buckets.

#include "core/base/nsec.h"

#include <stdint.h>

struct sight_distribution;

#define TIMES_BUCKETS 12

struct times {
    uint64_t counts[TIMES_BUCKETS]; /* private */
    uint64_t sum;                   /* private: nanoseconds */
};

void times_add(struct times *times, nsec_t took_for);

// It is borrowed.
void times_show(const struct times *times, struct sight_distribution *shown);

#endif
