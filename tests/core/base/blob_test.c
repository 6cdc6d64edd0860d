/* SPDX-License-Identifier: MIT */
// Counted bytes, and the builder that gathers them as they arrive.
#include "core/base/blob.h"

#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static char pattern[100000];

static int fill_pattern(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pattern; i++) {
        pattern[i] = (char)(unsigned char)(i * 7 + i / 253);
    }
    return 0;
}

static void copy_holds_the_bytes(void **state)
{
    struct blob *blob = blob_copy(SLICE("a\0b"));
    struct blob *empty = blob_copy(slice_of(NULL, 0));

    (void)state;
    assert_true(blob && empty);
    assert_true(slice_equal(blob_slice(blob), SLICE("a\0b")));
    assert_int_equal(empty->len, 0);
    assert_ptr_equal(blob_ref(blob), blob);
    blob_unref(blob);
    assert_memory_equal(blob->bytes, "a\0b", 3);
    blob_unref(blob);
    blob_unref(empty);
    blob_unref(NULL);
}

static void blob_without_memory_is_null(void **state)
{
    (void)state;
    assert_null(blob_new(SIZE_MAX));
    nth_alloc_fail(1);
    assert_null(blob_new(10));
    nth_alloc_fail(1);
    assert_null(blob_copy(SLICE("abc")));
    nth_alloc_fail(0);
}

static void builder_gathers_pieces_of_every_size(void **state)
{
    static const size_t totals[] = {0, 1, 2, 100, 4095, 4096, 4097, 8192, 8193, 50000, 100000};
    static const size_t pieces[] = {1, 3, 1000, 4096, 5000, 100000};

    (void)state;
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            struct blob_builder builder;
            struct blob *blob;
            size_t done = 0;

            blob_builder_init(&builder, totals[t]);
            while (blob_builder_missing(&builder) > 0) {
                size_t rest = sizeof pattern - done;
                size_t len = pieces[p] < rest ? pieces[p] : rest;
                size_t taken = blob_builder_take(&builder, slice_of(pattern + done, len));

                assert_true(taken > 0 && taken <= len);
                done += taken;
                assert_int_equal(blob_builder_missing(&builder), totals[t] - done);
            }
            blob = blob_builder_finish(&builder);
            assert_non_null(blob);
            assert_int_equal(blob->len, totals[t]);
            assert_memory_equal(blob->bytes, pattern, totals[t]);
            blob_unref(blob);
        }
    }
}

static void builder_takes_no_more_than_is_missing(void **state)
{
    struct blob_builder builder;
    struct blob *blob;

    (void)state;
    blob_builder_init(&builder, 3);
    assert_int_equal(blob_builder_take(&builder, SLICE("")), 0);
    assert_int_equal(blob_builder_take(&builder, SLICE("abcdef")), 3);
    assert_int_equal(blob_builder_take(&builder, SLICE("def")), 0);
    blob = blob_builder_finish(&builder);
    assert_true(blob && slice_equal(blob_slice(blob), SLICE("abc")));
    blob_unref(blob);
    // The builder is empty again, and discarding it harmless.
    blob_builder_discard(&builder);
}

static void bytes_may_be_put_in_place(void **state)
{
    struct blob_builder builder;
    struct blob *blob;
    size_t done = 0;

    (void)state;
    blob_builder_init(&builder, 20000);
    while (done < 20000) {
        char *into;
        size_t len;

        assert_true(blob_builder_room(&builder, &into, &len));
        assert_true(len > 0 && len <= 20000 - done);
        len = len > 777 ? 777 : len;
        memcpy(into, pattern + done, len);
        blob_builder_filled(&builder, len);
        done += len;
    }
    blob = blob_builder_finish(&builder);
    assert_memory_equal(blob->bytes, pattern, 20000);
    blob_unref(blob);
}

static void announced_size_costs_nothing(void **state)
{
    struct blob_builder builder;

    (void)state;
    nth_alloc_fail(0);
    blob_builder_init(&builder, SIZE_MAX / 2);
    assert_int_equal(nth_alloc_count(), 0);
    assert_int_equal(blob_builder_take(&builder, SLICE("abc")), 3);
    assert_int_equal(blob_builder_missing(&builder), SIZE_MAX / 2 - 3);
    blob_builder_discard(&builder);
    blob_builder_discard(&builder);
}

static void builder_without_memory_keeps_what_it_has(void **state)
{
    struct blob_builder builder;
    struct blob *blob;

    (void)state;
    blob_builder_init(&builder, 10000);
    nth_alloc_fail(1);
    assert_true(blob_builder_take(&builder, slice_of(pattern, 10)) == (size_t)-1);
    assert_int_equal(blob_builder_take(&builder, slice_of(pattern, 4096)), 4096);
    nth_alloc_fail(1);
    assert_true(blob_builder_take(&builder, slice_of(pattern + 4096, 1)) == (size_t)-1);
    nth_alloc_fail(0);
    assert_int_equal(blob_builder_take(&builder, slice_of(pattern + 4096, 90000)), 5904);
    blob = blob_builder_finish(&builder);
    assert_memory_equal(blob->bytes, pattern, 10000);
    blob_unref(blob);
    blob_builder_init(&builder, 0);
    nth_alloc_fail(1);
    assert_null(blob_builder_finish(&builder));
    nth_alloc_fail(0);
}

static struct blob *gather(size_t total, size_t len, bool hashed)
{
    struct blob_builder builder;

    blob_builder_init(&builder, total);
    if (hashed) {
        blob_builder_hash(&builder);
    }
    for (size_t done = 0; done < len; done += 1000) {
        size_t piece = len - done < 1000 ? len - done : 1000;

        assert_int_equal(blob_builder_take(&builder, slice_of(pattern + done, piece)), piece);
    }
    builder.total -= blob_builder_missing(&builder);
    return blob_builder_finish(&builder);
}

static void digest_is_made_while_the_bytes_arrive(void **state)
{
    static const size_t lens[] = {BLOB_DIGEST_ABOVE + 1, BLOB_DIGEST_ABOVE + 128, 99999, 100000};

    (void)state;
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        struct blob *hashed = gather(100000, lens[i], true);
        struct blob *later = gather(100000, lens[i], false);

        assert_true(hashed && later);
        // No byte is read any more.
        memset(hashed->bytes, 'x', hashed->len);
        assert_true(slice_equal(blob_digest(hashed), blob_digest(later)));
        // One that was made when it was asked for stays, too.
        memset(later->bytes, 'x', later->len);
        assert_true(slice_equal(blob_digest(hashed), blob_digest(later)));
        blob_unref(hashed);
        blob_unref(later);
    }
}

static void blob_that_turns_out_short_is_not_hashed(void **state)
{
    struct blob *blob = gather(100000, BLOB_DIGEST_ABOVE, true);
    struct blob_builder builder;

    (void)state;
    assert_non_null(blob);
    assert_memory_equal(blob->bytes, pattern, BLOB_DIGEST_ABOVE);
    blob_unref(blob);
    blob_builder_init(&builder, BLOB_DIGEST_ABOVE);
    blob_builder_hash(&builder);
    assert_int_equal(blob_builder_holds(&builder), 0);
    blob_builder_init(&builder, BLOB_DIGEST_ABOVE + 1);
    blob_builder_hash(&builder);
    assert_true(blob_builder_holds(&builder) > 0);
    blob_builder_discard(&builder);
    assert_int_equal(blob_builder_holds(&builder), 0);
}

static void digest_without_memory_is_made_when_it_is_asked_for(void **state)
{
    struct blob_builder builder;
    struct blob *blob, *copy = blob_copy(slice_of(pattern, sizeof pattern));

    (void)state;
    blob_builder_init(&builder, sizeof pattern);
    nth_alloc_fail(1);
    blob_builder_hash(&builder);
    nth_alloc_fail(0);
    assert_int_equal(blob_builder_take(&builder, slice_of(pattern, sizeof pattern)),
                     sizeof pattern);
    blob = blob_builder_finish(&builder);
    assert_true(blob && copy);
    assert_true(slice_equal(blob_digest(blob), blob_digest(copy)));
    blob_unref(blob);
    blob_unref(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_holds_the_bytes),
        cmocka_unit_test(blob_without_memory_is_null),
        cmocka_unit_test(builder_gathers_pieces_of_every_size),
        cmocka_unit_test(builder_takes_no_more_than_is_missing),
        cmocka_unit_test(bytes_may_be_put_in_place),
        cmocka_unit_test(announced_size_costs_nothing),
        cmocka_unit_test(builder_without_memory_keeps_what_it_has),
        cmocka_unit_test(digest_is_made_while_the_bytes_arrive),
        cmocka_unit_test(blob_that_turns_out_short_is_not_hashed),
        cmocka_unit_test(digest_without_memory_is_made_when_it_is_asked_for),
    };

    return cmocka_run_group_tests(tests, fill_pattern, NULL);
}
