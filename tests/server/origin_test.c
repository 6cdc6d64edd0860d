/* SPDX-License-Identifier: MIT */
// Where a connection comes from, and what of that is this machine.
#include "server/transport/origin.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// A connection over the loopback of the family, to the address; the accepted end.
static struct origin origin_over(int family, const char *address, bool v6_only)
{
    struct sockaddr_storage addr = {.ss_family = (sa_family_t)family};
    struct sockaddr_in6 *inet6 = (void *)&addr;
    struct sockaddr_in *inet4 = (void *)&addr;
    socklen_t len = family == AF_INET6 ? sizeof *inet6 : sizeof *inet4;
    int listening = socket(family, SOCK_STREAM, 0);
    int client = socket(family, SOCK_STREAM, 0);
    int only = v6_only;
    struct origin origin;
    int fd;

    if (family == AF_INET6) {
        (void)setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
        (void)setsockopt(client, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
        assert_int_equal(inet_pton(AF_INET6, address, &inet6->sin6_addr), 1);
    } else {
        assert_int_equal(inet_pton(AF_INET, address, &inet4->sin_addr), 1);
    }
    assert_int_equal(bind(listening, (const struct sockaddr *)&addr, len), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&addr, &len), 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&addr, len), 0);
    fd = accept(listening, NULL, NULL);
    assert_true(fd >= 0);
    origin = origin_of(fd);
    (void)close(fd);
    (void)close(client);
    (void)close(listening);
    return origin;
}

static void expect_text(const struct origin *origin, const char *text)
{
    char got[ORIGIN_TEXT_MAX];

    origin_text(origin, got);
    assert_string_equal(got, text);
}

static void a_peer_over_ip_has_its_address(void **state)
{
    struct origin inet4 = origin_over(AF_INET, "127.0.0.1", false);
    struct origin inet6 = origin_over(AF_INET6, "::1", true);

    (void)state;
    assert_true(inet4.has_address && !inet4.has_user);
    assert_true(IN6_IS_ADDR_V4MAPPED(&inet4.address));
    expect_text(&inet4, "127.0.0.1");
    assert_true(inet6.has_address && !inet6.has_user);
    expect_text(&inet6, "::1");
}

static void an_ipv4_peer_at_an_ipv6_socket_is_the_same_peer(void **state)
{
    struct origin plain = origin_over(AF_INET, "127.0.0.1", false);
    struct origin mapped = origin_over(AF_INET6, "::ffff:127.0.0.1", false);

    (void)state;
    assert_memory_equal(&plain.address, &mapped.address, sizeof plain.address);
    expect_text(&mapped, "127.0.0.1");
    assert_true(origin_is_local(&mapped));
}

static void a_peer_over_a_unix_socket_is_a_user_with_groups(void **state)
{
    gid_t own[1024];
    int own_count = getgroups(1024, own);
    struct origin origin;
    size_t count;
    gid_t *groups;
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    origin = origin_of(fds[0]);
    assert_true(origin.has_user && !origin.has_address);
    assert_int_equal(origin.user, geteuid());
    groups = origin_groups(fds[0], &origin, &count);
    assert_non_null(groups);
    assert_int_equal(groups[0], getegid());
    assert_int_equal(count, 1 + (size_t)own_count);
    assert_memory_equal(groups + 1, own, (size_t)own_count * sizeof *own);
    free(groups);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void only_peers_on_this_machine_are_local(void **state)
{
    static const struct {
        const char *address;
        bool local;
    } cases[] = {
        {"::1", true},
        {"::ffff:127.0.0.1", true},
        {"::ffff:127.255.0.9", true},
        {"::", false},
        {"::2", false},
        {"::ffff:128.0.0.1", false},
        {"::127.0.0.1", false},
        {"7f00::1", false},
        {"::ffff:10.127.0.1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct origin origin = {.has_address = true};

        assert_int_equal(inet_pton(AF_INET6, cases[i].address, &origin.address), 1);
        assert_int_equal(origin_is_local(&origin), cases[i].local);
    }
    assert_true(origin_is_local(&(struct origin){.has_user = true}));
}

static void a_peer_that_the_kernel_has_forgotten_comes_from_nowhere(void **state)
{
    struct origin origin = origin_of(-1);

    (void)state;
    assert_false(origin.has_address || origin.has_user);
    assert_false(origin_is_local(&origin));
    expect_text(&origin, "-");
}

static void without_memory_a_user_has_no_groups(void **state)
{
    const struct origin origin = {.has_user = true};
    size_t count;

    (void)state;
    nth_alloc_fail(1);
    assert_null(origin_groups(-1, &origin, &count));
    nth_alloc_fail(0);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_over_ip_has_its_address),
        cmocka_unit_test(an_ipv4_peer_at_an_ipv6_socket_is_the_same_peer),
        cmocka_unit_test(a_peer_over_a_unix_socket_is_a_user_with_groups),
        cmocka_unit_test(only_peers_on_this_machine_are_local),
        cmocka_unit_test(a_peer_that_the_kernel_has_forgotten_comes_from_nowhere),
        cmocka_unit_test(without_memory_a_user_has_no_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
