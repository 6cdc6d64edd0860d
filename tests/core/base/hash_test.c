/* SPDX-License-Identifier: MIT */
// The hash table: against an array that is searched end to end, and walked while it changes.
#include "core/base/hash.h"

#include "tests/support/chance.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 600 };

struct item {
    struct hash_node in_hash;
    uint64_t key;
    unsigned seen;
    bool in;
};

static struct item items[ITEMS];

static int clear_items(void **state)
{
    (void)state;
    memset(items, 0, sizeof items);
    return 0;
}

static uint64_t item_hash(const struct hash_node *node)
{
    const struct item *item =
        container_of((struct hash_node *)(uintptr_t)node, struct item, in_hash);

    return hash_mix(item->key);
}

static struct item *hash_find(const struct hash *hash, uint64_t key)
{
    for (struct hash_node *node = hash_first(hash, hash_mix(key)); node; node = node->next) {
        struct item *item = container_of(node, struct item, in_hash);

        if (item->key == key) {
            return item;
        }
    }
    return NULL;
}

static void hash_follows_random_changes(void **state)
{
    struct hash hash;
    size_t count = 0;

    (void)state;
    hash_init(&hash, item_hash);
    assert_null(hash_first(&hash, 1));
    for (size_t i = 0; i < ITEMS; i++) {
        items[i].key = i;
    }
    // It grows and shrinks several times over: each phase prefers one of the two.
    for (int step = 0; step < 60000; step++) {
        bool growing = step / 5000 % 2 == 0;
        struct item *item = &items[below(ITEMS)];

        if (item->in && (!growing || below(4) == 0)) {
            hash_remove(&hash, &item->in_hash);
            item->in = false;
            count--;
        } else if (!item->in && (growing || below(4) == 0)) {
            assert_true(hash_make_room(&hash));
            hash_insert(&hash, &item->in_hash);
            item->in = true;
            count++;
        }
        item = &items[below(ITEMS)];
        assert_ptr_equal(hash_find(&hash, item->key), item->in ? item : NULL);
        assert_int_equal(hash_count(&hash), count);
    }
    for (size_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(hash_find(&hash, i), items[i].in ? &items[i] : NULL);
    }
    hash_clear(&hash);
    assert_int_equal(hash_count(&hash), 0);
}

// With all items, each by a key of its own.
static void fill(struct hash *hash)
{
    hash_init(hash, item_hash);
    for (size_t i = 0; i < ITEMS; i++) {
        items[i].key = i;
        assert_true(hash_make_room(hash));
        hash_insert(hash, &items[i].in_hash);
    }
}

static void hash_chains_stay_short(void **state)
{
    struct hash hash;

    (void)state;
    fill(&hash);
    for (size_t i = 0; i < ITEMS; i++) {
        size_t length = 0;

        for (struct hash_node *node = hash_first(&hash, hash_mix(i)); node; node = node->next) {
            length++;
        }
        assert_true(length <= 12);
    }
    hash_clear(&hash);
}

static void hash_without_nodes_has_given_its_buckets_back(void **state)
{
    struct hash hash;

    (void)state;
    fill(&hash);
    for (size_t i = 0; i < ITEMS; i++) {
        hash_remove(&hash, &items[i].in_hash);
    }
    assert_int_equal(hash.buckets, (size_t)1 << HASH_FIRST_BITS);
    hash_clear(&hash);
}

static void hash_keeps_nodes_of_equal_hash_apart(void **state)
{
    struct hash hash;
    size_t seen = 0;

    (void)state;
    hash_init(&hash, item_hash);
    for (size_t i = 0; i < 40; i++) {
        items[i].key = 7;
        assert_true(hash_make_room(&hash));
        hash_insert(&hash, &items[i].in_hash);
    }
    hash_remove(&hash, &items[20].in_hash);
    for (struct hash_node *node = hash_first(&hash, hash_mix(7)); node; node = node->next) {
        assert_ptr_not_equal(node, &items[20].in_hash);
        seen++;
    }
    assert_int_equal(seen, 39);
    hash_clear(&hash);
}

static void hash_that_cannot_grow_still_takes_nodes(void **state)
{
    struct hash hash;

    (void)state;
    hash_init(&hash, item_hash);
    nth_alloc_fail(1);
    assert_false(hash_make_room(&hash));
    for (size_t i = 0; i < ITEMS; i++) {
        items[i].key = i;
        // After the first segment, each is refused.
        nth_alloc_fail(i == 0 ? 0 : 1);
        assert_true(hash_make_room(&hash));
        hash_insert(&hash, &items[i].in_hash);
    }
    nth_alloc_fail(0);
    for (size_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(hash_find(&hash, i), &items[i]);
    }
    // With memory again it catches up, one bucket at a time.
    for (size_t i = 0; i < ITEMS; i++) {
        hash_remove(&hash, &items[i].in_hash);
        assert_true(hash_make_room(&hash));
        hash_insert(&hash, &items[i].in_hash);
    }
    for (size_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(hash_find(&hash, i), &items[i]);
        hash_remove(&hash, &items[i].in_hash);
    }
    assert_int_equal(hash_count(&hash), 0);
    hash_clear(&hash);
}

// From some size on, a table fetches ahead what it will touch.
static void hash_of_very_many_nodes_finds_each_of_them(void **state)
{
    enum { MANY = 150000 };
    struct item *many = calloc(MANY, sizeof *many);
    struct hash hash;

    (void)state;
    assert_non_null(many);
    hash_init(&hash, item_hash);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < MANY; i++) {
            many[i].key = i;
            assert_true(hash_make_room(&hash));
            hash_insert(&hash, &many[i].in_hash);
        }
        for (size_t i = 0; i < MANY; i++) {
            assert_ptr_equal(hash_find(&hash, i), &many[i]);
        }
        for (size_t i = 0; i < MANY; i++) {
            hash_remove(&hash, &many[i].in_hash);
        }
        assert_int_equal(hash_count(&hash), 0);
    }
    hash_clear(&hash);
    free(many);
}

//
// Walks
//

// Takes a step of a walk: counts for each node of the stretch that it was seen.
static bool walk_step(const struct hash *hash, uint64_t *position)
{
    uint64_t last;

    for (struct hash_node *node = hash_stretch(hash, *position, &last); node; node = node->next) {
        struct item *item = container_of(node, struct item, in_hash);
        uint64_t at = hash_position(hash_mix(item->key));

        assert_true(at <= last); // nodes before the stretch may be there, none behind it
        item->seen += at >= *position;
    }
    *position = last + 1;
    return last != UINT64_MAX;
}

// Every third node stays; the others come, or go, in any order.
static void change_others(struct hash *hash, bool growing, bool starved)
{
    struct item *item = &items[below(ITEMS)];

    if ((item - items) % 3 == 0 || item->in == growing) {
        return;
    }
    if (item->in) {
        hash_remove(hash, &item->in_hash);
    } else {
        nth_alloc_fail(starved ? 1 : 0);
        assert_true(hash_make_room(hash));
        nth_alloc_fail(0);
        hash_insert(hash, &item->in_hash);
    }
    item->in = !item->in;
}

static void walk_of_a_hash_sees_what_stays_once_and_nothing_twice(void **state)
{
    struct hash hash;

    (void)state;
    fill(&hash);
    for (size_t i = 0; i < ITEMS; i++) {
        items[i].in = true;
    }
    for (unsigned round = 0; round < 400; round++) {
        uint64_t position = 0;

        for (size_t i = 0; i < ITEMS; i++) {
            items[i].seen = 0;
        }
        while (walk_step(&hash, &position)) {
            for (unsigned i = 0; i < round % 7; i++) {
                change_others(&hash, round / 7 % 2, round % 3 == 0);
            }
        }
        for (size_t i = 0; i < ITEMS; i++) {
            assert_true(items[i].seen == 1 || (i % 3 && items[i].seen == 0));
        }
    }
    hash_clear(&hash);
}

static void walk_of_an_empty_hash_is_one_stretch(void **state)
{
    struct hash hash;
    uint64_t last;

    (void)state;
    hash_init(&hash, item_hash);
    assert_null(hash_stretch(&hash, 0, &last));
    assert_true(last == UINT64_MAX);
}

static void position_is_the_hash_read_backwards(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        assert_true(hash_position(UINT64_C(1) << bit) == UINT64_C(1) << (63 - bit));
    }
    assert_true(hash_position(UINT64_C(0x0123456789abcdef)) == UINT64_C(0xf7b3d591e6a2c480));
}

static void hash_replaces_a_node_in_its_place(void **state)
{
    static struct item other;
    struct hash hash;

    (void)state;
    fill(&hash);
    for (size_t i = 0; i < ITEMS; i++) {
        other.key = i;
        hash_replace(&hash, &items[i].in_hash, &other.in_hash);
        assert_ptr_equal(hash_find(&hash, i), &other);
        hash_replace(&hash, &other.in_hash, &items[i].in_hash);
    }
    for (size_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(hash_find(&hash, i), &items[i]);
    }
    assert_int_equal(hash_count(&hash), ITEMS);
    hash_clear(&hash);
}

#define WITH_ITEMS(f) cmocka_unit_test_setup(f, clear_items)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ITEMS(hash_follows_random_changes),
        WITH_ITEMS(hash_chains_stay_short),
        WITH_ITEMS(hash_without_nodes_has_given_its_buckets_back),
        WITH_ITEMS(hash_keeps_nodes_of_equal_hash_apart),
        WITH_ITEMS(hash_that_cannot_grow_still_takes_nodes),
        cmocka_unit_test(hash_of_very_many_nodes_finds_each_of_them),
        WITH_ITEMS(walk_of_a_hash_sees_what_stays_once_and_nothing_twice),
        WITH_ITEMS(walk_of_an_empty_hash_is_one_stretch),
        WITH_ITEMS(position_is_the_hash_read_backwards),
        WITH_ITEMS(hash_replaces_a_node_in_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
