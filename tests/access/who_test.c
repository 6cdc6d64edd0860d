/* SPDX-License-Identifier: MIT */
// Users, groups and networks: whom a rule is for.
#include "tests/access/rules.h"

#include <grp.h>
#include <pwd.h>

static bool fits_address(const char *who, const char *address)
{
    char text[128];
    struct access *access;
    unsigned rights;

    (void)snprintf(text, sizeof text, "%s work *", who);
    access = rules_of(text);
    rights = rights_of(access, peer_at(address), "q");
    access_free(access);
    return rights == MAY_WORK;
}

static void a_network_has_the_addresses_that_begin_alike(void **state)
{
    (void)state;
    assert_true(fits_address("net:10.0.0.0/8", "10.0.0.0"));
    assert_true(fits_address("net:10.0.0.0/8", "10.255.255.255"));
    assert_false(fits_address("net:10.0.0.0/8", "11.0.0.0"));
    assert_false(fits_address("net:10.0.0.0/8", "9.255.255.255"));
    assert_true(fits_address("net:192.168.16.0/20", "192.168.31.255"));
    assert_false(fits_address("net:192.168.16.0/20", "192.168.32.0"));
    assert_true(fits_address("net:0.0.0.0/0", "255.255.255.255"));
    assert_true(fits_address("net:2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(fits_address("net:2001:db8::/33", "2001:db8:8000::1"));
    assert_true(fits_address("net:::/0", "::1"));
}

static void an_address_is_a_network_of_its_own(void **state)
{
    (void)state;
    assert_true(fits_address("net:10.0.0.1", "10.0.0.1"));
    assert_false(fits_address("net:10.0.0.1", "10.0.0.2"));
    assert_true(fits_address("net:10.0.0.1/32", "10.0.0.1"));
    assert_true(fits_address("net:::1", "::1"));
    assert_false(fits_address("net:::1", "::2"));
    assert_true(fits_address("net:fe80::1/128", "fe80::1"));
}

static void a_mapped_address_is_one_of_ipv4(void **state)
{
    (void)state;
    assert_true(fits_address("net:10.0.0.0/8", "::ffff:10.1.2.3"));
    assert_true(fits_address("net:::ffff:10.0.0.0/104", "10.1.2.3"));
    assert_true(fits_address("net:::ffff:10.0.0.1", "10.0.0.1"));
    assert_false(fits_address("net:::ffff:10.0.0.1", "10.0.0.2"));
    assert_true(fits_address("net:::ffff:0:0/96", "10.0.0.1"));
    assert_false(fits_address("net:::/0", "10.0.0.1"));
    assert_false(fits_address("net:::/80", "10.0.0.1"));
    assert_false(fits_address("net:0.0.0.0/0", "::1"));
    assert_false(fits_address("net:0.0.0.0/0", "::10.0.0.1"));
}

static void a_network_is_not_for_those_without_an_address(void **state)
{
    struct access *access = rules_of("net:0.0.0.0/0 work *\nnet:::/0 work *");

    (void)state;
    assert_int_equal(rights_of(access, peer_user(0, NULL, 0), "q"), 0);
    access_free(access);
}

static void expect_wrong_who(const char *who, const char *what)
{
    char text[160], reason[256];

    (void)snprintf(text, sizeof text, "%s work *", who);
    (void)snprintf(reason, sizeof reason, "rules:1: \"%s\": %s", who, what);
    expect_refused(text, reason);
}

static void an_invalid_network_is_refused(void **state)
{
#define NO_ADDRESS "not an IPv4 or IPv6 address"
#define NO_BITS "the number of bits after the / is not valid for this address"
#define BITS_BEHIND "the address has bits set after its network"
    (void)state;
    expect_wrong_who("net:", NO_ADDRESS);
    expect_wrong_who("net:/8", NO_ADDRESS);
    expect_wrong_who("net:localhost", NO_ADDRESS);
    expect_wrong_who("net:10.0.0/8", NO_ADDRESS);
    expect_wrong_who("net:10.0.0.256", NO_ADDRESS);
    expect_wrong_who("net:010.0.0.0/8", NO_ADDRESS);
    expect_wrong_who("net:[::1]", NO_ADDRESS);
    expect_wrong_who("net:fe80::1%lo", NO_ADDRESS);
    expect_wrong_who("net:0000:0000:0000:0000:0000:0000:0000:00001", NO_ADDRESS);
    expect_refused("net:1111111111111111111111111111111111111111111111 work *",
                   "rules:1: \"net:1111111111111111111111111111111111111111\": " NO_ADDRESS);
    expect_wrong_who("net:10.0.0.0/", NO_BITS);
    expect_wrong_who("net:10.0.0.0/33", NO_BITS);
    expect_wrong_who("net:10.0.0.0/-1", NO_BITS);
    expect_wrong_who("net:10.0.0.0/8x", NO_BITS);
    expect_wrong_who("net:10.0.0.0/255.0.0.0", NO_BITS);
    expect_wrong_who("net:::/129", NO_BITS);
    expect_wrong_who("net:::/99999999999999999999", NO_BITS);
    expect_wrong_who("net:10.0.0.1/8", BITS_BEHIND);
    expect_wrong_who("net:10.128.0.0/8", BITS_BEHIND);
    expect_wrong_who("net:2001:db8::1/64", BITS_BEHIND);
    expect_wrong_who("net:::ffff:10.0.0.0/96", BITS_BEHIND);
}

static void a_user_is_known_by_name_or_number(void **state)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    const struct passwd *root = getpwuid(0);
    char text[128];
    struct access *access;

    (void)state;
    assert_non_null(root);
    (void)snprintf(text, sizeof text, "user:%s work *\nuser:4711 submit *\n", root->pw_name);
    access = rules_of(text);
    assert_int_equal(rights_of(access, peer_user(0, NULL, 0), "q"), MAY_WORK);
    assert_int_equal(rights_of(access, peer_user(4711, NULL, 0), "q"), MAY_SUBMIT);
    assert_int_equal(rights_of(access, peer_user(4712, NULL, 0), "q"), 0);
    assert_int_equal(rights_of(access, peer_at("127.0.0.1"), "q"), 0);
    access_free(access);
}

static void a_group_is_any_of_those_that_the_user_is_in(void **state)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    const struct group *first = getgrgid(0);
    const gid_t groups[] = {17, 0, 4711};
    const struct access_peer no_user = {.groups = groups, .group_count = 3};
    char text[128];
    struct access *access;

    (void)state;
    assert_non_null(first);
    (void)snprintf(text, sizeof text, "group:%s work *\ngroup:4711 submit *\n", first->gr_name);
    access = rules_of(text);
    assert_int_equal(rights_of(access, peer_user(1, groups, 3), "q"), MAY_WORK | MAY_SUBMIT);
    assert_int_equal(rights_of(access, peer_user(1, groups, 2), "q"), MAY_WORK);
    assert_int_equal(rights_of(access, peer_user(1, groups, 1), "q"), 0);
    assert_int_equal(rights_of(access, peer_user(4711, NULL, 0), "q"), 0);
    assert_int_equal(rights_of(access, no_user, "q"), 0);
    access_free(access);
}

static void users_and_groups_that_the_system_does_not_know_are_refused(void **state)
{
    char name[301] = "", text[400];

    (void)state;
    expect_wrong_who("user:no-such-user", "the system does not have this user");
    expect_wrong_who("group:no-such-group", "the system does not have this group");
    expect_wrong_who("user:", "the system does not have this user");
    expect_wrong_who("group:", "the system does not have this group");
    expect_wrong_who("user:4294967295", "not a valid user id");
    expect_wrong_who("group:4294967295", "not a valid group id");
    expect_wrong_who("user:18446744073709551616", "not a valid user id");
    memset(name, 'a', sizeof name - 1);
    (void)snprintf(text, sizeof text, "user:%s work *", name);
    expect_refused(text, "rules:1: \"user:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": the system "
                         "does not have this user");
}

static void any_matches_every_caller(void **state)
{
    struct access *access = rules_of("any work *");
    const gid_t group = 7;

    (void)state;
    assert_int_equal(rights_of(access, (struct access_peer){0}, "q"), MAY_WORK);
    assert_int_equal(rights_of(access, peer_at("10.0.0.1"), "q"), MAY_WORK);
    assert_int_equal(rights_of(access, peer_user(7, &group, 1), "q"), MAY_WORK);
    access_free(access);
}

static void all_that_a_peer_is_adds_up(void **state)
{
    struct access *access = rules_of("user:7 work *\ngroup:8 submit *\nnet:10.0.0.0/8 observe *\n"
                                     "cert:x operate *\n");
    const gid_t group = 8;
    const struct slice name = SLICE("x");
    struct access_peer peer = peer_user(7, &group, 1);

    (void)state;
    peer.has_address = true;
    peer.address = peer_at("10.1.1.1").address;
    peer.names = &name;
    peer.name_count = 1;
    assert_int_equal(rights_of(access, peer, "q"), MAY_EVERYTHING & ~(unsigned)MAY_ADMINISTER);
    access_free(access);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_has_the_addresses_that_begin_alike),
        cmocka_unit_test(an_address_is_a_network_of_its_own),
        cmocka_unit_test(a_mapped_address_is_one_of_ipv4),
        cmocka_unit_test(a_network_is_not_for_those_without_an_address),
        cmocka_unit_test(an_invalid_network_is_refused),
        cmocka_unit_test(a_user_is_known_by_name_or_number),
        cmocka_unit_test(a_group_is_any_of_those_that_the_user_is_in),
        cmocka_unit_test(users_and_groups_that_the_system_does_not_know_are_refused),
        cmocka_unit_test(any_matches_every_caller),
        cmocka_unit_test(all_that_a_peer_is_adds_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
