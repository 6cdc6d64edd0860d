/* SPDX-License-Identifier: MIT */
// When clients may be answered, and what survives, on a disk that works.
#include "journal/file/manifest.h"
#include "tests/journal/journal_bed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static unsigned long syncs(const struct bed *bed)
{
    return fake_disk_calls(bed->disk, FAKE_SYNC);
}

static void always_nothing_is_acknowledged_before_a_sync_that_began_after_its_write(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);

    (void)state;
    (void)bed_turns(bed);
    fake_disk_trace_clear(bed->disk);
    bed->disk_worker.waits = true;
    assert_true(BED_PUT(bed, .body_len = 100) > 0);
    assert_false(bed_acknowledged(bed));
    bed_turn(bed);
    // The worker thread has not done it yet.
    bed_turn(bed);
    assert_string_equal(fake_disk_trace(bed->disk), "");
    assert_false(bed_acknowledged(bed));
    assert_true(fake_worker_run(&bed->disk_worker));
    bed_turn(bed);
    assert_true(bed_acknowledged(bed));
    assert_non_null(strstr(fake_disk_trace(bed->disk), "write journal.0000000001"));
    assert_true(strstr(fake_disk_trace(bed->disk), "sync journal.0000000001") >
                strstr(fake_disk_trace(bed->disk), "write journal.0000000001"));
    bed_expect_survives(bed, BED_CUT, 0);
    bed_free(bed);
}

static void one_sync_serves_all_that_came_during_the_one_before(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .segment_size = 65536);
    unsigned long before;

    (void)state;
    (void)bed_turns(bed);
    bed->disk_worker.waits = true;
    assert_true(BED_PUT(bed, .body_len = 10) > 0);
    bed_turn(bed);
    before = syncs(bed);
    for (int i = 0; i < 50; i++) {
        assert_true(BED_PUT(bed, .body_len = 10) > 0);
        bed_turn(bed);
    }
    assert_true(fake_worker_run(&bed->disk_worker));
    bed_turn(bed);
    assert_false(bed_acknowledged(bed));
    bed->disk_worker.waits = false;
    (void)fake_worker_run(&bed->disk_worker);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    assert_int_equal(syncs(bed) - before, 2);
    bed_expect_survives(bed, BED_CUT, 0);
    bed_free(bed);
}

// A worker, or a client that submits the same job again, learns of a job only when it is safe.
static void a_job_that_is_not_safe_yet_has_a_log_position(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t position;
    uint64_t id;

    (void)state;
    (void)bed_turns(bed);
    bed->disk_worker.waits = true;
    id = BED_PUT(bed, .key = "same");
    position = broker_position(bed->broker);
    assert_true(position > journal_reached(bed->journal));
    assert_int_equal(broker_job_position(bed->broker, broker_find(bed->broker, id)), position);
    bed_turn(bed);
    // Now it is on its way, and another batch is being gathered.
    assert_true(BED_PUT(bed, .body_len = 10) > 0);
    assert_int_equal(broker_job_position(bed->broker, broker_find(bed->broker, id)), position);
    assert_int_equal(BED_PUT(bed, .key = "same"), id);
    assert_int_equal(broker_position(bed->broker), position);
    assert_true(fake_worker_run(&bed->disk_worker));
    bed_turn(bed);
    assert_int_equal(broker_job_position(bed->broker, broker_find(bed->broker, id)), 0);
    assert_int_equal(BED_PUT(bed, .key = "same"), id);
    assert_int_equal(broker_position(bed->broker), 0);
    bed_free(bed);
}

static void a_burst_is_synced_in_time_though_nothing_follows(void **state)
{
    struct bed *bed = BED(.sync_every_for = MSEC(50));
    unsigned long before;
    nsec_t due_at;

    (void)state;
    (void)bed_turns(bed);
    bed_pass(bed, SEC(1));
    before = syncs(bed);
    for (int i = 0; i < 20; i++) {
        assert_true(BED_PUT(bed, .body_len = 100) > 0);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
    }
    assert_int_equal(syncs(bed), before);
    bed_expect_survives(bed, BED_KILLED, 0);
    due_at = journal_next_due(bed->journal);
    assert_true(due_at <= bed->now.mono + MSEC(50));
    bed_pass(bed, due_at - bed->now.mono);
    assert_int_equal(syncs(bed), before + 1);
    bed_expect_survives(bed, BED_CUT, 0);
    // The mark that shows the end needs no sync.
    assert_true(journal_next_due(bed->journal) == bed->now.mono + SEC(1));
    bed_pass(bed, SEC(1));
    assert_int_equal(syncs(bed), before + 1);
    assert_true(journal_next_due(bed->journal) == NSEC_NEVER);
    bed_free(bed);
}

static void never_is_synced_only_at_a_change_of_segment(void **state)
{
    struct bed *bed = BED(.sync_every_for = NSEC_NEVER);
    struct store_info info;
    unsigned long before;
    uint64_t first;

    (void)state;
    (void)bed_turns(bed);
    info = bed_info(bed);
    first = info.current;
    before = syncs(bed);
    while (bed_info(bed).current == first) {
        assert_int_equal(syncs(bed), before);
        assert_true(BED_PUT(bed, .body_len = 2900) > 0);
        if (bed_info(bed).current == first) {
            (void)bed_turns(bed);
            assert_true(bed_acknowledged(bed));
        }
    }
    (void)bed_turns(bed);
    // The old one, the head of the new one, and which is the youngest.
    assert_int_equal(syncs(bed), before + 3);
    bed_pass(bed, SEC(100));
    assert_int_equal(syncs(bed), before + 3);
    bed_expect_survives(bed, BED_KILLED, 0);
    bed_free(bed);
}

//
// With every policy
//

static void a_bit_of_everything(struct bed *bed)
{
    uint64_t a = BED_PUT(bed, .pri = 5, .body_len = 100, .ttr_for = SEC(60));
    uint64_t b = BED_PUT(bed, .queue = 1, .body_len = 0, .key = "b", .reducer = "r");
    uint64_t c = BED_PUT(bed, .queue = 2, .body_len = 900, .delay_for = SEC(30));
    uint64_t d = BED_PUT(bed, .queue = 2, .at = bed->now.wall + SEC(40), .max_attempts = 3);
    uint64_t e = BED_PUT(bed, .body_len = 50);
    uint64_t f = BED_PUT(bed, .body_len = 51);

    (void)BED_PUT(bed, .queue = 3, .fleeting = true);
    (void)bed_turns(bed);
    assert_status(STATUS_OK, bed_take_id(bed, a));
    assert_status(STATUS_OK, bed_take_id(bed, e));
    assert_status(STATUS_OK, bed_take_id(bed, f));
    assert_status(STATUS_OK, bed_bury(bed, f, 9));
    assert_status(STATUS_OK, bed_bury(bed, a, 7));
    assert_status(STATUS_OK, bed_release(bed, e, 3, SEC(10)));
    (void)bed_turns(bed);
    assert_status(STATUS_OK, bed_pause(bed, 1, SEC(100)));
    assert_status(STATUS_OK, bed_kick_id(bed, c));
    assert_status(STATUS_OK, bed_cancel(bed, d));
    (void)bed_turns(bed);
    assert_status(STATUS_OK, bed_take_id(bed, a));
    assert_status(STATUS_OK, bed_take_id(bed, b));
    assert_true(bed_acknowledged(bed) || bed_turns(bed) > 0);
}

static void each_acknowledged_change_survives_under_every_policy(void **state)
{
    const nsec_t policies[] = {0, MSEC(50), NSEC_NEVER};

    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bed *bed = BED(.sync_every_for = policies[i]);

        for (int round = 0; round < 10; round++) {
            a_bit_of_everything(bed);
            bed_expect_survives_all(bed);
            bed_pass(bed, SEC(15));
            bed_expect_survives_all(bed);
            bed_restart(bed, round % 2 ? BED_CUT_LATE : BED_KILLED, (uint64_t)round);
        }
        bed_free(bed);
    }
}

static void delayed_jobs_keep_their_moment_while_no_process_runs(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t soon = BED_PUT(bed, .delay_for = SEC(10));
    uint64_t late = BED_PUT(bed, .delay_for = SEC(100));

    (void)state;
    assert_status(STATUS_OK, bed_pause(bed, 0, SEC(50)));
    (void)bed_turns(bed);
    bed_abandon(bed);
    // Another boot: the monotonic clock begins again.
    bed->now = (struct instant){.mono = SEC(3), .wall = bed->now.wall + SEC(20)};
    assert_true(bed_open(bed));
    book_begin(bed->book, bed->broker);
    assert_int_equal(bed_take(bed), 0);
    bed_pass(bed, SEC(30));
    assert_int_equal(bed_take(bed), soon);
    bed_pass(bed, SEC(49));
    assert_int_equal(bed_take(bed), 0);
    bed_pass(bed, SEC(1));
    assert_int_equal(bed_take(bed), late);
    bed_free(bed);
}

static void buried_jobs_are_kicked_in_their_order_after_a_restart(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t ids[5];
    const int order[5] = {3, 0, 4, 1, 2};

    (void)state;
    for (int i = 0; i < 5; i++) {
        ids[i] = BED_PUT(bed, .body_len = 10);
    }
    for (int i = 0; i < 5; i++) {
        assert_status(STATUS_OK, bed_take_id(bed, ids[order[i]]));
        assert_status(STATUS_OK, bed_bury(bed, ids[order[i]], 0));
    }
    (void)bed_turns(bed);
    for (int i = 0; i < 5; i++) {
        bed_restart(bed, BED_KILLED, 0);
        assert_int_equal(bed_kick(bed, 0, 1), 1);
        assert_int_equal(bed_take(bed), ids[order[i]]);
        assert_status(STATUS_OK, bed_complete(bed, ids[order[i]]));
        (void)bed_turns(bed);
    }
    bed_free(bed);
}

static void no_id_is_given_out_twice(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t last = 0;

    (void)state;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 20000; i++) {
            uint64_t id = BED_PUT(bed, .fleeting = true);

            assert_true(id > last);
            last = id;
            assert_status(STATUS_OK, bed_cancel(bed, id));
            if (i % 1000 == 0) {
                (void)bed_turns(bed);
            }
        }
        bed_restart(bed, BED_CUT, 0);
    }
    bed_free(bed);
}

// Enough jobs in one turn to use up the block: their positions show it.
static void an_id_beyond_the_block_waits_for_the_next_one(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .no_book = true);
    uint64_t id = 0;

    (void)state;
    (void)bed_turns(bed);
    assert_true(BED_PUT(bed, .fleeting = true) > 0);
    assert_int_equal(broker_position(bed->broker), 0);
    while (id < 70000) {
        id = BED_PUT(bed, .fleeting = true);
        assert_status(STATUS_OK, bed_cancel(bed, id));
    }
    id = BED_PUT(bed, .fleeting = true);
    assert_true(broker_position(bed->broker) > journal_reached(bed->journal));
    assert_true(broker_job_position(bed->broker, broker_find(bed->broker, id)) > 0);
    (void)bed_turns(bed);
    assert_int_equal(broker_job_position(bed->broker, broker_find(bed->broker, id)), 0);
    bed_free(bed);
}

static void a_second_process_is_turned_away(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    struct bed *other = bed_new_closed(&(const struct bed_options){0});
    struct journal_io io = other->io;

    (void)state;
    other->io = bed->io;
    assert_false(bed_open(other));
    assert_non_null(strstr(other->why.text, "another process"));
    other->io = io;
    bed_free(other);
    bed_free(bed);
}

//
// Closing
//

static void expect_tidy(struct bed *bed)
{
    uint64_t used = 0;
    size_t len;
    char name[32];

    assert_null(fake_disk_bytes(bed->disk, "spare", &len));
    assert_int_equal(fake_disk_opened(bed->disk), 0);
    for (int i = 1; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "journal.%010d", i);
        if (fake_disk_bytes(bed->disk, name, &len)) {
            used += len;
            // The last record ends where the file ends.
            assert_true(len % 8 == 0);
        }
    }
    assert_non_null(fake_disk_bytes(bed->disk, MANIFEST_NAME, &len));
    assert_int_equal(used + len, fake_disk_used(bed->disk));
}

static void a_closed_journal_is_synced_and_tidy_whatever_the_policy(void **state)
{
    const nsec_t policies[] = {0, MSEC(50), NSEC_NEVER};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int puts = 0; puts < 40; puts++) {
            struct bed *bed = BED(.sync_every_for = policies[i]);
            uint64_t live;

            for (int j = 0; j < puts; j++) {
                assert_true(BED_PUT(bed, .body_len = 2300) > 0);
                if (puts % 3) {
                    bed_turn(bed);
                }
            }
            live = bed_info(bed).live;
            assert_true(bed_close(bed));
            expect_tidy(bed);
            // Beside what is live: heads of files and batches, and a record about ids.
            assert_true(fake_disk_used(bed->disk) <= live + 24 * (uint64_t)puts + 10 * 72);
            fake_disk_cut(bed->disk, FAKE_KEEP_NONE, 0);
            assert_true(bed_open(bed));
            assert_int_equal(bed_count(bed), puts);
            book_expect(bed->book, bed->broker, UINT64_MAX, UINT64_MAX);
            bed_free(bed);
        }
    }
}

static void a_close_reports_an_error_of_the_disk(void **state)
{
    const struct fake_fault syncs_fail = {
        .op = FAKE_SYNC, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    const struct fake_fault writes_fail = {
        .op = FAKE_WRITE, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    const nsec_t policies[] = {0, MSEC(50), NSEC_NEVER};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct bed *bed = BED(.sync_every_for = policies[i / 2]);

        (void)bed_turns(bed);
        assert_true(BED_PUT(bed, .body_len = 100) > 0);
        fake_disk_fault(bed->disk, i % 2 ? &syncs_fail : &writes_fail);
        assert_false(bed_close(bed));
        bed_free(bed);
    }
}

// A close also syncs records that were acknowledged long ago and are not synced yet.
static void a_close_that_cannot_sync_reports_it(void **state)
{
    const struct fake_fault syncs_fail = {
        .op = FAKE_SYNC, .nth = 1, .effect = FAKE_FAIL, .error = EIO, .lasting = true};
    struct bed *bed = BED(.sync_every_for = NSEC_NEVER);

    (void)state;
    assert_true(BED_PUT(bed, .body_len = 100) > 0);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    fake_disk_fault(bed->disk, &syncs_fail);
    assert_false(bed_close(bed));
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_nothing_is_acknowledged_before_a_sync_that_began_after_its_write),
        cmocka_unit_test(one_sync_serves_all_that_came_during_the_one_before),
        cmocka_unit_test(a_job_that_is_not_safe_yet_has_a_log_position),
        cmocka_unit_test(a_burst_is_synced_in_time_though_nothing_follows),
        cmocka_unit_test(never_is_synced_only_at_a_change_of_segment),
        cmocka_unit_test(each_acknowledged_change_survives_under_every_policy),
        cmocka_unit_test(delayed_jobs_keep_their_moment_while_no_process_runs),
        cmocka_unit_test(buried_jobs_are_kicked_in_their_order_after_a_restart),
        cmocka_unit_test(no_id_is_given_out_twice),
        cmocka_unit_test(an_id_beyond_the_block_waits_for_the_next_one),
        cmocka_unit_test(a_second_process_is_turned_away),
        cmocka_unit_test(a_closed_journal_is_synced_and_tidy_whatever_the_policy),
        cmocka_unit_test(a_close_reports_an_error_of_the_disk),
        cmocka_unit_test(a_close_that_cannot_sync_reports_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
