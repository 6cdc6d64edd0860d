/* SPDX-License-Identifier: MIT */
// No id is ever given out twice, however many are given out while the disk syncs, whatever the
// policy: who was told of an id before a power cut must not see it again behind it.
#include "tests/journal/journal_bed.h"

#include <errno.h>

static const nsec_t policies[] = {0, MSEC(200), SEC(3000), NSEC_NEVER};
enum { POLICIES = 4 };

// A job that is not kept: only its id is. Whether its submitter may be told is asked at once, and
// when turns have passed.
static uint64_t put_fleeting(struct bed *bed)
{
    uint64_t id = BED_PUT(bed, .queue = 3, .fleeting = true);

    assert_true(id > 0);
    return id;
}

static uint64_t position_of(struct bed *bed, uint64_t id)
{
    return journal_recorder.position(bed->journal, broker_find(bed->broker, id));
}

// Very many ids in short jobs; the position of the last one, which is still there.
static uint64_t use_ids(struct bed *bed, unsigned count, uint64_t *last)
{
    for (unsigned i = 0; i < count; i++) {
        *last = put_fleeting(bed);
        if (i + 1 < count) {
            assert_status(STATUS_OK, bed_cancel(bed, *last));
        }
    }
    return position_of(bed, *last);
}

// The power fails; the next id is a new one where the last was told.
static void expect_new_after_cut(struct bed *bed, uint64_t last, bool was_told)
{
    bed_abandon(bed);
    fake_disk_cut(bed->disk, FAKE_KEEP_NONE, 0);
    assert_true(bed_open(bed));
    assert_true(!was_told || put_fleeting(bed) > last);
}

static void no_client_learns_an_id_beyond_the_synced_block(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        for (unsigned tasks = 0; tasks < 4; tasks++) {
            struct bed *bed = BED(.sync_every_for = policies[i], .no_book = true);
            uint64_t position;
            uint64_t last;

            // Enough that the next block is asked for, whose record is being written; then some ids
            // of that block, and ids beyond it.
            (void)bed_turns(bed);
            bed->disk_worker.waits = true;
            position = use_ids(bed, 40000, &last);
            bed_turn(bed);
            for (unsigned j = 0; j < tasks; j++) {
                (void)fake_worker_run(&bed->disk_worker);
                bed_turn(bed);
                position = use_ids(bed, j < 2 ? 30000 : 60000, &last);
                bed_turn(bed);
            }
            expect_new_after_cut(bed, last, position <= journal_reached(bed->journal));
            bed_free(bed);
        }
    }
}

static void a_client_that_waits_for_an_id_gets_it_in_the_end(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        struct bed *bed = BED(.sync_every_for = policies[i], .no_book = true);

        for (int j = 0; j < 20; j++) {
            uint64_t last;
            uint64_t position = use_ids(bed, 50000, &last);

            (void)bed_turns(bed);
            assert_true(position <= journal_reached(bed->journal));
            assert_true(position_of(bed, last) <= journal_reached(bed->journal));
            assert_true(journal_next_due(bed->journal) > bed->now.mono);
        }
        bed_free(bed);
    }
}

// Where ids go faster than the disk syncs, more of them are kept ahead.
static void a_slow_disk_holds_ids_back_only_at_first(void **state)
{
    struct bed *bed = BED(.sync_every_for = MSEC(200), .no_book = true);
    unsigned held = 0;

    (void)state;
    bed->disk_worker.waits = true;
    for (int i = 0; i < 60; i++) {
        uint64_t last;

        // A sync takes so long that a block of ids is used up meanwhile.
        for (int j = 0; j < 4; j++) {
            uint64_t position = use_ids(bed, 20000, &last);

            held += i >= 20 && position > journal_reached(bed->journal);
            bed_turn(bed);
        }
        (void)fake_worker_run(&bed->disk_worker);
    }
    assert_int_equal(held, 0);
    bed->disk_worker.waits = false;
    (void)fake_worker_run(&bed->disk_worker);
    bed_free(bed);
}

// The disk is broken for good: jobs that are not kept go on as long as there are ids, and then who
// waits for one is given up as others are, again and again.
static void no_client_waits_for_ids_of_a_broken_disk(void **state)
{
    const struct fake_fault fault = {
        .op = FAKE_ANY, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    struct bed *bed = BED(.sync_every_for = 0, .no_book = true);
    uint64_t last;

    (void)state;
    (void)bed_turns(bed);
    fake_disk_fault(bed->disk, &fault);
    assert_true(BED_PUT(bed, .body_len = 50) > 0);
    bed_pass(bed, SEC(6));
    assert_int_equal(bed->gave_up, 1);
    assert_int_equal(use_ids(bed, 1000, &last), 0);
    bed_pass(bed, SEC(20));
    assert_int_equal(bed->gave_up, 1);
    for (int i = 0; i < 3; i++) {
        unsigned before = bed->gave_up;

        assert_true(use_ids(bed, 70000, &last) > journal_reached(bed->journal));
        bed_pass(bed, SEC(6));
        assert_true(bed->gave_up > before);
    }
    fake_disk_heal(bed->disk);
    bed_pass(bed, SEC(3));
    assert_true(use_ids(bed, 1000, &last) <= journal_reached(bed->journal));
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_client_learns_an_id_beyond_the_synced_block),
        cmocka_unit_test(a_client_that_waits_for_an_id_gets_it_in_the_end),
        cmocka_unit_test(a_slow_disk_holds_ids_back_only_at_first),
        cmocka_unit_test(no_client_waits_for_ids_of_a_broken_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
