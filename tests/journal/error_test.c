/* SPDX-License-Identifier: MIT */
// A disk that fails or hangs: which clients get which answer, and when; and when submitters are
// held back.
#include "journal/codec.h"
#include "journal/journal_private.h"
#include "tests/journal/journal_bed.h"

#include <errno.h>
#include <string.h>

static void break_disk(struct bed *bed, enum fake_op op, bool lasting)
{
    const struct fake_fault fault = {
        .op = op, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = lasting};

    fake_disk_fault(bed->disk, &fault);
}

static struct bed *bed_at_rest(nsec_t policy)
{
    struct bed *bed = BED(.sync_every_for = policy);

    assert_true(BED_PUT(bed, .body_len = 100) > 0);
    assert_true(BED_PUT(bed, .body_len = 100) > 0);
    assert_true(BED_PUT(bed, .body_len = 100) > 0);
    bed_pass(bed, SEC(1));
    return bed;
}

static void records_in_flight_arrive_in_the_next_segment(void **state)
{
    const enum fake_op ops[] = {FAKE_WRITE, FAKE_SYNC};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bed *bed = bed_at_rest(0);
        uint64_t before = bed_info(bed).current;
        uint64_t errors = bed_info(bed).errors;

        break_disk(bed, ops[i], false);
        bed->disk_worker.waits = true;
        assert_true(BED_PUT(bed, .body_len = 50) > 0);
        bed_turn(bed);
        assert_true(fake_worker_run(&bed->disk_worker));
        bed_turn(bed);
        // It has failed, and is being written again.
        assert_false(bed_acknowledged(bed));
        assert_int_equal(bed_info(bed).current, before + 1);
        assert_int_equal(bed_info(bed).errors, errors + 1);
        assert_true(fake_worker_run(&bed->disk_worker));
        bed_turn(bed);
        assert_true(bed_acknowledged(bed));
        bed->disk_worker.waits = false;
        (void)fake_worker_run(&bed->disk_worker);
        (void)bed_turns(bed);
        assert_int_equal(bed->gave_up, 0);
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

// The burst was acknowledged when it was written, and is still in memory when its sync fails.
static void written_records_are_written_again_when_their_sync_fails(void **state)
{
    struct bed *bed = bed_at_rest(MSEC(100));
    uint64_t before = bed_info(bed).current;

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_true(BED_PUT(bed, .body_len = 500) > 0);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    break_disk(bed, FAKE_SYNC, false);
    bed_pass(bed, MSEC(300));
    assert_int_equal(bed_info(bed).current, before + 1);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void expect_given_up(struct bed *bed, uint64_t held)
{
    assert_int_equal(bed->gave_up, 1);
    assert_true(bed_info(bed).failing);
    assert_int_equal(BED_PUT(bed, .body_len = 1), 0);
    assert_status(STATUS_NO_SPACE, bed_release(bed, held, 0, 0));
    assert_status(STATUS_NO_SPACE, bed_pause(bed, 0, SEC(1)));
    // The end is executed: no client waits for it, and it may be lost.
    assert_status(STATUS_OK, bed_complete(bed, held));
    assert_int_equal(broker_position(bed->broker), 0);
    (void)bed_turns(bed);
    assert_int_equal(bed->gave_up, 1);
}

static void expect_recovered(struct bed *bed)
{
    bed_pass(bed, SEC(3));
    assert_false(bed_info(bed).failing);
    assert_true(BED_PUT(bed, .body_len = 1) > 0);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    assert_int_equal(bed->gave_up, 1);
    bed_expect_survives_all(bed);
}

static void clients_that_wait_for_a_failing_disk_are_given_up_in_time(void **state)
{
    const enum fake_op ops[] = {FAKE_WRITE, FAKE_SYNC, FAKE_ANY};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bed *bed = bed_at_rest(0);
        uint64_t held = bed_take(bed);
        unsigned long calls = fake_disk_calls(bed->disk, FAKE_ANY);

        break_disk(bed, ops[i], true);
        assert_true(BED_PUT(bed, .body_len = 50) > 0);
        bed_pass(bed, SEC(4));
        assert_int_equal(bed->gave_up, 0);
        assert_false(bed_acknowledged(bed));
        // It may still succeed: submitters may wait.
        assert_true(BED_PUT(bed, .body_len = 50) > 0);
        bed_pass(bed, SEC(2));
        expect_given_up(bed, held);
        bed_expect_survives_all(bed);
        bed_pass(bed, SEC(60));
        // Tried again and again, but not all the time.
        assert_true(fake_disk_calls(bed->disk, FAKE_ANY) - calls < 1000);
        fake_disk_heal(bed->disk);
        expect_recovered(bed);
        bed_free(bed);
    }
}

static void clients_that_wait_for_a_hanging_disk_are_given_up_in_time(void **state)
{
    struct bed *bed = bed_at_rest(0);
    uint64_t held = bed_take(bed);

    (void)state;
    bed->disk_worker.waits = true;
    assert_true(BED_PUT(bed, .body_len = 50) > 0);
    bed_pass(bed, SEC(4));
    assert_int_equal(bed->gave_up, 0);
    bed_pass(bed, SEC(2));
    expect_given_up(bed, held);
    bed_pass(bed, SEC(60));
    bed->disk_worker.waits = false;
    assert_true(fake_worker_run(&bed->disk_worker));
    expect_recovered(bed);
    bed_free(bed);
}

// While the machine is suspended no disk does anything.
static void time_limit_of_the_disk_starts_again_after_a_suspend(void **state)
{
    struct bed *bed = bed_at_rest(0);
    uint64_t held = bed_take(bed);

    (void)state;
    for (int hangs = 0; hangs < 2; hangs++) {
        bed->disk_worker.waits = hangs;
        if (!hangs) {
            break_disk(bed, FAKE_ANY, true);
        }
        assert_true(BED_PUT(bed, .body_len = 50) > 0);
        bed_pass(bed, SEC(4));
        assert_int_equal(bed->gave_up, 0);
        bed->now.mono += SEC(3600);
        broker_tick(bed->broker, bed->now);
        journal_resumed(bed->journal);
        bed_pass(bed, SEC(3));
        assert_int_equal(bed->gave_up, 0);
        if (!hangs) {
            fake_disk_heal(bed->disk);
            bed_pass(bed, SEC(3));
            assert_true(bed_acknowledged(bed));
            assert_int_equal(bed->gave_up, 0);
        }
    }
    bed_pass(bed, SEC(3));
    expect_given_up(bed, held);
    bed->disk_worker.waits = false;
    assert_true(fake_worker_run(&bed->disk_worker));
    expect_recovered(bed);
    bed_free(bed);
}

// Until the worker thread is to remove a file.
static void work_until_removed(struct bed *bed)
{
    struct journal *journal = bed->journal;

    bed->disk_worker.waits = true;
    for (int i = 0; i < 1000 && !(journal->slot.busy && journal->slot.task.kind == TASK_REMOVE);
         i++) {
        (void)fake_worker_run(&bed->disk_worker);
        (void)bed_cancel(bed, BED_PUT(bed, .body_len = 2900));
        bed_turn(bed);
    }
    assert_true(journal->slot.busy && journal->slot.task.kind == TASK_REMOVE);
}

static void removing_a_file_slowly_gives_up_no_client(void **state)
{
    struct bed *bed = bed_at_rest(0);
    uint64_t held;

    (void)state;
    work_until_removed(bed);
    assert_true(BED_PUT(bed, .body_len = 50) > 0);
    bed_pass(bed, SEC(20));
    assert_int_equal(bed->gave_up, 0);
    assert_true(BED_PUT(bed, .body_len = 50) > 0);
    bed->disk_worker.waits = false;
    assert_true(fake_worker_run(&bed->disk_worker));
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    // A disk on which that never ends is broken.
    held = bed_take(bed);
    work_until_removed(bed);
    bed_pass(bed, SEC(31));
    expect_given_up(bed, held);
    bed->disk_worker.waits = false;
    assert_true(fake_worker_run(&bed->disk_worker));
    expect_recovered(bed);
    bed_free(bed);
}

static void no_client_is_given_up_if_none_waits(void **state)
{
    struct bed *bed = bed_at_rest(0);

    (void)state;
    break_disk(bed, FAKE_ANY, true);
    bed_pass(bed, SEC(100));
    assert_int_equal(bed->gave_up, 0);
    assert_false(bed_info(bed).failing);
    bed_free(bed);
}

static void each_time_is_reported_once(void **state)
{
    struct bed *bed = bed_at_rest(0);

    (void)state;
    for (unsigned i = 1; i <= 3; i++) {
        break_disk(bed, FAKE_WRITE, true);
        assert_true(BED_PUT(bed, .body_len = 50) > 0);
        bed_pass(bed, SEC(30));
        assert_int_equal(bed->gave_up, i);
        fake_disk_heal(bed->disk);
        bed_pass(bed, SEC(3));
        assert_false(bed_info(bed).failing);
    }
    bed_expect_survives_all(bed);
    bed_free(bed);
}

//
// Pressure
//

static void submitters_are_held_back_while_much_waits_for_the_disk(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = 1 << 20, .max_pending = 20000);

    (void)state;
    (void)bed_turns(bed);
    bed->disk_worker.waits = true;
    assert_true(BED_PUT(bed, .body_len = 1) > 0);
    bed_turn(bed);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(journal_pressure(bed->journal), JOURNAL_EASY);
        assert_true(BED_PUT(bed, .body_len = 2500) > 0);
    }
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_BEHIND);
    bed->disk_worker.waits = false;
    assert_true(fake_worker_run(&bed->disk_worker));
    (void)bed_turns(bed);
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_EASY);
    bed_free(bed);
}

static void submitters_are_held_back_while_a_segment_is_overfull(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t files = 0;

    (void)state;
    (void)bed_turns(bed);
    bed->disk_worker.waits = true;
    while (journal_pressure(bed->journal) == JOURNAL_EASY) {
        assert_true(BED_PUT(bed, .body_len = 2900) > 0);
        files += 3000;
    }
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_BEHIND);
    // The current one, and the spare.
    assert_true(files > bed_info(bed).file_max && files < 3 * bed_info(bed).file_max);
    fake_disk_trace_clear(bed->disk);
    bed->disk_worker.waits = false;
    (void)fake_worker_run(&bed->disk_worker);
    (void)bed_turns(bed);
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_EASY);
    assert_true(bed_acknowledged(bed));
    // It was made larger before it was written to.
    assert_ptr_equal(strstr(fake_disk_trace(bed->disk), "allocate spare "),
                     fake_disk_trace(bed->disk));
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void nothing_is_asked_for_while_the_memory_set_aside_runs_out(void **state)
{
    enum { JOBS = 60000 };
    struct bed *bed = BED(.sync_every_for = 0, .no_book = true, .segment_size = (uint64_t)1 << 24);

    (void)state;
    for (int i = 0; i < JOBS; i++) {
        assert_true(BED_PUT(bed, .body_len = 0) > 0);
        if (i % 1000 == 0) {
            bed_turn(bed);
        }
    }
    (void)bed_turns(bed);
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_EASY);
    for (int i = 0; i < JOBS; i++) {
        assert_status(STATUS_OK, bed_complete(bed, bed_take(bed)));
    }
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_STUCK);
    bed_turn(bed);
    assert_int_equal(journal_pressure(bed->journal), JOURNAL_EASY);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    bed_free(bed);
}

// 200 jobs in many files, the process killed, and a byte of the second file flipped.
static struct bed *bed_with_damage(void)
{
    struct bed *bed = BED(.sync_every_for = 0);
    char name[SEGMENT_NAME_MAX];

    for (int i = 0; i < 200; i++) {
        assert_true(BED_PUT(bed, .body_len = 700) > 0);
        (void)bed_turns(bed);
    }
    bed_abandon(bed);
    fake_disk_kill(bed->disk);
    segment_name(2, name);
    fake_disk_flip(bed->disk, name, CODEC_SEGMENT_HEAD + 100, 1);
    return bed;
}

// The records that are written again take several files.
static void a_repair_of_much_comes_to_an_end(void **state)
{
    struct bed *bed = bed_with_damage();

    (void)state;
    assert_false(bed_open(bed));
    bed->options.repair = true;
    assert_true(bed_open(bed));
    assert_in_range(bed_count(bed), 195, 200);
    assert_true(bed_info(bed).current - bed_info(bed).oldest < 10);
    bed->options.repair = false;
    assert_true(bed_close(bed));
    assert_true(bed_open(bed));
    assert_in_range(bed_count(bed), 195, 200);
    bed_free(bed);
}

// It must also end if there is no space for the records that are written again.
static void a_repair_without_room_says_so(void **state)
{
    struct bed *bed = bed_with_damage();

    (void)state;
    // The file that was set aside goes at the start: there is space for one more, but no third.
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) - 20000);
    bed->options.repair = true;
    assert_false(bed_open(bed));
    assert_non_null(strstr(bed->why.text, "cannot be rewritten"));
    fake_disk_set_budget(bed->disk, UINT64_MAX);
    assert_true(bed_open(bed));
    assert_in_range(bed_count(bed), 195, 200);
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_in_flight_arrive_in_the_next_segment),
        cmocka_unit_test(written_records_are_written_again_when_their_sync_fails),
        cmocka_unit_test(clients_that_wait_for_a_failing_disk_are_given_up_in_time),
        cmocka_unit_test(clients_that_wait_for_a_hanging_disk_are_given_up_in_time),
        cmocka_unit_test(time_limit_of_the_disk_starts_again_after_a_suspend),
        cmocka_unit_test(removing_a_file_slowly_gives_up_no_client),
        cmocka_unit_test(no_client_is_given_up_if_none_waits),
        cmocka_unit_test(each_time_is_reported_once),
        cmocka_unit_test(submitters_are_held_back_while_much_waits_for_the_disk),
        cmocka_unit_test(a_repair_of_much_comes_to_an_end),
        cmocka_unit_test(a_repair_without_room_says_so),
        cmocka_unit_test(submitters_are_held_back_while_a_segment_is_overfull),
        cmocka_unit_test(nothing_is_asked_for_while_the_memory_set_aside_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
