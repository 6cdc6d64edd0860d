/* SPDX-License-Identifier: MIT */
#include "core/base/id_map.h"

static struct id_map_run *id_map_run_at(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct id_map_run, node);
}

// Buckets of this many adjacent runs are adjacent, too, in one or two cache lines: with eight
// million ids, an insertion takes 31 ns instead of 53, finding the next id 14 instead of 35.
enum { NEAR_BITS = 3, NEAR = 1 << NEAR_BITS };

static uint64_t id_map_number(const struct id_map *map, uint64_t id)
{
    return id >> ID_RUN_BITS ^ map->secret;
}

static uint64_t id_map_hash(uint64_t number)
{
    return hash_mix(number >> NEAR_BITS) + number % NEAR;
}

static uint64_t id_map_run_hash(const struct hash_node *node)
{
    return id_map_hash(id_map_run_at(node)->number);
}

void id_map_init(struct id_map *map, struct slab *slab, uint64_t secret)
{
    *map = (struct id_map){.slab = slab, .secret = secret};
    hash_init(&map->runs, id_map_run_hash);
}

static void id_map_run_free(struct id_map *map, struct id_map_run *run)
{
    slab_free(map->slab, run, sizeof *run);
}

void id_map_clear(struct id_map *map)
{
    uint64_t position = 0;
    uint64_t last;

    do {
        struct hash_node *node = hash_stretch(&map->runs, position, &last);

        while (node) {
            struct id_map_run *run = id_map_run_at(node);

            node = node->next;
            hash_remove(&map->runs, &run->node);
            id_map_run_free(map, run);
        }
        position = last + 1;
    } while (last != UINT64_MAX);
    id_map_run_free(map, map->spare);
    hash_clear(&map->runs);
    id_map_init(map, map->slab, map->secret);
}

bool id_map_make_spare(struct id_map *map)
{
    map->spare = slab_alloc(map->slab, sizeof *map->spare);
    return map->spare != NULL;
}

static struct id_map_run *id_map_run_search(const struct id_map *map, uint64_t number)
{
    struct hash_node *node = hash_first(&map->runs, id_map_hash(number));

    while (node && id_map_run_at(node)->number != number) {
        node = node->next;
    }
    return node ? id_map_run_at(node) : NULL;
}

// The recent run is tried first: that saves 2.7 % of handing over a job, by tests/budget.
static inline struct id_map_run *id_map_run_find(const struct id_map *map, uint64_t number)
{
    struct id_map_run *recent = map->recent;

    return recent && recent->number == number ? recent : id_map_run_search(map, number);
}

static void id_map_run_remove(struct id_map *map, struct id_map_run *run)
{
    hash_remove(&map->runs, &run->node);
    if (map->spare) {
        id_map_run_free(map, run);
    } else {
        map->spare = run;
    }
}

static struct id_map_run *id_map_run_new(struct id_map *map, uint64_t number)
{
    struct id_map_run *recent = map->recent;
    struct id_map_run *run = map->spare;

    ENSURE(run);
    *run = (struct id_map_run){.number = number};
    map->spare = NULL;
    if (recent && recent->count == 0) {
        id_map_run_remove(map, recent);
    }
    hash_insert(&map->runs, &run->node);
    map->recent = run;
    return run;
}

void id_map_insert(struct id_map *map, uint64_t id, void *thing)
{
    struct id_map_run *run = id_map_run_find(map, id_map_number(map, id));

    if (!run) {
        run = id_map_run_new(map, id_map_number(map, id));
    }
    ENSURE(!run->things[id % ID_RUN]);
    run->things[id % ID_RUN] = thing;
    run->count++;
    map->count++;
}

void id_map_remove(struct id_map *map, uint64_t id)
{
    struct id_map_run *run = id_map_run_find(map, id_map_number(map, id));

    ENSURE(run && run->things[id % ID_RUN]);
    run->things[id % ID_RUN] = NULL;
    run->count--;
    map->count--;
    if (run->count == 0 && run != map->recent) {
        id_map_run_remove(map, run);
    }
}

void *id_map_find(const struct id_map *map, uint64_t id)
{
    const struct id_map_run *run = id_map_run_find(map, id_map_number(map, id));

    return run ? run->things[id % ID_RUN] : NULL;
}

// Runs rarely have the same hash; then the id decides.
static bool id_walk_before(const struct id_walk *a, const struct id_walk *b)
{
    return a->position != b->position ? a->position < b->position : a->id < b->id;
}

// Finds the first object of the run after the position of the walk; `next` is the best so far.
static void *id_map_search_run(const struct id_map *map, const struct id_map_run *run,
                               const struct id_walk *walk, struct id_walk *next)
{
    struct id_walk place = {.position = hash_position(id_map_hash(run->number))};

    for (unsigned i = 0; i < ID_RUN; i++) {
        place.id = (run->number ^ map->secret) << ID_RUN_BITS | i;
        if (run->things[i] && id_walk_before(walk, &place)) {
            if (!next->over && !id_walk_before(&place, next)) {
                return NULL;
            }
            *next = place;
            return run->things[i];
        }
    }
    return NULL;
}

void *id_map_next(const struct id_map *map, struct id_walk *walk)
{
    struct id_walk next = {.over = true};
    struct hash_node *node;
    void *best = NULL;
    uint64_t last;

    if (walk->over) {
        return NULL;
    }
    for (node = hash_stretch(&map->runs, walk->position, &last); node; node = node->next) {
        void *thing = id_map_search_run(map, id_map_run_at(node), walk, &next);

        best = thing ? thing : best;
    }
    *walk = best ? next : (struct id_walk){.position = last + 1, .over = last == UINT64_MAX};
    return best;
}
