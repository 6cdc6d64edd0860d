/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_QUEUES_H
#define TANDEM_ADMIN_METRICS_QUEUES_H

// The metrics of queues: families, each of which has samples of every queue that has a name and of
// the rest. The rest has the labels queue="" (no queue has an empty name) and rest="true".

#include "admin/metrics_label.h"
#include "admin/metrics_moment.h"
#include "admin/metrics_text.h"

#include <stddef.h>

// All labels of a sample fit so many bytes.
#define METRICS_LABELS_MAX (METRICS_LABEL_MAX + 64)

struct metric_queue_family {
    struct metric_family family;
    // Writes the samples of a queue, or of the rest. `labels` is its first label, and has room for
    // METRICS_LABELS_MAX.
    void (*write)(struct metrics_text *text, const struct metric_queue_family *family,
                  const struct metric_row *row, char *labels, size_t len);
    size_t offset;     // in struct metric_seen, where it is one of that
    unsigned number;   // the first of those that are told (enum metric_number), where it is some
    unsigned exporter; // whose name it is (metrics_names.h); 0: Tandem's own
    const char *label; // which names the queue; NULL: `queue`
};

// The family of that index; NULL behind the last one. Those of exporters are behind Tandem's own.
const struct metric_queue_family *metric_queue_family(size_t index);

// The samples that a family has of a queue, or of the rest.
void metric_queue_write(struct metrics_text *text, const struct metric_queue_family *family,
                        const struct metric_row *row);

#endif
