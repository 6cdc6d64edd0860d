/* SPDX-License-Identifier: MIT */
// Slots that are reserved for each kind of connection.
#include "server/net/admission.h"

#include "tests/support/with_cmocka.h"

#include <string.h>
#include <sys/resource.h>

#define MOST 6400
#define BIT(kind) (1u << (kind))

static int seats_setup(void **state)
{
    static struct slots slots;

    slots = (struct slots){.listened = SLOTS_ALL};
    assert_true(slots_init(&slots));
    *state = &slots;
    return 0;
}

static int seats_teardown(void **state)
{
    slots_clear(*state);
    return 0;
}

static void set_taken(struct slots *slots, unsigned kind, uint64_t count)
{
    atomic_store(&slots->taken[kind], count);
}

static void socket_releases_the_slot_that_it_took(void **state)
{
    struct slots *slots = *state;

    slots_take(slots, 5, 1);
    slots_take(slots, 6, SLOT_KIND_LOCAL);
    assert_int_equal(slots->taken[1], 1);
    assert_int_equal(slots->taken[SLOT_KIND_LOCAL], 1);
    slots_release(slots, 5);
    slots_release(slots, 5);
    slots_release(slots, 7);
    assert_int_equal(slots->taken[1], 0);
    assert_int_equal(slots->taken[SLOT_KIND_LOCAL], 1);
}

static void limit_of_descriptors_may_be_raised_later(void **state)
{
    struct slots slots = {.listened = SLOTS_ALL};
    struct rlimit files;
    struct rlimit few;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    few = (struct rlimit){.rlim_cur = 64, .rlim_max = files.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_true(slots_init(&slots));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    slots_take(&slots, 100, 1);
    assert_int_equal(slots.taken[1], 1);
    slots_clear(&slots);
}

static void nothing_is_full_while_there_are_slots(void **state)
{
    struct slots *slots = *state;

    set_taken(slots, 0, MOST - SLOT_KINDS * SLOTS_RESERVED - 1);
    assert_int_equal(slots_full(slots, MOST - SLOT_KINDS * SLOTS_RESERVED - 1, MOST), 0);
}

static void one_kind_leaves_the_others_their_own_slots(void **state)
{
    const uint64_t others = (SLOT_KINDS - 1) * SLOTS_RESERVED;
    struct slots *slots = *state;

    set_taken(slots, 0, MOST - others - 1);
    assert_int_equal(slots_full(slots, MOST - others - 1, MOST), 0);
    set_taken(slots, 0, MOST - others);
    assert_int_equal(slots_full(slots, MOST - others, MOST), BIT(0));
    // Each kind has its own slots, and no more.
    set_taken(slots, 1, SLOTS_RESERVED - 1);
    assert_int_equal(slots_full(slots, MOST - others + SLOTS_RESERVED - 1, MOST), BIT(0));
    set_taken(slots, 1, SLOTS_RESERVED);
    assert_int_equal(slots_full(slots, MOST - others + SLOTS_RESERVED, MOST), BIT(0) | BIT(1));
}

static void kind_without_a_port_has_no_slots_of_its_own(void **state)
{
    struct slots *slots = *state;

    slots->listened = BIT(0) | BIT(2);
    set_taken(slots, 0, MOST - SLOTS_RESERVED - 1);
    assert_int_equal(slots_full(slots, MOST - SLOTS_RESERVED - 1, MOST), 0);
    set_taken(slots, 0, MOST - SLOTS_RESERVED);
    assert_true(slots_full(slots, MOST - SLOTS_RESERVED, MOST) & BIT(0));
    assert_false(slots_full(slots, MOST - SLOTS_RESERVED, MOST) & BIT(2));
}

// Clients that fill the unix sockets do not keep operators away from theirs.
static void operators_have_slots_of_their_own_at_unix_sockets_too(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FRONTENDS; i++) {
        bool administers = strcmp(frontends[i]->name, "admin") == 0;

        assert_int_equal(slot_kind(i, false), i);
        assert_int_equal(slot_kind(i, true), administers ? i : SLOT_KIND_LOCAL);
    }
}

// Operators may be about to free memory.
static void operators_can_always_take_the_slots_reserved_for_them(void **state)
{
    struct slots *slots = *state;

    for (unsigned i = 0; i < FRONTENDS; i++) {
        set_taken(slots, i, SLOTS_RESERVED);
        assert_int_equal(slots_administer(slots, i), frontends[i]->administers);
        set_taken(slots, i, SLOTS_RESERVED + 1);
        assert_false(slots_administer(slots, i));
    }
}

static void all_are_full_when_no_slot_is_free(void **state)
{
    struct slots *slots = *state;

    set_taken(slots, 0, MOST);
    assert_int_equal(slots_full(slots, MOST, MOST), SLOTS_ALL);
    assert_int_equal(slots_full(slots, MOST + 3, MOST), SLOTS_ALL);
}

static unsigned operators(void)
{
    unsigned kind = 0;

    while (!frontends[kind]->administers) {
        kind++;
    }
    return kind;
}

static void with_few_slots_kinds_have_few_of_their_own(void **state)
{
    const uint64_t others = 2 * (SLOT_KINDS - 2) + SLOTS_OPERATORS;
    struct slots *slots = *state;

    // Two of 128.
    set_taken(slots, 0, 128 - others);
    assert_int_equal(slots_full(slots, 128 - others, 128), BIT(0));
    set_taken(slots, 0, 128 - others - 1);
    assert_int_equal(slots_full(slots, 128 - others - 1, 128), 0);
}

static void with_very_few_slots_operators_have_some_of_their_own(void **state)
{
    struct slots *slots = *state;

    for (uint64_t most = 4; most <= 64; most++) {
        uint64_t own = most / 4 < SLOTS_OPERATORS ? most / 4 : SLOTS_OPERATORS;
        uint64_t clients = most - own;

        // Clients take all they can get.
        set_taken(slots, operators(), 0);
        set_taken(slots, 0, clients);
        assert_true(slots_full(slots, clients, most) & BIT(0));
        for (uint64_t taken = 0; taken < own; taken++) {
            set_taken(slots, operators(), taken);
            assert_false(slots_full(slots, clients + taken, most) & BIT(operators()));
            assert_true(slots_full(slots, clients + taken, most) & BIT(0));
        }
    }
}

#define SLOTS_TEST(name) cmocka_unit_test_setup_teardown(name, seats_setup, seats_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SLOTS_TEST(socket_releases_the_slot_that_it_took),
        SLOTS_TEST(limit_of_descriptors_may_be_raised_later),
        SLOTS_TEST(nothing_is_full_while_there_are_slots),
        SLOTS_TEST(one_kind_leaves_the_others_their_own_slots),
        SLOTS_TEST(kind_without_a_port_has_no_slots_of_its_own),
        SLOTS_TEST(operators_have_slots_of_their_own_at_unix_sockets_too),
        SLOTS_TEST(operators_can_always_take_the_slots_reserved_for_them),
        SLOTS_TEST(all_are_full_when_no_slot_is_free),
        SLOTS_TEST(with_few_slots_kinds_have_few_of_their_own),
        SLOTS_TEST(with_very_few_slots_operators_have_some_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
