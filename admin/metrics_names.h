/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_NAMES_H
#define TANDEM_ADMIN_METRICS_NAMES_H

// Metrics by the names that exporters for beanstalkd and gearmand give them, so that boards made
// for these go on working. They are told where admin.metrics_names asks for them; METRICS.md lists
// them, and says whose they are. Of queues, only those that have a name are told: no exporter has a
// rest.

#include "core/job.h"

#include "admin/metrics_process.h"
#include "admin/metrics_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metric_queue_family;

// Bits.
enum metrics_names { METRICS_BEANSTALKD = 1, METRICS_GEARMAN = 2 };

// The exporters that a list of words asks for; false where a word is none.
bool metrics_names_read(const char *list, unsigned *names);

// What the exporters for beanstalkd tell of a tube, and a row of metrics has not.
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

void metric_tube_take(const struct queue_info *info, uint64_t tube[TUBE_COUNT]);

// What is not of a queue.
void metrics_names_process(unsigned names, const struct metric_look *look,
                           struct metrics_text *text);

// The family of queues of that index; NULL behind the last one.
const struct metric_queue_family *metrics_names_family(size_t index);

#endif
