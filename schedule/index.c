/* SPDX-License-Identifier: MIT */
#include "schedule/index.h"

#include "core/base/memory.h"

static const struct schedule *by_name(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct schedule, by_name);
}

static int compare(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool name_before(const struct tree_node *a, const struct tree_node *b)
{
    return compare(schedule_name(by_name(a)), schedule_name(by_name(b))) < 0;
}

struct schedule *index_after(const struct schedules *schedules, struct slice name)
{
    struct tree_node *node = schedules->by_name.root, *found = NULL;

    while (node) {
        bool is_after = compare(schedule_name(by_name(node)), name) > 0;

        found = is_after ? node : found;
        node = is_after ? node->left : node->right;
    }
    return found ? container_of(found, struct schedule, by_name) : NULL;
}

struct schedule *index_find(const struct schedules *schedules, struct slice name)
{
    struct tree_node *node = schedules->by_name.root;

    while (node) {
        int order = compare(name, schedule_name(by_name(node)));

        if (order == 0) {
            return container_of(node, struct schedule, by_name);
        }
        node = order < 0 ? node->left : node->right;
    }
    return NULL;
}

struct schedule *index_add(struct schedules *schedules, struct slice name)
{
    struct schedule *schedule = calloc(1, sizeof *schedule + name.len);

    if (schedule) {
        schedule->next_at = NSEC_NEVER;
        schedule->name_len = name.len;
        memcpy(schedule->name, name.ptr, name.len);
        tree_insert(&schedules->by_name, &schedule->by_name, name_before);
        schedules->count++;
    }
    return schedule;
}

void index_remove(struct schedules *schedules, struct schedule *schedule)
{
    schedule_wake(schedules, schedule, NSEC_NEVER);
    tree_remove(&schedules->by_name, &schedule->by_name, name_before);
    schedules->count--;
    plan_free(schedule->file);
    plan_free(schedule->given);
    free(schedule);
}
