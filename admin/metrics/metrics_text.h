/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_METRICS_TEXT_H
#define TANDEM_ADMIN_METRICS_METRICS_TEXT_H

// Metrics as text: the Prometheus format, version 0.0.4, or OpenMetrics 1.0. They differ in the
// head of a counter, which has no `_total` in OpenMetrics; in units, which only OpenMetrics has; in
// bucket bounds, which end in `.0` in OpenMetrics if they are integers; and in the end.
//
// A text grows as it is written, and its memory is counted. If there is no memory, the text has
// failed and accepts nothing more, because an incomplete page would look complete.

#include "core/base/slice.h"
#include "core/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METRICS_PLAIN_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

// Whether the value of an Accept header (RFC 9110, 12.5.1) asks for OpenMetrics: it has
// application/openmetrics-text, without a version or in 1.0.0, with at least the quality of plain
// text. Wildcards count as plain text, which every client reads.
bool metrics_accept_open(struct slice accept);

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

// A family of samples with one name. The unit is the end of the name, if that is `_seconds` or
// `_bytes`.
struct metric_family {
    const char *name; // of a counter: without `_total`
    enum metric_type type;
    const char *help; // a sentence without backslash and line break
};

struct metrics_text {
    char *bytes; // owned
    size_t len, room;
    bool open_metrics;
    bool failed;
};

void metrics_text_free(struct metrics_text *text);

// Writes the head of a family. Its samples follow.
void metrics_text_head(struct metrics_text *text, const struct metric_family *family);

// Writes a sample. `labels` is the escaped text between the braces; without labels, there are no
// braces.
void metrics_text_count(struct metrics_text *text, const struct metric_family *family,
                        struct slice labels, uint64_t value);

// Writes a duration or a time of nanoseconds as seconds, exactly.
void metrics_text_seconds(struct metrics_text *text, const struct metric_family *family,
                          struct slice labels, uint64_t nanoseconds);

// A histogram: `counts[i]` is the number of values up to `ends[i]` and above `ends[i - 1]`; the
// last bucket has no upper bound.
struct metric_histogram {
    const int64_t *ends;
    const uint64_t *counts;
    size_t buckets;
    uint64_t sum;
    bool nanoseconds; // values are written in seconds; otherwise they are plain numbers
    bool sum_in_us;   // if `nanoseconds`: the sum is in microseconds
};

void metrics_text_histogram(struct metrics_text *text, const struct metric_family *family,
                            struct slice labels, const struct metric_histogram *histogram);

// Writes the end, if the format has one.
void metrics_text_end(struct metrics_text *text);

//
// Label values
//

// Maximum length of the label of a queue: each byte may be \xNN, and the format doubles the
// backslash.
#define METRICS_LABEL_MAX (6 + 5 * QUEUE_NAME_MAX)

// Writes the escaped label value for a queue name, at most METRICS_LABEL_MAX bytes; returns its
// length. Label values must be UTF-8. A name that is not, or that begins with `bytes:`, becomes
// `bytes:` and the name with each byte outside printable ASCII as \xNN and each backslash doubled,
// so different names have different labels.
size_t metrics_label(char *to, struct slice name);

// Writes the escaped label value for any text, with `?` for each byte that is not UTF-8; at most
// twice its length. Returns the length.
size_t metrics_escape(char *to, struct slice text);

#endif
