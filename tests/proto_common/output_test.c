/* SPDX-License-Identifier: MIT */
// The output of a connection: order, partial sending, references to blobs, and failed allocations.
#include "proto_common/output.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stdlib.h>
#include <string.h>

struct bench {
    struct output_pool pool;
    struct output out;
};

static int bench_setup(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);

    output_init(&bench->out, &bench->pool);
    nth_alloc_fail(0);
    *state = bench;
    return 0;
}

static int bench_teardown(void **state)
{
    struct bench *bench = *state;

    nth_alloc_fail(0);
    output_clear(&bench->out);
    output_pool_clear(&bench->pool);
    free(bench);
    return 0;
}

// Takes all output, `step` bytes at a time, into `bytes`; returns its length.
static size_t drain(struct output *out, size_t step, char *bytes)
{
    size_t len = 0;
    struct slice span;

    while (output_peek(out, &span, 1) > 0) {
        size_t part = span.len < step ? span.len : step;

        memcpy(bytes + len, span.ptr, part);
        len += part;
        output_consume(out, part);
    }
    return len;
}

static void expect_output(struct output *out, size_t step, const char *want)
{
    char bytes[512];

    assert_int_equal(output_pending(out), strlen(want));
    assert_int_equal(drain(out, step, bytes), strlen(want));
    assert_memory_equal(bytes, want, strlen(want));
    assert_int_equal(output_pending(out), 0);
}

static void bytes_are_sent_in_the_order_they_were_written(void **state)
{
    struct bench *bench = *state;
    char *room;

    output_write(&bench->out, SLICE("INSERTED 1\r\n"));
    room = output_reserve(&bench->out, 100);
    memset(room, '!', 4);
    output_commit(&bench->out, 4);
    output_write(&bench->out, SLICE(""));
    output_write(&bench->out, SLICE("end"));
    expect_output(&bench->out, 100, "INSERTED 1\r\n!!!!end");
}

static void blob_is_sent_between_the_bytes_around_it(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("BODY"));

    for (size_t step = 1; step < 8; step++) {
        output_blob(&bench->out, blob);
        output_write(&bench->out, SLICE("<a>"));
        output_blob(&bench->out, blob);
        output_blob(&bench->out, blob);
        output_write(&bench->out, SLICE("<b>"));
        output_write(&bench->out, SLICE("<c>"));
        expect_output(&bench->out, step, "BODY<a>BODYBODY<b><c>");
    }
    assert_int_equal(blob->refs, 1);
    blob_unref(blob);
}

static void empty_blob_is_nothing(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE(""));

    output_blob(&bench->out, blob);
    assert_int_equal(output_pending(&bench->out), 0);
    assert_int_equal(blob->refs, 1);
    blob_unref(blob);
}

static void only_a_long_body_is_referred_to(void **state)
{
    struct bench *bench = *state;
    struct blob *shorter = blob_new(OUTPUT_COPIED_MAX);
    struct blob *longer = blob_new(OUTPUT_COPIED_MAX + 1);

    output_body(&bench->out, blob_slice(shorter), shorter);
    assert_int_equal(shorter->refs, 1);
    output_body(&bench->out, blob_slice(longer), longer);
    assert_int_equal(longer->refs, 2);
    output_body(&bench->out, blob_slice(longer), NULL);
    assert_int_equal(longer->refs, 2);
    assert_int_equal(output_pending(&bench->out), shorter->len + 2 * longer->len);
    output_clear(&bench->out);
    assert_int_equal(longer->refs, 1);
    blob_unref(shorter);
    blob_unref(longer);
}

static void blob_is_referred_to_and_not_copied(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_new(100000);
    struct slice span;

    output_blob(&bench->out, blob);
    assert_int_equal(blob->refs, 2);
    assert_int_equal(output_peek(&bench->out, &span, 1), 1);
    assert_ptr_equal(span.ptr, blob->bytes);
    output_consume(&bench->out, 99999);
    assert_int_equal(output_peek(&bench->out, &span, 1), 1);
    assert_ptr_equal(span.ptr, blob->bytes + 99999);
    assert_int_equal(span.len, 1);
    output_consume(&bench->out, 1);
    assert_int_equal(blob->refs, 1);
    blob_unref(blob);
}

static void clearing_releases_references(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("BODY"));

    output_write(&bench->out, SLICE("a"));
    output_blob(&bench->out, blob);
    output_consume(&bench->out, 3);
    output_clear(&bench->out);
    assert_int_equal(blob->refs, 1);
    assert_int_equal(output_pending(&bench->out), 0);
    output_write(&bench->out, SLICE("again"));
    expect_output(&bench->out, 2, "again");
    blob_unref(blob);
}

static void blobs_and_bytes_of_any_size_are_sent_in_order(void **state)
{
    struct bench *bench = *state;
    static char said[200000], got[200000];

    for (size_t step = 1; step < 40000; step = step * 5 + 1) {
        size_t len = 0;

        for (size_t i = 0; i < 900; i++) {
            char text[100];
            size_t part = i * 7 % sizeof text + (i % 5 > 0);
            struct blob *blob;

            memset(text, 'a' + (int)(i % 26), sizeof text);
            memcpy(said + len, text, part);
            len += part;
            blob = blob_copy(slice_of(text, part));
            if (i % 3 > 0) {
                output_blob(&bench->out, blob);
            } else {
                output_write(&bench->out, blob_slice(blob));
            }
            blob_unref(blob);
        }
        assert_int_equal(output_pending(&bench->out), len);
        assert_int_equal(drain(&bench->out, step, got), len);
        assert_memory_equal(got, said, len);
    }
}

static void peek_stops_at_its_limit(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("BODY"));
    struct slice spans[4];

    output_write(&bench->out, SLICE("a"));
    output_blob(&bench->out, blob);
    output_write(&bench->out, SLICE("b"));
    assert_int_equal(output_peek(&bench->out, spans, 1), 1);
    assert_int_equal(output_peek(&bench->out, spans, 2), 2);
    assert_true(slice_equal(spans[1], SLICE("BODY")));
    assert_int_equal(output_peek(&bench->out, spans, 4), 3);
    assert_true(slice_equal(spans[2], SLICE("b")));
    blob_unref(blob);
}

static void long_text_runs_over_several_spans(void **state)
{
    struct bench *bench = *state;
    size_t len = 3 * OUTPUT_CHUNK + 17;
    char *text = malloc(len);
    char *got = malloc(len + 10);

    for (size_t i = 0; i < len; i++) {
        text[i] = (char)('a' + i % 23);
    }
    output_write(&bench->out, SLICE("0123456789"));
    output_write(&bench->out, slice_of(text, len));
    assert_int_equal(output_pending(&bench->out), len + 10);
    assert_int_equal(drain(&bench->out, 777, got), len + 10);
    assert_memory_equal(got, "0123456789", 10);
    assert_memory_equal(got + 10, text, len);
    free(text);
    free(got);
}

static void reservation_is_contiguous(void **state)
{
    struct bench *bench = *state;
    struct slice spans[4];
    char *room;

    output_write(&bench->out, SLICE("x"));
    room = output_reserve(&bench->out, OUTPUT_CHUNK);
    memset(room, 'y', OUTPUT_CHUNK);
    output_commit(&bench->out, OUTPUT_CHUNK);
    assert_int_equal(output_peek(&bench->out, spans, 4), 2);
    assert_int_equal(spans[1].len, OUTPUT_CHUNK);
    assert_ptr_equal(spans[1].ptr, room);
}

static void replies_allocate_nothing_once_the_pool_is_warm(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("BODY"));
    char bytes[64];

    output_write(&bench->out, SLICE("warm"));
    (void)drain(&bench->out, 64, bytes);
    nth_alloc_fail(0);
    for (int i = 0; i < 1000; i++) {
        output_write(&bench->out, SLICE("INSERTED 1\r\n"));
        (void)drain(&bench->out, 64, bytes);
        output_blob(&bench->out, blob);
        output_write(&bench->out, SLICE("\r\n"));
        (void)drain(&bench->out, 64, bytes);
    }
    assert_int_equal(nth_alloc_count(), 0);
    blob_unref(blob);
}

static void pool_keeps_a_bounded_number_of_chunks(void **state)
{
    struct bench *bench = *state;

    for (int i = 0; i < 200; i++) {
        char *room = output_reserve(&bench->out, OUTPUT_CHUNK);

        assert_non_null(room);
        output_commit(&bench->out, OUTPUT_CHUNK);
    }
    output_clear(&bench->out);
    nth_alloc_fail(0);
    for (int i = 0; i < 200; i++) {
        (void)output_reserve(&bench->out, OUTPUT_CHUNK);
        output_commit(&bench->out, OUTPUT_CHUNK);
    }
    assert_in_range(nth_alloc_count(), 100, 199);
}

// Appends in every way, with several allocations.
static void append_everything(struct output *out, struct blob *blob)
{
    static const char text[2 * OUTPUT_CHUNK];
    char *room;

    output_write(out, SLICE("a"));
    output_blob(out, blob);
    output_write(out, slice_of(text, sizeof text));
    room = output_reserve(out, OUTPUT_CHUNK);
    if (room) {
        memset(room, 'r', 10);
        output_commit(out, 10);
    }
    output_blob(out, blob);
}

static void each_failed_allocation_is_reported(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("BODY"));

    for (size_t n = 1;; n++) {
        size_t pending;

        nth_alloc_fail(n);
        append_everything(&bench->out, blob);
        if (nth_alloc_count() < n) {
            break;
        }
        assert_true(output_failed(&bench->out));
        pending = output_pending(&bench->out);
        output_write(&bench->out, SLICE("dropped"));
        output_blob(&bench->out, blob);
        assert_null(output_reserve(&bench->out, 1));
        output_commit(&bench->out, 1);
        assert_int_equal(output_pending(&bench->out), pending);
        output_clear(&bench->out);
        output_pool_clear(&bench->pool);
        assert_int_equal(blob->refs, 1);
        output_init(&bench->out, &bench->pool);
    }
    assert_false(output_failed(&bench->out));
    output_clear(&bench->out);
    blob_unref(blob);
}

#define OUTPUT_TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

static void short_outputs_with_blobs_are_put_together(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("blob"));
    char want[100 * 10 + 1] = "";
    char bytes[sizeof want];
    size_t len = 0;

    for (size_t i = 0; i < 100; i++) {
        struct output more;

        output_init(&more, &bench->pool);
        output_write(&more, SLICE("<"));
        output_blob(&more, blob);
        output_write(&more, SLICE(">"));
        output_blob(&more, blob);
        // Bytes that were sent are not moved.
        output_consume(&more, i % 2 ? 1 : 0);
        output_append(&bench->out, &more);
        assert_int_equal(output_pending(&more), 0);
        len += (size_t)snprintf(want + len, sizeof want - len, "%s",
                                i % 2 ? "blob>blob" : "<blob>blob");
    }
    assert_int_equal(output_pending(&bench->out), strlen(want));
    assert_int_equal(drain(&bench->out, 3, bytes), strlen(want));
    assert_memory_equal(bytes, want, strlen(want));
    // The span of the output, and the one in which each was made.
    assert_int_equal(bench->pool.kept, 2);
    assert_int_equal(blob->refs, 1);
    blob_unref(blob);
}

static void note_job(void *context, uint64_t job_id)
{
    *(uint64_t *)context = *(uint64_t *)context * 10 + job_id;
}

static uint64_t undelivered(const struct output *out)
{
    uint64_t jobs = 0;

    output_undelivered(out, note_job, &jobs);
    for (uint64_t id = 1; id <= 6; id++) {
        bool is = false;

        for (uint64_t left = jobs; left > 0; left /= 10) {
            is = is || left % 10 == id;
        }
        assert_int_equal(output_is_undelivered(out, id), is);
    }
    return jobs;
}

static void job_is_undelivered_until_its_first_byte_is_sent(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("blob"));
    struct output more;

    output_write(&bench->out, SLICE("before"));
    for (uint64_t id = 1; id <= 4; id++) {
        assert_non_null(output_deliver(&bench->out, 8, id));
        output_write(&bench->out, SLICE("job "));
        output_blob(&bench->out, blob);
    }
    output_init(&more, &bench->pool);
    assert_non_null(output_deliver(&more, 8, 5));
    output_write(&more, SLICE("job "));
    output_append(&bench->out, &more);
    assert_int_equal(undelivered(&bench->out), 12345);
    output_consume(&bench->out, 6);
    assert_int_equal(undelivered(&bench->out), 12345);
    for (uint64_t id = 1; id <= 4; id++) {
        output_consume(&bench->out, 1);
        assert_int_equal(undelivered(&bench->out) % 10, 5);
        assert_true(undelivered(&bench->out) < 100000 / (id == 1 ? 10 : id == 2 ? 100 : 1000));
        output_consume(&bench->out, 7);
    }
    assert_int_equal(undelivered(&bench->out), 5);
    output_consume(&bench->out, 1);
    assert_int_equal(undelivered(&bench->out), 0);
    blob_unref(blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OUTPUT_TEST(bytes_are_sent_in_the_order_they_were_written),
        OUTPUT_TEST(blob_is_sent_between_the_bytes_around_it),
        OUTPUT_TEST(job_is_undelivered_until_its_first_byte_is_sent),
        OUTPUT_TEST(empty_blob_is_nothing),
        OUTPUT_TEST(only_a_long_body_is_referred_to),
        OUTPUT_TEST(blob_is_referred_to_and_not_copied),
        OUTPUT_TEST(clearing_releases_references),
        OUTPUT_TEST(blobs_and_bytes_of_any_size_are_sent_in_order),
        OUTPUT_TEST(peek_stops_at_its_limit),
        OUTPUT_TEST(long_text_runs_over_several_spans),
        OUTPUT_TEST(reservation_is_contiguous),
        OUTPUT_TEST(replies_allocate_nothing_once_the_pool_is_warm),
        OUTPUT_TEST(pool_keeps_a_bounded_number_of_chunks),
        OUTPUT_TEST(each_failed_allocation_is_reported),
        OUTPUT_TEST(short_outputs_with_blobs_are_put_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
