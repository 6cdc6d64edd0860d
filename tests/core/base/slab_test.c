/* SPDX-License-Identifier: MIT */

// Memory for things that there are millions of. With AddressSanitizer every thing comes from
// malloc, so this test is worth most in a build without it.

#include "core/base/blob.h"
#include "core/base/slab.h"
#include "tests/support/with_cmocka.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { THINGS = 20000 };

// Most are small, some are larger than what a slab has.
static size_t size_of(size_t i)
{
    return i % 64 ? i * 37 % (SLAB_MAX + 200) + 1 : i * 37 % (SLAB_LARGEST + 5000) + 1;
}

static void things_of_any_size_keep_their_bytes(void **state)
{
    static unsigned char *things[THINGS];
    struct slab slab;

    (void)state;
    slab_init(&slab);
    for (size_t i = 0; i < THINGS; i++) {
        things[i] = slab_alloc(&slab, size_of(i));
        assert_non_null(things[i]);
        assert_int_equal((uintptr_t)things[i] % 8, 0);
        memset(things[i], (int)(i % 251), size_of(i));
    }
    // Every other goes and comes again, in another order.
    for (size_t i = 0; i < THINGS; i += 2) {
        slab_free(&slab, things[i], size_of(i));
    }
    for (size_t i = THINGS; i > 0; i -= 2) {
        things[i - 2] = slab_alloc(&slab, size_of(i - 2));
        assert_non_null(things[i - 2]);
        memset(things[i - 2], (int)((i - 2) % 251), size_of(i - 2));
    }
    for (size_t i = 0; i < THINGS; i++) {
        for (size_t at = 0; at < size_of(i); at++) {
            assert_int_equal(things[i][at], i % 251);
        }
        slab_free(&slab, things[i], size_of(i));
    }
    slab_clear(&slab);
}

static void thing_that_is_wanted_zero_is_zero(void **state)
{
    static const char zeros[100];
    struct slab slab;
    char *thing;

    (void)state;
    slab_init(&slab);
    thing = slab_alloc(&slab, sizeof zeros);
    assert_non_null(thing);
    memset(thing, 'x', sizeof zeros);
    slab_free(&slab, thing, sizeof zeros);
    thing = slab_calloc(&slab, sizeof zeros);
    assert_non_null(thing);
    assert_memory_equal(thing, zeros, sizeof zeros);
    slab_free(&slab, thing, sizeof zeros);
    slab_free(&slab, NULL, sizeof zeros);
    slab_clear(&slab);
}

// Those with room.
static size_t blocks_of(const struct slab *slab)
{
    size_t blocks = 0;

    for (size_t i = 0; i < SLAB_CLASSES; i++) {
        list_each (node, &slab->usable[i]) {
            blocks++;
        }
    }
    return blocks;
}

static void blocks_go_back_when_their_last_thing_has_gone(void **state)
{
    static void *things[THINGS];
    struct slab slab;

    (void)state;
    slab_init(&slab);
    for (size_t i = 0; i < THINGS; i++) {
        things[i] = slab_alloc(&slab, 1000);
        assert_non_null(things[i]);
    }
    // In an order that empties no block before all are nearly empty.
    for (size_t start = 0; start < 100; start++) {
        for (size_t i = start; i < THINGS; i += 100) {
            slab_free(&slab, things[i], 1000);
        }
    }
    assert_in_range(slab.empty_count, 0, 4);
    assert_int_equal(blocks_of(&slab), slab.empty_count);
    slab_clear(&slab);
    assert_int_equal(blocks_of(&slab), 0);
    assert_true(list_empty(&slab.empty));
}

static void things_that_come_and_go_alone_find_their_place_again(void **state)
{
    enum { SIZES = 4 };
    void *places[SIZES] = {NULL};
    struct slab slab;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    slab_init(&slab);
    for (size_t turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < SIZES; i++) {
            void *thing = slab_alloc(&slab, 100 * (i + 1));

            assert_non_null(thing);
            assert_true(turn == 0 || thing == places[i]);
            places[i] = thing;
            slab_free(&slab, thing, 100 * (i + 1));
        }
    }
    assert_int_equal(blocks_of(&slab), SIZES);
    slab_clear(&slab);
}

static void few_blocks_are_kept_for_however_many_sizes(void **state)
{
    struct slab slab;

    (void)state;
    slab_init(&slab);
    for (size_t size = 8; size <= SLAB_LARGEST; size += size < SLAB_MAX ? 8 : 1000) {
        void *thing = slab_alloc(&slab, size);

        assert_non_null(thing);
        memset(thing, 'x', size);
        slab_free(&slab, thing, size);
        assert_in_range(blocks_of(&slab), 0, 4);
    }
    slab_clear(&slab);
}

static void large_sizes_are_rounded_up_by_no_more_than_an_eighth(void **state)
{
    struct slab slab;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    slab_init(&slab);
    for (size_t size = SLAB_MAX + 1; size <= SLAB_LARGEST; size += size / 7) {
        char *first = slab_alloc(&slab, size);
        char *second = slab_alloc(&slab, size);

        assert_true(first && second);
        assert_in_range((size_t)(second - first), size, size + size / 8);
        slab_free(&slab, first, size);
        slab_free(&slab, second, size);
    }
    slab_clear(&slab);
}

enum { BLOCK = 256 * 1024 };

// How many pages are in memory of the only block with room for things of that size.
static unsigned resident_pages(const struct slab *slab, size_t size)
{
    char *block = (char *)list_first(&slab->usable[size / 8]);
    unsigned char pages[BLOCK / 4096];
    unsigned count = 0;

    assert_int_equal((uintptr_t)block % BLOCK, 0);
    assert_int_equal(mincore(block, BLOCK, pages), 0);
    for (size_t i = 0; i < sizeof pages; i++) {
        count += pages[i] & 1;
    }
    return count;
}

// Unused pages must not cost memory.
static void a_block_takes_pages_as_they_are_used(void **state)
{
    enum { SIZE = 128, THINGS_OF_TWO = BLOCK / SIZE };
    void *things[THINGS_OF_TWO];
    struct slab slab;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    slab_init(&slab);
    things[0] = slab_alloc(&slab, SIZE);
    assert_int_equal(resident_pages(&slab, SIZE), 1);
    for (size_t i = 1; i < THINGS_OF_TWO; i++) {
        things[i] = slab_alloc(&slab, SIZE);
        assert_non_null(things[i]);
    }
    assert_int_equal(resident_pages(&slab, SIZE), 1);
    for (size_t i = 0; i < THINGS_OF_TWO; i++) {
        slab_free(&slab, things[i], SIZE);
    }
    slab_clear(&slab);
}

// Bytes of addresses that the process uses, and those of them that are in memory.
static size_t mapped_bytes(size_t *resident)
{
    char line[128];
    char *rest;
    size_t pages;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(fclose(file), 0);
    pages = strtoul(line, &rest, 10);
    *resident = strtoul(rest, NULL, 10) * 4096;
    return pages * 4096;
}

static size_t resident_bytes(void)
{
    size_t resident;

    (void)mapped_bytes(&resident);
    return resident;
}

static void block_takes_no_more_room_than_its_own_where_its_place_is_taken(void **state)
{
    enum { SIZE = SLAB_MAX, THINGS_OF_ONE = BLOCK / SIZE };
    void *things[3 * THINGS_OF_ONE];
    struct slab slab;
    size_t before = 0;
    size_t resident;
    void *taken = NULL;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    slab_init(&slab);
    for (size_t i = 0; i < 3 * (size_t)THINGS_OF_ONE; i++) {
        if (i == (size_t)THINGS_OF_ONE) {
            // The end of where the second block would be: what is free below it is not aligned.
            char *end = (char *)slab.beside + BLOCK - 4096;

            taken = mmap(end, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            assert_ptr_equal(taken, end);
            before = mapped_bytes(&resident);
        }
        things[i] = slab_alloc(&slab, SIZE);
        assert_non_null(things[i]);
    }
    assert_int_equal(mapped_bytes(&resident), before + (size_t)2 * BLOCK);
    for (size_t i = 0; i < 3 * (size_t)THINGS_OF_ONE; i++) {
        slab_free(&slab, things[i], SIZE);
    }
    slab_clear(&slab);
    assert_int_equal(munmap(taken, 4096), 0);
}

// As a burst of results that clients do not read, while connections come and stay.
static void memory_of_many_goes_back_whatever_was_allocated_meanwhile(void **state)
{
    enum { BLOBS = 4000, MIB = 1024 * 1024 };
    static char pattern[100000];
    static struct blob *blobs[BLOBS];
    static void *others[BLOBS];
    size_t before;

    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    before = resident_bytes();
    for (size_t i = 0; i < BLOBS; i++) {
        struct blob_builder builder;

        blob_builder_init(&builder, i * 37 % sizeof pattern);
        assert_int_equal(blob_builder_take(&builder, slice_of(pattern, builder.total)),
                         builder.total);
        blobs[i] = blob_builder_finish(&builder);
        others[i] = malloc(100);
        assert_true(blobs[i] && others[i]);
    }
    assert_true(resident_bytes() > before + 100 * (size_t)MIB);
    for (size_t i = 0; i < BLOBS; i++) {
        blob_unref(blobs[i]);
    }
    assert_in_range(resident_bytes(), 0, before + 8 * (size_t)MIB);
    for (size_t i = 0; i < BLOBS; i++) {
        free(others[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_of_any_size_keep_their_bytes),
        cmocka_unit_test(thing_that_is_wanted_zero_is_zero),
        cmocka_unit_test(blocks_go_back_when_their_last_thing_has_gone),
        cmocka_unit_test(things_that_come_and_go_alone_find_their_place_again),
        cmocka_unit_test(few_blocks_are_kept_for_however_many_sizes),
        cmocka_unit_test(large_sizes_are_rounded_up_by_no_more_than_an_eighth),
        cmocka_unit_test(a_block_takes_pages_as_they_are_used),
        cmocka_unit_test(block_takes_no_more_room_than_its_own_where_its_place_is_taken),
        cmocka_unit_test(memory_of_many_goes_back_whatever_was_allocated_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
