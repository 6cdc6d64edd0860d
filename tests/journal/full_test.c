/* SPDX-License-Identifier: MIT */
// A disk without space: submissions are refused, what bytes were reserved for is done, and space
// that comes is used.
#include "tests/journal/journal_work.h"

#include <errno.h>

enum { BODY = 2000, SOME = 30 };

// Submits until that is refused; how many were accepted.
static unsigned fill(struct bed *bed)
{
    unsigned count = 0;
    uint64_t id;
    enum status status;

    while ((status = bed_try_put(bed, &(const struct bed_put){.body_len = BODY}, &id)) ==
           STATUS_OK) {
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
        assert_true(++count < 10000);
    }
    assert_status(STATUS_NO_SPACE, status);
    return count;
}

// With some jobs, on a disk that was then filled up to that many bytes.
static struct bed *full_bed(uint64_t left)
{
    struct bed *bed = BED(.sync_every_for = 0);

    for (int i = 0; i < SOME; i++) {
        assert_true(BED_PUT(bed, .body_len = BODY) > 0);
        (void)bed_turns(bed);
    }
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + left);
    (void)fill(bed);
    return bed;
}

static void a_full_disk_refuses_jobs_and_nothing_that_was_accepted_is_lost(void **state)
{
    (void)state;
    for (uint64_t left = 0; left < 180000; left += 4777) {
        struct bed *bed = full_bed(left);

        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

static void ends_and_burials_are_never_refused(void **state)
{
    (void)state;
    for (uint64_t left = 0; left < 180000; left += 17777) {
        struct bed *bed = full_bed(left);
        uint64_t id;

        for (unsigned i = 0; (id = bed_take(bed)); i++) {
            switch (i % 3) {
            case 0:
                assert_status(STATUS_OK, bed_bury(bed, id, i));
                break;
            case 1:
                assert_status(STATUS_OK, bed_fail(bed, id));
                break;
            default:
                assert_status(STATUS_OK, bed_complete(bed, id));
            }
            if (i % 4) {
                (void)bed_turns(bed);
                assert_true(bed_acknowledged(bed));
            }
        }
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
        assert_int_equal(bed->gave_up, 0);
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

// The disk has no space left, and whatever may be refused has used up what it can.
static void exhaust(struct bed *bed)
{
    unsigned releases = 0;
    uint64_t id;

    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk));
    (void)fill(bed);
    id = bed_take(bed);
    while (bed_release(bed, id, 1, 0) == STATUS_OK) {
        assert_status(STATUS_OK, bed_take_id(bed, id));
        (void)bed_turns(bed);
        assert_true(++releases < 100000);
    }
    assert_status(STATUS_OK, bed_bury(bed, id, 0));
}

// More than any slack that is kept: each of them has bytes reserved for its end.
static void the_ends_of_very_many_jobs_were_promised(void **state)
{
    enum { MANY = 3000 };
    struct bed *bed = BED(.sync_every_for = 0, .no_book = true);
    uint64_t id;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        assert_true(BED_PUT(bed, .body_len = 0) > 0);
        (void)bed_turns(bed);
    }
    exhaust(bed);
    while ((id = bed_take(bed))) {
        assert_status(STATUS_OK, bed_bury(bed, id, 0));
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    bed_restart(bed, BED_CUT, 0);
    assert_true(bed_count(bed) >= MANY);
    for (uint64_t count = bed_count(bed); count > 0; count--) {
        id = job_id(queue_peek_buried(broker_queue_find(bed->broker, bed_queue(0))));
        assert_status(STATUS_OK, bed_cancel(bed, id));
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    assert_int_equal(bed->gave_up, 0);
    bed_restart(bed, BED_CUT, 0);
    assert_int_equal(bed_count(bed), 0);
    bed_free(bed);
}

// Large jobs stay, one in each stretch of the log: while they cannot be written again, nothing is
// freed.
static void ends_need_no_space_of_jobs_that_ended(void **state)
{
    enum { MANY = 2000 };
    struct bed *bed = BED(.sync_every_for = 0, .no_book = true);
    const struct job *job;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        assert_true(BED_PUT(bed, .body_len = 0) > 0);
        assert_true(i % 10 || BED_PUT(bed, .queue = 1, .body_len = 2900) > 0);
        (void)bed_turns(bed);
    }
    exhaust(bed);
    while ((job = queue_peek_ready(broker_queue_find(bed->broker, bed_queue(0))))) {
        uint64_t id = job_id(job);

        assert_status(STATUS_OK, bed_take_id(bed, id));
        assert_status(STATUS_OK, bed_bury(bed, id, 0));
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    while ((job = queue_peek_buried(broker_queue_find(bed->broker, bed_queue(0))))) {
        assert_status(STATUS_OK, bed_cancel(bed, job_id(job)));
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    assert_int_equal(bed->gave_up, 0);
    bed_restart(bed, BED_CUT, 0);
    assert_null(queue_peek_ready(broker_queue_find(bed->broker, bed_queue(0))));
    assert_null(queue_peek_buried(broker_queue_find(bed->broker, bed_queue(0))));
    bed_free(bed);
}

// Everything that may be refused, again and again: the last byte is fought for.
static void records_that_can_be_refused_leave_space_for_the_others(void **state)
{
    struct bed *bed = full_bed(3000);
    unsigned refused = 0;
    uint64_t id = bed_take(bed);

    (void)state;
    for (int i = 0; i < 3000; i++) {
        enum status status = bed_release(bed, id, (uint32_t)i, 0);

        assert_true(status == STATUS_OK || status == STATUS_NO_SPACE);
        refused += status == STATUS_NO_SPACE;
        refused += bed_pause(bed, 2, SEC(i)) == STATUS_NO_SPACE;
        assert_status(STATUS_OK, bed_take_id(bed, id) == STATUS_OK ? STATUS_OK
                                 : refused                         ? STATUS_OK
                                                                   : STATUS_NOT_FOUND);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
        if (i % 500 == 0) {
            bed_expect_survives_all(bed);
        }
    }
    while ((id = bed_take(bed))) {
        assert_status(STATUS_OK, bed_bury(bed, id, 0));
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    for (int i = 0; i < 200; i++) {
        refused += bed_kick(bed, 0, 1) == 0;
        id = bed_take(bed);
        assert_true(id == 0 || bed_bury(bed, id, 0) == STATUS_OK);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    bed_expect_survives_all(bed);
    bed_free(bed);
}

// Ids are kept, too, and who asks for one on a full disk is not asked for space.
static void jobs_that_are_not_kept_go_on_on_a_full_disk(void **state)
{
    struct bed *bed = full_bed(3000);
    uint64_t id = bed_take(bed);

    (void)state;
    for (int i = 0; i < 400; i++) {
        if (bed_release(bed, id, 0, 0) == STATUS_OK) {
            id = bed_take(bed);
        }
        (void)bed_turns(bed);
    }
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < 20000; j++) {
            id = BED_PUT(bed, .queue = 3, .fleeting = true);
            assert_true(id > 0);
            assert_status(STATUS_OK, bed_cancel(bed, id));
        }
        (void)bed_turns(bed);
        id = BED_PUT(bed, .queue = 3, .fleeting = true);
        assert_true(broker_position(bed->broker) <= journal_reached(bed->journal));
        assert_status(STATUS_OK, bed_cancel(bed, id));
        book_begin(bed->book, bed->broker);
    }
    assert_int_equal(bed->gave_up, 0);
    bed_free(bed);
}

static void room_that_comes_is_used(void **state)
{
    struct bed *bed = full_bed(10000);

    (void)state;
    bed_pass(bed, SEC(20));
    assert_int_equal(BED_PUT(bed, .body_len = BODY), 0);
    fake_disk_set_budget(bed->disk, UINT64_MAX);
    bed_pass(bed, SEC(2));
    for (int i = 0; i < 100; i++) {
        assert_true(BED_PUT(bed, .body_len = BODY) > 0);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    bed_expect_survives_all(bed);
    bed_free(bed);
}

// A full journal on a disk that never gets any larger.
static void draining_a_full_journal_frees_its_space(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        struct bed *bed = full_bed(40000 * (uint64_t)round);
        uint64_t most = fake_disk_used(bed->disk);
        unsigned accepted;
        uint64_t id;

        while ((id = bed_take(bed))) {
            assert_status(STATUS_OK, bed_complete(bed, id));
            (void)bed_turns(bed);
            assert_true(bed_acknowledged(bed));
        }
        bed_pass(bed, SEC(3));
        assert_int_equal(bed_count(bed), 0);
        assert_true(fake_disk_used(bed->disk) <= most);
        // As much as before fits again, or nearly.
        accepted = fill(bed);
        assert_true(accepted > 3);
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

// As many jobs as one turn can accept before it is known that there is no space for the next file:
// all accepted jobs must fit, or nothing could be written any more, not even ends.
static void a_burst_beyond_the_disk_is_refused_in_time(void **state)
{
    (void)state;
    for (uint64_t left = 0; left < 400000; left += 13777) {
        struct bed *bed = BED(.sync_every_for = 0);
        unsigned refused = 0;
        uint64_t id;

        (void)bed_turns(bed);
        fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + left);
        for (int turn = 0; turn < 10; turn++) {
            for (int i = 0; i < 60; i++) {
                refused += BED_PUT(bed, .body_len = BODY) == 0;
            }
            bed_turn(bed);
        }
        bed_pass(bed, SEC(8));
        assert_true(refused > 0);
        assert_true(bed_acknowledged(bed));
        while ((id = bed_take(bed))) {
            assert_status(STATUS_OK, bed_complete(bed, id));
            bed_turn(bed);
        }
        bed_pass(bed, SEC(8));
        assert_true(bed_acknowledged(bed));
        assert_int_equal(bed->gave_up, 0);
        assert_true(BED_PUT(bed, .body_len = BODY) > 0);
        (void)bed_turns(bed);
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

// One job that stays, and jobs that come and go: what is not needed any more is all that fills the
// disk.
static void a_full_disk_does_not_stop_jobs_that_end_at_once(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);

    (void)state;
    (void)bed_turns(bed);
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + 3 * 28672);
    for (int i = 0; i < 10; i++) {
        assert_true(BED_PUT(bed, .queue = 1, .body_len = 200) > 0);
    }
    for (int i = 0; i < 2000; i++) {
        uint64_t id = BED_PUT(bed, .body_len = BODY);

        if (id > 0) {
            assert_status(STATUS_OK, bed_cancel(bed, id));
        } else {
            bed_pass(bed, SEC(1));
        }
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    assert_true(bed_info(bed).written > 2500);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void a_journal_opens_on_a_full_disk_and_jobs_can_be_worked(void **state)
{
    (void)state;
    for (uint64_t left = 0; left < 120000; left += 19999) {
        struct bed *bed = full_bed(left);
        uint64_t id;

        bed_abandon(bed);
        fake_disk_kill(bed->disk);
        assert_true(bed_open(bed));
        book_begin(bed->book, bed->broker);
        assert_true(bed_count(bed) > 5);
        while ((id = bed_take(bed))) {
            assert_status(STATUS_OK, bed_complete(bed, id));
            (void)bed_turns(bed);
            assert_true(bed_acknowledged(bed));
        }
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

// Nothing is known of the disk being full until space is asked for: much may come in that moment.
static void a_burst_that_fills_the_disk_does_no_harm(void **state)
{
    (void)state;
    for (uint64_t left = 0; left < 180000; left += 9333) {
        struct bed *bed = BED(.sync_every_for = 0);
        uint64_t id;

        (void)bed_turns(bed);
        fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + left);
        for (int i = 1; i <= 200 && journal_pressure(bed->journal) == JOURNAL_EASY; i++) {
            (void)BED_PUT(bed, .body_len = BODY);
            if (i % 20 == 0) {
                bed_turn(bed);
            }
        }
        bed_pass(bed, SEC(1));
        bed_expect_survives_all(bed);
        while ((id = bed_take(bed))) {
            assert_status(STATUS_OK, bed_complete(bed, id));
            (void)bed_turns(bed);
        }
        fake_disk_set_budget(bed->disk, UINT64_MAX);
        bed_pass(bed, SEC(10));
        assert_true(BED_PUT(bed, .body_len = BODY) > 0);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_refuses_jobs_and_nothing_that_was_accepted_is_lost),
        cmocka_unit_test(ends_and_burials_are_never_refused),
        cmocka_unit_test(the_ends_of_very_many_jobs_were_promised),
        cmocka_unit_test(ends_need_no_space_of_jobs_that_ended),
        cmocka_unit_test(records_that_can_be_refused_leave_space_for_the_others),
        cmocka_unit_test(jobs_that_are_not_kept_go_on_on_a_full_disk),
        cmocka_unit_test(room_that_comes_is_used),
        cmocka_unit_test(draining_a_full_journal_frees_its_space),
        cmocka_unit_test(a_burst_beyond_the_disk_is_refused_in_time),
        cmocka_unit_test(a_full_disk_does_not_stop_jobs_that_end_at_once),
        cmocka_unit_test(a_journal_opens_on_a_full_disk_and_jobs_can_be_worked),
        cmocka_unit_test(a_burst_that_fills_the_disk_does_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
