/* SPDX-License-Identifier: MIT */
#include "push/times.h"

#include "proto_common/sight.h"

static const int64_t ends[TIMES_BUCKETS] = {
    5 * NSEC_PER_MSEC,   10 * NSEC_PER_MSEC,  25 * NSEC_PER_MSEC,  50 * NSEC_PER_MSEC,
    100 * NSEC_PER_MSEC, 250 * NSEC_PER_MSEC, 500 * NSEC_PER_MSEC, NSEC_PER_SEC,
    5 * NSEC_PER_SEC,    10 * NSEC_PER_SEC,   30 * NSEC_PER_SEC,   INT64_MAX};

void times_add(struct times *times, nsec_t took_for)
{
    unsigned bucket = 0;

    while (took_for > ends[bucket]) {
        bucket++;
    }
    times->counts[bucket]++;
    times->sum += (uint64_t)took_for;
}

void times_show(const struct times *times, struct sight_distribution *shown)
{
    *shown = (struct sight_distribution){
        .ends = ends, .counts = times->counts, .buckets = TIMES_BUCKETS, .sum = times->sum};
    for (unsigned i = 0; i < TIMES_BUCKETS; i++) {
        shown->count += times->counts[i];
    }
}
