/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_TEXT_H
#define TANDEM_ADMIN_METRICS_TEXT_H

// Metrics as text: Prometheus' own format, version 0.0.4, or OpenMetrics 1.0. They differ in the
// head of a counter, whose name has no `_total` in OpenMetrics; in units, which only OpenMetrics
// has; in bounds, of which its whole ones end in `.0`; and in its end.
//
// A text grows as it is written to, and its room is counted. Where there is no memory for more it
// has failed, and takes nothing any more: half a page of metrics would be taken for all of them.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

// A family: what has one name. A unit is the end of the name, where that is `_seconds` or `_bytes`.
struct metric_family {
    const char *name; // a counter's is without `_total`
    enum metric_type type;
    const char *help; // a sentence; neither backslash nor line break in it
};

struct metrics_text {
    char *bytes; // owned
    size_t len, room;
    bool open_metrics;
    bool failed;
};

// What the samples of a family are followed by.
#define METRICS_PLAIN_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

void metrics_text_free(struct metrics_text *text);

// The head of a family: what it is called, is, and is good for. Its samples follow.
void metrics_text_head(struct metrics_text *text, const struct metric_family *family);

// A sample. `labels` is what stands in the braces, already escaped; empty: no braces.
void metrics_text_count(struct metrics_text *text, const struct metric_family *family,
                        struct slice labels, uint64_t value);

// The same for a duration or a moment in nanoseconds, told in seconds, exactly.
void metrics_text_seconds(struct metrics_text *text, const struct metric_family *family,
                          struct slice labels, uint64_t nanoseconds);

// A histogram: `counts[i]` are the values up to `ends[i]` and above `ends[i - 1]`; the last of
// `buckets` has all that are above the end before it, whatever its own end.
struct metric_histogram {
    const int64_t *ends;
    const uint64_t *counts;
    size_t buckets;
    uint64_t sum;
    bool nanoseconds; // values are told in seconds; else they are plain numbers
    bool sum_in_us;   // of nanoseconds: their sum is in microseconds
};

void metrics_text_histogram(struct metrics_text *text, const struct metric_family *family,
                            struct slice labels, const struct metric_histogram *histogram);

// The end of all, where the format has one.
void metrics_text_end(struct metrics_text *text);

#endif
