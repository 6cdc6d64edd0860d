/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FIGURES_H
#define TANDEM_JOURNAL_FIGURES_H

// How batches and syncs are distributed, since the journal was opened.

#include "core/base/nsec.h"

#include <stddef.h>
#include <stdint.h>

#define FIGURES_BUCKETS 18

// `counts[i]` values up to the i-th end and above the one before; the last end is INT64_MAX.
struct figure {
    uint64_t counts[FIGURES_BUCKETS];
    uint64_t count;
    uint64_t sum;
};

struct journal_figures {
    uint64_t batches;            // that were written
    struct figure batch_records; // how many records each of them had
    struct figure syncs;         // how long each sync took, in nanoseconds, good or not
};

// The ends of the buckets: 1, 2, 4 ... 65,536 records; 0.1, 0.2, 0.4 ms ... 6.6 s.
extern const int64_t figures_record_ends[FIGURES_BUCKETS];
extern const int64_t figures_sync_ends[FIGURES_BUCKETS];

// Counts `times` values of `value`.
void figure_count(struct figure *figure, const int64_t *ends, int64_t value, unsigned times);

#endif
