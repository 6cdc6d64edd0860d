/* SPDX-License-Identifier: MIT */
#include "schedule/schedule_private.h"

#include "core/base/memory.h"

static struct schedule *schedule_by_name(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct schedule, by_name);
}

static struct schedule *schedule_by_wake(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct schedule, by_wake);
}

static int schedule_compare_names(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool schedule_name_before(const struct tree_node *a, const struct tree_node *b)
{
    return schedule_compare_names(schedule_name(schedule_by_name(a)),
                                  schedule_name(schedule_by_name(b))) < 0;
}

static bool schedule_wakes_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct schedule *x = schedule_by_wake(a), *y = schedule_by_wake(b);

    return x->wake_at != y->wake_at ? x->wake_at < y->wake_at : x < y;
}

struct schedule *schedule_index_find(const struct schedules *schedules, struct slice name)
{
    const struct tree_node *node = schedules->by_name.root;

    while (node) {
        int order = schedule_compare_names(name, schedule_name(schedule_by_name(node)));

        if (order == 0) {
            return schedule_by_name(node);
        }
        node = order < 0 ? node->left : node->right;
    }
    return NULL;
}

struct schedule *schedule_index_after(const struct schedules *schedules, struct slice name)
{
    const struct tree_node *node = schedules->by_name.root, *found = NULL;

    while (node) {
        bool after = schedule_compare_names(schedule_name(schedule_by_name(node)), name) > 0;

        found = after ? node : found;
        node = after ? node->left : node->right;
    }
    return found ? schedule_by_name(found) : NULL;
}

struct schedule *schedule_index_add(struct schedules *schedules, struct slice name)
{
    struct schedule *schedule = calloc(1, sizeof *schedule + name.len);

    if (schedule) {
        schedule->next_at = NSEC_NEVER;
        schedule->name_len = name.len;
        memcpy(schedule->name, name.ptr, name.len);
        tree_insert(&schedules->by_name, &schedule->by_name, schedule_name_before);
        schedules->count++;
    }
    return schedule;
}

void schedule_index_remove(struct schedules *schedules, struct schedule *schedule)
{
    schedule_index_wake(schedules, schedule, NSEC_NEVER);
    tree_remove(&schedules->by_name, &schedule->by_name, schedule_name_before);
    schedules->count--;
    schedule_plan_free(schedule->file);
    schedule_plan_free(schedule->at_run_time);
    free(schedule);
}

void schedule_index_wake(struct schedules *schedules, struct schedule *schedule, nsec_t at)
{
    if (schedule->wakes) {
        tree_remove(&schedules->by_wake, &schedule->by_wake, schedule_wakes_before);
    }
    schedule->wakes = at != NSEC_NEVER;
    schedule->wake_at = at;
    if (schedule->wakes) {
        tree_insert(&schedules->by_wake, &schedule->by_wake, schedule_wakes_before);
    }
}

struct schedule *schedule_index_first(const struct schedules *schedules)
{
    const struct tree_node *first = tree_first(&schedules->by_wake);

    return first ? schedule_by_wake(first) : NULL;
}
