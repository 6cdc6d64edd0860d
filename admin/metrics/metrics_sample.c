/* SPDX-License-Identifier: MIT */
#include "admin/metrics/metrics_sample.h"

#include "core/base/memory.h"
#include "core/broker.h"
#include "proto_common/wire.h"

#include "admin/metrics/metrics_process.h"

#include <stdlib.h>
#include <string.h>

//
// Ranking
//

bool metric_ranking_begin(struct metric_ranking *ranking, size_t room)
{
    memset(ranking, 0, sizeof *ranking);
    ranking->all = room ? memory_alloc(room * sizeof *ranking->all) : NULL;
    ranking->room = ranking->all ? room : 0;
    return ranking->all || room == 0;
}

void metric_ranking_free(struct metric_ranking *ranking)
{
    memory_free(ranking->all, ranking->room * sizeof *ranking->all);
    memset(ranking, 0, sizeof *ranking);
}

// Adds the gauges of a queue to the rest.
static void metric_gauges_add(struct metric_gauges *rest, const struct metric_gauges *gauges)
{
    if (gauges->oldest_ns > rest->oldest_ns) {
        rest->oldest_ns = gauges->oldest_ns;
    }
    rest->waiting += gauges->waiting;
    rest->subscriptions += gauges->subscriptions;
    rest->paused += gauges->paused;
    for (size_t i = 0; i < CLOSED_REASONS; i++) {
        rest->closed[i] += gauges->closed[i];
    }
}

static bool ranks_below(const struct metric_candidate *a, const struct metric_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->place > b->place;
}

// Replaces the top: puts the candidate there, or further down.
static void ranking_sift_down(struct metric_ranking *ranking,
                              const struct metric_candidate *candidate)
{
    size_t at = 0;

    for (size_t child = 1; child < ranking->count; child = 2 * at + 1) {
        if (child + 1 < ranking->count &&
            ranks_below(&ranking->all[child + 1], &ranking->all[child])) {
            child++;
        }
        if (!ranks_below(&ranking->all[child], candidate)) {
            break;
        }
        ranking->all[at] = ranking->all[child];
        at = child;
    }
    ranking->all[at] = *candidate;
}

void metric_ranking_offer(struct metric_ranking *ranking, const struct metric_candidate *candidate)
{
    size_t at = ranking->count;

    if (ranking->count < ranking->room) {
        for (ranking->count++; at > 0 && ranks_below(candidate, &ranking->all[(at - 1) / 2]);
             at = (at - 1) / 2) {
            ranking->all[at] = ranking->all[(at - 1) / 2];
        }
        ranking->all[at] = *candidate;
    } else if (ranking->count == 0 || ranks_below(candidate, &ranking->all[0])) {
        metric_gauges_add(&ranking->rest, &candidate->gauges);
    } else {
        metric_gauges_add(&ranking->rest, &ranking->all[0].gauges);
        ranking_sift_down(ranking, candidate);
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct metric_candidate *x = a;
    const struct metric_candidate *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

void metric_ranking_sort(struct metric_ranking *ranking)
{
    if (ranking->count > 0) {
        qsort(ranking->all, ranking->count, sizeof *ranking->all, compare_places);
    }
}

//
// Life of a sample
//

static size_t sample_struct_size(size_t room)
{
    return sizeof(struct metrics_sample) + room * sizeof(struct metric_row);
}

static void sample_free(struct metrics_sample *sample)
{
    for (size_t i = 0; i < sample->count; i++) {
        metric_name_unref(sample->rows[i].name);
    }
    metric_ranking_free(&sample->ranking);
    metric_series_set_free(&sample->next);
    metrics_text_free(&sample->process[0]);
    metrics_text_free(&sample->process[1]);
    memory_free(sample, sample_struct_size(sample->room));
}

static struct metrics_sample *sample_new(size_t room)
{
    struct metrics_sample *sample = memory_alloc(sample_struct_size(room));

    if (!sample) {
        return NULL;
    }
    memset(sample, 0, sizeof *sample);
    list_init(&sample->node);
    list_init(&sample->readers);
    sample->room = room;
    sample->process[1].open_metrics = true;
    if (!metric_ranking_begin(&sample->ranking, room) ||
        !metric_series_set_begin(&sample->next, room)) {
        sample_free(sample);
        return NULL;
    }
    return sample;
}

void metrics_begin(struct metrics *metrics, struct broker *broker,
                   const struct process_facts *facts, const struct introspect *introspect)
{
    *metrics = (struct metrics){.broker = broker, .facts = facts, .introspect = introspect};
    list_init(&metrics->samples);
}

void metrics_end(struct metrics *metrics)
{
    ENSURE(list_empty(&metrics->samples));
    metric_series_set_free(&metrics->series);
}

// Begins the preparation of a sample; NULL if there is no memory. It has room for a few queues that
// are created during the walk.
static struct metrics_sample *sample_prepare(struct metrics *metrics, size_t series_max)
{
    struct metrics_sample *sample;
    struct broker_info info;

    broker_info(metrics->broker, &info);
    if (info.queues + BROKER_SLICE < series_max) {
        series_max = info.queues + BROKER_SLICE;
    }
    sample = sample_new(series_max);
    if (sample) {
        list_append(&metrics->samples, &sample->node);
        metrics->count++;
        metrics->preparing = sample;
    }
    return sample;
}

// Removes the sample from the list. It lives on until its last reader ends.
static void sample_unlist(struct metrics *metrics, struct metrics_sample *sample)
{
    if (!list_empty(&sample->node)) {
        list_remove(&sample->node);
        metrics->count--;
    }
}

static struct metrics_sample *sample_choose(struct metrics *metrics, size_t series_max)
{
    struct metrics_sample *last, *oldest;

    if (metrics->preparing) {
        return metrics->preparing;
    }
    if (metrics->count == METRICS_SAMPLES) {
        last = list_item(metrics->samples.prev, struct metrics_sample, node);
        if (broker_now(metrics->broker).mono - last->ready_at < METRICS_SHARED_FOR) {
            return last;
        }
        oldest = list_item(list_first(&metrics->samples), struct metrics_sample, node);
        list_each (node, &oldest->readers) {
            wire_drop(list_item(node, struct metrics_reader, node)->wire,
                      "reads metrics more slowly than other clients request them");
        }
        sample_unlist(metrics, oldest);
    }
    return sample_prepare(metrics, series_max);
}

bool metrics_read(struct metrics *metrics, struct metrics_reader *reader, size_t series_max)
{
    reader->sample = sample_choose(metrics, series_max);
    if (reader->sample) {
        list_init(&reader->node);
        list_append(&reader->sample->readers, &reader->node);
    }
    return reader->sample != NULL;
}

void metrics_read_end(struct metrics *metrics, struct metrics_reader *reader)
{
    struct metrics_sample *sample = reader->sample;

    if (!sample) {
        return;
    }
    list_remove(&reader->node);
    if (!list_empty(&sample->readers)) {
        return;
    }
    if (metrics->preparing == sample) {
        metrics->preparing = NULL;
    }
    sample_unlist(metrics, sample);
    sample_free(sample);
}

size_t metrics_sample_size(const struct metrics_sample *sample)
{
    return sample_struct_size(sample->room) + sample->ranking.room * sizeof *sample->ranking.all +
           sample->process[0].room + sample->process[1].room;
}

//
// Preparation
//

// Maximum number of priorities that are searched for the oldest ready job.
#define PRIORITIES_MAX 64

// The rank is the number of jobs that were submitted, that ended, and that are present. A queue
// with a series counts a quarter more, so that two similar queues do not alternate.
static uint64_t candidate_rank(const struct queue_info *info, const struct counts *counts,
                               bool has_series)
{
    uint64_t rank = counts->submitted + counts->completed + counts->failed + counts->deleted;

    for (int i = 0; i < JOB_STATES; i++) {
        rank += info->jobs[i];
    }
    return has_series ? rank + rank / 4 : rank;
}

static void sample_rank_queue(struct metrics *metrics, struct metrics_sample *sample,
                              const struct queue *queue)
{
    struct metric_candidate candidate = {.place = sample->cursor - 1};
    struct queue_info info;
    struct counts counts;
    nsec_t oldest_for;

    broker_queue_info(metrics->broker, queue, &info);
    queue_counts(queue, &counts);
    (void)queue_oldest_ready(metrics->broker, queue, &oldest_for);
    broker_charge_links(metrics->broker, info.jobs[JOB_READY] < PRIORITIES_MAX
                                             ? info.jobs[JOB_READY]
                                             : PRIORITIES_MAX);
    candidate.rank = candidate_rank(
        &info, &counts,
        metric_series_set_has(&metrics->series, &sample->series_at, candidate.place));
    candidate.gauges = (struct metric_gauges){
        .oldest_ns = (uint64_t)oldest_for,
        .waiting = info.waiting,
        .subscriptions = info.subscriptions,
        .paused = info.pause_remaining_for > 0,
    };
    for (unsigned i = 0; i < CLOSED_REASONS; i++) {
        candidate.gauges.closed[i] = info.closed >> i & 1;
    }
    metric_ranking_offer(&sample->ranking, &candidate);
}

// The queue at this place; NULL if it was removed.
static const struct queue *queue_at_place(struct broker *broker, uint32_t place)
{
    uint32_t cursor = place;
    const struct queue *queue = broker_queue_next(broker, &cursor);

    return queue && cursor == place + 1 ? queue : NULL;
}

// Adds the row of a queue, or leaves the queue to the rest if there is no memory.
static void sample_add_row(struct metrics *metrics, struct metrics_sample *sample,
                           const struct queue *queue, const struct metric_candidate *candidate)
{
    struct metric_row *row = &sample->rows[sample->count];
    struct queue_info info;

    metric_numbers_queue(metrics->broker, queue, &row->numbers);
    if (!metric_series_set_add(&sample->next, &metrics->series, &sample->series_at,
                               queue_name(queue), candidate->place, &row->numbers)) {
        metric_gauges_add(&sample->ranking.rest, &candidate->gauges);
        return;
    }
    row->name = sample->next.all[sample->count].name;
    row->name->refs++;
    row->timed = queue_times(queue) != NULL;
    row->gauges = candidate->gauges;
    broker_queue_info(metrics->broker, queue, &info);
    metric_tube_sample(&info, row->tube);
    metric_numbers_subtract(&sample->rest.numbers, &row->numbers);
    sample->count++;
}

static void sample_take_queues(struct metrics *metrics, struct metrics_sample *sample)
{
    struct broker_info info;

    metric_ranking_sort(&sample->ranking);
    sample->rest = (struct metric_row){.timed = true};
    metric_numbers_broker(metrics->broker, &sample->rest.numbers);
    sample->series_at = 0;
    for (size_t i = 0; i < sample->ranking.count; i++) {
        const struct metric_candidate *candidate = &sample->ranking.all[i];
        const struct queue *queue = queue_at_place(metrics->broker, candidate->place);

        if (queue) {
            sample_add_row(metrics, sample, queue, candidate);
        }
    }
    sample->rest.gauges = sample->ranking.rest;
    broker_info(metrics->broker, &info);
    sample->unnamed = info.queues - sample->count;

    metric_series_set_free(&metrics->series);
    metrics->series = sample->next;
    metrics->series.sampled = true;
    metrics->series.complete = sample->unnamed == 0;
    memset(&sample->next, 0, sizeof sample->next);
    metric_ranking_free(&sample->ranking);
}

static void sample_take_process(const struct metrics *metrics, struct metrics_sample *sample)
{
    struct process_sample process;

    process_sample_take(&process, metrics->broker, metrics->facts, metrics->introspect);
    process.unnamed = sample->unnamed;
    sample->exporters = metrics->exporters;
    for (int i = 0; i < 2; i++) {
        metrics_process_write(&process, &sample->process[i]);
        metrics_exporters_write(sample->exporters, &process, &sample->process[i]);
    }
}

bool metrics_sample_step(struct metrics *metrics, struct metrics_sample *sample)
{
    for (int i = 0; i < BROKER_SLICE && !sample->ready; i++) {
        const struct queue *queue = broker_queue_next(metrics->broker, &sample->cursor);

        if (queue) {
            sample_rank_queue(metrics, sample, queue);
        } else {
            sample_take_queues(metrics, sample);
            sample_take_process(metrics, sample);
            sample->ready = true;
            sample->ready_at = broker_now(metrics->broker).mono;
            metrics->preparing = NULL;
        }
    }
    return sample->ready;
}
