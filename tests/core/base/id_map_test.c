/* SPDX-License-Identifier: MIT */
// The map of ids: against an array, and walked while it changes.
#include "core/base/id_map.h"

#include "tests/support/chance.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <string.h>

#define SECRET UINT64_C(0xfedcba9876543210)
// Ids from BASE on: the last one that there can be is among them.
enum { IDS = 3000 };
#define BASE (UINT64_MAX - IDS + 1)

struct bed {
    struct slab slab;
    struct id_map map;
    bool in[IDS];
    unsigned seen[IDS];
    size_t count;
};

static struct bed bed;

static int begin(void **state)
{
    (void)state;
    memset(&bed, 0, sizeof bed);
    nth_alloc_fail(0);
    slab_init(&bed.slab);
    id_map_init(&bed.map, &bed.slab, SECRET);
    return 0;
}

static int end(void **state)
{
    (void)state;
    nth_alloc_fail(0);
    id_map_clear(&bed.map);
    slab_clear(&bed.slab);
    return 0;
}

// The object with that id: any unique address will do.
static void *thing_of(uint64_t id)
{
    return &bed.in[id - BASE];
}

static void insert(uint64_t id)
{
    assert_true(id_map_make_room(&bed.map));
    id_map_insert(&bed.map, id, thing_of(id));
    bed.in[id - BASE] = true;
    bed.count++;
}

static void remove_id(uint64_t id)
{
    id_map_remove(&bed.map, id);
    bed.in[id - BASE] = false;
    bed.count--;
}

static void expect_all(void)
{
    for (size_t i = 0; i < IDS; i++) {
        assert_ptr_equal(id_map_find(&bed.map, BASE + i), bed.in[i] ? &bed.in[i] : NULL);
    }
    assert_int_equal(id_map_count(&bed.map), bed.count);
}

static void empty_map_finds_nothing(void **state)
{
    (void)state;
    expect_all();
    assert_null(id_map_find(&bed.map, 0));
}

static void neighbours_are_told_apart(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ID_RUN; i += 2) {
        insert(BASE + i);
    }
    expect_all();
}

static void map_follows_random_changes(void **state)
{
    (void)state;
    // It fills and empties several times over: each phase prefers one of the two.
    for (int step = 0; step < 60000; step++) {
        bool growing = step / 10000 % 2 == 0;
        uint64_t id = BASE + below(IDS);

        if (bed.in[id - BASE] && (!growing || below(4) == 0)) {
            remove_id(id);
        } else if (!bed.in[id - BASE] && (growing || below(4) == 0)) {
            insert(id);
        }
        if (step % 1000 == 0) {
            expect_all();
        }
    }
    expect_all();
}

static void ids_that_come_and_go_alone_ask_for_memory_twice_at_most(void **state)
{
    (void)state;
    insert(BASE);
    remove_id(BASE);
    insert(BASE + ID_RUN);
    remove_id(BASE + ID_RUN);
    nth_alloc_fail(0);
    for (uint64_t id = BASE + 2 * (uint64_t)ID_RUN; id != 0; id++) {
        insert(id);
        remove_id(id);
    }
    assert_int_equal(nth_alloc_count(), 0);
    assert_int_equal(hash_count(&bed.map.runs), 1);
}

static void run_leaves_with_the_last_of_its_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < IDS; i++) {
        insert(BASE + i);
    }
    for (size_t i = 0; i < IDS; i++) {
        remove_id(BASE + i);
    }
    // The one that was used last stays.
    assert_int_equal(hash_count(&bed.map.runs), 1);
}

static void map_without_memory_says_so_and_can_go_on(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        bool made;

        id_map_clear(&bed.map);
        bed.count = 0;
        memset(bed.in, 0, sizeof bed.in);
        nth_alloc_fail(n);
        made = id_map_make_room(&bed.map);
        assert_true(made == (nth_alloc_count() < n));
        nth_alloc_fail(0);
        insert(BASE);
        expect_all();
        if (made) {
            break;
        }
    }
}

static void cleared_map_is_empty_and_may_be_cleared_again(void **state)
{
    (void)state;
    insert(BASE);
    insert(BASE + ID_RUN);
    assert_true(id_map_make_room(&bed.map));
    id_map_clear(&bed.map);
    id_map_clear(&bed.map);
    assert_null(id_map_find(&bed.map, BASE));
    assert_int_equal(id_map_count(&bed.map), 0);
}

static uint64_t position_of(uint64_t secret, uint64_t id)
{
    struct id_walk walk = {0};
    struct id_map map;

    id_map_init(&map, &bed.slab, secret);
    assert_true(id_map_make_room(&map));
    id_map_insert(&map, id, &map);
    while (!id_map_next(&map, &walk)) {
        assert_false(walk.over);
    }
    id_map_clear(&map);
    return walk.position;
}

static void secret_decides_where_a_run_goes(void **state)
{
    (void)state;
    assert_true(position_of(SECRET, BASE) == position_of(SECRET, BASE));
    assert_true(position_of(SECRET, BASE) != position_of(SECRET + 256, BASE));
}

// Takes a step of a walk; false behind its end.
static bool walk_step(struct id_walk *walk)
{
    bool *in = id_map_next(&bed.map, walk);

    if (in) {
        assert_true(*in);
        bed.seen[in - bed.in]++;
    }
    return !walk->over;
}

// Every third id stays; the others come, or go.
static void change_others(bool growing)
{
    uint64_t id = BASE + below(IDS);

    if ((id - BASE) % 3 == 0 || bed.in[id - BASE] == growing) {
        return;
    }
    if (growing) {
        insert(id);
    } else {
        remove_id(id);
    }
}

static void walk_sees_what_stays_once_and_nothing_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < IDS; i++) {
        insert(BASE + i);
    }
    for (unsigned round = 0; round < 60; round++) {
        struct id_walk walk = {0};

        memset(bed.seen, 0, sizeof bed.seen);
        while (walk_step(&walk)) {
            for (unsigned i = 0; i < round % 7; i++) {
                change_others(round / 7 % 2);
            }
        }
        assert_null(id_map_next(&bed.map, &walk));
        for (size_t i = 0; i < IDS; i++) {
            assert_true(bed.seen[i] == 1 || (i % 3 && bed.seen[i] == 0));
        }
    }
}

static void walk_of_an_empty_map_is_over_at_once(void **state)
{
    struct id_walk walk = {0};

    (void)state;
    assert_null(id_map_next(&bed.map, &walk));
    assert_true(walk.over);
}

// Two groups of runs that mix to hashes three apart: a run of each has the very same one.
#define GROUP UINT64_C(0x184b9daa6cecc1b)
#define THREE_ON UINT64_C(0x130a9f6175d7456)

static void runs_of_one_hash_are_told_apart_and_walked(void **state)
{
    const uint64_t ids[] = {(GROUP << 3 | 3) << ID_RUN_BITS, THREE_ON << 3 << ID_RUN_BITS};
    struct id_walk walk = {0};
    size_t seen[2] = {0};

    (void)state;
    id_map_clear(&bed.map);
    id_map_init(&bed.map, &bed.slab, 0);
    assert_true(hash_mix(GROUP) + 3 == hash_mix(THREE_ON));
    for (size_t i = 0; i < 2; i++) {
        assert_true(id_map_make_room(&bed.map));
        id_map_insert(&bed.map, ids[i], &seen[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_equal(id_map_find(&bed.map, ids[i]), &seen[i]);
    }
    while (!walk.over) {
        size_t *found = id_map_next(&bed.map, &walk);

        if (found) {
            ++*found;
        }
    }
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 1);
}

#define IN_BED(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BED(empty_map_finds_nothing),
        IN_BED(neighbours_are_told_apart),
        IN_BED(map_follows_random_changes),
        IN_BED(ids_that_come_and_go_alone_ask_for_memory_twice_at_most),
        IN_BED(run_leaves_with_the_last_of_its_ids),
        IN_BED(map_without_memory_says_so_and_can_go_on),
        IN_BED(cleared_map_is_empty_and_may_be_cleared_again),
        IN_BED(secret_decides_where_a_run_goes),
        IN_BED(walk_sees_what_stays_once_and_nothing_twice),
        IN_BED(walk_of_an_empty_map_is_over_at_once),
        IN_BED(runs_of_one_hash_are_told_apart_and_walked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
