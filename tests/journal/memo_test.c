/* SPDX-License-Identifier: MIT */
// Memos in the journal: kept, replaced, dropped, rewritten before their segment is removed, and
// refused if they must last and there is no space.
#include "tests/journal/journal_bed.h"

#include <string.h>

enum { LONG = 300000 };

static const struct memo *find(const struct bed *bed, enum memo_kind kind, const char *key)
{
    return broker_memo_find(bed->broker, kind, slice_str(key));
}

static void remember(struct bed *bed, enum memo_kind kind, int key, size_t len)
{
    assert_status(STATUS_OK, bed_remember(bed, kind, key, len, 0));
    (void)bed_turns(bed);
}

// So much that what is old has to be written again several times.
static void traffic(struct bed *bed, unsigned jobs)
{
    for (unsigned i = 0; i < jobs; i++) {
        uint64_t id = BED_PUT(bed, .body_len = 2900);

        assert_true(id > 0);
        assert_status(STATUS_OK, bed_cancel(bed, id));
        (void)bed_turns(bed);
    }
}

static void memos_of_all_kinds_come_back(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);

    (void)state;
    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        remember(bed, (enum memo_kind)kind, 1, 10);
        remember(bed, (enum memo_kind)kind, 2, 3000);
        remember(bed, (enum memo_kind)kind, 1, 20);
        remember(bed, (enum memo_kind)kind, 3, 0);
        assert_status(STATUS_OK, bed_forget(bed, (enum memo_kind)kind, 3));
    }
    (void)bed_turns(bed);
    bed_expect_survives_all(bed);
    bed_restart(bed, BED_CUT, 0);
    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        if (kind == MEMO_LEASE) {
            continue; // not a lease; it was forgotten without the book's knowledge
        }
        assert_int_equal(find(bed, (enum memo_kind)kind, "m1")->value.len, 20);
        assert_int_equal(find(bed, (enum memo_kind)kind, "m2")->value.len, 3000);
        assert_null(find(bed, (enum memo_kind)kind, "m3"));
    }
    bed_free(bed);
}

static void an_answer_waits_for_the_memo_that_it_depends_on(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);

    (void)state;
    assert_status(STATUS_OK, bed_remember(bed, MEMO_ANSWER, 1, 10, 0));
    assert_int_equal(broker_position(bed->broker), bed->last);
    assert_false(bed_acknowledged(bed));
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    bed_free(bed);
}

static void memos_are_copied_before_their_segment_is_removed(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true);
    uint64_t oldest;

    (void)state;
    for (int i = 0; i < 30; i++) {
        remember(bed, MEMO_SCHEDULE, i, 100);
    }
    oldest = bed_info(bed).current;
    traffic(bed, 400);
    assert_true(bed_info(bed).oldest > oldest);
    bed_expect_survives_all(bed);
    bed_restart(bed, BED_CUT, 0);
    assert_non_null(find(bed, MEMO_SCHEDULE, "m0"));
    assert_non_null(find(bed, MEMO_SCHEDULE, "m29"));
    bed_free(bed);
}

static void a_memo_replaced_repeatedly_takes_no_more_space(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true);

    (void)state;
    for (int i = 0; i < 3000; i++) {
        assert_status(STATUS_OK, bed_remember(bed, MEMO_FIRED, i % 3, 200, 0));
        (void)bed_turns(bed);
        assert_true(fake_disk_used(bed->disk) <= 3 * 3 * 300 + 3 * bed_info(bed).file_max);
    }
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void memo_that_ends_takes_no_more_room(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t live = bed_info(bed).live;

    (void)state;
    assert_status(STATUS_OK, bed_remember(bed, MEMO_RESULT, 1, 2000, bed->now.wall + SEC(10)));
    assert_true(bed_info(bed).live >= live + 2000);
    bed_pass(bed, SEC(10));
    assert_int_equal(bed_info(bed).live, live);
    bed_restart(bed, BED_KILLED, 0);
    assert_null(find(bed, MEMO_RESULT, "m1"));
    bed_free(bed);
}

// Longer than what is copied, and than what is read at once; it is written again, too.
static void a_long_value_comes_back(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .body_max = LONG);
    uint64_t oldest;

    (void)state;
    remember(bed, MEMO_RESULT, 1, LONG);
    remember(bed, MEMO_POLICY, 2, 40000);
    oldest = bed_info(bed).current;
    bed_expect_survives_all(bed);
    traffic(bed, 1000);
    assert_true(bed_info(bed).oldest > oldest);
    bed_restart(bed, BED_CUT, 0);
    assert_int_equal(find(bed, MEMO_RESULT, "m1")->value.len, LONG);
    assert_non_null(find(bed, MEMO_RESULT, "m1")->blob);
    assert_int_equal(find(bed, MEMO_POLICY, "m2")->value.len, 40000);
    bed_free(bed);
}

static void a_full_disk_refuses_memos_that_must_last_and_keeps_results_in_memory(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);

    (void)state;
    remember(bed, MEMO_POLICY, 1, 10);
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk));
    while (BED_PUT(bed, .body_len = 2000)) {
        (void)bed_turns(bed);
    }
    assert_status(STATUS_NO_SPACE, bed_remember(bed, MEMO_POLICY, 2, 10, 0));
    assert_status(STATUS_OK, bed_remember(bed, MEMO_RESULT, 3, 10, 0));
    // To forget takes space that is there for it.
    assert_status(STATUS_OK, bed_forget(bed, MEMO_POLICY, 1));
    (void)bed_turns(bed);
    assert_non_null(find(bed, MEMO_RESULT, "m3"));
    bed_restart(bed, BED_KILLED, 0);
    assert_null(find(bed, MEMO_POLICY, "m1"));
    assert_null(find(bed, MEMO_RESULT, "m3"));
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memos_of_all_kinds_come_back),
        cmocka_unit_test(an_answer_waits_for_the_memo_that_it_depends_on),
        cmocka_unit_test(memos_are_copied_before_their_segment_is_removed),
        cmocka_unit_test(a_memo_replaced_repeatedly_takes_no_more_space),
        cmocka_unit_test(memo_that_ends_takes_no_more_room),
        cmocka_unit_test(a_long_value_comes_back),
        cmocka_unit_test(a_full_disk_refuses_memos_that_must_last_and_keeps_results_in_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
