/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_METRICS_PROCESS_H
#define TANDEM_ADMIN_METRICS_METRICS_PROCESS_H

// The metrics of the broker and of the process, about a hundred lines. They are written in one go
// when the sample is taken.

#include "core/broker.h"
#include "proto_common/introspect.h"
#include "schedule/schedule.h"

#include "admin/metrics/metrics_series.h"
#include "admin/metrics/metrics_text.h"

#include <stdbool.h>
#include <stdint.h>

struct process_facts;

// Everything that these metrics are made of.
struct process_sample {
    const struct process_facts *facts;
    const struct introspect *introspect; // NULL: no introspection; its values below are 0
    struct broker_info broker;
    struct memo_usage results;
    struct metric_numbers all; // of the broker
    uint64_t unnamed;          // number of queues in the rest; set by the caller
    nsec_t started_at;         // of the process, wall
    nsec_t user_for, system_for, cpu_for;
    nsec_t up_for;
    struct introspect_protocol beanstalk; // the front-end with this name
    struct introspect_loop loop;
    struct introspect_memory memory;
    struct introspect_descriptors descriptors;
    struct introspect_journal journal;
    bool is_opening;
    struct restore_progress opening;
    struct introspect_cluster cluster; // its texts are valid in this turn only
    uint64_t schedule_count;
    struct schedule_counts schedules; // of all schedules
};

// `introspect` may be NULL.
void process_sample_take(struct process_sample *sample, const struct broker *broker,
                         const struct process_facts *facts, const struct introspect *introspect);

void metrics_process_write(const struct process_sample *sample, struct metrics_text *text);

#endif
