/* SPDX-License-Identifier: MIT */
// Output that waits for the store: bytes after a gate are sent when its position is reached.
#include "proto_common/output.h"
#include "tests/support/with_cmocka.h"

#include <stdint.h>
#include <stdlib.h>

struct bench {
    struct output_pool pool;
    struct output out;
};

static int bench_setup(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);

    output_init(&bench->out, &bench->pool);
    *state = bench;
    return 0;
}

static int bench_teardown(void **state)
{
    struct bench *bench = *state;

    output_clear(&bench->out);
    output_pool_clear(&bench->pool);
    free(bench);
    return 0;
}

static void say(struct output *out, const char *text)
{
    output_write(out, slice_str(text));
}

// Takes all bytes that may be sent, `step` bytes at a time, and checks them.
static void expect_steps(struct output *out, size_t step, const char *want)
{
    char bytes[512];
    size_t len = 0;
    size_t pending = output_pending(out);
    struct slice span;

    assert_int_equal(output_sendable(out), strlen(want));
    while (output_peek(out, &span, 1) > 0) {
        size_t part = span.len < step ? span.len : step;

        assert_true(len + part < sizeof bytes);
        memcpy(bytes + len, span.ptr, part);
        len += part;
        output_consume(out, part);
    }
    bytes[len] = '\0';
    assert_string_equal(bytes, want);
    assert_int_equal(output_sendable(out), 0);
    assert_int_equal(output_pending(out), pending - len);
}

static void expect(struct output *out, const char *want)
{
    expect_steps(out, SIZE_MAX, want);
}

static void bytes_before_a_gate_are_sent_and_later_bytes_wait(void **state)
{
    struct bench *bench = *state;

    for (size_t step = 1; step < 8; step++) {
        uint64_t position = bench->pool.reached + 5;

        say(&bench->out, "before ");
        output_hold(&bench->out, position);
        say(&bench->out, "behind");
        expect_steps(&bench->out, step, "before ");
        assert_int_equal(output_pending(&bench->out), 6);
        bench->pool.reached = position - 1;
        expect_steps(&bench->out, step, "");
        bench->pool.reached = position;
        expect_steps(&bench->out, step, "behind");
    }
}

static void a_gate_after_sent_output_holds_further_output(void **state)
{
    struct bench *bench = *state;

    say(&bench->out, "before");
    output_hold(&bench->out, 1);
    expect(&bench->out, "before");
    say(&bench->out, "behind it");
    expect(&bench->out, "");
    bench->pool.reached = 1;
    expect(&bench->out, "behind it");
}

static void output_without_a_gate_or_with_a_reached_one_is_sent(void **state)
{
    struct bench *bench = *state;

    bench->pool.reached = 7;
    output_hold(&bench->out, 0);
    say(&bench->out, "a");
    output_hold(&bench->out, 7);
    say(&bench->out, "b");
    expect(&bench->out, "ab");
}

static void output_without_a_gate_keeps_its_order(void **state)
{
    struct bench *bench = *state;

    output_hold(&bench->out, 1);
    say(&bench->out, "held ");
    output_hold(&bench->out, 0);
    say(&bench->out, "free");
    expect(&bench->out, "");
    bench->pool.reached = 1;
    expect(&bench->out, "held free");
}

static void two_gates_open_one_after_the_other(void **state)
{
    struct bench *bench = *state;

    say(&bench->out, "a");
    output_hold(&bench->out, 1);
    say(&bench->out, "bb");
    output_hold(&bench->out, 2);
    say(&bench->out, "ccc");
    expect(&bench->out, "a");
    bench->pool.reached = 1;
    expect(&bench->out, "bb");
    bench->pool.reached = 2;
    expect(&bench->out, "ccc");
}

static void two_gates_open_at_once(void **state)
{
    struct bench *bench = *state;

    output_hold(&bench->out, 1);
    say(&bench->out, "bb");
    output_hold(&bench->out, 2);
    say(&bench->out, "ccc");
    bench->pool.reached = 9;
    expect(&bench->out, "bbccc");
}

static void third_gate_merges_with_the_second(void **state)
{
    struct bench *bench = *state;

    output_hold(&bench->out, 1);
    say(&bench->out, "a");
    output_hold(&bench->out, 2);
    say(&bench->out, "b");
    output_hold(&bench->out, 3);
    say(&bench->out, "c");
    bench->pool.reached = 2;
    expect(&bench->out, "a");
    bench->pool.reached = 3;
    expect(&bench->out, "bc");
}

static void gates_without_bytes_in_between_are_one(void **state)
{
    struct bench *bench = *state;

    output_hold(&bench->out, 1);
    output_hold(&bench->out, 2);
    say(&bench->out, "b");
    output_hold(&bench->out, 3);
    say(&bench->out, "c");
    bench->pool.reached = 1;
    expect(&bench->out, "");
    bench->pool.reached = 2;
    expect(&bench->out, "b");
    bench->pool.reached = 3;
    expect(&bench->out, "c");
}

static void lower_position_waits_behind_the_higher_one(void **state)
{
    struct bench *bench = *state;

    output_hold(&bench->out, 5);
    say(&bench->out, "a");
    output_hold(&bench->out, 4);
    say(&bench->out, "b");
    bench->pool.reached = 4;
    expect(&bench->out, "");
    bench->pool.reached = 5;
    expect(&bench->out, "ab");
}

static void gates_that_were_reached_make_room(void **state)
{
    struct bench *bench = *state;

    for (uint64_t position = 1; position < 100; position++) {
        say(&bench->out, "x");
        output_hold(&bench->out, position);
        say(&bench->out, "y");
        output_hold(&bench->out, position + 1);
        say(&bench->out, "z");
        bench->pool.reached = position - 1;
        expect(&bench->out, position == 1 ? "x" : "");
        bench->pool.reached = position;
        // The last bytes of the round before waited for this position, too.
        expect(&bench->out, position == 1 ? "y" : "zxy");
    }
}

static void gates_stand_between_blobs_and_bytes(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = blob_copy(SLICE("BODY"));

    for (size_t step = 1; step < 8; step++) {
        uint64_t position = bench->pool.reached + 2;

        say(&bench->out, "before");
        output_blob(&bench->out, blob);
        output_hold(&bench->out, position - 1);
        output_blob(&bench->out, blob);
        say(&bench->out, "tail");
        output_hold(&bench->out, position);
        say(&bench->out, "end");
        expect_steps(&bench->out, step, "beforeBODY");
        bench->pool.reached = position - 1;
        expect_steps(&bench->out, step, "BODYtail");
        bench->pool.reached = position;
        expect_steps(&bench->out, step, "end");
    }
    assert_int_equal(blob->refs, 1);
    blob_unref(blob);
}

static void spans_are_cut_where_a_gate_stands(void **state)
{
    struct bench *bench = *state;
    struct slice spans[4];

    say(&bench->out, "abc");
    output_hold(&bench->out, 1);
    say(&bench->out, "def");
    assert_int_equal(output_peek(&bench->out, spans, 4), 1);
    assert_int_equal(spans[0].len, 3);
    output_consume(&bench->out, 1);
    assert_int_equal(output_peek(&bench->out, spans, 4), 1);
    assert_true(slice_equal(spans[0], SLICE("bc")));
}

static void append_moves_the_gates(void **state)
{
    struct bench *bench = *state;
    struct output more;

    output_init(&more, &bench->pool);
    say(&bench->out, "a");
    say(&more, "early");
    output_hold(&more, 1);
    say(&more, "b");
    output_hold(&more, 2);
    say(&more, "c");
    output_append(&bench->out, &more);
    assert_int_equal(output_pending(&more), 0);
    say(&bench->out, "d");
    say(&more, "free");
    expect(&more, "free");
    expect(&bench->out, "a");
    bench->pool.reached = 1;
    expect(&bench->out, "");
    bench->pool.reached = 2;
    expect(&bench->out, "earlybcd");
}

static void an_empty_output_passes_its_gate_on(void **state)
{
    struct bench *bench = *state;
    struct output more;

    output_init(&more, &bench->pool);
    output_hold(&more, 1);
    output_append(&bench->out, &more);
    say(&bench->out, "b");
    say(&more, "free");
    expect(&bench->out, "");
    expect(&more, "free");
    bench->pool.reached = 1;
    expect(&bench->out, "b");
}

// Small outputs share a span when they are appended to each other.
static void appended_outputs_share_spans(void **state)
{
    static const size_t lens[] = {1, 100, 1500, OUTPUT_CHUNK + 1, 3 * OUTPUT_CHUNK - 1};
    static char bytes[3 * OUTPUT_CHUNK];
    struct bench *bench = *state;
    struct slice spans[1000];

    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        for (int count = 0; count < 100; count++) {
            struct output more;

            memset(bytes, 'a' + count % 26, lens[i]);
            output_init(&more, &bench->pool);
            output_write(&more, slice_of(bytes, lens[i]));
            output_append(&bench->out, &more);
            assert_int_equal(output_pending(&more), 0);
        }
        assert_int_equal(output_pending(&bench->out), 100 * lens[i]);
        assert_in_range(output_peek(&bench->out, spans, 1000), 1,
                        2 * 100 * lens[i] / OUTPUT_CHUNK + 1);
        for (int count = 0; count < 100; count++) {
            assert_int_equal(output_peek(&bench->out, spans, 1), 1);
            assert_int_equal(*spans[0].ptr, 'a' + count % 26);
            output_consume(&bench->out, lens[i]);
        }
    }
}

static void clear_forgets_the_gates(void **state)
{
    struct bench *bench = *state;

    output_hold(&bench->out, 1);
    say(&bench->out, "a");
    output_hold(&bench->out, 2);
    output_clear(&bench->out);
    say(&bench->out, "b");
    expect(&bench->out, "b");
}

#define BENCH(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH(bytes_before_a_gate_are_sent_and_later_bytes_wait),
        BENCH(a_gate_after_sent_output_holds_further_output),
        BENCH(output_without_a_gate_or_with_a_reached_one_is_sent),
        BENCH(output_without_a_gate_keeps_its_order),
        BENCH(two_gates_open_one_after_the_other),
        BENCH(two_gates_open_at_once),
        BENCH(third_gate_merges_with_the_second),
        BENCH(gates_without_bytes_in_between_are_one),
        BENCH(lower_position_waits_behind_the_higher_one),
        BENCH(gates_that_were_reached_make_room),
        BENCH(gates_stand_between_blobs_and_bytes),
        BENCH(spans_are_cut_where_a_gate_stands),
        BENCH(append_moves_the_gates),
        BENCH(an_empty_output_passes_its_gate_on),
        BENCH(appended_outputs_share_spans),
        BENCH(clear_forgets_the_gates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
