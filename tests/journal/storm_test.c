/* SPDX-License-Identifier: MIT */
// A disk on which any call may fail, all the time, also while the broker starts, under a worker
// thread that takes its time: when something fails, there are chunks that wait, chunks that are
// being written, and chunks that are kept until they are synced; segments are being emptied
// meanwhile. seeds.h says which seeds.
#include "tests/journal/journal_work.h"
#include "tests/journal/seeds.h"

#include "core/base/hash.h"

enum { SEEDS = 60, ROUNDS = 12, VERBS = 150 };

static struct bed_options options_by_chance(uint64_t *dice)
{
    static const nsec_t policies[] = {0, MSEC(5), MSEC(50), SEC(3), NSEC_NEVER, NSEC_NEVER};
    static const size_t bodies[] = {100, 1000, 2500, 40000};

    return (struct bed_options){
        .sync_every_for = policies[roll(dice, 6)],
        .body_max = bodies[roll(dice, 4)],
        .fail_for = roll(dice, 2) ? MSEC(300) : 0,
        .max_pending = roll(dice, 4) ? 0 : 8000,
        .step_size = roll(dice, 2) ? 0 : 4096 * (1 + roll(dice, 4)),
    };
}

typedef void (*work_fn)(struct bed *bed, uint64_t *dice, unsigned count);

static void play_round(struct bed *bed, uint64_t *dice, work_fn work)
{
    // Of how many calls one fails.
    static const unsigned storms[] = {0, 8, 20, 60};
    // If nothing is synced, records may be lost in a power cut after the disk has failed.
    bool cuts = bed->options.sync_every_for != NSEC_NEVER && roll(dice, 3) == 0;
    uint64_t seed = fake_dice(dice);

    fake_disk_storm(bed->disk, storms[roll(dice, 4)], fake_dice(dice));
    bed->disk_worker.waits = roll(dice, 4) > 0;
    bed->disk_worker.dice = bed->disk_worker.waits ? fake_dice(dice) : 0;
    work(bed, dice, (unsigned)roll(dice, VERBS));
    if (roll(dice, 3) == 0) {
        fake_disk_heal(bed->disk);
        work(bed, dice, (unsigned)roll(dice, VERBS));
    }
    bed->disk_worker.waits = false;
    bed_restart_in_storm(bed, cuts ? roll(dice, 2) ? BED_CUT : BED_CUT_LATE : BED_KILLED, seed,
                         storms[roll(dice, 4)]);
}

static void play(work_fn work)
{
    struct seeds seeds = seeds_wanted(SEEDS);

    for (unsigned long seed = seeds.first; seed < seeds.end; seed++) {
        uint64_t dice = hash_mix(seed) | 1;
        struct bed_options options = options_by_chance(&dice);
        struct bed *bed = bed_new(&options);

        for (int round = 0; round < ROUNDS; round++) {
            seeds_tell(seed, round);
            play_round(bed, &dice, work);
        }
        bed_free(bed);
    }
}

static void nothing_acknowledged_is_lost_in_a_storm(void **state)
{
    (void)state;
    play(work_at_random);
}

static void a_job_stands_as_it_was_last_said_in_a_storm(void **state)
{
    (void)state;
    play(work_on_few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_in_a_storm),
        cmocka_unit_test(a_job_stands_as_it_was_last_said_in_a_storm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
