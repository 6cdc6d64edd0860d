/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_METRICS_SERIES_H
#define TANDEM_ADMIN_METRICS_METRICS_SERIES_H

// The queues that have metrics of their own, as of the last sample, and the part of their counts
// that belongs to the rest, so that
//
//   - the named queues and the rest together are exactly the totals of the broker; and
//   - no counter falls, including those of the rest, whichever queues are named.
//
// When a queue that was part of the rest gets a series, its counters start at 0: its counts at that
// time, its base, stay with the rest. A queue has no base if it was created after the last sample,
// or if there was no sample before. When a queue is removed or loses its series, all its counts
// belong to the rest.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "core/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

//
// The numbers of a queue, as one row, so that rows can be added and subtracted. The row of the
// broker is the sum over all queues; counters include removed queues.
//

// Histograms merge the buckets of histogram_bound(): they use every fourth bound at both ends and
// every second one between 0.8 ms and 105 s: 0.1, 0.4, 0.8, 1.6, 3.2 ms ... 105 s, 7 min, 28 min
// ... 9.9 days.
#define METRIC_BOUNDS 26
#define METRIC_BUCKETS (METRIC_BOUNDS + 1)

// The buckets, followed by the sum in microseconds.
#define METRIC_TIMES (METRIC_BUCKETS + 1)

enum metric_number {
    NUMBER_JOBS, // by enum job_state
    NUMBER_BANDS = NUMBER_JOBS + JOB_STATES,
    NUMBER_COUNTERS = NUMBER_BANDS + BAND_COUNT, // all that follow only rise
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

// The upper bounds of the buckets in nanoseconds; the last one is INT64_MAX.
extern const int64_t metric_ends[METRIC_BUCKETS];

// For each bucket, the last bucket of struct histogram in it; both have the same upper bound.
extern const unsigned char metric_last_span[METRIC_BUCKETS];

struct metrics_text;
struct metric_family;

// Writes the histogram of METRIC_TIMES numbers: a count for each bucket, and the sum in
// microseconds.
void metric_times_write(struct metrics_text *text, const struct metric_family *family,
                        struct slice labels, const uint64_t *times);

void metric_numbers_queue(const struct broker *broker, const struct queue *queue,
                          struct metric_numbers *numbers);
void metric_numbers_broker(const struct broker *broker, struct metric_numbers *numbers);

// Subtracts `less`, of which no number is larger.
void metric_numbers_subtract(struct metric_numbers *numbers, const struct metric_numbers *less);

//
// Series
//

// The name of a queue, shared by all samples that contain it.
struct metric_name {
    unsigned refs;
    uint16_t len, label_len;
    char text[]; // the name, then its label value (metrics_label())
};

static inline struct slice metric_name_text(const struct metric_name *name)
{
    return slice_of(name->text, name->len);
}

static inline struct slice metric_name_label(const struct metric_name *name)
{
    return slice_of(name->text + name->len, name->label_len);
}

// Accepts NULL.
void metric_name_unref(struct metric_name *name);

struct metric_series {
    struct metric_name *name;    // a reference
    struct metric_numbers *base; // owned; NULL: no base
    uint32_t place;              // of the queue, in the broker's table
};

// The series of a sample, by rising place.
struct metric_series_set {
    struct metric_series *all; // owned
    size_t count, room;
    bool sampled;  // there was a sample before
    bool complete; // every queue had a series in that sample
};

void metric_series_set_free(struct metric_series_set *set);

// Begins an empty set with room for `room` series; false if there is no memory.
bool metric_series_set_begin(struct metric_series_set *set, size_t room) MUST_USE;

// Whether the queue at this place has a series. `*at` is 0 at first and rises with the places,
// which the caller asks for in rising order.
bool metric_series_set_has(const struct metric_series_set *set, size_t *at, uint32_t place);

// Adds a series for the queue with this name, place and numbers, after those with lower places, and
// subtracts its base from the numbers. Takes the base over from `before`, which is read from `*at`
// on as in metric_series_set_has(). False, and nothing has changed, if there is no memory.
bool metric_series_set_add(struct metric_series_set *set, struct metric_series_set *before,
                           size_t *at, struct slice name, uint32_t place,
                           struct metric_numbers *numbers) MUST_USE;

#endif
