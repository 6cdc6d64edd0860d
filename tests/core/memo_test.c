/* SPDX-License-Identifier: MIT */
// Memos: found by key, walked in order, until a moment of the wall clock.
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"

#include "core/base/blob.h"
#include "core/base/memory.h"

#include <stdio.h>
#include <string.h>

#define DAY (24 * SEC(3600))
// A memo without a moment stays forever.
#define MEMO(...) (&(const struct memo){__VA_ARGS__})

static enum status try_set(struct stage *s, const struct memo *memo)
{
    struct memo lasting = *memo;
    enum status status;

    lasting.until_at = memo->until_at ? memo->until_at : NSEC_NEVER;
    status = broker_memo_set(s->broker, &lasting);
    stage_step(s);
    return status;
}

static void set(struct stage *s, const struct memo *memo)
{
    assert_status(STATUS_OK, try_set(s, memo));
}

static void expect_memo(struct stage *s, enum memo_kind kind, const char *key, const char *value)
{
    const struct memo *memo = broker_memo_find(s->broker, kind, stage_slice(key));

    if (!value) {
        assert_null(memo);
        return;
    }
    assert_non_null(memo);
    assert_true(slice_equal(memo->key, stage_slice(key)));
    assert_true(slice_equal(memo->value, stage_slice(value)));
}

// The keys of a kind, in the order of a walk.
static void expect_keys(struct stage *s, enum memo_kind kind, const char *keys)
{
    struct stage_text text = {0};
    uint64_t cursor = 0;
    const struct memo *memo;

    while ((memo = broker_memo_next(s->broker, kind, &cursor))) {
        stage_text_add(&text, "%.*s", (int)memo->key.len, memo->key.ptr);
    }
    text.bytes[text.len] = '\0';
    assert_string_equal(text.bytes, keys);
}

static struct memo_usage usage(struct stage *s, enum memo_kind kind)
{
    struct memo_usage usage;

    broker_memo_usage(s->broker, kind, &usage);
    return usage;
}

static unsigned first_byte(struct slice value)
{
    return value.len > 0 ? (unsigned char)value.ptr[0] : 0;
}

static void share_takes_at_most_the_free_bytes(void **state)
{
    struct stage *s = *state;
    uint64_t each;

    // Existing memos count, too.
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("a0"), .value = SLICE("a")));
    each = usage(s, MEMO_ANSWER).bytes;
    assert_true(broker_memo_share(s->broker, MEMO_ANSWER, first_byte));
    broker_memo_limit(s->broker, MEMO_ANSWER, 4 * each);
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("a1"), .value = SLICE("a")));
    assert_status(STATUS_QUEUE_FULL,
                  try_set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("a2"), .value = SLICE("a"))));
    // In place of another memo it needs no more.
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("a1"), .value = SLICE("a")));
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("b0"), .value = SLICE("b")));
    assert_status(STATUS_QUEUE_FULL,
                  try_set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("b1"), .value = SLICE("b"))));
    assert_status(STATUS_OK, broker_memo_drop(s->broker, MEMO_ANSWER, SLICE("a0")));
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("c0"), .value = SLICE("c")));
    broker_memo_limit(s->broker, MEMO_ANSWER, each);
    assert_status(STATUS_QUEUE_FULL,
                  try_set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("d0"), .value = SLICE("d"))));
}

// The policy may have jobs expire, and so free memory.
static void policy_is_accepted_although_memory_is_short(void **state)
{
    struct stage *s = *state;

    memory_set_limit(1);
    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a"), .value = SLICE("one")));
    assert_status(STATUS_NO_MEMORY, try_set(s, MEMO(.kind = MEMO_SCHEDULE, .key = SLICE("a"))));
    memory_set_limit(0);
    expect_memo(s, MEMO_POLICY, "a", "one");
    expect_memo(s, MEMO_SCHEDULE, "a", NULL);
}

static void memo_is_found_by_kind_and_key_until_it_is_dropped(void **state)
{
    struct stage *s = *state;

    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a"), .value = SLICE("one")));
    set(s, MEMO(.kind = MEMO_SCHEDULE, .key = SLICE("a")));
    expect_memo(s, MEMO_POLICY, "a", "one");
    expect_memo(s, MEMO_SCHEDULE, "a", "");
    expect_memo(s, MEMO_POLICY, "b", NULL);
    assert_status(STATUS_OK, broker_memo_drop(s->broker, MEMO_POLICY, SLICE("a")));
    stage_step(s);
    expect_memo(s, MEMO_POLICY, "a", NULL);
    expect_memo(s, MEMO_SCHEDULE, "a", "");
    assert_status(STATUS_NOT_FOUND, broker_memo_drop(s->broker, MEMO_POLICY, SLICE("a")));
}

static void walk_is_in_order_and_a_replaced_memo_keeps_its_place(void **state)
{
    struct stage *s = *state;
    uint64_t cursor = 0;

    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("b")));
    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a")));
    set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("of another kind")));
    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("c")));
    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("b"), .value = SLICE("next")));
    expect_keys(s, MEMO_POLICY, "b; a; c");
    expect_memo(s, MEMO_POLICY, "b", "next");
    // A cursor continues from its place, though the memo there was dropped.
    assert_non_null(broker_memo_next(s->broker, MEMO_POLICY, &cursor));
    assert_status(STATUS_OK, broker_memo_drop(s->broker, MEMO_POLICY, SLICE("b")));
    assert_true(slice_equal(broker_memo_next(s->broker, MEMO_POLICY, &cursor)->key, SLICE("a")));
}

static void value_may_be_made_of_the_memo_that_it_replaces(void **state)
{
    struct stage *s = *state;
    const struct memo *old;

    set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("key"), .value = SLICE("value")));
    old = broker_memo_find(s->broker, MEMO_FIRED, SLICE("key"));
    set(s, MEMO(.kind = MEMO_FIRED, .key = old->key, .value = slice_from(old->value, 2)));
    expect_memo(s, MEMO_FIRED, "key", "lue");
}

static void memo_ends_when_the_wall_clock_says_so(void **state)
{
    struct stage *s = *state;
    nsec_t until = STAGE_WALL_AT + SEC(60);

    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("a"), .until_at = until));
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("b"), .until_at = until + 1));
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("c")));
    stage_advance(s, SEC(60) - 1);
    expect_keys(s, MEMO_RESULT, "a; b; c");
    stage_advance_to_due(s);
    expect_keys(s, MEMO_RESULT, "b; c");
    assert_int_equal(usage(s, MEMO_RESULT).count, 2);
    stage_advance_to_due(s);
    expect_keys(s, MEMO_RESULT, "c");
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void set_clock_counts_a_day_both_ways(void **state)
{
    struct stage *s = *state;

    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("a"), .until_at = STAGE_WALL_AT + DAY));
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("b"), .until_at = STAGE_WALL_AT + 2 * DAY));
    stage_step_wall(s, -DAY);
    stage_advance(s, DAY);
    expect_keys(s, MEMO_ANSWER, "a; b");
    stage_step_wall(s, DAY);
    expect_keys(s, MEMO_ANSWER, "b");
    // While a memo has an end, the clock is read once a second.
    assert_int_equal(broker_next_due(s->broker), s->now.mono + SEC(1));
}

static void memo_that_has_ended_is_not_found_even_before_it_is_freed(void **state)
{
    struct stage *s = *state;
    enum { MEMOS = 2 * BROKER_SLICE };
    uint64_t cursor = 0;

    for (int i = 0; i < MEMOS; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "%d", i);
        set(s, MEMO(.kind = MEMO_UNIQUE, .key = stage_slice(key), .until_at = STAGE_WALL_AT + 1));
    }
    s->now.wall++;
    broker_tick(s->broker, s->now);
    assert_int_equal(usage(s, MEMO_UNIQUE).count, MEMOS - BROKER_SLICE);
    assert_null(broker_memo_next(s->broker, MEMO_UNIQUE, &cursor));
    expect_memo(s, MEMO_UNIQUE, "127", NULL);
    assert_status(STATUS_NOT_FOUND, broker_memo_drop(s->broker, MEMO_UNIQUE, SLICE("127")));
    // A memo that is set again is new, and stays.
    set(s, MEMO(.kind = MEMO_UNIQUE, .key = SLICE("127")));
    stage_settle(s);
    expect_keys(s, MEMO_UNIQUE, "127");
}

static void moment_in_the_past_drops_the_memo(void **state)
{
    struct stage *s = *state;

    set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("a")));
    set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("a"), .until_at = STAGE_WALL_AT));
    set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("b"), .until_at = STAGE_WALL_AT));
    expect_keys(s, MEMO_FIRED, "");
    assert_int_equal(usage(s, MEMO_FIRED).count, 0);
}

static void impossible_memos_are_refused(void **state)
{
    static char long_key[MEMO_KEY_MAX + 1];
    struct stage *s = *state;
    struct blob *large = blob_new(MEMO_VALUE_MAX + 1);

    assert_non_null(large);
    assert_status(STATUS_BAD_NAME, try_set(s, MEMO(.kind = MEMO_POLICY)));
    assert_status(STATUS_BAD_NAME, try_set(s, MEMO(.kind = MEMO_POLICY,
                                                   .key = slice_of(long_key, sizeof long_key))));
    assert_status(STATUS_TOO_LARGE, try_set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a"),
                                                    .blob = large, .value = blob_slice(large))));
    blob_unref(large);
    assert_int_equal(usage(s, MEMO_POLICY).refused, 3);
    set(s, MEMO(.kind = MEMO_POLICY, .key = slice_of(long_key, MEMO_KEY_MAX)));
}

static void blob_is_shared_and_counted(void **state)
{
    struct stage *s = *state;
    struct blob *blob = blob_copy(SLICE("some bytes"));

    assert_non_null(blob);
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("a"), .blob = blob, .value = blob_slice(blob)));
    expect_memo(s, MEMO_RESULT, "a", "some bytes");
    assert_ptr_equal(broker_memo_find(s->broker, MEMO_RESULT, SLICE("a"))->blob, blob);
    blob_unref(blob);
    assert_true(usage(s, MEMO_RESULT).bytes > 10);
    assert_status(STATUS_OK, broker_memo_drop(s->broker, MEMO_RESULT, SLICE("a")));
    assert_int_equal(usage(s, MEMO_RESULT).bytes, 0);
}

// The bytes of one memo with a key and a value of a byte each.
static uint64_t bytes_of_one(struct stage *s, enum memo_kind kind)
{
    uint64_t bytes;

    set(s, MEMO(.kind = kind, .key = SLICE("k"), .value = SLICE("v")));
    bytes = usage(s, kind).bytes;
    assert_status(STATUS_OK, broker_memo_drop(s->broker, kind, SLICE("k")));
    return bytes;
}

static void oldest_results_are_evicted_for_new_ones(void **state)
{
    struct stage *s = *state;

    broker_memo_limit(s->broker, MEMO_RESULT, 3 * bytes_of_one(s, MEMO_RESULT));
    for (const char *key = "abcde"; *key; key++) {
        set(s, MEMO(.kind = MEMO_RESULT, .key = slice_of(key, 1), .value = SLICE("v")));
    }
    expect_keys(s, MEMO_RESULT, "c; d; e");
    assert_int_equal(usage(s, MEMO_RESULT).evicted, 2);
    // A memo that is larger than the limit does not evict others.
    broker_memo_limit(s->broker, MEMO_UNIQUE, 8);
    assert_status(STATUS_TOO_LARGE, try_set(s, MEMO(.kind = MEMO_UNIQUE, .key = SLICE("k"))));
}

static void answers_without_room_are_refused(void **state)
{
    struct stage *s = *state;

    broker_memo_limit(s->broker, MEMO_ANSWER, 2 * bytes_of_one(s, MEMO_ANSWER));
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("a"), .value = SLICE("v")));
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("b"), .value = SLICE("v")));
    assert_status(STATUS_NO_MEMORY,
                  try_set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("c"), .value = SLICE("v"))));
    expect_keys(s, MEMO_ANSWER, "a; b");
    // The memo that it replaces makes room.
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("b"), .value = SLICE("w")));
    expect_memo(s, MEMO_ANSWER, "b", "w");
}

static void lower_limit_is_reached_in_slices(void **state)
{
    struct stage *s = *state;
    uint64_t one = bytes_of_one(s, MEMO_RESULT);
    enum { MEMOS = 3 * BROKER_SLICE };

    for (int i = 0; i < MEMOS; i++) {
        const char key = (char)(i + 1);

        set(s, MEMO(.kind = MEMO_RESULT, .key = slice_of(&key, 1), .value = SLICE("v")));
    }
    broker_memo_limit(s->broker, MEMO_RESULT, 4 * one);
    assert_int_equal(broker_next_due(s->broker), s->now.mono);
    broker_tick(s->broker, s->now);
    assert_int_equal(usage(s, MEMO_RESULT).count, MEMOS - BROKER_SLICE);
    stage_settle(s);
    assert_int_equal(usage(s, MEMO_RESULT).count, 4);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
}

static void short_memory_refuses_new_memos_and_keeps_old_ones(void **state)
{
    struct stage *s = *state;

    set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("a")));
    memory_set_limit(1);
    assert_status(STATUS_NO_MEMORY, try_set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("b"))));
    memory_set_limit(0);
    expect_keys(s, MEMO_FIRED, "a");
}

static void store_is_told_of_memos_that_are_set_and_dropped(void **state)
{
    struct stage *s = *state;

    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a")));
    assert_int_equal(broker_position(s->broker), 1);
    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a"), .value = SLICE("v")));
    assert_status(STATUS_OK, broker_memo_drop(s->broker, MEMO_POLICY, SLICE("a")));
    assert_int_equal(broker_position(s->broker), 3);
    stage_expect_recorded(s, "memo policy; memo policy; forget policy");
    // The record of a memo has its end.
    set(s, MEMO(.kind = MEMO_ANSWER, .key = SLICE("a"), .until_at = STAGE_WALL_AT + 1));
    stage_advance(s, 1);
    stage_expect_recorded(s, "memo answer");
}

static void memo_that_must_last_is_refused_if_the_store_has_no_room(void **state)
{
    struct stage *s = *state;

    set(s, MEMO(.kind = MEMO_SCHEDULE, .key = SLICE("a"), .value = SLICE("v")));
    s->refused = STORE_REFUSES(RECORD_MEMO);
    assert_status(STATUS_NO_SPACE, try_set(s, MEMO(.kind = MEMO_SCHEDULE, .key = SLICE("a"))));
    assert_status(STATUS_NO_SPACE, try_set(s, MEMO(.kind = MEMO_FIRED, .key = SLICE("b"))));
    s->refused = STORE_REFUSES(RECORD_FORGET);
    assert_status(STATUS_NO_SPACE, broker_memo_drop(s->broker, MEMO_SCHEDULE, SLICE("a")));
    assert_status(STATUS_NO_SPACE, try_set(s, MEMO(.kind = MEMO_SCHEDULE, .key = SLICE("a"),
                                                   .until_at = STAGE_WALL_AT)));
    expect_memo(s, MEMO_SCHEDULE, "a", "v");
    expect_keys(s, MEMO_FIRED, "");
    stage_expect_recorded(s, "memo schedule");
}

static void results_stay_in_memory_if_the_store_has_no_room(void **state)
{
    struct stage *s = *state;

    broker_memo_limit(s->broker, MEMO_RESULT, 2 * bytes_of_one(s, MEMO_RESULT));
    stage_expect_recorded(s, "memo result; forget result");
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("a"), .value = SLICE("v")));
    s->refused = STORE_REFUSES(RECORD_MEMO);
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("b"), .value = SLICE("v")));
    assert_int_equal(broker_position(s->broker), 0);
    s->refused = STORE_REFUSES(RECORD_FORGET);
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("c"), .value = SLICE("v")));
    expect_keys(s, MEMO_RESULT, "b; c");
    // No record is written for the drop of a memo that the store does not have.
    s->refused = 0;
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("d"), .value = SLICE("v")));
    set(s, MEMO(.kind = MEMO_RESULT, .key = SLICE("e"), .value = SLICE("v")));
    stage_expect_recorded(s, "memo result; memo result; memo result; memo result; forget result");
}

static void memos_are_restored_in_order_except_ended_ones(void **state)
{
    struct stage *s = *state, *again;

    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("b")));
    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("soon"), .until_at = STAGE_WALL_AT + SEC(5)));
    set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a"), .until_at = STAGE_WALL_AT + SEC(6)));
    again = stage_restart(s, SEC(5));
    expect_keys(again, MEMO_POLICY, "b; a");
    set(again, MEMO(.kind = MEMO_POLICY, .key = SLICE("c")));
    expect_keys(again, MEMO_POLICY, "b; a; c");
    stage_advance(again, SEC(1));
    expect_keys(again, MEMO_POLICY, "b; c");
    stage_free(again);
}

static void impossible_restored_memo_is_refused(void **state)
{
    struct stage *s = *state;
    const struct memo *restored;
    struct memo memo = {.kind = MEMO_POLICY, .key = SLICE("a"), .until_at = NSEC_NEVER};

    assert_status(STATUS_BAD_NAME, broker_restore_memo(s->broker, &memo, &restored));
    memo.number = UINT64_MAX;
    assert_status(STATUS_BAD_NAME, broker_restore_memo(s->broker, &memo, &restored));
    memo.number = 7;
    assert_status(STATUS_OK, broker_restore_memo(s->broker, &memo, &restored));
    // Two memos of one number, as in a damaged store.
    memo.key = SLICE("b");
    assert_status(STATUS_OK, broker_restore_memo(s->broker, &memo, &restored));
    assert_int_equal(restored->number, 8);
    // The last record of a key counts, even if the memo in it has ended.
    memo.until_at = STAGE_WALL_AT;
    assert_status(STATUS_OK, broker_restore_memo(s->broker, &memo, &restored));
    assert_null(restored);
    assert_status(STATUS_NOT_FOUND, broker_restore_forget(s->broker, MEMO_POLICY, SLICE("b")));
    assert_status(STATUS_OK, broker_restore_forget(s->broker, MEMO_POLICY, SLICE("a")));
    stage_step(s);
    expect_keys(s, MEMO_POLICY, "");
}

static void memo_without_memory_changes_nothing(void **state)
{
    static char value[3000];
    struct stage *s = *state;
    enum status status;
    size_t refused = 0;

    memset(value, 'v', sizeof value - 1);
    for (size_t n = 1;; n++) {
        nth_alloc_fail(n);
        status =
            try_set(s, MEMO(.kind = MEMO_POLICY, .key = SLICE("a"), .value = stage_slice(value)));
        nth_alloc_fail(0);
        if (status == STATUS_OK) {
            break;
        }
        refused++;
        assert_status(STATUS_NO_MEMORY, status);
        expect_keys(s, MEMO_POLICY, "");
    }
    expect_memo(s, MEMO_POLICY, "a", value);
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(memo_is_found_by_kind_and_key_until_it_is_dropped),
        STORY(policy_is_accepted_although_memory_is_short),
        STORY(share_takes_at_most_the_free_bytes),
        STORY(walk_is_in_order_and_a_replaced_memo_keeps_its_place),
        STORY(value_may_be_made_of_the_memo_that_it_replaces),
        STORY(memo_ends_when_the_wall_clock_says_so),
        STORY(set_clock_counts_a_day_both_ways),
        STORY(memo_that_has_ended_is_not_found_even_before_it_is_freed),
        STORY(moment_in_the_past_drops_the_memo),
        STORY(impossible_memos_are_refused),
        STORY(blob_is_shared_and_counted),
        STORY(oldest_results_are_evicted_for_new_ones),
        STORY(answers_without_room_are_refused),
        STORY(lower_limit_is_reached_in_slices),
        STORY(short_memory_refuses_new_memos_and_keeps_old_ones),
        STORY(store_is_told_of_memos_that_are_set_and_dropped),
        STORY(memo_that_must_last_is_refused_if_the_store_has_no_room),
        STORY(results_stay_in_memory_if_the_store_has_no_room),
        STORY(memos_are_restored_in_order_except_ended_ones),
        STORY(impossible_restored_memo_is_refused),
        STORY(memo_without_memory_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
