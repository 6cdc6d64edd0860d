/* SPDX-License-Identifier: MIT */
// Every allocation fails once: while a journal is opened, and while it works.
#include "tests/journal/journal_work.h"
#include "tests/support/nth_alloc.h"

#include <errno.h>

// Opened or not, nothing is harmed, and the next start finds everything.
static void a_start_without_memory_harms_nothing(void **state)
{
    bool all = false;

    (void)state;
    for (size_t n = 1; !all; n++) {
        struct bed *bed = BED(.sync_every_for = 0);

        work_a_while(bed);
        bed_abandon(bed);
        fake_disk_kill(bed->disk);
        nth_alloc_fail(n);
        if (!bed_open(bed)) {
            assert_true(nth_alloc_count() >= n);
        }
        all = nth_alloc_count() < n;
        nth_alloc_fail(0);
        bed_expect_left(bed, BED_KILLED, 0);
        bed_expect_left(bed, BED_CUT, 0);
        bed_free(bed);
    }
}

static void nothing_acknowledged_is_lost_for_want_of_memory(void **state)
{
    const nsec_t policies[] = {0, MSEC(700)};

    (void)state;
    for (int i = 0; i < 2; i++) {
        bool all = false;

        for (size_t n = 1; !all; n++) {
            struct bed *bed = BED(.sync_every_for = policies[i]);

            nth_alloc_fail(n);
            work_a_while(bed);
            all = nth_alloc_count() < n;
            nth_alloc_fail(0);
            bed_expect_survives(bed, BED_KILLED, 0);
            bed_expect_survives(bed, BED_CUT, 0);
            bed_free(bed);
        }
    }
}

// Memory fails while the disk does, too.
static void a_failing_disk_and_no_memory_lose_nothing(void **state)
{
    (void)state;
    for (unsigned long call = 3; call < 60; call += 7) {
        const struct fake_fault fault = {
            .op = FAKE_ANY, .nth = call, .effect = FAKE_FAIL, .error = EIO};

        for (size_t n = 1; n < 150; n += 3) {
            struct bed *bed = BED(.sync_every_for = n % 2 ? 0 : MSEC(100));

            fake_disk_fault(bed->disk, &fault);
            nth_alloc_fail(n);
            work_a_while(bed);
            nth_alloc_fail(0);
            fake_disk_heal(bed->disk);
            bed_expect_survives(bed, BED_KILLED, 0);
            bed_expect_survives(bed, BED_CUT, 0);
            bed_free(bed);
        }
    }
}

// More burials in one turn than there is memory for that was set aside, and none to be had.
enum { MANY = 120000 };

static struct bed *bed_that_holds_many(nsec_t policy)
{
    struct bed *bed = BED(.sync_every_for = policy, .segment_size = 16 << 20, .no_book = true);

    for (int i = 0; i < MANY; i++) {
        assert_true(BED_PUT(bed, .body_len = 1) > 0);
        if (i % 1000 == 0) {
            (void)bed_turns(bed);
        }
    }
    bed_pass(bed, SEC(1));
    for (int i = 0; i < MANY; i++) {
        assert_true(bed_take(bed) > 0);
    }
    return bed;
}

static void bury_all(struct bed *bed)
{
    uint64_t first = broker_next_id(bed->broker) - MANY;

    for (uint64_t id = first; id < first + MANY; id++) {
        assert_status(STATUS_OK, bed_bury(bed, id, 1));
    }
}

static uint64_t count_buried(const struct bed *bed)
{
    struct broker_info info;

    broker_info(bed->broker, &info);
    return info.jobs[JOB_BURIED];
}

static void records_that_cannot_be_refused_are_kept_without_memory(void **state)
{
    const nsec_t policies[] = {0, SEC(60), NSEC_NEVER};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bed *bed = bed_that_holds_many(policies[i]);

        nth_alloc_fail_from(1);
        bury_all(bed);
        (void)bed_turns(bed);
        nth_alloc_fail(0);
        assert_int_equal(bed->gave_up, 0);
        assert_true(bed_acknowledged(bed));
        bed_restart(bed, BED_KILLED, 0);
        assert_int_equal(count_buried(bed), MANY);
        bed_free(bed);
    }
}

// The disk is of no help, either: who waits for what could not be taken down is given up.
static void no_client_is_told_of_a_record_without_memory(void **state)
{
    const struct fake_fault fault = {
        .op = FAKE_WRITE, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    struct bed *bed = bed_that_holds_many(0);

    (void)state;
    fake_disk_fault(bed->disk, &fault);
    nth_alloc_fail_from(1);
    bury_all(bed);
    assert_true(bed->last > journal_reached(bed->journal));
    bed_turn(bed);
    nth_alloc_fail(0);
    assert_int_equal(bed->gave_up, 1);
    // Memory and the disk are well again.
    fake_disk_heal(bed->disk);
    bed_pass(bed, SEC(3));
    assert_true(BED_PUT(bed, .body_len = 1) > 0);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_without_memory_harms_nothing),
        cmocka_unit_test(nothing_acknowledged_is_lost_for_want_of_memory),
        cmocka_unit_test(a_failing_disk_and_no_memory_lose_nothing),
        cmocka_unit_test(records_that_cannot_be_refused_are_kept_without_memory),
        cmocka_unit_test(no_client_is_told_of_a_record_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
