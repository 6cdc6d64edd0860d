/* SPDX-License-Identifier: MIT */
#include "admin/metrics/metrics_series.h"

#include "admin/metrics/metrics_text.h"
#include "core/base/memory.h"
#include "core/queue.h"

#include <string.h>

//
// Numbers
//

#define USEC100 INT64_C(100000)
#define END(doubling) (USEC100 << (doubling))

const int64_t metric_ends[METRIC_BUCKETS] = {
    END(0),  END(2),  END(3),  END(4),  END(5),  END(6),  END(7),  END(8),  END(9),
    END(10), END(11), END(12), END(13), END(14), END(15), END(16), END(17), END(18),
    END(19), END(20), END(22), END(24), END(26), END(29), END(31), END(33), INT64_MAX,
};

const unsigned char metric_last_span[METRIC_BUCKETS] = {
    0,  4,  6,  8,  10, 12, 14, 16, 18,
    20, 22, 24, 26, 28, 30, 32, 34, 36,
    38, 40, 44, 48, 52, 58, 62, 66, HISTOGRAM_BOUNDS,
};

void metric_times_write(struct metrics_text *text, const struct metric_family *family,
                        struct slice labels, const uint64_t *times)
{
    metrics_text_histogram(text, family, labels,
                           &(struct metric_histogram){.ends = metric_ends,
                                                      .counts = times,
                                                      .buckets = METRIC_BUCKETS,
                                                      .sum = times[METRIC_BUCKETS],
                                                      .nanoseconds = true,
                                                      .sum_in_us = true});
}

static void numbers_set_spans(uint64_t *to, const struct histogram *spans)
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

static void numbers_set(struct metric_numbers *numbers, const uint64_t jobs[JOB_STATES],
                        const uint64_t ready[BAND_COUNT], const struct counts *counts,
                        const struct queue_times *times)
{
    memcpy(numbers->of + NUMBER_JOBS, jobs, JOB_STATES * sizeof *jobs);
    memcpy(numbers->of + NUMBER_BANDS, ready, BAND_COUNT * sizeof *ready);
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
    if (times) {
        numbers_set_spans(numbers->of + NUMBER_WAIT, &times->wait);
        numbers_set_spans(numbers->of + NUMBER_RUN, &times->run);
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
    numbers_set(numbers, info.jobs, info.ready, &counts, queue_times(queue));
}

void metric_numbers_broker(const struct broker *broker, struct metric_numbers *numbers)
{
    struct broker_info info;
    struct counts counts;

    broker_info(broker, &info);
    broker_counts(broker, &counts);
    numbers_set(numbers, info.jobs, info.ready, &counts, broker_times(broker));
}

void metric_numbers_subtract(struct metric_numbers *numbers, const struct metric_numbers *less)
{
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        ENSURE(numbers->of[i] >= less->of[i]);
        numbers->of[i] -= less->of[i];
    }
}

//
// Series
//

static struct metric_name *metric_name_new(struct slice text)
{
    char label[METRICS_LABEL_MAX];
    size_t label_len = metrics_label(label, text);
    struct metric_name *name = memory_alloc(sizeof *name + text.len + label_len);

    if (name) {
        name->refs = 1;
        name->len = (uint16_t)text.len;
        name->label_len = (uint16_t)label_len;
        memcpy(name->text, text.ptr, text.len);
        memcpy(name->text + text.len, label, label_len);
    }
    return name;
}

void metric_name_unref(struct metric_name *name)
{
    if (name && --name->refs == 0) {
        memory_free(name, sizeof *name + name->len + name->label_len);
    }
}

void metric_series_set_free(struct metric_series_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        metric_name_unref(set->all[i].name);
        memory_free(set->all[i].base, sizeof *set->all[i].base);
    }
    memory_free(set->all, set->room * sizeof *set->all);
    memset(set, 0, sizeof *set);
}

bool metric_series_set_begin(struct metric_series_set *set, size_t room)
{
    memset(set, 0, sizeof *set);
    set->all = room ? memory_alloc(room * sizeof *set->all) : NULL;
    set->room = set->all ? room : 0;
    return set->all || room == 0;
}

bool metric_series_set_has(const struct metric_series_set *set, size_t *at, uint32_t place)
{
    while (*at < set->count && set->all[*at].place < place) {
        ++*at;
    }
    return *at < set->count && set->all[*at].place == place;
}

// Whether the base can be of this queue. If any count is lower now, the queue was removed and
// another one has its name and place.
static bool is_base_of(const struct metric_numbers *base, const struct metric_numbers *numbers)
{
    for (size_t i = NUMBER_COUNTERS; i < NUMBER_COUNT; i++) {
        if (numbers->of[i] < base->of[i]) {
            return false;
        }
    }
    return true;
}

// Continues a series of the sample before.
static void series_continue(struct metric_series *series, struct metric_series *before,
                            const struct metric_numbers *numbers)
{
    *series = *before;
    series->name->refs++;
    before->base = NULL;
    if (series->base && !is_base_of(series->base, numbers)) {
        memory_free(series->base, sizeof *series->base);
        series->base = NULL;
    }
}

static bool series_begin(struct metric_series *series, struct slice name, uint32_t place,
                         const struct metric_numbers *base)
{
    *series = (struct metric_series){.name = metric_name_new(name), .place = place};
    if (series->name && base) {
        series->base = memory_alloc(sizeof *series->base);
    }
    if (!series->name || (base && !series->base)) {
        metric_name_unref(series->name);
        return false;
    }
    if (base) {
        // Numbers of present jobs are not counters and belong to the series completely.
        *series->base = *base;
        memset(series->base->of, 0, NUMBER_COUNTERS * sizeof *series->base->of);
    }
    return true;
}

bool metric_series_set_add(struct metric_series_set *set, struct metric_series_set *before,
                           size_t *at, struct slice name, uint32_t place,
                           struct metric_numbers *numbers)
{
    struct metric_series *series = &set->all[set->count];
    bool is_new = !before->sampled || before->complete;

    ENSURE(set->count < set->room);
    if (metric_series_set_has(before, at, place) &&
        slice_equal(name, metric_name_text(before->all[*at].name))) {
        series_continue(series, &before->all[*at], numbers);
    } else if (!series_begin(series, name, place, is_new ? NULL : numbers)) {
        return false;
    }
    if (series->base) {
        metric_numbers_subtract(numbers, series->base);
    }
    set->count++;
    return true;
}
