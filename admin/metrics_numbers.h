/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_NUMBERS_H
#define TANDEM_ADMIN_METRICS_NUMBERS_H

// What metrics tell of a queue, as one row of numbers, so that queues can be added up and taken
// off each other. What the broker has of each number is the sum of what all queues have, with those
// that have gone where it is a counter.

#include "core/broker.h"
#include "core/statistics.h"

#include <stdint.h>

// Of the bounds that times are counted by (histogram_bound()), every fourth at both ends and every
// second between 0.8 ms and 105 s: 0.1, 0.4, 0.8, 1.6, 3.2 ms ... 105 s, 7 min, 28 min ... 9.9
// days.
#define METRIC_BOUNDS 26
#define METRIC_BUCKETS (METRIC_BOUNDS + 1)

// Buckets, and behind them the sum in nanoseconds.
#define METRIC_TIMES (METRIC_BUCKETS + 1)

enum metric_number {
    NUMBER_JOBS, // by enum job_state
    NUMBER_BANDS = NUMBER_JOBS + JOB_STATES,
    NUMBER_COUNTERS = NUMBER_BANDS + BAND_COUNT, // what is behind here only rises
    NUMBER_SUBMITTED = NUMBER_COUNTERS,
    NUMBER_COMPLETED,
    NUMBER_FAILED,
    NUMBER_BURIED,
    NUMBER_TIMEOUTS,
    NUMBER_RETRIES,
    NUMBER_DELETED,
    NUMBER_RELEASED,
    NUMBER_KICKED,
    NUMBER_EXPIRED,
    NUMBER_DEAD,
    NUMBER_WAIT,
    NUMBER_RUN = NUMBER_WAIT + METRIC_TIMES,
    NUMBER_COUNT = NUMBER_RUN + METRIC_TIMES
};

struct metric_numbers {
    uint64_t of[NUMBER_COUNT];
};

// The ends of the buckets; the last is INT64_MAX.
extern const int64_t metric_ends[METRIC_BUCKETS];

// The last bucket of struct histogram that each of them takes in: it has the same end.
extern const unsigned char metric_last_span[METRIC_BUCKETS];

void metric_numbers_queue(const struct broker *broker, const struct queue *queue,
                          struct metric_numbers *numbers);
void metric_numbers_broker(const struct broker *broker, struct metric_numbers *numbers);

// `numbers` less `less`, which has no more of any.
void metric_numbers_subtract(struct metric_numbers *numbers, const struct metric_numbers *less);

#endif
