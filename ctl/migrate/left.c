/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/left.h"

#include "ctl/print/need.h"

static int compare_ids(const void *a, const void *b)
{
    uint64_t one = ((const struct left_job *)a)->id;
    uint64_t other = ((const struct left_job *)b)->id;

    return one < other ? -1 : one > other;
}

bool left_has(const struct migration *migration, uint64_t id)
{
    const struct left_job key = {.id = id};

    return migration->left_count > 0 && bsearch(&key, migration->left, migration->left_count,
                                                sizeof *migration->left, compare_ids) != NULL;
}

void left_note(struct migration *migration, uint64_t id, enum left_why why, enum kind kind)
{
    size_t at = migration->left_count;

    if (left_has(migration, id)) {
        return;
    }
    if (at == migration->left_capacity) {
        migration->left_capacity = at ? at * 2 : 64;
        migration->left =
            need(reallocarray(migration->left, migration->left_capacity, sizeof *migration->left));
    }
    // They come about in the order of their ids.
    for (; at > 0 && migration->left[at - 1].id > id; at--) {
        migration->left[at] = migration->left[at - 1];
    }
    migration->left[at] = (struct left_job){.id = id, .why = why, .kind = kind};
    migration->left_count++;
}

uint64_t left_count(const struct migration *migration, enum left_why why)
{
    uint64_t count = 0;

    for (size_t i = 0; i < migration->left_count; i++) {
        count += migration->left[i].why == why;
    }
    return count;
}

uint64_t left_count_kind(const struct migration *migration, enum kind kind)
{
    uint64_t count = 0;

    for (size_t i = 0; i < migration->left_count; i++) {
        count += migration->left[i].kind == kind;
    }
    return count;
}

void left_free(struct migration *migration)
{
    free(migration->left);
}
