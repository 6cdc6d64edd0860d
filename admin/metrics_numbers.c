/* SPDX-License-Identifier: MIT */
#include "admin/metrics_numbers.h"

#include "core/base/macros.h"
#include "core/job.h"

#include <string.h>

#define USEC100 INT64_C(100000)
#define END(doubling) (USEC100 << (doubling))

const int64_t metric_ends[METRIC_BUCKETS] = {
    END(0),  END(2),  END(3),  END(4),  END(5),  END(6),  END(7),  END(8),  END(9),
    END(10), END(11), END(12), END(13), END(14), END(15), END(16), END(17), END(18),
    END(19), END(20), END(22), END(24), END(26), END(29), END(31), END(33), INT64_MAX,
};

static void take_jobs(struct metric_numbers *numbers, const uint64_t jobs[JOB_STATES],
                      const uint64_t ready[BAND_COUNT])
{
    memcpy(numbers->of + NUMBER_JOBS, jobs, JOB_STATES * sizeof *jobs);
    memcpy(numbers->of + NUMBER_BANDS, ready, BAND_COUNT * sizeof *ready);
}

static void take_counts(struct metric_numbers *numbers, const struct counts *counts)
{
    numbers->of[NUMBER_SUBMITTED] = counts->submitted;
    numbers->of[NUMBER_COMPLETED] = counts->completed;
    numbers->of[NUMBER_FAILED] = counts->failed;
    numbers->of[NUMBER_BURIED] = counts->buried;
    numbers->of[NUMBER_TIMEOUTS] = counts->timeouts;
    numbers->of[NUMBER_RETRIES] = counts->retries;
    numbers->of[NUMBER_DELETED] = counts->deleted;
    numbers->of[NUMBER_RELEASED] = counts->releases;
    numbers->of[NUMBER_KICKED] = counts->kicks;
    numbers->of[NUMBER_EXPIRED] = counts->expired;
    numbers->of[NUMBER_DEAD] = counts->dead;
}

const unsigned char metric_last_span[METRIC_BUCKETS] = {
    0,  4,  6,  8,  10, 12, 14, 16, 18,
    20, 22, 24, 26, 28, 30, 32, 34, 36,
    38, 40, 44, 48, 52, 58, 62, 66, HISTOGRAM_BOUNDS,
};

static void take_spans(uint64_t *to, const struct histogram *spans)
{
    size_t next = 0;

    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        to[i] = 0;
        for (; next <= metric_last_span[i]; next++) {
            to[i] += spans->in[next];
        }
    }
    to[METRIC_BUCKETS] = spans->sum_us;
}

static void take_times(struct metric_numbers *numbers, const struct queue_times *times)
{
    if (times) {
        take_spans(numbers->of + NUMBER_WAIT, &times->wait);
        take_spans(numbers->of + NUMBER_RUN, &times->run);
    } else {
        memset(numbers->of + NUMBER_WAIT, 0, 2 * METRIC_TIMES * sizeof *numbers->of);
    }
}

void metric_numbers_queue(const struct broker *broker, const struct queue *queue,
                          struct metric_numbers *numbers)
{
    struct queue_info info;
    struct counts counts;

    broker_queue_info(broker, queue, &info);
    queue_counts(queue, &counts);
    take_jobs(numbers, info.jobs, info.ready);
    take_counts(numbers, &counts);
    take_times(numbers, queue_times(queue));
}

void metric_numbers_broker(const struct broker *broker, struct metric_numbers *numbers)
{
    struct broker_info info;
    struct counts counts;

    broker_info(broker, &info);
    broker_counts(broker, &counts);
    take_jobs(numbers, info.jobs, info.ready);
    take_counts(numbers, &counts);
    take_times(numbers, broker_times(broker));
}

void metric_numbers_subtract(struct metric_numbers *numbers, const struct metric_numbers *less)
{
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        ENSURE(numbers->of[i] >= less->of[i]);
        numbers->of[i] -= less->of[i];
    }
}
