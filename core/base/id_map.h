/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_ID_MAP_H
#define TANDEM_CORE_BASE_ID_MAP_H

// What has an id, by its id, for ids that are given out one after the other. Eight neighbours share
// a run, and the runs are in a hash table: to add the next id mostly means to fill in a place in
// the run that was begun last. A run leaves with the last of its ids, but for the one that was
// begun last, so a lone survivor of each run is the worst that can happen: it has eight places for
// itself.
//
// Where a run goes in the table depends on a secret, so that no choice of the ids that stay makes
// the chains long.

#include "core/base/hash.h"
#include "core/base/slab.h"

enum { ID_RUN_BITS = 3, ID_RUN = 1 << ID_RUN_BITS };

struct id_map_run {
    struct hash_node node;
    uint64_t number; // its ids without their lowest bits, behind the secret
    size_t count;    // of its things
    void *things[ID_RUN];
};

struct id_map {
    struct slab *slab;         /* private: what the runs come from */
    uint64_t secret;           /* private */
    struct hash runs;          /* private */
    struct id_map_run *recent; /* private: the last that was begun, kept though it be empty */
    struct id_map_run *spare;  /* private: for the next insert, in no table */
    size_t count;              /* private: things */
};

// A place in a walk over all things: behind the one of that id, where `position` is the one of its
// run, else at the beginning of what is there. A walk begins with all zero.
struct id_walk {
    uint64_t position;
    uint64_t id;
    bool over;
};

// An empty map; allocates nothing.
void id_map_init(struct id_map *map, struct slab *slab, uint64_t secret);

// Frees the map, not what is in it. It is empty then.
void id_map_clear(struct id_map *map);

// private: makes the spare.
bool id_map_make_spare(struct id_map *map) MUST_USE;

// Sees to it that one more thing can be inserted, whatever its id. False without memory.
MUST_USE static inline bool id_map_make_room(struct id_map *map)
{
    return (map->spare || id_map_make_spare(map)) && hash_make_room(&map->runs);
}

// Room must have been made. The id must not be in the map; 0 is none.
void id_map_insert(struct id_map *map, uint64_t id, void *thing);

// Removes an id that is in the map.
void id_map_remove(struct id_map *map, uint64_t id);

// What has the id; NULL for nothing.
void *id_map_find(const struct id_map *map, uint64_t id);

// The next thing of a walk over all, in no order: NULL with `walk->over` behind the last one, and
// NULL without it where there was nothing in the piece that a single step looks through. Whatever
// is inserted and removed meanwhile, what stays in the map all the time comes exactly once.
void *id_map_next(const struct id_map *map, struct id_walk *walk);

static inline size_t id_map_count(const struct id_map *map)
{
    return map->count;
}

#endif
