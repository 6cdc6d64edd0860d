/* SPDX-License-Identifier: MIT */
// The disk fails at every call that the journal makes to it, in each way that it can.
#include "tests/journal/journal_work.h"

#include <errno.h>

static const nsec_t policies[] = {0, MSEC(700), NSEC_NEVER};
enum { POLICIES = 3 };

struct kind {
    enum fake_op op;
    enum fake_effect effect;
    int error;
    bool lasting;
};

// A call that fails once with EIO is a case of FAKE_ANY, whatever the call is.
static const struct kind kinds[] = {
    {FAKE_WRITE, FAKE_FAIL, EIO, true},        {FAKE_WRITE, FAKE_TEAR, EIO, false},
    {FAKE_WRITE, FAKE_TEAR, EIO, true},        {FAKE_WRITE, FAKE_SHORT, 0, false},
    {FAKE_WRITE, FAKE_SHORT, 0, true},         {FAKE_WRITE, FAKE_FAIL, ENOSPC, false},
    {FAKE_SYNC, FAKE_FAIL, EIO, true},         {FAKE_SYNC, FAKE_TEAR, EIO, false},
    {FAKE_OPEN, FAKE_FAIL, EMFILE, false},     {FAKE_OPEN, FAKE_FAIL, EMFILE, true},
    {FAKE_RENAME, FAKE_FAIL, EIO, true},       {FAKE_RENAME, FAKE_TEAR, EIO, false},
    {FAKE_ALLOCATE, FAKE_FAIL, ENOSPC, false}, {FAKE_ALLOCATE, FAKE_FAIL, ENOSPC, true},
    {FAKE_TRUNCATE, FAKE_FAIL, EIO, true},     {FAKE_REMOVE, FAKE_FAIL, EIO, true},
    {FAKE_REMOVE, FAKE_TEAR, EIO, false},      {FAKE_SYNC_DIRECTORY, FAKE_FAIL, EIO, true},
    {FAKE_ANY, FAKE_FAIL, EIO, false},         {FAKE_ANY, FAKE_FAIL, EIO, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static unsigned long count_calls(nsec_t policy, enum fake_op op)
{
    struct bed *bed = BED(.sync_every_for = policy);
    unsigned long before = fake_disk_calls(bed->disk, op);

    work_a_while(bed);
    before = fake_disk_calls(bed->disk, op) - before;
    bed_free(bed);
    return before;
}

// If nothing is synced, records may be lost in a power cut after the disk has failed, but the
// journal must not count as damaged.
static void expect_survives(struct bed *bed, unsigned long seed)
{
    bed_expect_survives(bed, BED_KILLED, 0);
    if (bed->options.sync_every_for != NSEC_NEVER) {
        bed_expect_survives(bed, BED_CUT, 0);
        bed_expect_survives(bed, BED_CUT_LATE, seed);
    } else {
        bed_expect_opens(bed, BED_CUT, 0);
        bed_expect_opens(bed, BED_CUT_LATE, seed);
    }
}

static void fail_once(nsec_t policy, const struct kind *kind, unsigned long n)
{
    const struct fake_fault fault = {.op = kind->op,
                                     .nth = n,
                                     .effect = kind->effect,
                                     .error = kind->error,
                                     .lasting = kind->lasting};
    struct bed *bed = BED(.sync_every_for = policy);

    fake_disk_fault(bed->disk, &fault);
    work_a_while(bed);
    expect_survives(bed, n);
    // The disk works again, and soon the journal does.
    fake_disk_heal(bed->disk);
    bed_pass(bed, SEC(3));
    assert_true(BED_PUT(bed, .body_len = 10) > 0);
    (void)bed_turns(bed);
    assert_true(bed_acknowledged(bed));
    expect_survives(bed, n);
    bed_free(bed);
}

static void nothing_acknowledged_is_lost_whatever_fails(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        for (int j = 0; j < KINDS; j++) {
            unsigned long calls = count_calls(policies[i], kinds[j].op);

            for (unsigned long n = 1; n <= calls; n++) {
                fail_once(policies[i], &kinds[j], n);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_whatever_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
