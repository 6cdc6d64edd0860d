/* SPDX-License-Identifier: MIT */

// The connections of an address: which count, and until when.

#include "server/net/admission.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

union any_addr {
    struct sockaddr any;
    struct sockaddr_in inet4;
    struct sockaddr_in6 inet6;
};

struct pair {
    int client, accepted;
};

// A connection from an address of this machine to another of its kind, or to an IPv6 socket that
// takes IPv4, too.
static struct pair connection(const union any_addr *from, const union any_addr *to)
{
    union any_addr at = *to;
    socklen_t len = sizeof at;
    int off = 0;
    int listening = socket(to->any.sa_family, SOCK_STREAM, 0);
    struct pair pair = {.client = socket(from->any.sa_family, SOCK_STREAM, 0)};

    if (to->any.sa_family == AF_INET6) {
        (void)setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    assert_int_equal(bind(listening, &at.any, sizeof at), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, &at.any, &len), 0);
    if (from->any.sa_family != to->any.sa_family) {
        in_port_t port = at.inet6.sin6_port;

        at = (union any_addr){.inet4 = {.sin_family = AF_INET,
                                        .sin_port = port,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    }
    assert_int_equal(bind(pair.client, &from->any, sizeof *from), 0);
    assert_int_equal(connect(pair.client, &at.any, sizeof at), 0);
    pair.accepted = accept(listening, NULL, NULL);
    assert_true(pair.accepted >= 0);
    (void)close(listening);
    return pair;
}

static union any_addr inet4(uint32_t host)
{
    return (union any_addr){.inet4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(host)}};
}

static struct pair from_host(uint32_t host)
{
    const union any_addr from = inet4(host);
    const union any_addr to = inet4(INADDR_LOOPBACK);

    return connection(&from, &to);
}

// By a socket that listens for both kinds.
static struct pair from_mapped_host(uint32_t host)
{
    const union any_addr from = inet4(host);
    const union any_addr to = {.inet6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any}};

    return connection(&from, &to);
}

static void pair_close(struct pair pair)
{
    (void)close(pair.client);
    (void)close(pair.accepted);
}

static int setup(void **state)
{
    const struct siphash_key key = {{1, 2}};

    *state = peer_limits_new(&key);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    peer_limits_free(*state);
    return 0;
}

static void each_address_has_its_own_limit(void **state)
{
    struct peer_limits *peer_limits = *state;
    struct pair one = from_host(INADDR_LOOPBACK);
    struct pair two = from_host(INADDR_LOOPBACK);
    struct pair three = from_host(INADDR_LOOPBACK);
    struct pair other = from_host(INADDR_LOOPBACK + 1);

    peer_limits_set(peer_limits, 2);
    assert_true(peer_limits_enter(peer_limits, one.accepted, 0));
    assert_true(peer_limits_enter(peer_limits, two.accepted, 0));
    assert_false(peer_limits_enter(peer_limits, three.accepted, 0));
    assert_true(peer_limits_enter(peer_limits, other.accepted, 0));
    // It was not counted, so leaving changes nothing.
    peer_limits_leave(peer_limits, three.accepted);
    assert_false(peer_limits_enter(peer_limits, three.accepted, 0));
    peer_limits_leave(peer_limits, one.accepted);
    assert_true(peer_limits_enter(peer_limits, three.accepted, 0));
    pair_close(one);
    pair_close(two);
    pair_close(three);
    pair_close(other);
}

static void ipv4_address_is_the_same_at_a_socket_for_both_kinds(void **state)
{
    struct peer_limits *peer_limits = *state;
    struct pair one = from_host(INADDR_LOOPBACK);
    struct pair two = from_mapped_host(INADDR_LOOPBACK);
    struct pair other = from_mapped_host(INADDR_LOOPBACK + 1);

    peer_limits_set(peer_limits, 1);
    assert_true(peer_limits_enter(peer_limits, one.accepted, 0));
    assert_false(peer_limits_enter(peer_limits, two.accepted, 0));
    assert_true(peer_limits_enter(peer_limits, other.accepted, 0));
    pair_close(one);
    pair_close(two);
    pair_close(other);
}

static void unix_peers_and_connections_from_before_the_limit_are_not_counted(void **state)
{
    struct peer_limits *peer_limits = *state;
    struct pair before = from_host(INADDR_LOOPBACK);
    struct pair one = from_host(INADDR_LOOPBACK);
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_true(peer_limits_enter(peer_limits, before.accepted, 0));
    peer_limits_set(peer_limits, 1);
    assert_true(peer_limits_enter(peer_limits, fds[0], 0));
    assert_true(peer_limits_enter(peer_limits, fds[1], 0));
    assert_true(peer_limits_enter(peer_limits, one.accepted, 0));
    peer_limits_leave(peer_limits, before.accepted);
    assert_false(peer_limits_enter(peer_limits, before.accepted, 0));
    peer_limits_set(peer_limits, 0);
    assert_true(peer_limits_enter(peer_limits, before.accepted, 0));
    (void)close(fds[0]);
    (void)close(fds[1]);
    pair_close(before);
    pair_close(one);
}

static void socket_that_cannot_be_counted_is_refused(void **state)
{
    struct peer_limits *peer_limits = *state;
    struct pair one = from_host(INADDR_LOOPBACK);

    peer_limits_set(peer_limits, 1);
    // The first allocation stays: a place for the descriptor, then one in the table.
    for (size_t i = 0; i < 3; i++) {
        nth_alloc_fail(i == 0 ? 1 : 2);
        assert_false(peer_limits_enter(peer_limits, one.accepted, 0));
        nth_alloc_fail(0);
    }
    assert_true(peer_limits_enter(peer_limits, one.accepted, 0));
    pair_close(one);
}

static void without_peer_limits_every_socket_is_taken(void **state)
{
    (void)state;
    assert_true(peer_limits_enter(NULL, 0, 0));
    peer_limits_leave(NULL, 0);
    peer_limits_free(NULL);
}

#define CLIENTS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLIENTS(each_address_has_its_own_limit),
        CLIENTS(ipv4_address_is_the_same_at_a_socket_for_both_kinds),
        CLIENTS(unix_peers_and_connections_from_before_the_limit_are_not_counted),
        CLIENTS(socket_that_cannot_be_counted_is_refused),
        cmocka_unit_test(without_peer_limits_every_socket_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
