/* SPDX-License-Identifier: MIT */
// The count of memory: what each kind adds to it comes off again, and marks are passed in order.
#include "core/base/blob.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/slab.h"
#include "core/base/table.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stdint.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static void blocks_are_counted_when_allocated_resized_and_freed(void **state)
{
    size_t before = memory_counted();
    void *block = memory_alloc(100);

    (void)state;
    assert_int_equal(memory_counted(), before + 100);
    block = memory_resize(block, 100, 300);
    assert_int_equal(memory_counted(), before + 300);
    memory_free(block, 300);
    memory_free(NULL, 300);
    assert_int_equal(memory_counted(), before);
    block = memory_zeroed(50);
    assert_int_equal(*(char *)block, 0);
    assert_int_equal(memory_counted(), before + 50);
    memory_free(block, 50);
}

static void blocks_count_by_their_kind_or_as_other(void **state)
{
    size_t all = memory_counted();
    size_t journal = memory_counted_of(MEMORY_JOURNAL);
    size_t other = memory_counted_of(MEMORY_OTHER);
    void *block = memory_alloc_of(MEMORY_JOURNAL, 100);
    void *some = memory_alloc(7);

    (void)state;
    assert_int_equal(memory_counted(), all + 107);
    assert_int_equal(memory_counted_of(MEMORY_JOURNAL), journal + 100);
    assert_int_equal(memory_counted_of(MEMORY_OTHER), other + 7);
    block = memory_resize_of(MEMORY_JOURNAL, block, 100, 300);
    assert_int_equal(memory_counted_of(MEMORY_JOURNAL), journal + 300);
    memory_free_of(MEMORY_JOURNAL, block, 300);
    memory_free(some, 7);
    assert_int_equal(memory_counted_of(MEMORY_JOURNAL), journal);
    assert_int_equal(memory_counted_of(MEMORY_OTHER), other);
    assert_string_equal(memory_kind_word(MEMORY_JOURNAL), "journal");
}

static void slab_counts_as_what_it_is_for(void **state)
{
    size_t before = memory_counted_of(MEMORY_OUTPUT);
    struct slab slab;
    void *thing;

    (void)state;
    slab_init(&slab);
    slab.kind = MEMORY_OUTPUT;
    thing = slab_alloc(&slab, SLAB_LARGEST + 1);
    assert_int_equal(memory_counted_of(MEMORY_OUTPUT), before + SLAB_LARGEST + 1);
    slab_free(&slab, thing, SLAB_LARGEST + 1);
    thing = slab_alloc(&slab, 100);
    assert_true(memory_counted_of(MEMORY_OUTPUT) >= before + 100);
    slab_free(&slab, thing, 100);
    slab_clear(&slab);
    assert_int_equal(memory_counted_of(MEMORY_OUTPUT), before);
}

static void failed_allocations_are_not_counted(void **state)
{
    size_t before = memory_counted();
    void *block = memory_alloc(100);

    (void)state;
    nth_alloc_fail(1);
    assert_null(memory_resize(block, 100, 300));
    nth_alloc_fail(1);
    assert_null(memory_alloc(100));
    nth_alloc_fail(1);
    assert_null(memory_zeroed(100));
    nth_alloc_fail(0);
    assert_int_equal(memory_counted(), before + 100);
    memory_free(block, 100);
    assert_int_equal(memory_counted(), before);
}

static void things_of_slabs_are_counted_until_nothing_is_left(void **state)
{
    enum { THINGS = 10000, SIZE = 100 };
    static void *things[THINGS];
    size_t before = memory_counted();
    struct slab slab;
    void *large;

    (void)state;
    slab_init(&slab);
    for (size_t i = 0; i < THINGS; i++) {
        things[i] = slab_alloc(&slab, SIZE);
    }
    large = slab_alloc(&slab, SLAB_LARGEST + 1);
    assert_true(memory_counted() >= before + (size_t)THINGS * SIZE + SLAB_LARGEST + 1);
    assert_true(memory_counted() <= before + (size_t)THINGS * SIZE + SLAB_LARGEST + MIB);
    for (size_t i = 0; i < THINGS; i++) {
        slab_free(&slab, things[i], SIZE);
    }
    slab_free(&slab, large, SLAB_LARGEST + 1);
    slab_clear(&slab);
    assert_int_equal(memory_counted(), before);
}

static void large_blobs_are_counted_however_they_come(void **state)
{
    struct blob_builder builder;
    size_t before;
    struct blob *blob;
    char *into;
    size_t len;

    (void)state;
    blob_unref(blob_new(1)); // what blobs share is there
    before = memory_counted();
    blob = blob_new(MIB);
    assert_in_range(memory_counted() - before, MIB, MIB + 8192);
    blob_unref(blob);
    assert_int_equal(memory_counted(), before);
    blob_builder_init(&builder, 3 * MIB);
    while (blob_builder_missing(&builder) > MIB) {
        assert_true(blob_builder_room(&builder, &into, &len));
        blob_builder_filled(&builder, len);
    }
    assert_in_range(memory_counted() - before, 2 * MIB, 2 * MIB + MIB / 2 + MIB);
    builder.total = builder.blob->len;
    blob = blob_builder_finish(&builder);
    blob_unref(blob);
    blob_builder_init(&builder, MIB);
    assert_true(blob_builder_room(&builder, &into, &len));
    blob_builder_discard(&builder);
    assert_in_range(memory_counted(), before, before + MIB);
}

static uint64_t hash_of_node(const struct hash_node *node)
{
    return hash_mix((uintptr_t)node);
}

static void tables_are_counted_as_they_grow(void **state)
{
    enum { NODES = 5000 };
    static struct hash_node nodes[NODES];
    size_t before = memory_counted();
    struct table table;
    struct hash hash;

    (void)state;
    hash_init(&hash, hash_of_node);
    table_init(&table);
    for (size_t i = 0; i < NODES; i++) {
        assert_true(hash_make_room(&hash));
        hash_insert(&hash, &nodes[i]);
        assert_true(table_make_room(&table));
        (void)table_put(&table, &nodes[i]);
    }
    assert_true(memory_counted() > before + 2 * NODES * sizeof(void *));
    for (size_t i = 0; i < NODES; i++) {
        hash_remove(&hash, &nodes[i]);
    }
    hash_clear(&hash);
    table_clear(&table);
    assert_int_equal(memory_counted(), before);
}

// Whether each mark is passed, in order.
static void marks_are(bool is_short, bool is_crowded, bool is_over)
{
    assert_int_equal(memory_is_short(), is_short);
    assert_int_equal(memory_is_crowded(), is_crowded);
    assert_int_equal(memory_is_over(), is_over);
}

static void marks_are_passed_one_after_the_other(void **state)
{
    size_t before = memory_counted();

    (void)state;
    memory_set_limit(before + 32 * MIB);
    marks_are(false, false, false);
    assert_true(memory_has_room(29 * MIB));
    assert_false(memory_has_room(31 * MIB));
    memory_count(30 * MIB + MIB / 2);
    marks_are(true, false, false);
    assert_false(memory_has_room(0));
    memory_count(MIB);
    marks_are(true, true, false);
    memory_count(MIB);
    marks_are(true, true, true);
    memory_set_limit(0);
    marks_are(false, false, false);
    assert_true(memory_has_room(SIZE_MAX / 2));
    memory_uncount(32 * MIB + MIB / 2);
    assert_int_equal(memory_counted(), before);
}

static void body_of_new_work_finds_no_memory_where_that_is_short(void **state)
{
    struct blob_builder builder;
    char *into;
    size_t len;

    (void)state;
    memory_set_limit(memory_counted() + 4 * MIB);
    for (int gives_way = 0; gives_way < 2; gives_way++) {
        bool has_room = true;

        blob_builder_init(&builder, 8 * MIB);
        builder.gives_way = gives_way;
        while (has_room && blob_builder_missing(&builder) > 0) {
            has_room = blob_builder_room(&builder, &into, &len);
            blob_builder_filled(&builder, has_room ? len : 0);
        }
        assert_int_equal(has_room, !gives_way);
        blob_builder_discard(&builder);
    }
    memory_set_limit(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_counted_when_allocated_resized_and_freed),
        cmocka_unit_test(blocks_count_by_their_kind_or_as_other),
        cmocka_unit_test(slab_counts_as_what_it_is_for),
        cmocka_unit_test(failed_allocations_are_not_counted),
        cmocka_unit_test(things_of_slabs_are_counted_until_nothing_is_left),
        cmocka_unit_test(large_blobs_are_counted_however_they_come),
        cmocka_unit_test(tables_are_counted_as_they_grow),
        cmocka_unit_test(marks_are_passed_one_after_the_other),
        cmocka_unit_test(body_of_new_work_finds_no_memory_where_that_is_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
