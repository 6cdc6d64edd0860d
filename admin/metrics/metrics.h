/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_METRICS_H
#define TANDEM_ADMIN_METRICS_METRICS_H

// GET /metrics, and the state that the front-end keeps from one sample to the next. METRICS.md
// lists the metrics.

#include "core/base/list.h"
#include "core/broker.h"

#include "admin/metrics/metrics_series.h"
#include "admin/request/route.h"

#include <stdbool.h>

struct metrics_sample;
struct process_facts;
struct introspect;

struct metrics {
    struct broker *broker;
    const struct process_facts *facts;
    const struct introspect *introspect; // NULL: the process offers no introspection
    unsigned exporters;                  // bits of enum metrics_exporter, for the next sample
    struct metric_series_set series;     // of the last sample
    struct metrics_sample *preparing;    // the sample that is not ready yet, or NULL
    struct list_node samples;
    unsigned count; // of samples
};

// Sets all fields.
void metrics_begin(struct metrics *metrics, struct broker *broker,
                   const struct process_facts *facts, const struct introspect *introspect);

// There must be no readers.
void metrics_end(struct metrics *metrics);

// Reads the value of admin.metrics_names, a list of exporters, as bits of enum metrics_exporter;
// false if one is unknown.
bool metrics_exporters_read(const char *list, unsigned *exporters);

extern const struct admin_route metrics_routes[];

#endif
