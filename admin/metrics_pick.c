/* SPDX-License-Identifier: MIT */
#include "admin/metrics_pick.h"

#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

bool metric_picks_begin(struct metric_picks *picks, size_t room)
{
    memset(picks, 0, sizeof *picks);
    picks->all = room ? memory_alloc(room * sizeof *picks->all) : NULL;
    picks->room = picks->all ? room : 0;
    return picks->all || room == 0;
}

void metric_picks_free(struct metric_picks *picks)
{
    memory_free(picks->all, picks->room * sizeof *picks->all);
    memset(picks, 0, sizeof *picks);
}

void metric_seen_add(struct metric_seen *rest, const struct metric_seen *seen)
{
    if (seen->oldest_ns > rest->oldest_ns) {
        rest->oldest_ns = seen->oldest_ns;
    }
    rest->waiting += seen->waiting;
    rest->subscriptions += seen->subscriptions;
    rest->paused += seen->paused;
    for (size_t i = 0; i < CLOSED_REASONS; i++) {
        rest->closed[i] += seen->closed[i];
    }
}

static bool worse(const struct metric_pick *a, const struct metric_pick *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->place > b->place;
}

// Puts the pick where it belongs, at `at` or above it.
static void rise(struct metric_picks *picks, size_t at, const struct metric_pick *pick)
{
    while (at > 0 && worse(pick, &picks->all[(at - 1) / 2])) {
        picks->all[at] = picks->all[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    picks->all[at] = *pick;
}

// Puts it in the place of the one on top, or below.
static void sink(struct metric_picks *picks, const struct metric_pick *pick)
{
    size_t at = 0;

    for (size_t child = 1; child < picks->count; child = 2 * at + 1) {
        if (child + 1 < picks->count && worse(&picks->all[child + 1], &picks->all[child])) {
            child++;
        }
        if (!worse(&picks->all[child], pick)) {
            break;
        }
        picks->all[at] = picks->all[child];
        at = child;
    }
    picks->all[at] = *pick;
}

void metric_picks_offer(struct metric_picks *picks, const struct metric_pick *pick)
{
    if (picks->count < picks->room) {
        rise(picks, picks->count++, pick);
    } else if (picks->count == 0 || worse(pick, &picks->all[0])) {
        metric_seen_add(&picks->rest, &pick->seen);
    } else {
        metric_seen_add(&picks->rest, &picks->all[0].seen);
        sink(picks, pick);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct metric_pick *x = a;
    const struct metric_pick *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

void metric_picks_sort(struct metric_picks *picks)
{
    if (picks->count > 0) {
        qsort(picks->all, picks->count, sizeof *picks->all, by_place);
    }
}
