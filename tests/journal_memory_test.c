/* SPDX-License-Identifier: MIT */
// Every allocation fails once: while a journal is opened, and while it works.
#include "tests/support/journal_work.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_without_memory_harms_nothing),
        cmocka_unit_test(nothing_acknowledged_is_lost_for_want_of_memory),
        cmocka_unit_test(a_failing_disk_and_no_memory_lose_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
