/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_METRICS_SAMPLE_H
#define TANDEM_ADMIN_METRICS_METRICS_SAMPLE_H

// All metrics at one time. A sample is prepared in slices: first a walk over all queues ranks them;
// then, in one turn, the numbers of the busiest queues, of the broker and of the process are taken.
// The difference between the broker and these queues is the rest. Afterwards the sample does not
// change. Every client that asked while it was being prepared reads it, at its own speed.
//
// A sample keeps about 700 bytes for each queue with a series, counted; there are at most
// METRICS_SAMPLES. If all exist, a further reader gets the last one if that is recent; otherwise
// the readers of the oldest one are disconnected, so that slow readers do not block others.

#include "core/base/list.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/queue.h"

#include "admin/metrics/metrics.h"
#include "admin/metrics/metrics_exporters.h"
#include "admin/metrics/metrics_series.h"
#include "admin/metrics/metrics_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire;

#define METRICS_SAMPLES 8
// Maximum age of a sample for a further reader if there are METRICS_SAMPLES.
#define METRICS_SHARED_FOR (5 * NSEC_PER_SEC)

//
// The ranking: a heap with the best candidates so far. A queue is known by its place in the
// broker's table, because it may be removed before the walk is over.
//

// Gauges that the walk reads from a queue; for the rest their sum, or the maximum of the ages.
struct metric_gauges {
    uint64_t oldest_ns; // age of the oldest ready job
    uint64_t waiting;
    uint64_t subscriptions;
    uint64_t paused;                 // 0 or 1
    uint64_t closed[CLOSED_REASONS]; // 0 or 1 for each reason
};

struct metric_candidate {
    uint64_t rank;  // a busier queue has a higher rank
    uint32_t place; // of equal ranks, the lower place is better
    struct metric_gauges gauges;
};

struct metric_ranking {
    struct metric_candidate *all; // owned; a heap with the worst on top, until it is sorted
    size_t count, room;
    struct metric_gauges rest; // of the candidates that are not in the heap
};

// Makes room for `room` candidates; false if there is no memory.
bool metric_ranking_begin(struct metric_ranking *ranking, size_t room) MUST_USE;
void metric_ranking_free(struct metric_ranking *ranking);

void metric_ranking_offer(struct metric_ranking *ranking, const struct metric_candidate *candidate);

// Ends the walk: orders the candidates by place.
void metric_ranking_sort(struct metric_ranking *ranking);

//
// Samples
//

// A queue, or the rest.
struct metric_row {
    struct metric_name *name; // a reference; NULL: the rest
    bool timed;               // times were measured
    struct metric_gauges gauges;
    struct metric_numbers numbers;
    uint64_t tube[TUBE_COUNT]; // not of the rest
};

struct metrics_sample {
    struct list_node node;    // in `samples` of struct metrics, the oldest first
    struct list_node readers; // the sample is freed with its last reader
    nsec_t ready_at;
    bool ready;
    // During the walk.
    uint32_t cursor;
    size_t series_at; // position in the series of the last sample
    struct metric_ranking ranking;
    struct metric_series_set next; // becomes the series of struct metrics
    // The content.
    size_t count, room;
    uint64_t unnamed;   // number of queues in the rest
    unsigned exporters; // bits of enum metrics_exporter
    struct metric_row rest;
    struct metrics_text process[2]; // plain, and as OpenMetrics
    struct metric_row rows[];
};

struct metrics_reader {
    struct wire *wire; // set by the caller
    struct metrics_sample *sample;
    struct list_node node; // in `readers` of the sample
};

// Begins to read the sample that is being prepared, a new one with at most `series_max` series, or
// the last one. False if there is no memory.
bool metrics_read(struct metrics *metrics, struct metrics_reader *reader,
                  size_t series_max) MUST_USE;

// Ends reading. The reader may be zeroed.
void metrics_read_end(struct metrics *metrics, struct metrics_reader *reader);

// Does a slice of the preparation; returns whether the sample is ready.
bool metrics_sample_step(struct metrics *metrics, struct metrics_sample *sample);

// The memory of the sample in bytes. In constant time.
size_t metrics_sample_size(const struct metrics_sample *sample);

#endif
