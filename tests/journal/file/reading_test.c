/* SPDX-License-Identifier: MIT */
// Coming back from disks that cannot be read, and with memory that runs out.
#include "tests/journal/file/replay_bed.h"
#include "tests/support/nth_alloc.h"

#include <errno.h>

static void an_unreadable_file_is_named(void **state)
{
    struct replay_bed *b = *state;

    for (uint64_t id = 1; id <= 50; id++) {
        forge_plain(&b->one, id,
                    "0123456789012345678901234567890123456789"
                    "0123456789012345678901234567890123456789"
                    "0123456789012345678901234567890123456789");
    }
    forge_number(&b->one, CODEC_SYNCED, b->one.len);
    forge_put(&b->one, b->disk);
    fake_disk_break(b->disk, FIRST, 5000);
    bed_stops(b, FIRST ": offset 4096: ");
    // All records without a byte in the block.
    assert_true(bed_revive(b, true));
    assert_true(b->revived.damaged);
    for (uint64_t id = 1; id <= 50; id++) {
        assert_int_equal(bed_has(b, id), b->one.marks[id] <= 4096 || b->one.marks[id - 1] >= 8192);
    }
}

// No record says that it was synced; the records after the sector are good nevertheless.
static void a_bad_sector_of_the_youngest_costs_its_records_only(void **state)
{
    struct replay_bed *b = *state;

    for (uint64_t id = 1; id <= 50; id++) {
        forge_plain(&b->one, id,
                    "0123456789012345678901234567890123456789"
                    "0123456789012345678901234567890123456789"
                    "0123456789012345678901234567890123456789");
    }
    forge_put(&b->one, b->disk);
    fake_disk_break(b->disk, FIRST, 5000);
    bed_stops(b, FIRST ": offset 4096: ");
    assert_true(bed_revive(b, true));
    assert_true(b->revived.damaged);
    for (uint64_t id = 1; id <= 50; id++) {
        assert_int_equal(bed_has(b, id), b->one.marks[id] <= 4096 || b->one.marks[id - 1] >= 8192);
    }
}

// Wherever the sector is: in the head, in records, behind them.
static void a_bad_sector_anywhere_is_repaired(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    forge_large(&b->three, 9, 100000);
    forge_zeros(&b->three, 20000);
    for (size_t at = 0; at < b->three.len; at += 1000) {
        bed_put_three(b);
        fake_disk_break(b->disk, THIRD, at);
        assert_true(bed_revive(b, true));
        assert_true(bed_has(b, 1) && bed_has(b, 4));
    }
}

static void a_bad_sector_at_the_end_is_not_taken_for_free_space(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 1, "x");
    forge_zeros(&b->one, 4096 - b->one.len);
    b->one.len = 4096;
    b->one.count = 1;
    forge_zeros(&b->one, 8192);
    forge_put(&b->one, b->disk);
    fake_disk_break(b->disk, FIRST, 4100);
    assert_false(bed_revive(b, false));
    assert_true(bed_revive(b, true));
    assert_true(bed_has(b, 1));
    expect_says(b->revived.log, "journal_torn file=" FIRST);
}

static void any_call_of_the_disk_may_fail(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    forge_number(&b->three, CODEC_DROPPED, 1);
    for (int repair = 0; repair < 2; repair++) {
        for (unsigned long n = 1;; n++) {
            unsigned long calls;

            bed_put_three(b);
            fake_disk_put(b->disk, "spare", "", 0);
            fake_disk_fault(b->disk,
                            &(struct fake_fault){.op = FAKE_ANY, .nth = n, .error = EACCES});
            calls = fake_disk_calls(b->disk, FAKE_ANY);
            if (!bed_revive(b, repair)) {
                assert_string_not_equal(b->revived.why.text, "");
            }
            fake_disk_heal(b->disk);
            if (fake_disk_calls(b->disk, FAKE_ANY) - calls < n) {
                assert_true(b->revived.good);
                break;
            }
        }
    }
}

static void short_reads_are_gone_on_with(void **state)
{
    struct replay_bed *b = *state;

    forge_large(&b->one, 1, 100000);
    forge_plain(&b->one, 2, "x");
    forge_put(&b->one, b->disk);
    fake_disk_fault(b->disk, &(struct fake_fault){
                                 .op = FAKE_READ, .nth = 1, .effect = FAKE_SHORT, .lasting = true});
    assert_true(bed_revive(b, false));
    assert_true(bed_has(b, 1) && bed_has(b, 2));
}

static void records_that_were_read_are_synced(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    bed_put_three(b);
    fake_disk_trace_clear(b->disk);
    assert_true(bed_revive(b, false));
    expect_says(fake_disk_trace(b->disk), "sync " THIRD);
    fake_disk_fault(b->disk, &(struct fake_fault){.op = FAKE_SYNC, .nth = 1, .error = EIO});
    bed_stops(b, THIRD);
}

static void any_allocation_may_fail(void **state)
{
    struct replay_bed *b = *state;
    bool done = false;

    bed_make_three(b);
    forge_large(&b->three, 7, 70000);
    forge_pause(&b->three, SLICE("other"), 5, REVIVE_WALL + 5);
    bed_put_three(b);
    for (size_t n = 1; !done; n++) {
        bed_end(b);
        revive_begin(&b->revived, b->disk, false);
        b->revived_once = true;
        nth_alloc_fail(n);
        revive_read(&b->revived);
        done = nth_alloc_count() < n;
        nth_alloc_fail(0);
        if (!done) {
            assert_false(b->revived.good);
            expect_says(b->revived.why.text, "memory");
        }
    }
    assert_true(b->revived.good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(an_unreadable_file_is_named),
        STORY(a_bad_sector_of_the_youngest_costs_its_records_only),
        STORY(a_bad_sector_anywhere_is_repaired),
        STORY(a_bad_sector_at_the_end_is_not_taken_for_free_space),
        STORY(any_call_of_the_disk_may_fail),
        STORY(short_reads_are_gone_on_with),
        STORY(records_that_were_read_are_synced),
        STORY(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
