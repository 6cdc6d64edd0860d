/* SPDX-License-Identifier: MIT */
// Snapshots: all queues of one moment, even if they are removed while the snapshot is read.
#include "tests/core/stage.h"

#include "tests/support/broker_check.h"

#include "tests/support/chance.h"

#include <string.h>

#define NAMES 40
#define ROLLS 5

// The queues to which a test holds references, by their numbers; NULL for none.
struct field {
    struct stage *s;
    struct queue *queues[NAMES];
};

static struct slice name_of(unsigned number, char text[8])
{
    return slice_of(text, (size_t)snprintf(text, 8, "q%u", number));
}

static void come(struct field *f, unsigned number)
{
    char text[8];

    assert_status(STATUS_OK,
                  broker_queue_hold(f->s->broker, name_of(number, text), &f->queues[number]));
}

static void go(struct field *f, unsigned number)
{
    broker_queue_drop(f->s->broker, f->queues[number]);
    f->queues[number] = NULL;
}

static void all_go(struct field *f)
{
    for (unsigned i = 0; i < NAMES; i++) {
        if (f->queues[i]) {
            go(f, i);
        }
    }
}

static unsigned number_of(struct slice name)
{
    unsigned number = 0;

    for (size_t i = 1; i < name.len; i++) {
        number = number * 10 + (unsigned)(name.ptr[i] - '0');
    }
    assert_true(number < NAMES);
    return number;
}

// The rest of the snapshot must contain exactly those queues, as bits by their numbers.
static void rest_is(struct field *f, struct queue_snapshot *snapshot, uint64_t expected)
{
    const struct queue *queue;
    uint64_t seen = 0;

    broker_check(f->s->broker);
    while ((queue = queue_snapshot_next(f->s->broker, snapshot))) {
        unsigned number = number_of(queue_name(queue));
        uint64_t bit = UINT64_C(1) << number;

        assert_int_equal(queue_has_gone(queue), f->queues[number] != queue);
        assert_int_equal(seen & bit, 0);
        seen |= bit;
    }
    assert_int_equal(seen, expected);
}

static void has(struct field *f, struct queue_snapshot *snapshot, uint64_t expected)
{
    queue_snapshot_rewind(snapshot);
    rest_is(f, snapshot, expected);
}

static void skipped_queues_are_charged(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot older;
    struct queue_snapshot snapshot;

    for (unsigned i = 0; i < NAMES; i++) {
        come(&f, i);
    }
    queue_snapshot_begin(f.s->broker, &older);
    all_go(&f);
    queue_snapshot_begin(f.s->broker, &snapshot);
    (void)broker_take_links(f.s->broker);
    assert_null(queue_snapshot_next(f.s->broker, &snapshot));
    assert_true(broker_take_links(f.s->broker) >= NAMES / 8);
    assert_null(queue_snapshot_next(f.s->broker, &snapshot));
    assert_int_equal(broker_take_links(f.s->broker), 0);
    queue_snapshot_end(f.s->broker, &snapshot);
    queue_snapshot_end(f.s->broker, &older);
}

enum { PASSED_AT_ONCE = BROKER_SLICE * 8, PASSED = 3 * PASSED_AT_ONCE };

// An older snapshot contains thousands of removed queues, and a younger one contains a queue behind
// them.
static void begin_behind_many(struct field *f, struct queue_snapshot *older,
                              struct queue_snapshot *snapshot)
{
    static struct queue *many[PASSED];
    char name[16];

    for (unsigned i = 0; i < PASSED; i++) {
        (void)snprintf(name, sizeof name, "many-%u", i);
        assert_status(STATUS_OK, broker_queue_hold(f->s->broker, stage_slice(name), &many[i]));
    }
    queue_snapshot_begin(f->s->broker, older);
    for (unsigned i = 0; i < PASSED; i++) {
        broker_queue_drop(f->s->broker, many[i]);
    }
    come(f, 0);
    queue_snapshot_begin(f->s->broker, snapshot);
}

static void removed_queues_are_skipped_in_slices(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot older;
    struct queue_snapshot snapshot;

    begin_behind_many(&f, &older, &snapshot);
    for (int look = 0; look < 2; look++) {
        for (int i = 0; i < PASSED / PASSED_AT_ONCE; i++) {
            (void)broker_take_links(f.s->broker);
            assert_null(queue_snapshot_next(f.s->broker, &snapshot));
            assert_false(snapshot.ended);
            assert_int_equal(broker_take_links(f.s->broker), BROKER_SLICE);
            broker_check(f.s->broker);
        }
        rest_is(&f, &snapshot, 1);
        assert_true(snapshot.ended);
        queue_snapshot_rewind(&snapshot);
        // The second pass starts again after it has stopped on its way.
        assert_null(queue_snapshot_next(f.s->broker, &snapshot));
        queue_snapshot_rewind(&snapshot);
    }
    queue_snapshot_end(f.s->broker, &snapshot);
    queue_snapshot_end(f.s->broker, &older);
    all_go(&f);
}

static void snapshot_continues_after_the_queue_at_which_it_stopped_is_freed(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot older;
    struct queue_snapshot snapshot;

    begin_behind_many(&f, &older, &snapshot);
    for (int i = 0; i < 2; i++) {
        assert_null(queue_snapshot_next(f.s->broker, &snapshot));
        assert_false(snapshot.ended);
    }
    queue_snapshot_end(f.s->broker, &older);
    while (check_retained_queues(f.s->broker) > 0) {
        broker_tick(f.s->broker, f.s->now);
        broker_check(f.s->broker);
    }
    rest_is(&f, &snapshot, 1);
    queue_snapshot_end(f.s->broker, &snapshot);
    all_go(&f);
}

// The next queues of the snapshot are these, in this order.
static void next_are(struct field *f, struct queue_snapshot *snapshot, const char *numbers)
{
    for (; *numbers; numbers++) {
        const struct queue *queue = queue_snapshot_next(f->s->broker, snapshot);

        assert_non_null(queue);
        assert_int_equal(number_of(queue_name(queue)), *numbers - '0');
    }
}

static void queues_come_in_the_order_in_which_they_were_made(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot snapshot;

    for (unsigned i = 0; i < 6; i++) {
        come(&f, i);
    }
    go(&f, 0);
    go(&f, 3);
    go(&f, 5);
    come(&f, 7);
    come(&f, 3);
    come(&f, 6);
    queue_snapshot_begin(f.s->broker, &snapshot);
    next_are(&f, &snapshot, "124");
    // At its cursor, before and behind that.
    go(&f, 4);
    go(&f, 1);
    go(&f, 7);
    come(&f, 1);
    next_are(&f, &snapshot, "736");
    assert_null(queue_snapshot_next(f.s->broker, &snapshot));
    queue_snapshot_rewind(&snapshot);
    next_are(&f, &snapshot, "124736");
    assert_null(queue_snapshot_next(f.s->broker, &snapshot));
    queue_snapshot_end(f.s->broker, &snapshot);
    queue_snapshot_begin(f.s->broker, &snapshot);
    next_are(&f, &snapshot, "2361");
    assert_null(queue_snapshot_next(f.s->broker, &snapshot));
    queue_snapshot_end(f.s->broker, &snapshot);
    all_go(&f);
}

static void snapshot_contains_the_queues_of_its_moment(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot snapshot;

    come(&f, 0);
    come(&f, 1);
    queue_snapshot_begin(f.s->broker, &snapshot);
    come(&f, 2);
    rest_is(&f, &snapshot, 3);
    rest_is(&f, &snapshot, 0);
    has(&f, &snapshot, 3);
    queue_snapshot_end(f.s->broker, &snapshot);
    all_go(&f);
}

static void removed_queue_exists_for_the_snapshot_only(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot snapshot;
    uint32_t cursor = 0;

    come(&f, 0);
    come(&f, 1);
    queue_snapshot_begin(f.s->broker, &snapshot);
    go(&f, 0);
    assert_null(stage_find(f.s, "q0"));
    assert_int_equal(stage_info(f.s).queues, 1);
    assert_ptr_equal(broker_queue_next(f.s->broker, &cursor), f.queues[1]);
    assert_null(broker_queue_next(f.s->broker, &cursor));
    has(&f, &snapshot, 3);
    queue_snapshot_end(f.s->broker, &snapshot);
    all_go(&f);
}

static void queue_that_is_made_again_is_listed_once(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot before;
    struct queue_snapshot after;

    come(&f, 0);
    queue_snapshot_begin(f.s->broker, &before);
    go(&f, 0);
    come(&f, 0);
    queue_snapshot_begin(f.s->broker, &after);
    go(&f, 0);
    has(&f, &before, 1);
    has(&f, &after, 1);
    queue_snapshot_end(f.s->broker, &before);
    has(&f, &after, 1);
    queue_snapshot_end(f.s->broker, &after);
}

static void snapshot_does_not_contain_a_queue_removed_before(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot before;
    struct queue_snapshot after;

    come(&f, 0);
    queue_snapshot_begin(f.s->broker, &before);
    go(&f, 0);
    queue_snapshot_begin(f.s->broker, &after);
    has(&f, &after, 0);
    has(&f, &before, 1);
    queue_snapshot_end(f.s->broker, &after);
    has(&f, &before, 1);
    queue_snapshot_end(f.s->broker, &before);
}

static void removed_queue_is_freed_with_its_last_snapshot(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot old;
    struct queue_snapshot young;

    come(&f, 0);
    queue_snapshot_begin(f.s->broker, &old);
    come(&f, 1);
    queue_snapshot_begin(f.s->broker, &young);
    all_go(&f);
    has(&f, &old, 1);
    has(&f, &young, 3);
    queue_snapshot_end(f.s->broker, &young);
    assert_int_equal(broker_next_due(f.s->broker), broker_now(f.s->broker).mono);
    broker_tick(f.s->broker, f.s->now);
    broker_check(f.s->broker);
    // The queue of the younger snapshot is freed, though the older one continues.
    assert_int_equal(check_retained_queues(f.s->broker), 1);
    has(&f, &old, 1);
    queue_snapshot_end(f.s->broker, &old);
    broker_tick(f.s->broker, f.s->now);
    assert_int_equal(check_retained_queues(f.s->broker), 0);
    assert_true(broker_next_due(f.s->broker) > broker_now(f.s->broker).mono);
}

static void queue_made_after_all_snapshots_is_freed_at_once(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot snapshot;

    queue_snapshot_begin(f.s->broker, &snapshot);
    come(&f, 0);
    go(&f, 0);
    assert_int_equal(check_retained_queues(f.s->broker), 0);
    queue_snapshot_end(f.s->broker, &snapshot);
}

static void removed_queues_are_freed_in_slices(void **state)
{
    struct stage *s = *state;
    struct queue *queues[BROKER_SLICE * 3];
    struct queue_snapshot snapshot;
    unsigned ticks = 0;
    char name[16];

    for (unsigned i = 0; i < BROKER_SLICE * 3; i++) {
        (void)snprintf(name, sizeof name, "many-%u", i);
        assert_status(STATUS_OK, broker_queue_hold(s->broker, stage_slice(name), &queues[i]));
    }
    queue_snapshot_begin(s->broker, &snapshot);
    for (unsigned i = 0; i < BROKER_SLICE * 3; i++) {
        broker_queue_drop(s->broker, queues[i]);
    }
    queue_snapshot_end(s->broker, &snapshot);
    assert_int_equal(check_retained_queues(s->broker), BROKER_SLICE * 3);
    while (check_retained_queues(s->broker) > 0) {
        broker_tick(s->broker, s->now);
        ticks++;
    }
    assert_in_range(ticks, 3, 4);
}

static void broker_may_end_while_removed_queues_are_to_be_freed(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot snapshot;

    come(&f, 0);
    queue_snapshot_begin(f.s->broker, &snapshot);
    go(&f, 0);
    queue_snapshot_end(f.s->broker, &snapshot);
}

// A snapshot that may exist, and the queues that it must contain.
struct expectation {
    struct queue_snapshot snapshot;
    uint64_t queues;
    bool there;
};

static void begin_or_end(struct field *f, struct expectation *e)
{
    if (!e->there) {
        queue_snapshot_begin(f->s->broker, &e->snapshot);
        e->queues = 0;
        for (unsigned i = 0; i < NAMES; i++) {
            e->queues |= f->queues[i] ? UINT64_C(1) << i : 0;
        }
    } else {
        queue_snapshot_end(f->s->broker, &e->snapshot);
    }
    e->there = !e->there;
}

static void snapshots_are_right_under_random_changes(void **state)
{
    struct field f = {.s = *state};
    struct expectation snapshots[ROLLS] = {{.there = false}};

    for (unsigned i = 0; i < 5000; i++) {
        unsigned number = below(NAMES);

        if (below(10) == 0) {
            begin_or_end(&f, &snapshots[below(ROLLS)]);
        } else if (f.queues[number]) {
            go(&f, number);
        } else {
            come(&f, number);
        }
        if (below(3) == 0) {
            broker_tick(f.s->broker, f.s->now);
        }
        number = below(ROLLS);
        if (snapshots[number].there) {
            has(&f, &snapshots[number].snapshot, snapshots[number].queues);
        }
    }
    for (unsigned i = 0; i < ROLLS; i++) {
        if (snapshots[i].there) {
            queue_snapshot_end(f.s->broker, &snapshots[i].snapshot);
        }
    }
    all_go(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(skipped_queues_are_charged),
        STORY(removed_queues_are_skipped_in_slices),
        STORY(snapshot_continues_after_the_queue_at_which_it_stopped_is_freed),
        STORY(queues_come_in_the_order_in_which_they_were_made),
        STORY(snapshot_contains_the_queues_of_its_moment),
        STORY(removed_queue_exists_for_the_snapshot_only),
        STORY(queue_that_is_made_again_is_listed_once),
        STORY(snapshot_does_not_contain_a_queue_removed_before),
        STORY(removed_queue_is_freed_with_its_last_snapshot),
        STORY(queue_made_after_all_snapshots_is_freed_at_once),
        STORY(removed_queues_are_freed_in_slices),
        STORY(broker_may_end_while_removed_queues_are_to_be_freed),
        STORY(snapshots_are_right_under_random_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
