/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_LOOK_H
#define TANDEM_ADMIN_METRICS_LOOK_H

// What the metrics that are not of a queue are made of, at one moment.

#include "core/broker.h"
#include "proto_common/sight.h"
#include "schedule/schedule.h"

#include "admin/metrics_numbers.h"

#include <stdbool.h>
#include <stdint.h>

struct process_facts;

// All that they are made of.
struct metric_look {
    const struct process_facts *facts;
    const struct sight *sight; // NULL: the rest of what is the sight's is 0
    struct broker_info broker;
    struct memo_usage results;
    struct metric_numbers all; // of the broker
    uint64_t unnamed;          // queues that have no metrics by name
    nsec_t started_at;         // of the process, wall
    nsec_t user_for, system_for, cpu_for;
    nsec_t up_for;
    struct sight_protocol beanstalk; // the front-end of that name
    struct sight_loop loop;
    struct sight_memory memory;
    struct sight_descriptors descriptors;
    struct sight_journal journal;
    bool is_opening;
    struct sight_opening opening;
    struct sight_cluster cluster; // its texts are good in this turn only
    uint64_t schedule_count;
    struct schedule_counts schedules; // of all
};

// Looks at everything. `sight` may be NULL.
void metric_look(struct metric_look *look, const struct broker *broker,
                 const struct process_facts *facts, const struct sight *sight);

#endif
