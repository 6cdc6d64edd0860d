/* SPDX-License-Identifier: MIT */
#include "admin/metrics_moment.h"

#include "core/base/memory.h"
#include "core/broker.h"
#include "proto_common/wire.h"

#include "admin/metrics_names.h"
#include "admin/metrics_process.h"

#include <string.h>

// Of so many priorities the oldest ready job is looked for: each is a search in a tree.
#define PRIORITIES 64
// More queues may come while the walk lasts.
#define MORE_QUEUES BROKER_SLICE

static size_t size_of(size_t room)
{
    return sizeof(struct metrics_moment) + room * sizeof(struct metric_row);
}

static void moment_free(struct metrics_moment *moment)
{
    for (size_t i = 0; i < moment->count; i++) {
        metric_name_unref(moment->rows[i].name);
    }
    metric_picks_free(&moment->picks);
    metric_named_free(&moment->next);
    metrics_text_free(&moment->process[0]);
    metrics_text_free(&moment->process[1]);
    memory_free(moment, size_of(moment->room));
}

static struct metrics_moment *moment_new(size_t room)
{
    struct metrics_moment *moment = memory_alloc(size_of(room));

    if (!moment) {
        return NULL;
    }
    memset(moment, 0, sizeof *moment);
    list_init(&moment->node);
    list_init(&moment->readers);
    moment->room = room;
    moment->process[1].open_metrics = true;
    if (!metric_picks_begin(&moment->picks, room) || !metric_named_begin(&moment->next, room)) {
        moment_free(moment);
        return NULL;
    }
    return moment;
}

void metrics_begin(struct metrics *metrics, struct broker *broker,
                   const struct process_facts *facts, const struct sight *sight)
{
    *metrics = (struct metrics){.broker = broker, .facts = facts, .sight = sight};
    list_init(&metrics->moments);
}

void metrics_end(struct metrics *metrics)
{
    ENSURE(list_empty(&metrics->moments));
    metric_named_free(&metrics->named);
}

// One more; it is what is being prepared. NULL without memory.
static struct metrics_moment *prepare(struct metrics *metrics, size_t most_names)
{
    struct metrics_moment *moment;
    struct broker_info info;

    broker_info(metrics->broker, &info);
    if (info.queues + MORE_QUEUES < most_names) {
        most_names = info.queues + MORE_QUEUES;
    }
    moment = moment_new(most_names);
    if (moment) {
        list_append(&metrics->moments, &moment->node);
        metrics->count++;
        metrics->preparing = moment;
    }
    return moment;
}

// It counts no more; it goes with the last of its readers.
static void set_aside(struct metrics *metrics, struct metrics_moment *moment)
{
    if (!list_empty(&moment->node)) {
        list_remove(&moment->node);
        metrics->count--;
    }
}

static void drop_oldest(struct metrics *metrics)
{
    struct metrics_moment *oldest =
        list_item(list_first(&metrics->moments), struct metrics_moment, node);

    list_each (node, &oldest->readers) {
        wire_drop(list_item(node, struct metrics_reader, node)->wire,
                  "reads metrics more slowly than other clients request them");
    }
    set_aside(metrics, oldest);
}

static struct metrics_moment *choose(struct metrics *metrics, size_t most_names)
{
    struct metrics_moment *last;

    if (metrics->preparing) {
        return metrics->preparing;
    }
    if (metrics->count == METRICS_MOMENTS) {
        last = list_item(metrics->moments.prev, struct metrics_moment, node);
        if (broker_now(metrics->broker).mono - last->ready_at < METRICS_SHARED_FOR) {
            return last;
        }
        drop_oldest(metrics);
    }
    return prepare(metrics, most_names);
}

bool metrics_read(struct metrics *metrics, struct metrics_reader *reader, size_t most_names)
{
    reader->moment = choose(metrics, most_names);
    if (reader->moment) {
        list_init(&reader->node);
        list_append(&reader->moment->readers, &reader->node);
    }
    return reader->moment != NULL;
}

void metrics_read_end(struct metrics *metrics, struct metrics_reader *reader)
{
    struct metrics_moment *moment = reader->moment;

    if (!moment) {
        return;
    }
    list_remove(&reader->node);
    if (!list_empty(&moment->readers)) {
        return;
    }
    if (metrics->preparing == moment) {
        metrics->preparing = NULL;
    }
    set_aside(metrics, moment);
    moment_free(moment);
}

// What makes a queue busy: jobs that came, that ended, and that are there. One that has a name
// keeps it until another is busier by a quarter, so that two that are alike do not take turns.
static uint64_t rank_of(const struct queue_info *info, const struct counts *counts, bool named)
{
    uint64_t rank = counts->submitted + counts->completed + counts->failed + counts->deleted;

    for (int i = 0; i < JOB_STATES; i++) {
        rank += info->jobs[i];
    }
    return named ? rank + rank / 4 : rank;
}

static void offer(struct metrics *metrics, struct metrics_moment *moment, const struct queue *queue)
{
    struct metric_pick pick = {.place = moment->cursor - 1};
    struct queue_info info;
    struct counts counts;
    nsec_t oldest_for;

    broker_queue_info(metrics->broker, queue, &info);
    queue_counts(queue, &counts);
    (void)queue_oldest_ready(metrics->broker, queue, &oldest_for);
    broker_charge_links(metrics->broker,
                        info.jobs[JOB_READY] < PRIORITIES ? info.jobs[JOB_READY] : PRIORITIES);
    pick.rank =
        rank_of(&info, &counts, metric_named_has(&metrics->named, &moment->named_at, pick.place));
    pick.seen = (struct metric_seen){
        .oldest_ns = (uint64_t)oldest_for,
        .waiting = info.waiting,
        .subscriptions = info.subscriptions,
        .paused = info.pause_remaining_for > 0,
    };
    for (unsigned i = 0; i < CLOSED_REASONS; i++) {
        pick.seen.closed[i] = info.closed >> i & 1;
    }
    metric_picks_offer(&moment->picks, &pick);
}

// The queue at that place; NULL where it has gone.
static const struct queue *queue_at_place(struct broker *broker, uint32_t place)
{
    uint32_t cursor = place;
    const struct queue *queue = broker_queue_next(broker, &cursor);

    return queue && cursor == place + 1 ? queue : NULL;
}

static void take_queue(struct metrics *metrics, struct metrics_moment *moment,
                       const struct queue *queue, const struct metric_pick *pick)
{
    struct metric_row *row = &moment->rows[moment->count];
    struct queue_info info;

    metric_numbers_queue(metrics->broker, queue, &row->numbers);
    if (!metric_named_add(&moment->next, &metrics->named, &moment->named_at, queue_name(queue),
                          pick->place, &row->numbers)) {
        metric_seen_add(&moment->picks.rest, &pick->seen);
        return;
    }
    row->name = moment->next.all[moment->count].name;
    row->name->refs++;
    row->timed = queue_times(queue) != NULL;
    row->seen = pick->seen;
    broker_queue_info(metrics->broker, queue, &info);
    metric_tube_take(&info, row->tube);
    metric_numbers_subtract(&moment->rest.numbers, &row->numbers);
    moment->count++;
}

static void take_queues(struct metrics *metrics, struct metrics_moment *moment)
{
    struct broker_info info;

    moment->rest = (struct metric_row){.timed = true};
    metric_numbers_broker(metrics->broker, &moment->rest.numbers);
    moment->named_at = 0;
    for (size_t i = 0; i < moment->picks.count; i++) {
        const struct metric_pick *pick = &moment->picks.all[i];
        const struct queue *queue = queue_at_place(metrics->broker, pick->place);

        if (queue) {
            take_queue(metrics, moment, queue, pick);
        }
    }
    moment->rest.seen = moment->picks.rest;
    broker_info(metrics->broker, &info);
    moment->unnamed = info.queues - moment->count;
    metric_named_free(&metrics->named);
    metrics->named = moment->next;
    metrics->named.told = true;
    metrics->named.complete = moment->unnamed == 0;
    memset(&moment->next, 0, sizeof moment->next);
    metric_picks_free(&moment->picks);
}

static void take_process(const struct metrics *metrics, struct metrics_moment *moment)
{
    struct metric_look look;

    metric_look(&look, metrics->broker, metrics->facts, metrics->sight);
    look.unnamed = moment->unnamed;
    moment->names = metrics->names;
    for (int i = 0; i < 2; i++) {
        metrics_process_write(&look, &moment->process[i]);
        metrics_names_process(moment->names, &look, &moment->process[i]);
    }
}

bool metrics_moment_step(struct metrics *metrics, struct metrics_moment *moment)
{
    for (int i = 0; i < BROKER_SLICE && !moment->ready; i++) {
        const struct queue *queue = broker_queue_next(metrics->broker, &moment->cursor);

        if (queue) {
            offer(metrics, moment, queue);
        } else {
            metric_picks_sort(&moment->picks);
            take_queues(metrics, moment);
            take_process(metrics, moment);
            moment->ready = true;
            moment->ready_at = broker_now(metrics->broker).mono;
            metrics->preparing = NULL;
        }
    }
    return moment->ready;
}

size_t metrics_moment_size(const struct metrics_moment *moment)
{
    return size_of(moment->room) + moment->picks.room * sizeof *moment->picks.all +
           moment->process[0].room + moment->process[1].room;
}
