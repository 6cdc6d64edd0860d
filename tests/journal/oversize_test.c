/* SPDX-License-Identifier: MIT */
// Jobs that are larger than a segment: they have files of their own, and are written again like any
// others, so that the disk is not used beyond measure. The bed asserts that after each turn.
#include "tests/journal/journal_work.h"

#include "journal/codec.h"

#include <string.h>

enum { SMALL = 65536, LARGE = 400000 };

static struct bed *small_bed(void)
{
    return BED(.sync_every_for = 0, .segment_size = SMALL, .body_max = LARGE, .bounded = true);
}

static uint64_t put_large(struct bed *bed)
{
    uint64_t id = BED_PUT(bed, .queue = 1, .body_len = LARGE);

    assert_true(id > 0);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    return id;
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

// With nothing large on its way, files are as large as was asked for.
static void expect_compacted(struct bed *bed)
{
    struct store_info info = bed_info(bed);

    assert_true(fake_disk_used(bed->disk) <= 3 * info.live + 3 * info.file_max);
}

// Jobs that were put while files were large, as the operator had it then.
static void jobs_larger_than_todays_segments_do_not_stop_compaction(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = 1 << 20, .body_max = LARGE);
    uint64_t oldest;

    (void)state;
    (void)put_large(bed);
    (void)put_large(bed);
    bed->options.segment_size = SMALL;
    bed->options.bounded = true;
    bed_restart(bed, BED_CUT, 0);
    oldest = bed_info(bed).current;
    traffic(bed, 2000);
    expect_compacted(bed);
    assert_true(bed_info(bed).oldest > oldest);
    assert_int_equal(bed_count(bed), 2);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void a_file_has_the_requested_size_whatever_jobs_come(void **state)
{
    struct bed *bed = small_bed();

    (void)state;
    assert_int_equal(bed_info(bed).file_max, SMALL);
    (void)put_large(bed);
    traffic(bed, 100);
    assert_int_equal(bed_info(bed).file_max, SMALL);
    bed_free(bed);
}

static uint64_t size_of_file(const struct bed *bed, uint64_t number)
{
    char name[SEGMENT_NAME_MAX];
    size_t len = 0;

    segment_name(number, name);
    assert_non_null(fake_disk_bytes(bed->disk, name, &len));
    return len;
}

static void a_job_larger_than_a_segment_has_a_file_of_its_own(void **state)
{
    struct bed *bed = small_bed();
    uint64_t before;

    (void)state;
    traffic(bed, 2);
    before = bed_info(bed).current;
    (void)put_large(bed);
    assert_int_equal(bed_info(bed).current, before + 1);
    traffic(bed, 2);
    assert_int_equal(bed_info(bed).current, before + 2);
    assert_true(size_of_file(bed, before + 1) < LARGE + SMALL / 2);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void large_jobs_that_stay_are_copied(void **state)
{
    struct bed *bed = small_bed();
    uint64_t first = bed_info(bed).current;

    (void)state;
    for (int i = 0; i < 5; i++) {
        (void)put_large(bed);
        traffic(bed, 30);
    }
    traffic(bed, 3000);
    expect_compacted(bed);
    assert_true(bed_info(bed).oldest > first + 10);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void large_jobs_that_come_and_go_leave_nothing(void **state)
{
    struct bed *bed = small_bed();

    (void)state;
    for (int i = 0; i < 40; i++) {
        uint64_t id = put_large(bed);

        assert_status(STATUS_OK, bed_cancel(bed, id));
        (void)bed_turns(bed);
    }
    traffic(bed, 40);
    bed_pass(bed, SEC(3));
    expect_compacted(bed);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

// Several at once, before there is another spare.
static void large_jobs_in_one_turn_are_all_kept(void **state)
{
    struct bed *bed = small_bed();

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(BED_PUT(bed, .queue = 1, .body_len = LARGE) > 0);
    }
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    traffic(bed, 300);
    expect_compacted(bed);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

// While there is no space for the copy, small jobs are accepted; when there is, compaction goes on.
static void small_jobs_go_on_while_a_large_one_cannot_be_copied(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = SMALL, .body_max = LARGE);
    uint64_t oldest;
    uint64_t id;

    (void)state;
    id = put_large(bed);
    oldest = bed_info(bed).oldest;
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + LARGE / 2);
    for (int i = 0; i < 20; i++) {
        assert_true(BED_PUT(bed, .body_len = 2900) > 0);
        bed_pass(bed, SEC(2));
    }
    assert_int_equal(bed->gave_up, 0);
    assert_true(bed_info(bed).oldest <= oldest + 1);
    bed_expect_survives_all(bed);
    fake_disk_set_budget(bed->disk, UINT64_MAX);
    bed_pass(bed, SEC(2));
    traffic(bed, 400);
    assert_true(bed_info(bed).oldest > oldest + 1);
    assert_status(STATUS_OK, bed_cancel(bed, id));
    traffic(bed, 40);
    expect_compacted(bed);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

// The next file is as large as there is space for, though compaction waits for a larger one.
static void a_large_job_that_cannot_be_copied_does_not_fill_the_disk(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = SMALL, .body_max = LARGE);

    (void)state;
    (void)put_large(bed);
    traffic(bed, LARGE / 3000);
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + LARGE - SMALL);
    for (int i = 0; i < 70; i++) {
        traffic(bed, 1);
        assert_false(bed_info(bed).failing);
    }
    bed_expect_survives_all(bed);
    bed_free(bed);
}

// The space of a disk beside two files is for jobs.
static void a_small_disk_takes_jobs_and_refuses_those_that_it_has_no_room_for(void **state)
{
    struct bed *bed = small_bed();

    (void)state;
    (void)bed_turns(bed);
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + LARGE);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(BED_PUT(bed, .queue = 1, .body_len = LARGE), 0);
        assert_true(BED_PUT(bed, .body_len = 2900) > 0);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    assert_int_equal(bed->gave_up, 0);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void a_repair_rewrites_large_jobs(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = 1 << 20, .body_max = LARGE);
    char name[SEGMENT_NAME_MAX];

    (void)state;
    assert_true(BED_PUT(bed, .body_len = 100) > 0);
    (void)put_large(bed);
    (void)put_large(bed);
    segment_name(bed_info(bed).current, name);
    bed_abandon(bed);
    fake_disk_kill(bed->disk);
    fake_disk_flip(bed->disk, name, CODEC_SEGMENT_HEAD + 100, 1);
    bed->options.segment_size = SMALL;
    bed->options.repair = true;
    assert_true(bed_open(bed));
    assert_true(bed_count(bed) >= 2);
    assert_true(bed_close(bed));
    bed->options.repair = false;
    assert_true(bed_open(bed));
    assert_true(bed_count(bed) >= 2);
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_larger_than_todays_segments_do_not_stop_compaction),
        cmocka_unit_test(a_file_has_the_requested_size_whatever_jobs_come),
        cmocka_unit_test(a_job_larger_than_a_segment_has_a_file_of_its_own),
        cmocka_unit_test(large_jobs_that_stay_are_copied),
        cmocka_unit_test(large_jobs_that_come_and_go_leave_nothing),
        cmocka_unit_test(large_jobs_in_one_turn_are_all_kept),
        cmocka_unit_test(small_jobs_go_on_while_a_large_one_cannot_be_copied),
        cmocka_unit_test(a_large_job_that_cannot_be_copied_does_not_fill_the_disk),
        cmocka_unit_test(a_small_disk_takes_jobs_and_refuses_those_that_it_has_no_room_for),
        cmocka_unit_test(a_repair_rewrites_large_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
