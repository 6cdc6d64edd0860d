/* SPDX-License-Identifier: MIT */
// Files are made, resized and removed in steps: what clients wait for passes between them, and the
// process may end between any two.
#include "tests/journal/journal_work.h"

#include "journal/file/files_private.h"

#include <errno.h>

enum { FILE_SIZE = 1 << 18, STEP = 1 << 15, LARGE = 600000 };

// A job that leaves at once.
static void pass_through(struct bed *bed, size_t len)
{
    uint64_t id = BED_PUT(bed, .body_len = len);

    if (id > 0) {
        assert_status(STATUS_OK, bed_cancel(bed, id));
    }
}

// Does what was given, which changes what the files take by no more than a step.
static void run_bounded(struct bed *bed)
{
    uint64_t before = fake_disk_used(bed->disk);

    if (fake_worker_run(&bed->disk_worker)) {
        uint64_t after = fake_disk_used(bed->disk);

        assert_true(after <= before + STEP && before <= after + STEP);
    }
}

static void no_task_is_about_more_than_a_step(void **state)
{
    static const nsec_t policies[] = {0, MSEC(100), NSEC_NEVER};

    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bed *bed = BED(.sync_every_for = policies[i], .segment_size = FILE_SIZE,
                              .step_size = STEP, .body_max = LARGE, .no_book = true);

        (void)bed_turns(bed);
        bed->disk_worker.waits = true;
        for (int round = 0; round < 4000; round++) {
            // Promises come and go, and so do files of jobs that are larger.
            if (round % 1000 == 500) {
                assert_true(BED_PUT(bed, .body_len = LARGE) > 0);
            }
            pass_through(bed, round % 1500 == 700 ? LARGE : 2900);
            if (round < 2000) {
                assert_true(BED_PUT(bed, .body_len = 1, .queue = 1) > 0);
            } else {
                (void)bed_cancel(bed, bed_take(bed));
            }
            run_bounded(bed);
            bed_turn(bed);
            bed->now.mono += NSEC_PER_MSEC;
        }
        assert_true(bed_info(bed).oldest > 10);
        bed_free(bed);
    }
}

static void work_until_freeing(struct bed *bed)
{
    bed->disk_worker.waits = true;
    for (int i = 0; i < 10000 && !files_of(bed->journal)->freeing; i++) {
        pass_through(bed, 2900);
        (void)fake_worker_run(&bed->disk_worker);
        bed_turn(bed);
    }
    assert_non_null(files_of(bed->journal)->freeing);
}

static void clients_are_answered_between_the_steps_of_removing_a_file(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = FILE_SIZE, .step_size = STEP);
    unsigned steps = 0;

    (void)state;
    work_until_freeing(bed);
    for (int i = 0; i < 100 && files_of(bed->journal)->freeing; i++) {
        bool sheds = bed->journal->slot.busy && bed->journal->slot.task.kind == TASK_FREE_SPACE;

        assert_true(BED_PUT(bed, .body_len = 50) > 0);
        assert_true(fake_worker_run(&bed->disk_worker));
        bed_turn(bed);
        if (sheds) {
            steps++;
            assert_false(bed_acknowledged(bed));
            assert_true(fake_worker_run(&bed->disk_worker));
            bed_turn(bed);
            assert_true(bed_acknowledged(bed));
        }
    }
    assert_null(files_of(bed->journal)->freeing);
    assert_true(steps > FILE_SIZE / STEP - 2);
    bed_free(bed);
}

// The first file of all is included: nothing else shows that there have been others.
static void the_process_may_end_between_any_two_steps(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = FILE_SIZE, .step_size = STEP);
    unsigned kinds = 0;

    (void)state;
    bed->disk_worker.waits = true;
    for (int i = 0; i < 2000 && bed_info(bed).oldest < 3; i++) {
        bool upkeep = bed->journal->slot.busy && bed->journal->slot.task.kind != TASK_WRITE;

        if (i % 20 == 0) {
            assert_true(BED_PUT(bed, .body_len = 50, .queue = 1) > 0);
        }
        pass_through(bed, 2900);
        (void)fake_worker_run(&bed->disk_worker);
        if (upkeep) {
            kinds |= 1U << bed->journal->slot.task.kind;
            bed_expect_survives_all(bed);
        }
        bed_turn(bed);
    }
    assert_true(bed_info(bed).oldest >= 3);
    assert_int_equal(kinds & (1U << TASK_PREPARE | 1U << TASK_REMOVE | 1U << TASK_FREE_SPACE),
                     1U << TASK_PREPARE | 1U << TASK_REMOVE | 1U << TASK_FREE_SPACE);
    bed_free(bed);
}

// Half of a spare is nothing: it leaves what the disk has to others, and is tried again, but not
// all the time.
static void a_spare_that_does_not_fit_on_the_disk_takes_no_space(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = FILE_SIZE, .step_size = STEP);
    unsigned long calls;

    (void)state;
    (void)bed_turns(bed);
    fake_disk_set_budget(bed->disk, 2 * FILE_SIZE + FILE_SIZE / 2);
    while (BED_PUT(bed, .body_len = 2900) > 0) {
        (void)bed_turns(bed);
    }
    assert_true(bed_info(bed).failing);
    assert_null(files_of(bed->journal)->freeing);
    assert_true(fake_disk_used(bed->disk) < 2 * FILE_SIZE + 2 * STEP);
    calls = fake_disk_calls(bed->disk, FAKE_ANY);
    bed_pass(bed, SEC(10));
    assert_true(fake_disk_calls(bed->disk, FAKE_ANY) - calls < 11 * 16);
    assert_true(bed_info(bed).failing);
    assert_true(fake_disk_used(bed->disk) < 2 * FILE_SIZE + 2 * STEP);
    bed_expect_survives_all(bed);
    fake_disk_set_budget(bed->disk, UINT64_MAX);
    bed_pass(bed, SEC(2));
    assert_false(bed_info(bed).failing);
    assert_true(BED_PUT(bed, .body_len = 2900) > 0);
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_task_is_about_more_than_a_step),
        cmocka_unit_test(clients_are_answered_between_the_steps_of_removing_a_file),
        cmocka_unit_test(the_process_may_end_between_any_two_steps),
        cmocka_unit_test(a_spare_that_does_not_fit_on_the_disk_takes_no_space),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
