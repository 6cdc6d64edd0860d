/* SPDX-License-Identifier: MIT */
// Rolls: all queues of one moment, whatever becomes of them while they are read.
#include "tests/core/stage.h"

#include "tests/support/broker_check.h"

#include "tests/support/chance.h"

#include <string.h>

#define NAMES 40
#define ROLLS 5

// What a test holds of queues by their numbers, NULL where none is there.
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

// The rest of the roll must have exactly those queues, as bits by their numbers.
static void rest_is(struct field *f, struct queue_snapshot *roll, uint64_t expected)
{
    const struct queue *queue;
    uint64_t seen = 0;

    broker_check(f->s->broker);
    while ((queue = queue_snapshot_next(f->s->broker, roll))) {
        unsigned number = number_of(queue_name(queue));
        uint64_t bit = UINT64_C(1) << number;

        assert_int_equal(queue_has_gone(queue), f->queues[number] != queue);
        assert_int_equal(seen & bit, 0);
        seen |= bit;
    }
    assert_int_equal(seen, expected);
}

static void has(struct field *f, struct queue_snapshot *roll, uint64_t expected)
{
    queue_snapshot_rewind(roll);
    rest_is(f, roll, expected);
}

static void what_a_roll_passes_over_is_charged(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot older;
    struct queue_snapshot roll;

    for (unsigned i = 0; i < NAMES; i++) {
        come(&f, i);
    }
    queue_snapshot_begin(f.s->broker, &older);
    all_go(&f);
    queue_snapshot_begin(f.s->broker, &roll);
    (void)broker_take_links(f.s->broker);
    assert_null(queue_snapshot_next(f.s->broker, &roll));
    assert_true(broker_take_links(f.s->broker) >= NAMES / 8);
    assert_null(queue_snapshot_next(f.s->broker, &roll));
    assert_int_equal(broker_take_links(f.s->broker), 0);
    queue_snapshot_end(f.s->broker, &roll);
    queue_snapshot_end(f.s->broker, &older);
}

enum { PASSED_AT_ONCE = BROKER_SLICE * 8, PASSED = 3 * PASSED_AT_ONCE };

// Very many queues go that an older roll has, and a younger one has one that comes behind them.
static void begin_behind_many(struct field *f, struct queue_snapshot *older,
                              struct queue_snapshot *roll)
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
    queue_snapshot_begin(f->s->broker, roll);
}

static void very_many_queues_are_passed_over_in_slices(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot older;
    struct queue_snapshot roll;

    begin_behind_many(&f, &older, &roll);
    for (int look = 0; look < 2; look++) {
        for (int i = 0; i < PASSED / PASSED_AT_ONCE; i++) {
            (void)broker_take_links(f.s->broker);
            assert_null(queue_snapshot_next(f.s->broker, &roll));
            assert_false(roll.ended);
            assert_int_equal(broker_take_links(f.s->broker), BROKER_SLICE);
            broker_check(f.s->broker);
        }
        rest_is(&f, &roll, 1);
        assert_true(roll.ended);
        queue_snapshot_rewind(&roll);
        // The second look begins anew where it has stopped on its way.
        assert_null(queue_snapshot_next(f.s->broker, &roll));
        queue_snapshot_rewind(&roll);
    }
    queue_snapshot_end(f.s->broker, &roll);
    queue_snapshot_end(f.s->broker, &older);
    all_go(&f);
}

static void a_roll_goes_on_where_the_queue_that_it_stopped_at_is_forgotten(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot older;
    struct queue_snapshot roll;

    begin_behind_many(&f, &older, &roll);
    for (int i = 0; i < 2; i++) {
        assert_null(queue_snapshot_next(f.s->broker, &roll));
        assert_false(roll.ended);
    }
    queue_snapshot_end(f.s->broker, &older);
    while (broker_snapshot_queues(f.s->broker) > 0) {
        broker_tick(f.s->broker, f.s->now);
        broker_check(f.s->broker);
    }
    rest_is(&f, &roll, 1);
    queue_snapshot_end(f.s->broker, &roll);
    all_go(&f);
}

// The next of the roll are those, in this order.
static void next_are(struct field *f, struct queue_snapshot *roll, const char *numbers)
{
    for (; *numbers; numbers++) {
        const struct queue *queue = queue_snapshot_next(f->s->broker, roll);

        assert_non_null(queue);
        assert_int_equal(number_of(queue_name(queue)), *numbers - '0');
    }
}

static void queues_come_in_the_order_of_their_making_whatever_has_gone(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot roll;

    for (unsigned i = 0; i < 6; i++) {
        come(&f, i);
    }
    go(&f, 0);
    go(&f, 3);
    go(&f, 5);
    come(&f, 7);
    come(&f, 3);
    come(&f, 6);
    queue_snapshot_begin(f.s->broker, &roll);
    next_are(&f, &roll, "124");
    // Where it stands, before and behind that.
    go(&f, 4);
    go(&f, 1);
    go(&f, 7);
    come(&f, 1);
    next_are(&f, &roll, "736");
    assert_null(queue_snapshot_next(f.s->broker, &roll));
    queue_snapshot_rewind(&roll);
    next_are(&f, &roll, "124736");
    assert_null(queue_snapshot_next(f.s->broker, &roll));
    queue_snapshot_end(f.s->broker, &roll);
    queue_snapshot_begin(f.s->broker, &roll);
    next_are(&f, &roll, "2361");
    assert_null(queue_snapshot_next(f.s->broker, &roll));
    queue_snapshot_end(f.s->broker, &roll);
    all_go(&f);
}

static void roll_has_the_queues_of_its_moment(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot roll;

    come(&f, 0);
    come(&f, 1);
    queue_snapshot_begin(f.s->broker, &roll);
    come(&f, 2);
    rest_is(&f, &roll, 3);
    rest_is(&f, &roll, 0);
    has(&f, &roll, 3);
    queue_snapshot_end(f.s->broker, &roll);
    all_go(&f);
}

static void queue_that_has_gone_is_there_for_the_roll_alone(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot roll;
    uint32_t cursor = 0;

    come(&f, 0);
    come(&f, 1);
    queue_snapshot_begin(f.s->broker, &roll);
    go(&f, 0);
    assert_null(stage_find(f.s, "q0"));
    assert_int_equal(stage_info(f.s).queues, 1);
    assert_ptr_equal(broker_queue_next(f.s->broker, &cursor), f.queues[1]);
    assert_null(broker_queue_next(f.s->broker, &cursor));
    has(&f, &roll, 3);
    queue_snapshot_end(f.s->broker, &roll);
    all_go(&f);
}

static void queue_that_comes_again_is_listed_once(void **state)
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

static void roll_that_began_after_a_queue_went_does_not_have_it(void **state)
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

static void a_queue_goes_with_the_last_roll_that_has_it(void **state)
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
    // The younger roll's own is forgotten, though the older one goes on.
    assert_int_equal(broker_snapshot_queues(f.s->broker), 1);
    has(&f, &old, 1);
    queue_snapshot_end(f.s->broker, &old);
    broker_tick(f.s->broker, f.s->now);
    assert_int_equal(broker_snapshot_queues(f.s->broker), 0);
    assert_true(broker_next_due(f.s->broker) > broker_now(f.s->broker).mono);
}

static void queue_that_came_after_all_rolls_is_not_kept(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot roll;

    queue_snapshot_begin(f.s->broker, &roll);
    come(&f, 0);
    go(&f, 0);
    assert_int_equal(broker_snapshot_queues(f.s->broker), 0);
    queue_snapshot_end(f.s->broker, &roll);
}

static void very_many_queues_are_forgotten_in_slices(void **state)
{
    struct stage *s = *state;
    struct queue *queues[BROKER_SLICE * 3];
    struct queue_snapshot roll;
    unsigned ticks = 0;
    char name[16];

    for (unsigned i = 0; i < BROKER_SLICE * 3; i++) {
        (void)snprintf(name, sizeof name, "many-%u", i);
        assert_status(STATUS_OK, broker_queue_hold(s->broker, stage_slice(name), &queues[i]));
    }
    queue_snapshot_begin(s->broker, &roll);
    for (unsigned i = 0; i < BROKER_SLICE * 3; i++) {
        broker_queue_drop(s->broker, queues[i]);
    }
    queue_snapshot_end(s->broker, &roll);
    assert_int_equal(broker_snapshot_queues(s->broker), BROKER_SLICE * 3);
    while (broker_snapshot_queues(s->broker) > 0) {
        broker_tick(s->broker, s->now);
        ticks++;
    }
    assert_in_range(ticks, 3, 4);
}

static void a_broker_may_end_while_queues_are_still_to_be_forgotten(void **state)
{
    struct field f = {.s = *state};
    struct queue_snapshot roll;

    come(&f, 0);
    queue_snapshot_begin(f.s->broker, &roll);
    go(&f, 0);
    queue_snapshot_end(f.s->broker, &roll);
}

// A roll that may be there, and what must be on it.
struct expectation {
    struct queue_snapshot roll;
    uint64_t queues;
    bool there;
};

static void begin_or_end(struct field *f, struct expectation *e)
{
    if (!e->there) {
        queue_snapshot_begin(f->s->broker, &e->roll);
        e->queues = 0;
        for (unsigned i = 0; i < NAMES; i++) {
            e->queues |= f->queues[i] ? UINT64_C(1) << i : 0;
        }
    } else {
        queue_snapshot_end(f->s->broker, &e->roll);
    }
    e->there = !e->there;
}

static void rolls_are_right_whatever_comes_and_goes(void **state)
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
            has(&f, &snapshots[number].roll, snapshots[number].queues);
        }
    }
    for (unsigned i = 0; i < ROLLS; i++) {
        if (snapshots[i].there) {
            queue_snapshot_end(f.s->broker, &snapshots[i].roll);
        }
    }
    all_go(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(what_a_roll_passes_over_is_charged),
        STORY(very_many_queues_are_passed_over_in_slices),
        STORY(a_roll_goes_on_where_the_queue_that_it_stopped_at_is_forgotten),
        STORY(queues_come_in_the_order_of_their_making_whatever_has_gone),
        STORY(roll_has_the_queues_of_its_moment),
        STORY(queue_that_has_gone_is_there_for_the_roll_alone),
        STORY(queue_that_comes_again_is_listed_once),
        STORY(roll_that_began_after_a_queue_went_does_not_have_it),
        STORY(a_queue_goes_with_the_last_roll_that_has_it),
        STORY(queue_that_came_after_all_rolls_is_not_kept),
        STORY(very_many_queues_are_forgotten_in_slices),
        STORY(a_broker_may_end_while_queues_are_still_to_be_forgotten),
        STORY(rolls_are_right_whatever_comes_and_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
