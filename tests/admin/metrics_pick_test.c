/* SPDX-License-Identifier: MIT */
// The ranking of queues, and the counters of series and the rest.
#include "admin/metrics/metrics_sample.h"
#include "admin/metrics/metrics_series.h"

#include "tests/support/chance.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFERS 500

static int by_rank(const void *a, const void *b)
{
    const struct metric_candidate *x = a;
    const struct metric_candidate *y = b;

    if (x->rank != y->rank) {
        return x->rank < y->rank ? 1 : -1;
    }
    return x->place < y->place ? -1 : 1;
}

// Offers all candidates, and compares the kept ones with the first `room` of a sort.
static void compare(const struct metric_candidate *offers, size_t count, size_t room)
{
    struct metric_candidate sorted[OFFERS];
    struct metric_ranking picks;
    uint64_t waiting = 0;
    uint64_t oldest_ns = 0;

    assert_true(metric_ranking_begin(&picks, room));
    for (size_t i = 0; i < count; i++) {
        metric_ranking_offer(&picks, &offers[i]);
    }
    metric_ranking_sort(&picks);
    memcpy(sorted, offers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_rank);
    assert_int_equal(picks.count, count < room ? count : room);
    for (size_t i = 0; i < picks.count; i++) {
        bool found = false;

        for (size_t j = 0; j < picks.count; j++) {
            found |= sorted[j].place == picks.all[i].place;
        }
        assert_true(found);
        assert_true(i == 0 || picks.all[i - 1].place < picks.all[i].place);
    }
    for (size_t j = picks.count; j < count; j++) {
        waiting += sorted[j].gauges.waiting;
        oldest_ns = sorted[j].gauges.oldest_ns > oldest_ns ? sorted[j].gauges.oldest_ns : oldest_ns;
    }
    assert_int_equal(picks.rest.waiting, waiting);
    assert_int_equal(picks.rest.oldest_ns, oldest_ns);
    metric_ranking_free(&picks);
}

static void the_best_candidates_are_kept_and_the_rest_is_summed_up(void **state)
{
    static const size_t rooms[] = {0, 1, 2, 7, 100, OFFERS, OFFERS + 1};
    struct metric_candidate offers[OFFERS];

    (void)state;
    for (int round = 0; round < 20; round++) {
        memset(offers, 0, sizeof offers);
        for (uint32_t i = 0; i < OFFERS; i++) {
            offers[i].rank = below(50);
            offers[i].place = 3 * i;
            offers[i].gauges.waiting = below(9);
            offers[i].gauges.oldest_ns = below(1000000);
        }
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
            compare(offers, OFFERS, rooms[i]);
        }
    }
}

//
// Series
//

#define QUEUES 12
#define NAMES 4

// A model of a broker: the numbers of queues, and the totals.
struct world {
    struct metric_numbers queues[QUEUES]; // by place
    char names[QUEUES][32];               // empty: there is none
    struct metric_numbers all;
    struct metric_series_set named;
    struct metric_numbers rest; // as last told
};

static void count_some(struct world *world)
{
    for (int i = 0; i < 30; i++) {
        uint32_t place = below(QUEUES);
        size_t number = NUMBER_COUNTERS + below(NUMBER_COUNT - NUMBER_COUNTERS);

        if (*world->names[place]) {
            world->queues[place].of[number]++;
            world->all.of[number]++;
        }
    }
}

// Removes and creates some queues, under old and new names.
static void come_and_go(struct world *world)
{
    for (int i = 0; i < QUEUES; i++) {
        uint32_t what = below(10);

        if (what == 0) {
            world->names[i][0] = '\0';
        } else if (what < 3) {
            (void)snprintf(world->names[i], sizeof world->names[i], "q%d_%d", i, (int)below(2));
            memset(&world->queues[i], 0, sizeof world->queues[i]);
        }
    }
}

// Gives series to at most `room` queues, at random.
static void tell(struct world *world, size_t room)
{
    struct metric_series_set next;
    struct metric_numbers sum = {{0}};
    size_t at = 0;
    size_t queues = 0;

    assert_true(metric_series_set_begin(&next, room));
    for (uint32_t place = 0; place < QUEUES; place++) {
        struct metric_numbers numbers = world->queues[place];
        struct slice name = slice_str(world->names[place]);

        queues += name.len > 0;
        if (name.len == 0 || next.count == room || (room < QUEUES && below(2))) {
            continue;
        }
        assert_true(metric_series_set_add(&next, &world->named, &at, name, place, &numbers));
        for (size_t i = 0; i < NUMBER_COUNT; i++) {
            sum.of[i] += numbers.of[i];
        }
    }
    for (size_t i = NUMBER_COUNTERS; i < NUMBER_COUNT; i++) {
        uint64_t rest = world->all.of[i] - sum.of[i];

        assert_true(sum.of[i] <= world->all.of[i]);
        assert_true(rest >= world->rest.of[i]);
        world->rest.of[i] = rest;
    }
    next.sampled = true;
    next.complete = next.count == queues;
    metric_series_set_free(&world->named);
    world->named = next;
}

static void the_rest_never_falls_as_queues_are_named_created_and_removed(void **state)
{
    static struct world world;

    (void)state;
    for (int round = 1; round <= 200; round++) {
        memset(&world, 0, sizeof world);
        for (int i = 0; i < 60; i++) {
            come_and_go(&world);
            count_some(&world);
            tell(&world, round % 3 ? NAMES : QUEUES);
        }
        metric_series_set_free(&world.named);
    }
}

static uint64_t told(struct metric_series_set *named, struct metric_series_set *before,
                     const char *name, uint64_t submitted)
{
    struct metric_numbers numbers = {.of[NUMBER_SUBMITTED] = submitted};
    size_t at = 0;

    assert_true(metric_series_set_begin(named, 1));
    assert_true(metric_series_set_add(named, before, &at, slice_str(name), 5, &numbers));
    named->sampled = true;
    metric_series_set_free(before);
    return numbers.of[NUMBER_SUBMITTED];
}

static void a_queue_of_the_rest_counts_from_the_start_of_its_series(void **state)
{
    struct metric_series_set first = {.sampled = true};
    struct metric_series_set second, third, fourth;

    (void)state;
    assert_int_equal(told(&second, &first, "q", 7), 0);
    assert_int_equal(told(&third, &second, "q", 9), 2);
    // Another queue with this name and place.
    assert_int_equal(told(&fourth, &third, "q", 3), 3);
    metric_series_set_free(&fourth);
}

static void a_new_queue_has_all_its_counts(void **state)
{
    struct metric_series_set none = {.sampled = false};
    struct metric_series_set complete = {.sampled = true, .complete = true};
    struct metric_series_set first, second;

    (void)state;
    assert_int_equal(told(&first, &none, "q", 7), 7);
    assert_int_equal(told(&second, &complete, "q", 7), 7);
    metric_series_set_free(&first);
    metric_series_set_free(&second);
}

static void bucket_bounds_of_metrics_are_bounds_of_the_counted_buckets(void **state)
{
    (void)state;
    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        assert_int_equal(histogram_bound(metric_last_span[i]), metric_ends[i]);
    }
    assert_int_equal(metric_last_span[METRIC_BOUNDS], HISTOGRAM_BOUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_candidates_are_kept_and_the_rest_is_summed_up),
        cmocka_unit_test(the_rest_never_falls_as_queues_are_named_created_and_removed),
        cmocka_unit_test(a_queue_of_the_rest_counts_from_the_start_of_its_series),
        cmocka_unit_test(a_new_queue_has_all_its_counts),
        cmocka_unit_test(bucket_bounds_of_metrics_are_bounds_of_the_counted_buckets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
