/* SPDX-License-Identifier: MIT */
// Segments as the process knows them, and batches of records on their way to them.
#include "journal/log_batch.h"
#include "journal/segment.h"

#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct segment *segment_at(uint64_t number, uint64_t end)
{
    struct segment *segment = segment_new(number, 7);

    assert_non_null(segment);
    assert_int_equal(segment->file, -1);
    segment->end = end;
    return segment;
}

static void a_name_says_its_number(void **state)
{
    static const uint64_t numbers[] = {1, 42, 9999999999, 10000000000, UINT64_MAX};
    char name[SEGMENT_NAME_MAX];
    uint64_t number;

    (void)state;
    segment_name(42, name);
    assert_string_equal(name, "journal.0000000042");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        segment_name(numbers[i], name);
        assert_true(segment_number_of(name, &number));
        assert_true(number == numbers[i]);
    }
}

static void other_names_say_no_number(void **state)
{
    static const char *const names[] = {
        "",
        "lock",
        "spare",
        "journal.",
        "journal.1",
        "journal.0000000000",
        "journal.000000001",
        "journal.00000000001",
        "journal.0000000001 ",
        "journal.000000000x",
        "journal.-000000001",
        "journal.99999999999999999999",
        "xournal.0000000001",
        "damaged.0000000001",
        "journal-0000000001",
    };
    uint64_t number = 5;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_false(segment_number_of(names[i], &number));
    }
    assert_int_equal(number, 5);
}

static void note(struct segment *segment, uint64_t id)
{
    assert_true(segment_make_room(segment));
    segment_note_id(segment, id);
}

static void ids_that_follow_each_other_share_a_run(void **state)
{
    struct segment *segment = segment_at(1, 0);

    (void)state;
    for (uint64_t id = 100; id < 5000; id += 16) {
        note(segment, id);
    }
    note(segment, 100);
    assert_int_equal(segment->run_count, 1);
    assert_int_equal(segment->runs[0].first, 100);
    assert_int_equal(segment->runs[0].last, 100 + 306 * 16);
    note(segment, 100 + 306 * 16 + 17);
    assert_int_equal(segment->run_count, 2);
    note(segment, 3);
    assert_int_equal(segment->run_count, 3);
    segment_free(segment);
}

static void new_ids_and_old_ones_that_take_turns_make_two_runs(void **state)
{
    struct segment *segment = segment_at(1, 0);

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        note(segment, 1000000 + i);
        note(segment, 1 + i);
    }
    assert_int_equal(segment->run_count, 2);
    assert_int_equal(segment->runs[0].last, 1000999);
    assert_int_equal(segment->runs[1].last, 1000);
    segment_free(segment);
}

static void every_noted_id_is_in_a_run(void **state)
{
    struct segment *segment = segment_at(1, 0);
    uint64_t id = 1;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        bool found = false;

        id = id * 2862933555777941757u + 3037000493u;
        note(segment, id % 10000);
        for (size_t run = 0; run < segment->run_count; run++) {
            found |=
                segment->runs[run].first <= id % 10000 && id % 10000 <= segment->runs[run].last;
        }
        assert_true(found);
    }
    segment_free(segment);
    segment_free(NULL);
}

static void add(struct segment_list *segments, uint64_t number)
{
    assert_true(segment_list_make_room(segments));
    segment_list_add(segments, segment_at(number, 0));
}

static void a_row_finds_segments_by_their_marks(void **state)
{
    struct segment_list segments = {0};
    const uint64_t first = UINT64_C(0x1fffffffe);

    (void)state;
    assert_null(segment_list_marked(&segments, 0));
    for (uint64_t i = 0; i < 20; i++) {
        add(&segments, first + i);
    }
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(segment_list_marked(&segments, (uint32_t)(first + i))->number, first + i);
    }
    assert_null(segment_list_marked(&segments, (uint32_t)(first - 1)));
    assert_null(segment_list_marked(&segments, (uint32_t)(first + 20)));
    segment_free(segment_list_shift(&segments));
    assert_null(segment_list_marked(&segments, (uint32_t)first));
    assert_int_equal(segment_list_marked(&segments, (uint32_t)(first + 1))->number, first + 1);
    segment_list_clear(&segments);
    assert_int_equal(segments.count, 0);
}

static void a_list_whose_oldest_leave_stays_small(void **state)
{
    struct segment_list segments = {0};

    (void)state;
    for (uint64_t number = 1; number <= 10000; number++) {
        add(&segments, number);
        if (segments.count > 5) {
            struct segment *oldest = segment_list_shift(&segments);

            assert_int_equal(oldest->number, number - 5);
            segment_free(oldest);
        }
    }
    assert_int_equal(segments.first, 9996);
    assert_int_equal(segments.items[4]->number, 10000);
    assert_true(segments.capacity <= 16);
    segment_list_clear(&segments);
}

static void an_empty_row_goes_on_at_any_number(void **state)
{
    struct segment_list segments = {0};

    (void)state;
    add(&segments, 3);
    segment_free(segment_list_shift(&segments));
    add(&segments, 7);
    assert_int_equal(segment_list_marked(&segments, 7)->number, 7);
    segment_list_clear(&segments);
}

static void room_is_refused_without_memory(void **state)
{
    struct segment_list segments = {0};
    struct segment *segment = segment_at(1, 0);
    struct chunk_pool pool = {0};

    (void)state;
    nth_alloc_fail(1);
    assert_false(segment_make_room(segment));
    nth_alloc_fail(1);
    assert_false(segment_list_make_room(&segments));
    nth_alloc_fail(1);
    assert_null(segment_new(2, 0));
    nth_alloc_fail(3);
    assert_false(chunk_pool_fill(&pool, 4));
    nth_alloc_fail(0);
    assert_int_equal(pool.count, 2);
    chunk_pool_clear(&pool);
    segment_free(segment);
}

//
// Batches
//

struct bench {
    struct chunk_pool pool;
    struct segment *segment;
    struct log_batch batch;
};

static int bench_setup(void **state)
{
    static struct bench bench;

    bench = (struct bench){.segment = segment_at(1, 72)};
    batch_init(&bench.batch, 1);
    *state = &bench;
    return 0;
}

static int bench_teardown(void **state)
{
    struct bench *bench = *state;

    batch_drop(&bench->batch, &bench->pool);
    chunk_pool_clear(&bench->pool);
    segment_free(bench->segment);
    return 0;
}

static char *reserve(struct bench *bench, size_t len)
{
    char *at = batch_reserve(&bench->batch, &bench->pool, bench->segment, len);

    assert_non_null(at);
    memset(at, 'r', len);
    return at;
}

static struct blob *body(const char *text)
{
    struct blob *blob = blob_copy(slice_str(text));

    assert_non_null(blob);
    return blob;
}

static void records_stand_one_after_the_other(void **state)
{
    struct bench *bench = *state;
    char *first;

    assert_true(batch_empty(&bench->batch));
    assert_true(bench->batch.first_id == UINT64_MAX);
    first = reserve(bench, 24);
    assert_ptr_equal(reserve(bench, 48), first + 24);
    assert_ptr_equal(bench->batch.head, bench->batch.tail);
    assert_int_equal(bench->batch.head->offset, 72);
    assert_int_equal(bench->batch.bytes, 72);
    assert_int_equal(bench->segment->end, 144);
    assert_false(batch_empty(&bench->batch));
}

static void a_record_is_whole_within_its_chunk(void **state)
{
    struct bench *bench = *state;

    (void)reserve(bench, CHUNK_BYTES - 8);
    (void)reserve(bench, 8);
    assert_ptr_equal(bench->batch.head, bench->batch.tail);
    (void)reserve(bench, 16);
    (void)reserve(bench, CHUNK_BYTES - 8);
    assert_int_equal(bench->batch.head->used, CHUNK_BYTES);
    assert_int_equal(bench->batch.head->next->used, 16);
    assert_int_equal(bench->batch.head->next->offset, 72 + CHUNK_BYTES);
    assert_int_equal(bench->batch.tail->offset, 72 + CHUNK_BYTES + 16);
    assert_int_equal(bench->segment->end, 72 + CHUNK_BYTES + 16 + CHUNK_BYTES - 8);
}

static void a_body_that_is_referred_to_ends_its_chunk(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = body("hello");

    (void)reserve(bench, 88);
    batch_refer(&bench->batch, blob, 3);
    (void)reserve(bench, 24);
    assert_int_equal(chunk_size(bench->batch.head), 96);
    assert_int_equal(bench->batch.tail->offset, 72 + 96);
    assert_int_equal(bench->batch.bytes, 96 + 24);
    assert_int_equal(bench->segment->end, 72 + 96 + 24);
    // The batch has a reference of its own.
    blob_unref(blob);
    assert_memory_equal(bench->batch.head->blob->bytes, "hello", 5);
}

static void another_segment_gets_another_chunk(void **state)
{
    struct bench *bench = *state;
    struct segment *next = segment_at(2, 72);

    (void)reserve(bench, 24);
    assert_non_null(batch_reserve(&bench->batch, &bench->pool, next, 24));
    assert_ptr_equal(bench->batch.head->segment, bench->segment);
    assert_ptr_equal(bench->batch.tail->segment, next);
    assert_int_equal(bench->batch.tail->offset, 72);
    assert_int_equal(next->end, 96);
    segment_free(next);
}

static void a_batch_takes_over_the_chunks_of_another(void **state)
{
    struct bench *bench = *state;
    struct log_batch more;

    batch_init(&more, 2);
    more.marked = true;
    more.records = 3;
    more.first_id = 17;
    assert_non_null(batch_reserve(&more, &bench->pool, bench->segment, 24));
    batch_append(&bench->batch, &more);
    assert_true(batch_empty(&more));
    assert_int_equal(more.bytes, 0);
    assert_true(bench->batch.marked);

    batch_init(&more, 3);
    more.records = 4;
    more.first_id = 18;
    assert_non_null(batch_reserve(&more, &bench->pool, bench->segment, 48));
    batch_append(&bench->batch, &more);
    assert_int_equal(bench->batch.position, 3);
    assert_int_equal(bench->batch.bytes, 72);
    assert_int_equal(bench->batch.records, 7);
    assert_int_equal(bench->batch.first_id, 17);
    assert_int_equal(bench->batch.tail->used, 48);
    assert_ptr_equal(bench->batch.head->next, bench->batch.tail);

    batch_init(&more, 4);
    batch_append(&bench->batch, &more);
    assert_int_equal(bench->batch.position, 4);
    assert_int_equal(bench->batch.tail->used, 48);
}

static void a_moved_batch_stands_at_the_end_of_its_new_segment(void **state)
{
    struct bench *bench = *state;
    struct segment *next = segment_at(2, 1000);
    struct blob *blob = body("hello");

    (void)reserve(bench, 88);
    batch_refer(&bench->batch, blob, 3);
    (void)reserve(bench, 24);
    batch_move(&bench->batch, next);
    assert_ptr_equal(bench->batch.head->segment, next);
    assert_int_equal(bench->batch.head->offset, 1000);
    assert_ptr_equal(bench->batch.tail->segment, next);
    assert_int_equal(bench->batch.tail->offset, 1096);
    assert_int_equal(next->end, 1120);
    assert_int_equal(bench->batch.bytes, 120);
    blob_unref(blob);
    segment_free(next);
}

static void a_dropped_batch_is_empty_and_keeps_its_position(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = body("hello");

    (void)reserve(bench, 88);
    batch_refer(&bench->batch, blob, 3);
    bench->batch.records = 1;
    batch_drop(&bench->batch, &bench->pool);
    assert_true(batch_empty(&bench->batch));
    assert_int_equal(bench->batch.position, 1);
    assert_int_equal(bench->batch.records, 0);
    assert_int_equal(bench->batch.bytes, 0);
    assert_int_equal(bench->pool.count, 1);
    assert_int_equal(blob->refs, 1);
    blob_unref(blob);
}

static void a_pool_keeps_the_requested_chunks_and_a_few_more(void **state)
{
    struct bench *bench = *state;

    assert_true(chunk_pool_fill(&bench->pool, 4));
    assert_int_equal(bench->pool.count, 4);
    for (int i = 0; i < 200; i++) {
        (void)reserve(bench, CHUNK_BYTES);
    }
    assert_int_equal(bench->pool.count, 0);
    batch_drop(&bench->batch, &bench->pool);
    assert_int_equal(bench->pool.count, 4 + 32);
}

static void chunks_set_aside_serve_without_memory(void **state)
{
    struct bench *bench = *state;

    assert_true(chunk_pool_fill(&bench->pool, 1));
    nth_alloc_fail(1);
    (void)reserve(bench, CHUNK_BYTES);
    assert_null(batch_reserve(&bench->batch, &bench->pool, bench->segment, 24));
    nth_alloc_fail(0);
    assert_int_equal(bench->batch.bytes, CHUNK_BYTES);
    assert_int_equal(bench->segment->end, 72 + CHUNK_BYTES);
    (void)reserve(bench, 24);
}

#define BENCH_TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)

static size_t chunks_of(const struct log_batch *batch)
{
    size_t count = 0;

    for (const struct chunk *chunk = batch->head; chunk; chunk = chunk->next) {
        count++;
    }
    return count;
}

static void small_batches_are_packed_into_few_chunks(void **state)
{
    struct segment *segment = segment_at(1, 72);
    struct segment *other = segment_at(2, 72);
    struct chunk_pool pool = {0};
    struct log_batch all;

    (void)state;
    batch_init(&all, 0);
    for (unsigned i = 0; i < 1000; i++) {
        struct log_batch batch;
        char *to;

        batch_init(&batch, i + 1);
        to = batch_reserve(&batch, &pool, i < 999 ? segment : other, 24);
        assert_non_null(to);
        memset(to, (int)(i & 0xff), 24);
        batch_pack(&all, &batch, &pool);
        assert_true(batch_empty(&batch));
        assert_int_equal(all.bytes, 24 * ((size_t)i + 1));
        assert_int_equal(all.position, i + 1);
    }
    // One for each segment.
    assert_int_equal(chunks_of(&all), 2);
    assert_int_equal(all.head->used, 999 * 24);
    for (unsigned i = 0; i < 999; i++) {
        assert_int_equal((unsigned char)all.head->bytes[24 * i], i & 0xff);
    }
    batch_drop(&all, &pool);
    chunk_pool_clear(&pool);
    segment_free(segment);
    segment_free(other);
}

static void chunks_after_a_body_or_a_gap_are_not_packed(void **state)
{
    struct segment *segment = segment_at(1, 72);
    struct chunk_pool pool = {0};
    struct blob *blob = blob_copy(slice_of("0123456789", 10));
    struct log_batch all;
    struct log_batch batch;

    (void)state;
    batch_init(&all, 0);
    for (unsigned i = 0; i < 3; i++) {
        batch_init(&batch, i + 1);
        assert_non_null(batch_reserve(&batch, &pool, segment, 24));
        if (i == 1) {
            batch_refer(&batch, blob, 6);
        }
        batch_pack(&all, &batch, &pool);
    }
    // The body is the end of a chunk.
    assert_int_equal(chunks_of(&all), 2);
    assert_int_equal(all.head->used, 48);
    assert_ptr_equal(all.head->blob, blob);
    assert_int_equal(all.bytes, 3 * 24 + 16);
    segment->end += 8;
    batch_init(&batch, 4);
    assert_non_null(batch_reserve(&batch, &pool, segment, 24));
    batch_pack(&all, &batch, &pool);
    assert_int_equal(chunks_of(&all), 3);
    batch_drop(&all, &pool);
    blob_unref(blob);
    chunk_pool_clear(&pool);
    segment_free(segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_says_its_number),
        cmocka_unit_test(other_names_say_no_number),
        cmocka_unit_test(ids_that_follow_each_other_share_a_run),
        cmocka_unit_test(new_ids_and_old_ones_that_take_turns_make_two_runs),
        cmocka_unit_test(every_noted_id_is_in_a_run),
        cmocka_unit_test(a_row_finds_segments_by_their_marks),
        cmocka_unit_test(a_list_whose_oldest_leave_stays_small),
        cmocka_unit_test(an_empty_row_goes_on_at_any_number),
        cmocka_unit_test(room_is_refused_without_memory),
        cmocka_unit_test(small_batches_are_packed_into_few_chunks),
        cmocka_unit_test(chunks_after_a_body_or_a_gap_are_not_packed),
        BENCH_TEST(records_stand_one_after_the_other),
        BENCH_TEST(a_record_is_whole_within_its_chunk),
        BENCH_TEST(a_body_that_is_referred_to_ends_its_chunk),
        BENCH_TEST(another_segment_gets_another_chunk),
        BENCH_TEST(a_batch_takes_over_the_chunks_of_another),
        BENCH_TEST(a_moved_batch_stands_at_the_end_of_its_new_segment),
        BENCH_TEST(a_dropped_batch_is_empty_and_keeps_its_position),
        BENCH_TEST(a_pool_keeps_the_requested_chunks_and_a_few_more),
        BENCH_TEST(chunks_set_aside_serve_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
