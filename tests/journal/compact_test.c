/* SPDX-License-Identifier: MIT */
// With any sequence of jobs, the files take at most three times the live bytes, and three files
// more. The bed asserts that after each turn.
#include "tests/journal/journal_work.h"

#include "journal/codec.h"

#include <stdio.h>
#include <string.h>

static const nsec_t policies[] = {0, MSEC(200)};
enum { POLICIES = 2 };

static void free_after_use(struct bed *bed)
{
    if (bed->book) {
        bed_expect_survives(bed, BED_KILLED, 0);
        bed_expect_survives(bed, BED_CUT, 0);
    }
    bed_free(bed);
}

static void put_and_turn(struct bed *bed, const struct bed_put *put)
{
    assert_true(bed_put(bed, put) > 0);
    (void)bed_turns(bed);
}

static void complete_one(struct bed *bed)
{
    uint64_t id = bed_take(bed);

    assert_true(id > 0);
    assert_status(STATUS_OK, bed_complete(bed, id));
    (void)bed_turns(bed);
}

static void one_job_released_for_ever(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        struct bed *bed = BED(.sync_every_for = policies[i], .bounded = true);

        put_and_turn(bed, &(const struct bed_put){.body_len = 100});
        for (int j = 0; j < 3000; j++) {
            uint64_t id = bed_take(bed);

            assert_status(STATUS_OK, bed_release(bed, id, (uint32_t)j, SEC(j % 2)));
            (void)bed_turns(bed);
            if (j % 2) {
                bed_pass(bed, SEC(1));
            }
        }
        assert_true(bed_info(bed).oldest > 5);
        free_after_use(bed);
    }
}

// Many in one turn, as a burst brings them.
static void bursts_of_releases(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true, .segment_size = 65536);

    (void)state;
    for (int j = 0; j < 20; j++) {
        put_and_turn(bed, &(const struct bed_put){.body_len = 100});
    }
    for (int j = 0; j < 200; j++) {
        for (int k = 0; k < 50; k++) {
            assert_status(STATUS_OK, bed_release(bed, bed_take(bed), (uint32_t)k, 0));
        }
        bed_turn(bed);
    }
    free_after_use(bed);
}

static void first_in_first_out(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        struct bed *bed = BED(.sync_every_for = policies[i], .bounded = true);

        for (int j = 0; j < 40; j++) {
            put_and_turn(bed, &(const struct bed_put){.body_len = 300});
        }
        for (int j = 0; j < 2000; j++) {
            put_and_turn(bed, &(const struct bed_put){.body_len = (size_t)(j % 2500)});
            complete_one(bed);
        }
        free_after_use(bed);
    }
}

// The worst case for a log: the live jobs are spread over all of it.
static void every_tenth_job_stays(void **state)
{
    (void)state;
    for (int i = 0; i < POLICIES; i++) {
        struct bed *bed = BED(.sync_every_for = policies[i], .bounded = true);

        for (int j = 0; j < 3000; j++) {
            struct bed_put put = {.body_len = 500, .pri = j % 10 ? 1 : 9, .queue = j % 4};

            put_and_turn(bed, &put);
            if (j % 10) {
                complete_one(bed);
            }
        }
        while (bed_count(bed) > 0) {
            complete_one(bed);
        }
        bed_pass(bed, SEC(5));
        assert_true(fake_disk_used(bed->disk) <= 3 * bed_info(bed).file_max);
        free_after_use(bed);
    }
}

static void large_bodies_among_small_ones(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true, .body_max = 100000);

    (void)state;
    for (int j = 0; j < 600; j++) {
        put_and_turn(bed, &(const struct bed_put){.body_len = j % 7 ? 50 : 100000, .pri = 1});
        if (j % 3) {
            complete_one(bed);
        }
        if (bed_count(bed) > 60) {
            while (bed_count(bed) > 5) {
                complete_one(bed);
            }
        }
    }
    free_after_use(bed);
}

static void heaps_of_buried_jobs(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true);

    (void)state;
    for (int j = 0; j < 300; j++) {
        put_and_turn(bed, &(const struct bed_put){.body_len = 60});
        assert_status(STATUS_OK, bed_bury(bed, bed_take(bed), 0));
        (void)bed_turns(bed);
    }
    for (int j = 0; j < 2000; j++) {
        assert_int_equal(bed_kick(bed, 0, 1), 1);
        assert_status(STATUS_OK, bed_bury(bed, bed_take(bed), (uint32_t)j));
        (void)bed_turns(bed);
    }
    assert_int_equal(bed_kick(bed, 0, 1000), 300);
    (void)bed_turns(bed);
    free_after_use(bed);
}

// The journal's own accounting of pauses is not used here.
static void expect_bounded_beside(struct bed *bed, uint64_t live)
{
    assert_true(fake_disk_used(bed->disk) <= 3 * live + 3 * bed_info(bed).file_max);
}

static void one_queue_paused_for_ever(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);

    (void)state;
    for (int j = 0; j < 4000; j++) {
        assert_status(STATUS_OK, bed_pause(bed, 0, j % 5 ? SEC(1000 + j) : 0));
        (void)bed_turns(bed);
        expect_bounded_beside(bed, codec_pause_size(2));
    }
    bed_pass(bed, SEC(1));
    free_after_use(bed);
}

enum { MANY = 700, NAME = 100 };

static struct slice name_of(int i)
{
    static char name[NAME + 1];

    (void)snprintf(name, sizeof name, "%0*d", NAME, i);
    return slice_of(name, NAME);
}

static void many_queues_paused_again_and_again(void **state)
{
    static struct queue *queues[MANY];
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true, .no_book = true);

    (void)state;
    for (int i = 0; i < MANY; i++) {
        assert_status(STATUS_OK, broker_queue_hold(bed->broker, name_of(i), &queues[i]));
        assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queues[i], SEC(5000)));
        (void)bed_turns(bed);
    }
    for (int j = 0; j < 5000; j++) {
        assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queues[j % MANY], SEC(6000 + j)));
        bed_turn(bed);
        expect_bounded_beside(bed, MANY * codec_pause_size(NAME));
    }
    (void)bed_turns(bed);
    bed_restart(bed, BED_CUT, 0);
    for (int i = 0; i < MANY; i++) {
        const struct queue *queue = broker_queue_find(bed->broker, name_of(i));
        nsec_t pause_for;
        nsec_t until_at;

        assert_non_null(queue);
        assert_true(queue_describe_pause(bed->broker, queue, &pause_for, &until_at));
        assert_true(pause_for >= SEC(6000 + 5000 - MANY));
    }
    bed_free(bed);
}

// Queues that are paused, and are gone before their pause is over.
static void queues_that_stay_with_nothing_but_a_pause(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .no_book = true);

    (void)state;
    for (int i = 0; i < 4000; i++) {
        struct queue *queue;

        assert_status(STATUS_OK, broker_queue_hold(bed->broker, name_of(i), &queue));
        assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queue, SEC(5000)));
        broker_queue_drop(bed->broker, queue);
        (void)bed_turns(bed);
        expect_bounded_beside(bed, (uint64_t)(i + 1) * codec_pause_size(NAME));
    }
    bed_free(bed);
}

// A pause that is made while compaction is at the pauses of other queues.
static void a_pause_beside_compaction_is_kept(void **state)
{
    (void)state;
    for (int when = 1; when < 40; when += 1) {
        static struct queue *queues[MANY];
        struct bed *bed = BED(.sync_every_for = 0, .no_book = true);
        const struct queue *found;
        nsec_t pause_for = 0;
        nsec_t until_at;

        for (int i = 0; i < MANY; i++) {
            assert_status(STATUS_OK, broker_queue_hold(bed->broker, name_of(i), &queues[i]));
        }
        assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queues[MANY - 1], SEC(2)));
        for (int j = 0; j < 2000; j++) {
            uint64_t id = BED_PUT(bed, .body_len = 2900);

            if (j == 6 + when) {
                assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queues[0], SEC(5000)));
            }
            if (j == 7) {
                assert_status(STATUS_OK, broker_pause(bed->broker, NULL, queues[MANY - 1], 0));
            }
            assert_status(STATUS_OK, bed_cancel(bed, id));
            bed_turn(bed);
        }
        bed_restart(bed, BED_KILLED, 0);
        found = broker_queue_find(bed->broker, name_of(0));
        assert_true(found && queue_describe_pause(bed->broker, found, &pause_for, &until_at));
        bed_free(bed);
    }
}

static void a_hundred_thousand_jobs_drained(void **state)
{
    enum { JOBS = 100000, BURST = 100 };
    struct bed *bed =
        BED(.sync_every_for = 0, .no_book = true, .bounded = true, .segment_size = 1 << 20);

    (void)state;
    for (int i = 0; i < JOBS; i++) {
        assert_true(BED_PUT(bed, .body_len = 20) > 0);
        if (i % BURST == 0) {
            bed_turn(bed);
        }
    }
    (void)bed_turns(bed);
    for (int i = 0; i < JOBS; i++) {
        assert_status(STATUS_OK, bed_complete(bed, bed_take(bed)));
        if (i % BURST == 0) {
            bed_turn(bed);
        }
    }
    (void)bed_turns(bed);
    bed_pass(bed, SEC(5));
    assert_int_equal(bed_info(bed).live, 0);
    bed_restart(bed, BED_CUT, 0);
    assert_int_equal(bed_count(bed), 0);
    bed_free(bed);
}

// Each start begins a new file.
static void a_start_after_every_few_verbs(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true);

    (void)state;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 5; i++) {
            put_and_turn(bed, &(const struct bed_put){.body_len = 100});
        }
        for (int i = 0; i < (round < 60 ? 4 : 5); i++) {
            complete_one(bed);
        }
        bed_restart(bed, round % 2 ? BED_KILLED : BED_CUT, 0);
        (void)bed_turns(bed);
    }
    free_after_use(bed);
}

// Nothing but starts: files must not pile up.
static void starts_without_anything_between(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0, .bounded = true);
    struct store_info info;

    (void)state;
    put_and_turn(bed, &(const struct bed_put){.body_len = 500});
    for (int round = 0; round < 100; round++) {
        bed_restart(bed, BED_KILLED, 0);
        (void)bed_turns(bed);
    }
    info = bed_info(bed);
    assert_true(info.current - info.oldest < 40);
    bed_free(bed);
}

// Of 30000 jobs one in ten is live, and the ends of the others are not written yet.
static struct bed *bed_just_thinned_out(void)
{
    struct bed *bed = BED(.sync_every_for = 0, .no_book = true, .segment_size = 1 << 18);

    for (int i = 0; i < 30000; i++) {
        assert_true(BED_PUT(bed, .body_len = 20, .pri = i % 10 ? 1 : 2) > 0);
        if (i % 100 == 0) {
            bed_turn(bed);
        }
    }
    for (int i = 0; i < 27000; i++) {
        assert_status(STATUS_OK, bed_complete(bed, bed_take(bed)));
    }
    return bed;
}

static void it_goes_on_when_traffic_stops(void **state)
{
    struct bed *bed = bed_just_thinned_out();
    unsigned turns;

    (void)state;
    turns = bed_turns(bed);
    bed_pass(bed, SEC(3));
    // Some thousand look-ups in each turn: it cannot take long.
    assert_true(turns < 500);
    assert_true(fake_disk_used(bed->disk) <= 3 * bed_info(bed).live + 3 * bed_info(bed).file_max);
    assert_true(journal_next_due(bed->journal) == NSEC_NEVER);
    assert_int_equal(bed_count(bed), 3000);
    bed_restart(bed, BED_CUT, 0);
    assert_int_equal(bed_count(bed), 3000);
    bed_free(bed);
}

// The share of a turn depends on the bytes appended since the last turn, and on nothing older.
static void it_takes_small_steps_when_traffic_stops(void **state)
{
    enum { TURNS = 50, IDS_LOOKED_AT = 512 };
    struct bed *bed = bed_just_thinned_out();
    uint64_t migrated;
    uint64_t began;

    (void)state;
    bed_turn(bed);
    began = bed_info(bed).migrated;
    migrated = began;
    for (int i = 0; i < TURNS; i++) {
        uint64_t before = migrated;

        bed_turn(bed);
        migrated = bed_info(bed).migrated;
        assert_true(migrated - before <= IDS_LOOKED_AT / 10 + 1);
    }
    assert_true(migrated > began);
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_job_released_for_ever),
        cmocka_unit_test(bursts_of_releases),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(every_tenth_job_stays),
        cmocka_unit_test(large_bodies_among_small_ones),
        cmocka_unit_test(heaps_of_buried_jobs),
        cmocka_unit_test(one_queue_paused_for_ever),
        cmocka_unit_test(many_queues_paused_again_and_again),
        cmocka_unit_test(queues_that_stay_with_nothing_but_a_pause),
        cmocka_unit_test(a_pause_beside_compaction_is_kept),
        cmocka_unit_test(a_hundred_thousand_jobs_drained),
        cmocka_unit_test(a_start_after_every_few_verbs),
        cmocka_unit_test(starts_without_anything_between),
        cmocka_unit_test(it_goes_on_when_traffic_stops),
        cmocka_unit_test(it_takes_small_steps_when_traffic_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
