/* SPDX-License-Identifier: MIT */
#include "journal/figures.h"

#define DOUBLED(unit)                                                                              \
    {                                                                                              \
        (unit), (unit) << 1, (unit) << 2, (unit) << 3, (unit) << 4, (unit) << 5, (unit) << 6,      \
            (unit) << 7, (unit) << 8, (unit) << 9, (unit) << 10, (unit) << 11, (unit) << 12,       \
            (unit) << 13, (unit) << 14, (unit) << 15, (unit) << 16, INT64_MAX                      \
    }

const int64_t figures_record_ends[FIGURES_BUCKETS] = DOUBLED(INT64_C(1));
const int64_t figures_sync_ends[FIGURES_BUCKETS] = DOUBLED(NSEC_PER_MSEC / 10);

void figure_count(struct figure *figure, const int64_t *ends, int64_t value, unsigned times)
{
    size_t bucket = 0;

    while (value > ends[bucket]) {
        bucket++;
    }
    figure->counts[bucket] += times;
    figure->count += times;
    figure->sum += (uint64_t)value * times;
}
