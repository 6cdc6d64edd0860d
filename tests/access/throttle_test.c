/* SPDX-License-Identifier: MIT */
// How fast wrong tokens are looked at, in virtual time.
#include "tests/access/rules.h"

#include "access/throttle.h"

#include <stdlib.h>

#define MINUTE (60 * NSEC_PER_SEC)
#define START (1000 * NSEC_PER_SEC)

static int setup(void **state)
{
    *state = throttle_new();
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    throttle_free(*state);
    return 0;
}

// Tries wrong tokens at that moment until one must wait; returns how many were looked at, and when
// the next one is.
static unsigned try_all(struct throttle *throttle, struct access_peer peer, nsec_t now,
                        nsec_t *next_at)
{
    unsigned looked = 0;

    while ((*next_at = throttle_ask(throttle, &peer, now)) == 0) {
        throttle_wrong(throttle, &peer, now);
        looked++;
        assert_true(looked < 1000);
    }
    return looked;
}

static void exhaust(struct throttle *throttle, struct access_peer peer, nsec_t now)
{
    nsec_t next_at;

    (void)try_all(throttle, peer, now, &next_at);
}

static bool must_wait(const struct throttle *throttle, struct access_peer peer, nsec_t now)
{
    return throttle_ask(throttle, &peer, now) != 0;
}

static void a_hundred_are_looked_at_at_once(void **state)
{
    nsec_t next_at;

    assert_int_equal(try_all(*state, peer_at("10.0.0.1"), START, &next_at), 100);
    assert_int_equal(next_at, START + THROTTLE_DROP_FOR);
}

static void then_one_in_600_milliseconds(void **state)
{
    const struct access_peer peer = peer_at("10.0.0.1");
    nsec_t now = START, next_at;

    exhaust(*state, peer, now);
    for (unsigned i = 1; i < 200; i++) {
        assert_true(must_wait(*state, peer, now + THROTTLE_DROP_FOR - 1));
        now += THROTTLE_DROP_FOR;
        assert_int_equal(try_all(*state, peer, now, &next_at), 1);
        assert_int_equal(next_at, now + THROTTLE_DROP_FOR);
    }
}

static void after_a_minute_of_peace_all_is_forgotten(void **state)
{
    const struct access_peer peer = peer_at("10.0.0.1");
    nsec_t next_at;

    exhaust(*state, peer, START);
    assert_int_equal(try_all(*state, peer, START + MINUTE / 2, &next_at), 50);
    assert_int_equal(try_all(*state, peer, START + 2 * MINUTE, &next_at), 100);
}

static void right_tokens_count_for_nothing(void **state)
{
    const struct access_peer peer = peer_at("10.0.0.1");

    for (unsigned i = 0; i < 1000; i++) {
        assert_false(must_wait(*state, peer, START));
    }
}

static void addresses_do_not_slow_each_other_down(void **state)
{
    exhaust(*state, peer_at("10.0.0.1"), START);
    assert_false(must_wait(*state, peer_at("10.0.0.2"), START));
    assert_false(must_wait(*state, peer_at("::1"), START));
    assert_false(must_wait(*state, peer_user(0, NULL, 0), START));
    assert_true(must_wait(*state, peer_at("::ffff:10.0.0.1"), START));
}

static void an_ipv6_address_counts_by_its_network(void **state)
{
    exhaust(*state, peer_at("2001:db8:1:2::1"), START);
    assert_true(must_wait(*state, peer_at("2001:db8:1:2:3:4:5:6"), START));
    assert_false(must_wait(*state, peer_at("2001:db8:1:3::1"), START));
}

static void mapped_addresses_are_not_one_network(void **state)
{
    exhaust(*state, peer_at("10.0.0.1"), START);
    assert_false(must_wait(*state, peer_at("::1"), START));
    assert_false(must_wait(*state, peer_at("11.0.0.1"), START));
}

static void addresses_and_users_of_the_same_bytes_are_not_the_same(void **state)
{
    exhaust(*state, peer_at("::1"), START);
    assert_false(must_wait(*state, peer_user(0, NULL, 0), START));
    assert_false(must_wait(*state, (struct access_peer){0}, START));
    exhaust(*state, peer_user(0, NULL, 0), START);
    assert_false(must_wait(*state, (struct access_peer){0}, START));
}

static void a_user_of_this_machine_counts_by_its_number(void **state)
{
    const gid_t group = 7;

    exhaust(*state, peer_user(7, NULL, 0), START);
    assert_true(must_wait(*state, peer_user(7, &group, 1), START));
    assert_false(must_wait(*state, peer_user(8, NULL, 0), START));
    assert_false(must_wait(*state, (struct access_peer){0}, START));
}

static struct access_peer peer_number(unsigned number)
{
    char address[INET_ADDRSTRLEN];

    (void)snprintf(address, sizeof address, "10.%u.%u.%u", number >> 16 & 255, number >> 8 & 255,
                   number & 255);
    return peer_at(address);
}

static void many_addresses_do_not_push_out_the_worst(void **state)
{
    const struct access_peer worst = peer_at("192.168.0.1");

    exhaust(*state, worst, START);
    for (unsigned i = 0; i < 20000; i++) {
        const struct access_peer peer = peer_number(i);

        if (throttle_ask(*state, &peer, START) == 0) {
            throttle_wrong(*state, &peer, START);
        }
    }
    assert_true(must_wait(*state, worst, START));
}

static void an_address_that_replaces_another_takes_over_its_drops(void **state)
{
    const struct access_peer late = peer_at("192.168.0.1");
    nsec_t next_at;

    for (unsigned i = 0; i < THROTTLE_ADDRESSES; i++) {
        exhaust(*state, peer_number(i), START);
    }
    assert_int_equal(try_all(*state, late, START, &next_at), 1);
    assert_int_equal(next_at, START + THROTTLE_DROP_FOR);
}

static void no_peer_waits_longer_than_for_one_drop(void **state)
{
    for (unsigned i = 0; i < 200 * THROTTLE_ADDRESSES; i++) {
        const struct access_peer peer = peer_number(i % (3 * THROTTLE_ADDRESSES));

        throttle_wrong(*state, &peer, START);
    }
    for (unsigned i = 0; i < 3 * THROTTLE_ADDRESSES; i++) {
        assert_false(must_wait(*state, peer_number(i), START + THROTTLE_DROP_FOR));
    }
}

static void an_address_without_a_bucket_does_not_wait(void **state)
{
    for (unsigned i = 0; i < THROTTLE_ADDRESSES; i++) {
        exhaust(*state, peer_number(i), START);
    }
    assert_false(must_wait(*state, peer_at("192.168.0.1"), START));
    assert_true(must_wait(*state, peer_number(17), START));
}

static void a_place_that_has_leaked_out_is_as_new(void **state)
{
    const struct access_peer late = peer_at("192.168.0.1");
    nsec_t next_at;

    for (unsigned i = 0; i < THROTTLE_ADDRESSES; i++) {
        exhaust(*state, peer_number(i), START);
    }
    exhaust(*state, peer_number(5), START + MINUTE / 2);
    assert_int_equal(try_all(*state, late, START + MINUTE, &next_at), 100);
    assert_int_equal(try_all(*state, peer_number(6), START + 3 * MINUTE, &next_at), 100);
}

#define THROTTLED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        THROTTLED(a_hundred_are_looked_at_at_once),
        THROTTLED(then_one_in_600_milliseconds),
        THROTTLED(after_a_minute_of_peace_all_is_forgotten),
        THROTTLED(right_tokens_count_for_nothing),
        THROTTLED(addresses_do_not_slow_each_other_down),
        THROTTLED(an_ipv6_address_counts_by_its_network),
        THROTTLED(mapped_addresses_are_not_one_network),
        THROTTLED(addresses_and_users_of_the_same_bytes_are_not_the_same),
        THROTTLED(a_user_of_this_machine_counts_by_its_number),
        THROTTLED(many_addresses_do_not_push_out_the_worst),
        THROTTLED(an_address_that_replaces_another_takes_over_its_drops),
        THROTTLED(no_peer_waits_longer_than_for_one_drop),
        THROTTLED(an_address_without_a_bucket_does_not_wait),
        THROTTLED(a_place_that_has_leaked_out_is_as_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
