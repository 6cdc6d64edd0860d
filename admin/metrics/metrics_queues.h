/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_METRICS_QUEUES_H
#define TANDEM_ADMIN_METRICS_METRICS_QUEUES_H

// The metric families of queues. Each has samples for every queue with a series, and for the rest,
// which has the labels queue="" (not a valid queue name) and rest="true".

#include "admin/metrics/metrics_sample.h"
#include "admin/metrics/metrics_text.h"

#include <stddef.h>

// Maximum length of all labels of a sample.
#define METRICS_LABELS_MAX (METRICS_LABEL_MAX + 64)

struct metric_queue_family {
    struct metric_family family;
    // Writes the samples of a row. `labels` contains the first label of `len` bytes and has room
    // for METRICS_LABELS_MAX.
    void (*write)(struct metrics_text *text, const struct metric_queue_family *family,
                  const struct metric_row *row, char *labels, size_t len);
    size_t offset;     // of a gauge: in struct metric_gauges
    unsigned number;   // of other values: the first one (enum metric_number, or enum metric_tube)
    unsigned exporter; // enum metrics_exporter; 0: Tandem's own name
    const char *label; // the label for the name of the queue; NULL: `queue`
};

// The family with this index; NULL after the last one. Families of exporters follow Tandem's own.
const struct metric_queue_family *metric_queue_family(size_t index);

// Writes the samples of a row.
void metric_queue_write(struct metrics_text *text, const struct metric_queue_family *family,
                        const struct metric_row *row);

#endif
