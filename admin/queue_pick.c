/* SPDX-License-Identifier: MIT */
#include "admin/queue_pick.h"

#include "core/base/memory.h"

#include <string.h>

bool queue_picks_begin(struct queue_picks *picks, size_t room, bool largest_first)
{
    *picks = (struct queue_picks){.room = room, .largest_first = largest_first};
    picks->all = memory_alloc(room * sizeof *picks->all);
    return picks->all != NULL;
}

void queue_picks_free(struct queue_picks *picks)
{
    if (picks->all) {
        memory_free(picks->all, picks->room * sizeof *picks->all);
    }
    picks->all = NULL;
}

static int compare_names(struct slice a, struct slice b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool queue_pick_before(const struct queue_picks *picks, uint64_t value, struct slice name,
                       uint64_t other, struct slice other_name)
{
    int order =
        value != other ? (value > other) - (value < other) : compare_names(name, other_name);

    return picks->largest_first ? order > 0 : order < 0;
}

static bool before(const struct queue_picks *picks, const struct queue_pick *a,
                   const struct queue_pick *b)
{
    return queue_pick_before(picks, a->value, queue_name(a->queue), b->value, queue_name(b->queue));
}

// Puts the pick where it belongs, at `at` or above it.
static void rise(struct queue_picks *picks, size_t at, const struct queue_pick *pick)
{
    while (at > 0 && before(picks, &picks->all[(at - 1) / 2], pick)) {
        picks->all[at] = picks->all[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    picks->all[at] = *pick;
}

// Puts it in the place of the one on top, or below, among the first `count`.
static void sink(struct queue_picks *picks, size_t count, const struct queue_pick *pick)
{
    size_t at = 0;

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(picks, &picks->all[child], &picks->all[child + 1])) {
            child++;
        }
        if (!before(picks, pick, &picks->all[child])) {
            break;
        }
        picks->all[at] = picks->all[child];
        at = child;
    }
    picks->all[at] = *pick;
}

void queue_picks_offer(struct queue_picks *picks, const struct queue_pick *pick)
{
    if (picks->count < picks->room) {
        rise(picks, picks->count++, pick);
    } else if (before(picks, pick, &picks->all[0])) {
        sink(picks, picks->count, pick);
    }
}

void queue_picks_sort(struct queue_picks *picks)
{
    for (size_t count = picks->count; count > 1; count--) {
        const struct queue_pick last = picks->all[count - 1];

        picks->all[count - 1] = picks->all[0];
        sink(picks, count - 1, &last);
    }
}
