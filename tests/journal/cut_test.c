/* SPDX-License-Identifier: MIT */
// The power is cut, or the process killed, at every call that the journal makes to the disk.
#include "tests/journal/journal_work.h"

#include "journal/journal_private.h"

#include <errno.h>

static const nsec_t policies[] = {0, MSEC(700), NSEC_NEVER};
enum { POLICIES = 3 };

// The calls that the work makes.
static unsigned long count_calls(nsec_t policy)
{
    struct bed *bed = BED(.sync_every_for = policy);
    unsigned long before = fake_disk_calls(bed->disk, FAKE_ANY);
    unsigned long count;
    struct store_info info;

    work_a_while(bed);
    count = fake_disk_calls(bed->disk, FAKE_ANY) - before;
    info = bed_info(bed);
    // Otherwise the test would show nothing.
    assert_true(info.current > 3 && info.oldest > 1 && info.migrated > 0);
    bed_expect_survives_all(bed);
    bed_free(bed);
    return count;
}

static void nothing_acknowledged_is_lost_whenever_the_power_goes(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        unsigned long calls = count_calls(policies[i]);

        for (unsigned long n = 1; n <= calls; n++) {
            const struct fake_fault halt = {.op = FAKE_ANY, .nth = n, .effect = FAKE_HALT};
            struct bed *bed = BED(.sync_every_for = policies[i]);

            fake_disk_fault(bed->disk, &halt);
            work_a_while(bed);
            bed_expect_survives_all(bed);
            bed_free(bed);
        }
    }
}

// A start must not damage the records on the disk, either.
static void a_start_that_is_cut_off_loses_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        bool opened = false;

        for (unsigned long n = 1; !opened; n++) {
            const struct fake_fault halt = {.op = FAKE_ANY, .nth = n, .effect = FAKE_HALT};
            struct bed *bed = BED(.sync_every_for = policies[i]);

            work_a_while(bed);
            bed_abandon(bed);
            fake_disk_kill(bed->disk);
            fake_disk_fault(bed->disk, &halt);
            opened = bed_open(bed);
            bed_expect_left(bed, BED_KILLED, 0);
            bed_expect_left(bed, BED_CUT, 0);
            bed_expect_left(bed, BED_CUT_LATE, n);
            bed_free(bed);
        }
    }
}

static void a_torn_tail_is_cut_again_and_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct bed *bed = BED(.sync_every_for = seed % 2 ? 0 : NSEC_NEVER);
        const struct fake_fault halt = {.op = FAKE_WRITE, .nth = 2, .effect = FAKE_HALT};

        for (int round = 0; round < 6; round++) {
            (void)bed_turns(bed);
            for (int j = 0; j < 12; j++) {
                (void)BED_PUT(bed, .body_len = 100 * seed % 900);
            }
            (void)bed_turns(bed);
            for (int j = 0; j < 12; j++) {
                (void)BED_PUT(bed, .body_len = 90 * seed % 900);
            }
            fake_disk_fault(bed->disk, &halt);
            (void)bed_turns(bed);
            bed_restart(bed, BED_CUT_LATE, seed * 7 + (uint64_t)round);
        }
        bed_free(bed);
    }
}

// Jobs with bodies of several sectors that are written again, beside others that come and go.
static void work_beside_large_jobs(struct bed *bed)
{
    for (int i = 0; i < 5; i++) {
        (void)BED_PUT(bed, .queue = 1, .body_len = 2500);
    }
    for (int i = 0; i < 30; i++) {
        (void)bed_turns(bed);
        (void)bed_cancel(bed, BED_PUT(bed, .body_len = 2900));
    }
    (void)bed_turns(bed);
}

// Of a batch that was written and not synced, any sectors may be on the disk: for example, the one
// that says that the old segment is no longer needed, without the copies before it.
static void an_old_segment_is_needed_until_its_copies_are_whole(void **state)
{
    unsigned long syncs = 1;

    (void)state;
    for (unsigned long n = 1; n <= syncs; n++) {
        const struct fake_fault halt = {.op = FAKE_SYNC, .nth = n, .effect = FAKE_HALT};
        struct bed *bed = BED(.sync_every_for = 0);
        unsigned long before = fake_disk_calls(bed->disk, FAKE_SYNC);

        if (n > 1) {
            fake_disk_fault(bed->disk, &halt);
        }
        work_beside_large_jobs(bed);
        if (n == 1) {
            assert_true(bed_info(bed).oldest > 1 && bed_info(bed).migrated > 0);
            syncs = fake_disk_calls(bed->disk, FAKE_SYNC) - before;
        }
        for (uint64_t seed = 1; seed <= 40; seed++) {
            bed_expect_survives(bed, BED_CUT_LATE, seed);
        }
        bed_free(bed);
    }
}

//
// A start that ends before it has synced what it read
//

// Whether a segment is empty, and the record that says so has been written, but not synced.
static bool says_dropped(const struct bed *bed)
{
    const struct journal *journal = bed->journal;

    return journal->segments.list.first > 2 && journal->segments.removing &&
           journal->position.reached >= journal->segments.removable_at &&
           journal->position.synced < journal->segments.removable_at &&
           journal->segments.current->synced < journal->segments.current->written;
}

static void finish(struct bed *bed, uint64_t id)
{
    assert_status(STATUS_OK, bed_take_id(bed, id));
    assert_status(STATUS_OK, bed_complete(bed, id));
}

// Each segment has a job that stays for a while, and is written again when the segment is emptied.
static void work_until_dropped(struct bed *bed)
{
    uint64_t staying[12] = {0};

    bed->disk_worker.waits = true;
    for (unsigned i = 0; i < 20000 && !says_dropped(bed); i++) {
        uint64_t *stays = &staying[i / 20 % (3 + i / 1000 % 10)];

        if (i % 20 == 0) {
            if (*stays) {
                finish(bed, *stays);
            }
            *stays = BED_PUT(bed, .queue = 1, .body_len = 2500);
        } else if (i % 5 == 0) {
            finish(bed, BED_PUT(bed, .body_len = 500 + i % 1999));
        }
        (void)fake_worker_run(&bed->disk_worker);
        bed_turn(bed);
    }
    assert_true(says_dropped(bed));
}

// The process is killed, and the power is cut while the next one starts. The records that it has
// read by then are in the system's memory only, also the one that says that a segment is no longer
// needed.
static void a_start_removes_no_file_before_syncing_the_records_read(void **state)
{
    const struct fake_fault halt = {.op = FAKE_SYNC, .nth = 1, .effect = FAKE_HALT};
    struct bed *bed = BED(.sync_every_for = SEC(3), .segment_size = 65536);

    (void)state;
    work_until_dropped(bed);
    bed_abandon(bed);
    bed->disk_worker.waits = false;
    fake_disk_kill(bed->disk);
    fake_disk_fault(bed->disk, &halt);
    assert_false(bed_open(bed));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bed_expect_left(bed, BED_CUT_LATE, seed);
    }
    bed_free(bed);
}

// Neither the record that says that a segment is no longer needed could be synced, nor the copies
// of its jobs. The next process reads them from the system's memory, and a power cut loses them.
static void a_start_removes_no_file_if_a_segment_could_not_be_synced(void **state)
{
    const struct fake_fault fault = {.op = FAKE_SYNC, .nth = 1, .effect = FAKE_FAIL, .error = EIO};
    struct bed *bed = BED(.sync_every_for = NSEC_NEVER, .segment_size = 65536);

    (void)state;
    work_until_dropped(bed);
    fake_disk_fault(bed->disk, &fault);
    for (int i = 0; i < 10 && !bed->journal->segments.rewrite_from; i++) {
        (void)fake_worker_run(&bed->disk_worker);
        bed_turn(bed);
    }
    assert_true(bed->journal->segments.rewrite_from > 0);
    for (int i = 0; i < 10 && !segment_is_published(bed->journal->segments.current); i++) {
        (void)BED_PUT(bed, .body_len = 100);
        bed_turn(bed);
        (void)fake_worker_run(&bed->disk_worker);
    }
    assert_true(segment_is_published(bed->journal->segments.current));
    bed_abandon(bed);
    bed->disk_worker.waits = false;
    fake_disk_kill(bed->disk);
    assert_true(bed_open(bed));
    for (uint64_t seed = 0; seed <= 20; seed++) {
        bed_expect_opens(bed, seed ? BED_CUT_LATE : BED_CUT, seed);
    }
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_whenever_the_power_goes),
        cmocka_unit_test(a_start_that_is_cut_off_loses_nothing),
        cmocka_unit_test(an_old_segment_is_needed_until_its_copies_are_whole),
        cmocka_unit_test(a_torn_tail_is_cut_again_and_again),
        cmocka_unit_test(a_start_removes_no_file_before_syncing_the_records_read),
        cmocka_unit_test(a_start_removes_no_file_if_a_segment_could_not_be_synced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
