/* SPDX-License-Identifier: MIT */
// Leases that are kept in the journal: written again before their segment goes, and gone with their
// job.
#include "core/durable_lease.h"
#include "tests/journal/journal_bed.h"

static void keep(struct bed *bed, uint64_t id)
{
    assert_int_equal(bed_take(bed), id);
    bed_keep_lease(bed, id);
    (void)bed_turns(bed);
}

static uint64_t begin(struct bed *bed)
{
    uint64_t id = BED_PUT(bed, .ttr_for = SEC(3600), .body_len = 100);

    assert_true(id > 0);
    keep(bed, id);
    return id;
}

// A job that takes so much room, and is gone at once.
static void pass_by(struct bed *bed)
{
    uint64_t id = BED_PUT(bed, .body_len = 2900);

    assert_true(id > 0);
    assert_status(STATUS_OK, bed_cancel(bed, id));
    (void)bed_turns(bed);
}

static bool next(struct bed *bed, struct durable_lease *lease)
{
    uint64_t cursor = 0;

    return broker_durable_lease_next(bed->broker, &cursor, lease);
}

// The worker has it again since the start.
static void expect_resumed(struct bed *bed, uint64_t id)
{
    struct durable_lease lease;

    assert_true(next(bed, &lease));
    assert_int_equal(lease.job_id, id);
    assert_int_equal(bed_take(bed), 0);
    assert_status(STATUS_OK, bed_complete(bed, id));
    assert_false(next(bed, &lease));
    (void)bed_turns(bed);
}

static void leases_are_copied_before_their_segment_is_removed(void **state)
{
    static const enum bed_end ends[] = {BED_CUT, BED_KILLED};

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct bed *bed = BED(.sync_every_for = 0, .bounded = true);
        uint64_t id = begin(bed);
        uint64_t oldest = bed_info(bed).current;

        while (bed_info(bed).oldest <= oldest) {
            pass_by(bed);
        }
        bed_expect_survives_all(bed);
        bed_restart(bed, ends[i], 0);
        expect_resumed(bed, id);
        bed_restart(bed, ends[i], 0);
        assert_int_equal(bed_count(bed), 0);
        bed_free(bed);
    }
}

// The segment of the job goes before that of its lease and its end.
static void a_lease_ends_with_its_job_though_that_is_not_read_any_more(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t first = bed_info(bed).current;
    uint64_t id = BED_PUT(bed, .ttr_for = SEC(3600), .body_len = 100);
    struct durable_lease lease;

    (void)state;
    while (bed_info(bed).current == first) {
        pass_by(bed);
    }
    assert_int_equal(bed_info(bed).oldest, first);
    keep(bed, id);
    assert_status(STATUS_OK, bed_complete(bed, id));
    while (bed_info(bed).oldest == first) {
        pass_by(bed);
    }
    assert_int_equal(bed_info(bed).oldest, first + 1);
    bed_restart(bed, BED_KILLED, 0);
    assert_false(next(bed, &lease));
    bed_free(bed);
}

static void a_full_disk_refuses_to_keep_a_lease_and_nothing_else(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t id = BED_PUT(bed, .ttr_for = SEC(3600), .body_len = 100);
    struct durable_lease lease;

    (void)state;
    (void)bed_turns(bed);
    fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk));
    while (BED_PUT(bed, .body_len = 2000)) {
        (void)bed_turns(bed);
    }
    keep(bed, id);
    assert_false(next(bed, &lease));
    assert_status(STATUS_OK, bed_complete(bed, id));
    (void)bed_turns(bed);
    bed_expect_survives_all(bed);
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leases_are_copied_before_their_segment_is_removed),
        cmocka_unit_test(a_lease_ends_with_its_job_though_that_is_not_read_any_more),
        cmocka_unit_test(a_full_disk_refuses_to_keep_a_lease_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
