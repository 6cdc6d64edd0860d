/* SPDX-License-Identifier: MIT */
// Verbs, failures, full disks, kills, power cuts and restarts by chance. If the worker thread is
// slow, many records are appended while it runs a task of unknown outcome. seeds.h says which
// seeds.
#include "tests/journal/journal_work.h"
#include "tests/journal/seeds.h"

#include "core/base/hash.h"

#include <errno.h>

enum { SEEDS = 60, ROUNDS = 12, VERBS = 60 };

static struct bed_options options_by_chance(uint64_t *dice)
{
    static const nsec_t policies[] = {0, 0, MSEC(50), MSEC(3000), NSEC_NEVER};
    static const size_t bodies[] = {100, 1000, 2500, 5000, 40000};

    return (struct bed_options){
        .sync_every_for = policies[roll(dice, 5)],
        .body_max = bodies[roll(dice, 5)],
        .segment_size = roll(dice, 3) ? 0 : 20000 + roll(dice, 60000),
        .fail_for = roll(dice, 2) ? MSEC(300) : 0,
        .max_pending = roll(dice, 4) ? 0 : 8000,
        .step_size = roll(dice, 2) ? 0 : 4096 * (1 + roll(dice, 4)),
    };
}

static void set_fault(struct bed *bed, uint64_t *dice)
{
    static const enum fake_op ops[] = {
        FAKE_OPEN,   FAKE_WRITE,    FAKE_WRITE,    FAKE_SYNC, FAKE_SYNC,          FAKE_RENAME,
        FAKE_REMOVE, FAKE_ALLOCATE, FAKE_TRUNCATE, FAKE_ANY,  FAKE_SYNC_DIRECTORY};
    static const enum fake_effect effects[] = {FAKE_FAIL, FAKE_FAIL, FAKE_TEAR, FAKE_SHORT};
    const struct fake_fault fault = {
        .op = ops[roll(dice, sizeof ops / sizeof *ops)],
        .nth = 1 + (unsigned long)roll(dice, 12),
        .effect = effects[roll(dice, 4)],
        .error = roll(dice, 3) ? EIO : ENOSPC,
        .lasting = roll(dice, 4) == 0,
    };

    fake_disk_fault(bed->disk, &fault);
}

static void halt_soon(struct bed *bed, uint64_t *dice)
{
    const struct fake_fault fault = {
        .op = FAKE_ANY, .nth = 1 + (unsigned long)roll(dice, 30), .effect = FAKE_HALT};

    fake_disk_fault(bed->disk, &fault);
}

// The faults of a round.
static void go_wrong(struct bed *bed, uint64_t *dice)
{
    switch (roll(dice, 8)) {
    case 0:
        set_fault(bed, dice);
        set_fault(bed, dice);
        halt_soon(bed, dice);
        return;
    case 1:
    case 2:
        set_fault(bed, dice);
        return;
    case 3:
        halt_soon(bed, dice);
        return;
    case 4:
        fake_disk_set_budget(bed->disk, fake_disk_used(bed->disk) + roll(dice, 100000));
        return;
    case 5:
        bed->disk_worker.waits = true;
        return;
    default:
        return;
    }
}

// An operator sets the wall clock, or the machine restarts without a battery.
static void set_clock(struct bed *bed, uint64_t *dice)
{
    static const nsec_t most[] = {SEC(2), SEC(10), SEC(86400), SEC(500000000)};
    nsec_t step_for = (nsec_t)roll(dice, 1000) * (most[roll(dice, 4)] / 1000);

    step_for = roll(dice, 2) || step_for > bed->now.wall ? step_for : -step_for;
    bed->now.wall += step_for;
}

// If nothing is synced, records may be lost in a power cut after the disk has failed, but the
// journal must not count as damaged.
static void end_round(struct bed *bed, enum bed_end end, uint64_t seed)
{
    if (bed->options.sync_every_for == NSEC_NEVER && end != BED_KILLED) {
        bed_restart_anyhow(bed, end, seed);
    } else {
        bed_restart(bed, end, seed);
    }
}

// Jobs that come and go faster than they are written: a segment is full, and has no more jobs,
// before its end is on the disk.
static void rush(struct bed *bed, uint64_t *dice)
{
    const struct bed_put put = {.body_len = bed->options.body_max * 7 / 8};

    for (uint64_t i = roll(dice, 12); i > 0; i--) {
        uint64_t id = 0;

        if (bed_try_put(bed, &put, &id) == STATUS_OK && bed_take_id(bed, id) == STATUS_OK) {
            (void)bed_complete(bed, id);
        }
        if (roll(dice, 3) == 0) {
            bed_turn(bed);
        }
    }
}

// A worker thread that takes its time: tasks end between verbs. So records of several segments
// wait, and segments are emptied, while what was written before them may still fail.
static void work_with_a_slow_worker(struct bed *bed, uint64_t *dice, unsigned count)
{
    bed->disk_worker.waits = true;
    while (count > 0) {
        unsigned some = 1 + (unsigned)roll(dice, 6);

        some = some < count ? some : count;
        if (roll(dice, 4) == 0) {
            rush(bed, dice);
        } else {
            work_at_random(bed, dice, some);
        }
        if (roll(dice, 3)) {
            (void)fake_worker_run(&bed->disk_worker);
            bed_turn(bed);
        }
        count -= some;
    }
    bed->disk_worker.waits = false;
}

static void play_slow_round(struct bed *bed, uint64_t *dice, bool steps)
{
    bool cuts = roll(dice, 2);
    uint64_t seed = fake_dice(dice);

    for (uint64_t i = roll(dice, 4); i > 0; i--) {
        set_fault(bed, dice);
    }
    work_with_a_slow_worker(bed, dice, (unsigned)roll(dice, 4 * VERBS));
    if (steps) {
        set_clock(bed, dice);
    }
    end_round(bed, cuts ? roll(dice, 2) ? BED_CUT : BED_CUT_LATE : BED_KILLED, seed);
}

static void play_round(struct bed *bed, uint64_t *dice, bool steps)
{
    bool cuts = roll(dice, 2);
    uint64_t seed = fake_dice(dice);

    go_wrong(bed, dice);
    work_at_random(bed, dice, (unsigned)roll(dice, VERBS));
    if (roll(dice, 4) == 0) {
        fake_disk_heal(bed->disk);
        fake_disk_set_budget(bed->disk, UINT64_MAX);
        work_at_random(bed, dice, (unsigned)roll(dice, VERBS));
    }
    fake_disk_set_budget(bed->disk, UINT64_MAX);
    bed->disk_worker.waits = false;
    if (steps) {
        set_clock(bed, dice);
    }
    end_round(bed, cuts ? roll(dice, 2) ? BED_CUT : BED_CUT_LATE : BED_KILLED, seed);
}

static void play(void (*round_of)(struct bed *bed, uint64_t *dice, bool steps))
{
    struct seeds seeds = seeds_wanted(SEEDS);

    for (unsigned long seed = seeds.first; seed < seeds.end; seed++) {
        uint64_t dice = hash_mix(seed) | 1;
        struct bed_options options = options_by_chance(&dice);
        bool steps = roll(&dice, 3) == 0;
        struct bed *bed = bed_new(&options);

        if (steps) {
            book_let_clock_step(bed->book);
        }
        for (int round = 0; round < ROUNDS; round++) {
            seeds_tell(seed, round);
            round_of(bed, &dice, steps);
        }
        bed_free(bed);
    }
}

static void nothing_acknowledged_is_lost_by_chance(void **state)
{
    (void)state;
    play(play_round);
}

static void nothing_acknowledged_is_lost_while_more_comes_than_is_written(void **state)
{
    (void)state;
    play(play_slow_round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_by_chance),
        cmocka_unit_test(nothing_acknowledged_is_lost_while_more_comes_than_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
