/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_HISTOGRAM_H
#define TANDEM_BENCH_HISTOGRAM_H

// Counts durations in classes whose width grows with the value: every value is known to 1 part
// in 256, whatever its size, and adding one costs a few instructions.

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 8
#define HISTOGRAM_CLASSES ((64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
    uint64_t count;                      // values added
    uint64_t max;                        // the largest of them, exactly
    uint64_t classes[HISTOGRAM_CLASSES]; /* private */
};

void histogram_add(struct histogram *histogram, uint64_t value);

// The value that `share` (0 to 1) of all values do not exceed: the upper end of its class. 0 where
// nothing was added.
uint64_t histogram_quantile(const struct histogram *histogram, double share);

#endif
