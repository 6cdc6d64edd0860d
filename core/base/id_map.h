/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_ID_MAP_H
#define TANDEM_CORE_BASE_ID_MAP_H

// A map from ids, allocated in sequence, to objects. Eight adjacent ids share a run, and the runs
// are in a hash table, so that adding the next id usually fills a slot of the most recent run. A
// run, except the most recent one, is freed with its last id; in the worst case, each run has one
// id and eight slots.
//
// The hash of a run depends on a secret, so that clients cannot cause long chains by choosing the
// ids that remain.

#include "core/base/hash.h"
#include "core/base/slab.h"

enum { ID_RUN_BITS = 3, ID_RUN = 1 << ID_RUN_BITS };

struct id_map_run {
    struct hash_node node;
    uint64_t number; // its ids without their lowest bits, combined with the secret
    size_t count;    // of its objects
    void *things[ID_RUN];
};

struct id_map {
    struct slab *slab;         /* private: allocates the runs */
    uint64_t secret;           /* private */
    struct hash runs;          /* private */
    struct id_map_run *recent; /* private: the run begun last, kept even when empty */
    struct id_map_run *spare;  /* private: for the next insert, not in the table */
    size_t count;              /* private: objects */
};

// A position in a walk over all objects: after `id`, if `position` is that of its run, otherwise at
// the first one from there. Initialized to zero.
struct id_walk {
    uint64_t position;
    uint64_t id;
    bool over;
};

// Initializes an empty map; allocates nothing.
void id_map_init(struct id_map *map, struct slab *slab, uint64_t secret);

// Empties the map, but does not free its objects.
void id_map_clear(struct id_map *map);

// private: allocates the spare.
bool id_map_make_spare(struct id_map *map) MUST_USE;

// Ensures that one object with any id can be inserted. False: no memory.
MUST_USE static inline bool id_map_make_room(struct id_map *map)
{
    return (map->spare || id_map_make_spare(map)) && hash_make_room(&map->runs);
}

// Inserts an object, after id_map_make_room(). The id must not be in the map, or 0.
void id_map_insert(struct id_map *map, uint64_t id, void *thing);

// Removes an id that is in the map.
void id_map_remove(struct id_map *map, uint64_t id);

// The object with the id; NULL: none.
void *id_map_find(const struct id_map *map, uint64_t id);

// The next object of a walk, in no order. NULL with `walk->over`: the end; NULL without it: the
// part searched in this call was empty. Objects that stay in the map during the walk are returned
// exactly once, whatever is inserted or removed.
void *id_map_next(const struct id_map *map, struct id_walk *walk);

static inline size_t id_map_count(const struct id_map *map)
{
    return map->count;
}

#endif
