/* SPDX-License-Identifier: MIT */
// Receiving a body: in any pieces, in place or copied, skipped, and without memory.
#include "proto_common/intake.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <string.h>

#define LARGE ((size_t)100000)

static char bytes[LARGE + 1];

static int fill_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)('a' + i * i % 23);
    }
    return 0;
}

// Takes the input. `last`: the body ends in it, and `rest` bytes of the input are left.
static void take(struct intake *intake, struct slice input, bool last, size_t rest)
{
    assert_int_equal(intake_take(intake, &input), last ? INTAKE_COMPLETE : INTAKE_MORE);
    assert_int_equal(input.len, rest);
}

static void expect_body(struct intake *intake, size_t len)
{
    struct blob *body;

    assert_int_equal(intake_missing(intake), 0);
    body = intake_finish(intake);
    assert_non_null(body);
    assert_int_equal(body->len, len);
    assert_memory_equal(body->bytes, bytes, len);
    blob_unref(body);
}

static void a_body_may_be_split_anywhere(void **state)
{
    const size_t len = 40;

    (void)state;
    for (size_t first = 0; first < len; first++) {
        for (size_t second = first; second < len; second++) {
            struct intake intake;

            intake_begin(&intake, len);
            take(&intake, slice_of(bytes, first), false, 0);
            take(&intake, slice_of(bytes + first, second - first), false, 0);
            assert_int_equal(intake_missing(&intake), len - second);
            assert_int_equal(intake_len(&intake), len);
            // Bytes after the body stay in the input.
            take(&intake, slice_of(bytes + second, len - second + 1), true, 1);
            expect_body(&intake, len);
        }
    }
}

// Receives a large body: its first `head` bytes as input, and then pieces of at most `piece` bytes,
// in place while the intake offers a buffer, otherwise as input.
static size_t receive_large(size_t head, size_t piece)
{
    struct intake intake;
    size_t at = head;
    size_t in_place = 0;

    intake_begin(&intake, LARGE);
    take(&intake, slice_of(bytes, head), head == LARGE, 0);
    while (at < LARGE) {
        struct intake_room room = intake_place(&intake);
        size_t len = LARGE - at < piece ? LARGE - at : piece;

        assert_int_equal(room.into != NULL, LARGE - at >= INTAKE_DIRECT_MIN);
        if (room.into) {
            assert_true(room.len > 0 && room.len <= LARGE - at);
            len = room.len < len ? room.len : len;
            memcpy(room.into, bytes + at, len);
            intake_filled(&intake, len);
            in_place += len;
        } else {
            take(&intake, slice_of(bytes + at, len), at + len == LARGE, 0);
        }
        at += len;
    }
    expect_body(&intake, LARGE);
    return in_place;
}

static void a_large_body_except_its_end_is_received_in_place(void **state)
{
    const size_t heads[] = {0, 1, 4095, 4096, 4097, 50000, LARGE - INTAKE_DIRECT_MIN - 1};
    const size_t pieces[] = {1, 1000, 16384, LARGE};

    (void)state;
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++) {
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            assert_true(receive_large(heads[h], pieces[p]) > 0);
        }
    }
    for (size_t head = LARGE - INTAKE_DIRECT_MIN + 1; head <= LARGE; head += 1000) {
        assert_int_equal(receive_large(head, 16384), 0);
    }
}

static void an_announced_length_costs_nothing(void **state)
{
    struct slice input = slice_of(bytes, 1);
    struct intake intake;

    (void)state;
    nth_alloc_fail(0);
    intake_begin(&intake, (size_t)1 << 40);
    assert_int_equal(nth_alloc_count(), 0);
    assert_int_equal(intake_take(&intake, &input), INTAKE_MORE);
    intake_discard(&intake);
}

static void a_body_of_unknown_length_ends_at_intake_end(void **state)
{
    struct intake intake;

    (void)state;
    for (size_t len = 0; len < 5000; len += 999) {
        intake_begin(&intake, LARGE);
        take(&intake, slice_of(bytes, len), false, 0);
        intake_end(&intake);
        assert_int_equal(intake_len(&intake), len);
        expect_body(&intake, len);
    }
}

static void without_memory_the_piece_that_needs_it_reports_that(void **state)
{
    struct slice input = slice_of(bytes, 10);
    struct intake intake;

    (void)state;
    intake_begin(&intake, LARGE);
    nth_alloc_fail_from(1);
    assert_int_equal(intake_take(&intake, &input), INTAKE_NO_MEMORY);
    nth_alloc_fail(0);
    // The caller can skip the rest, wherever memory ran out.
    assert_int_equal(intake_missing(&intake), LARGE - (10 - input.len));
    intake_discard(&intake);
}

static void a_body_that_exceeds_memory_counts_its_missing_bytes(void **state)
{
    struct slice input = slice_of(bytes, LARGE);
    struct intake intake;

    (void)state;
    intake_begin(&intake, LARGE);
    take(&intake, slice_of(bytes, 100), false, 0);
    nth_alloc_fail_from(1);
    input = slice_from(input, 100);
    assert_int_equal(intake_take(&intake, &input), INTAKE_NO_MEMORY);
    nth_alloc_fail(0);
    assert_true(input.len < LARGE - 100);
    assert_int_equal(intake_missing(&intake), input.len);
    intake_discard(&intake);
}

static void a_buffer_without_memory_is_reported_by_the_next_take(void **state)
{
    struct intake_room room;
    struct slice input = slice_of(bytes, 10);
    struct intake intake;

    (void)state;
    intake_begin(&intake, LARGE);
    nth_alloc_fail(1);
    room = intake_place(&intake);
    nth_alloc_fail(0);
    assert_null(room.into);
    assert_int_equal(room.len, 0);
    assert_int_equal(intake_take(&intake, &(struct slice){"", 0}), INTAKE_MORE);
    room = intake_place(&intake);
    assert_non_null(room.into);
    intake_discard(&intake);

    intake_begin(&intake, LARGE);
    nth_alloc_fail(1);
    room = intake_place(&intake);
    nth_alloc_fail(0);
    assert_null(room.into);
    assert_int_equal(intake_take(&intake, &input), INTAKE_NO_MEMORY);
    assert_int_equal(intake_missing(&intake), LARGE);
    intake_discard(&intake);
}

static void a_refused_body_is_skipped_in_any_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 12; piece++) {
        uint64_t left = 10;
        bool over = false;
        size_t at = 0;

        while (!over) {
            struct slice input = slice_of(bytes + at, piece);

            over = intake_skip(&left, &input);
            at += piece - input.len;
            assert_int_equal(left, 10 - at);
            assert_true(over || input.len == 0);
        }
        assert_int_equal(at, 10);
    }
}

static void skipping_nothing_is_complete_at_once(void **state)
{
    struct slice input = slice_of(bytes, 3);
    uint64_t left = 0;

    (void)state;
    assert_true(intake_skip(&left, &input));
    assert_int_equal(input.len, 3);
}

static void only_a_long_gathered_body_is_kept_as_a_blob(void **state)
{
    struct blob *longer = blob_new(INTAKE_COPIED_MAX + 1);
    struct blob *shorter = blob_new(INTAKE_COPIED_MAX);
    struct job_spec spec = {.body_blob = NULL};

    (void)state;
    intake_set_body(&spec, blob_slice(shorter), shorter);
    assert_null(spec.body_blob);
    assert_int_equal(spec.body.len, INTAKE_COPIED_MAX);
    spec = (struct job_spec){.body_blob = NULL};
    intake_set_body(&spec, slice_of(bytes, LARGE), NULL);
    assert_null(spec.body_blob);
    assert_int_equal(spec.body.len, LARGE);
    spec = (struct job_spec){.body_blob = NULL};
    intake_set_body(&spec, blob_slice(longer), longer);
    assert_ptr_equal(spec.body_blob, longer);
    assert_int_equal(spec.body.len, 0);
    blob_unref(longer);
    blob_unref(shorter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_may_be_split_anywhere),
        cmocka_unit_test(a_large_body_except_its_end_is_received_in_place),
        cmocka_unit_test(an_announced_length_costs_nothing),
        cmocka_unit_test(a_body_of_unknown_length_ends_at_intake_end),
        cmocka_unit_test(without_memory_the_piece_that_needs_it_reports_that),
        cmocka_unit_test(a_body_that_exceeds_memory_counts_its_missing_bytes),
        cmocka_unit_test(a_buffer_without_memory_is_reported_by_the_next_take),
        cmocka_unit_test(a_refused_body_is_skipped_in_any_pieces),
        cmocka_unit_test(skipping_nothing_is_complete_at_once),
        cmocka_unit_test(only_a_long_gathered_body_is_kept_as_a_blob),
    };

    return cmocka_run_group_tests(tests, fill_bytes, NULL);
}
