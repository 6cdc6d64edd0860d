/* SPDX-License-Identifier: MIT */
#include "tests/bench/histogram.h"

#include <math.h>
#include <stddef.h>

#define SUB_COUNT (UINT64_C(1) << HISTOGRAM_SUB_BITS)

// Values below SUB_COUNT have a class each. Above, the bits behind the leading one choose among
// the SUB_COUNT classes of that power of two.
static size_t class_of(uint64_t value)
{
    if (value < SUB_COUNT)
        return (size_t)value;
    unsigned shift = 63U - (unsigned)__builtin_clzll(value) - HISTOGRAM_SUB_BITS;
    return (size_t)(((uint64_t)shift << HISTOGRAM_SUB_BITS) + (value >> shift));
}

static uint64_t class_end(size_t class)
{
    if (class < SUB_COUNT)
        return class;
    unsigned shift = (unsigned)(class >> HISTOGRAM_SUB_BITS) - 1;
    uint64_t first = (class & (SUB_COUNT - 1)) + SUB_COUNT;
    return (first << shift) + ((UINT64_C(1) << shift) - 1);
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->classes[class_of(value)]++;
    histogram->count++;
    if (value > histogram->max)
        histogram->max = value;
}

uint64_t histogram_quantile(const struct histogram *histogram, double share)
{
    uint64_t rank = (uint64_t)ceil(share * (double)histogram->count);
    uint64_t seen = 0;
    for (size_t class = 0; class < HISTOGRAM_CLASSES; class ++) {
        seen += histogram->classes[class];
        if (seen > 0 && seen >= rank) {
            uint64_t end = class_end(class);
            return end < histogram->max ? end : histogram->max;
        }
    }
    return 0;
}
