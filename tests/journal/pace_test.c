/* SPDX-License-Identifier: MIT */
// Compaction keeps pace with whatever load: the disk is not used beyond three times what is live,
// and three files, where live jobs are hard to find and where files are small. Those who submit are
// held back where that is needed. The bed asserts the bound after each turn.
#include "tests/journal/journal_work.h"

#include "journal/codec.h"

#include <errno.h>
#include <stdio.h>

enum { FILE_SIZE = 1 << 18 };

static struct bed *pace_bed(nsec_t policy)
{
    return BED(.sync_every_for = policy, .segment_size = FILE_SIZE, .no_book = true,
               .bounded = true);
}

// As the server does: nothing is read from those who submit until they may.
static void wait_until_easy(struct bed *bed)
{
    for (unsigned turns = 0; journal_pressure(bed->journal) != JOURNAL_EASY; turns++) {
        assert_true(turns < 100000);
        bed_turn(bed);
        bed->now.mono += NSEC_PER_MSEC;
    }
}

// Puts jobs that leave at once, but for each n-th, which stays.
static void thin_out(struct bed *bed, unsigned jobs, unsigned nth, unsigned a_turn)
{
    for (unsigned i = 0; i < jobs; i++) {
        uint64_t id;

        if (i % a_turn == 0) {
            bed_turn(bed);
            wait_until_easy(bed);
        }
        id = BED_PUT(bed, .body_len = 10);
        assert_true(id > 0);
        if (i % nth) {
            assert_status(STATUS_OK, bed_cancel(bed, id));
        }
    }
}

// Then large jobs come and go: for few records, each live job has to be found and rewritten over
// and over.
static void survivors_far_apart_are_copied_in_time(void **state)
{
    static const unsigned apart[] = {2, 8, 15, 17, 40, 60, 64, 200};

    (void)state;
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        struct bed *bed = pace_bed(0);

        thin_out(bed, 4000 * apart[i], apart[i], 300);
        for (int j = 0; j < 3000; j++) {
            uint64_t id = BED_PUT(bed, .body_len = 2900, .queue = 1);

            assert_true(id > 0);
            assert_status(STATUS_OK, bed_cancel(bed, id));
            if (j % 5 == 0) {
                bed_turn(bed);
                wait_until_easy(bed);
            }
        }
        bed_free(bed);
    }
}

static struct slice name_of(unsigned i)
{
    static char name[16];
    int len = snprintf(name, sizeof name, "tube%u", i);

    return slice_of(name, (size_t)len);
}

// Only one of them is paused; traffic goes on beside.
static void one_pause_among_very_many_queues_costs_nothing(void **state)
{
    enum { QUEUES = 100000 };
    struct bed *bed = pace_bed(0);
    struct queue *queue = NULL;
    unsigned turns = 0;

    (void)state;
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_status(STATUS_OK, broker_queue_hold(bed->broker, name_of(i), &queue));
    }
    assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queue, SEC(100000)));
    for (int i = 0; i < 20000; i++) {
        uint64_t id = BED_PUT(bed, .body_len = 500);

        assert_status(STATUS_OK, bed_cancel(bed, id));
        if (i % 20 == 0) {
            bed_turn(bed);
            while (journal_pressure(bed->journal) != JOURNAL_EASY) {
                bed_turn(bed);
                turns++;
            }
        }
    }
    assert_true(turns < 2000);
    bed_restart(bed, BED_CUT, 0);
    queue = broker_queue_find(bed->broker, name_of(QUEUES - 1));
    assert_non_null(queue);
    bed_free(bed);
}

// They are as many bytes as come in a turn, or fewer.
static void small_files_do_not_pile_up(void **state)
{
    static const nsec_t policies[] = {0, MSEC(200), NSEC_NEVER};

    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bed *bed =
            BED(.sync_every_for = policies[i], .segment_size = 32768, .no_book = true);
        uint64_t most = 0;

        for (int turn = 0; turn < 2000; turn++) {
            for (int j = 0; j < 60; j++) {
                uint64_t id = BED_PUT(bed, .body_len = 500);

                assert_true(id > 0);
                assert_status(STATUS_OK, bed_cancel(bed, id));
            }
            bed_turn(bed);
            wait_until_easy(bed);
            most = fake_disk_used(bed->disk) > most ? fake_disk_used(bed->disk) : most;
        }
        // Each turn brings 40 KB: four of them, and three files.
        assert_true(most < 3 * 32768 + 4 * 40000);
        bed_free(bed);
    }
}

// Pauses that are over need nothing.
static void pauses_that_are_over_are_not_counted(void **state)
{
    enum { QUEUES = 3000 };
    struct bed *bed = pace_bed(0);

    (void)state;
    for (unsigned i = 0; i < QUEUES; i++) {
        struct queue *queue;

        assert_status(STATUS_OK, broker_queue_hold(bed->broker, name_of(i), &queue));
        assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queue, SEC(10)));
        if (i % 50 == 0) {
            bed_turn(bed);
        }
    }
    (void)bed_turns(bed);
    assert_true(bed_info(bed).live >= QUEUES * codec_pause_size(0));
    bed_pass(bed, SEC(11));
    assert_int_equal(bed_info(bed).live, 0);
    bed_free(bed);
}

// An obstacle that waiting does not remove holds no client back: no descriptor is left.
static void no_client_is_held_back_if_compaction_cannot_continue(void **state)
{
    const struct fake_fault fault = {
        .op = FAKE_REMOVE, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = FILE_SIZE, .no_book = true);

    (void)state;
    (void)bed_turns(bed);
    fake_disk_fault(bed->disk, &fault);
    for (int i = 0; i < 3000; i++) {
        uint64_t id = BED_PUT(bed, .body_len = 2900);

        assert_true(id > 0);
        assert_status(STATUS_OK, bed_cancel(bed, id));
        if (i % 10 == 0) {
            (void)bed_turns(bed);
            assert_int_equal(journal_pressure(bed->journal), JOURNAL_EASY);
        }
    }
    fake_disk_heal(bed->disk);
    bed_pass(bed, SEC(3));
    assert_true(fake_disk_used(bed->disk) <= 3 * FILE_SIZE + 3 * bed_info(bed).live);
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survivors_far_apart_are_copied_in_time),
        cmocka_unit_test(one_pause_among_very_many_queues_costs_nothing),
        cmocka_unit_test(small_files_do_not_pile_up),
        cmocka_unit_test(pauses_that_are_over_are_not_counted),
        cmocka_unit_test(no_client_is_held_back_if_compaction_cannot_continue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
