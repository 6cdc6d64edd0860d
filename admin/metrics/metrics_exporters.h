/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_METRICS_EXPORTERS_H
#define TANDEM_ADMIN_METRICS_METRICS_EXPORTERS_H

// Metrics under the names of exporters for beanstalkd and gearmand, so that their dashboards keep
// working. They are written if admin.metrics_names asks for them; METRICS.md lists them and their
// origin. They exist only for queues with a series, because exporters have no rest.

#include "core/queue.h"

#include "admin/metrics/metrics_text.h"

#include <stddef.h>
#include <stdint.h>

struct metric_queue_family;
struct process_sample;

// Bits.
enum metrics_exporter { METRICS_BEANSTALKD = 1, METRICS_GEARMAN = 2 };

// Values of a tube that only exporters have.
enum metric_tube {
    TUBE_TOTAL,
    TUBE_USING,
    TUBE_WATCHING,
    TUBE_WAITING,
    TUBE_DELETES,
    TUBE_PAUSES,
    TUBE_PAUSE,      // seconds
    TUBE_PAUSE_LEFT, // seconds
    TUBE_COUNT
};

void metric_tube_sample(const struct queue_info *info, uint64_t tube[TUBE_COUNT]);

// Writes the metrics of the process.
void metrics_exporters_write(unsigned exporters, const struct process_sample *process,
                             struct metrics_text *text);

// The family of queues with this index; NULL after the last one.
const struct metric_queue_family *metrics_exporters_family(size_t index);

#endif
