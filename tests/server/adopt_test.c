/* SPDX-License-Identifier: MIT */
// A listening socket that another process has made.
#include "server/net/listener.h"

#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
    struct event_base *base;
    struct listeners listeners;
    struct sockaddr_in addr; // of the socket
    int fd;                  // the socket
    int accepted;            // the connection that came in
};

static void fixture_accept(void *context, int fd, const char *peer)
{
    struct fixture *fixture = context;

    (void)peer;
    fixture->accepted = fd;
}

static bool fixture_adopt(struct fixture *fixture, bool tls, struct error_text *why)
{
    const struct listener_target target = {.protocol = "beanstalk",
                                           .accept = fixture_accept,
                                           .context = tls ? NULL : fixture,
                                           .tls_context = tls ? fixture : NULL};

    return listeners_adopt(&fixture->listeners, fixture->fd, tls, false, &target, why);
}

// A socket that blocks and has no options set.
static void fixture_open(struct fixture *fixture)
{
    socklen_t len = sizeof fixture->addr;

    fixture->base = event_base_new();
    assert_non_null(fixture->base);
    listeners_init(&fixture->listeners, fixture->base);
    fixture->accepted = -1;
    fixture->addr =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fixture->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fixture->fd, (const struct sockaddr *)&fixture->addr, len), 0);
    assert_int_equal(getsockname(fixture->fd, (struct sockaddr *)&fixture->addr, &len), 0);
    assert_int_equal(listen(fixture->fd, 1), 0);
}

static void fixture_close(struct fixture *fixture)
{
    listeners_close(&fixture->listeners);
    event_base_free(fixture->base);
}

static int option_of(int fd, int level, int name)
{
    int value = 0;
    socklen_t len = sizeof value;

    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void fixture_connect(const struct fixture *fixture, int client)
{
    assert_int_equal(connect(client, (const struct sockaddr *)&fixture->addr, sizeof fixture->addr),
                     0);
}

// A client that connects after the socket was adopted, or that has waited for it.
static void expect_connection(bool tls, bool waited)
{
    struct fixture fixture;
    struct error_text why;
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    fixture_open(&fixture);
    if (waited) {
        fixture_connect(&fixture, client);
    }
    assert_true(fixture_adopt(&fixture, tls, &why));
    listeners_limit_silence(&fixture.listeners, NSEC_PER_SEC);
    if (!waited) {
        fixture_connect(&fixture, client);
    }
    // Otherwise the loop would block once it has accepted the waiting connection.
    assert_int_not_equal(fcntl(fixture.fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(event_base_loop(fixture.base, EVLOOP_ONCE), 0);
    assert_true(fixture.accepted >= 0);
    assert_int_not_equal(option_of(fixture.accepted, IPPROTO_TCP, TCP_NODELAY), 0);
    assert_int_not_equal(option_of(fixture.accepted, SOL_SOCKET, SO_KEEPALIVE), 0);
    assert_int_equal(option_of(fixture.accepted, IPPROTO_TCP, TCP_KEEPIDLE), 60);
    assert_int_equal(option_of(fixture.accepted, IPPROTO_TCP, TCP_USER_TIMEOUT), 120000);
    assert_int_not_equal(fcntl(fixture.accepted, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(close(fixture.accepted), 0);
    assert_int_equal(close(client), 0);
    fixture_close(&fixture);
}

static void connection_is_set_up_like_any_other(void **state)
{
    (void)state;
    expect_connection(false, false);
}

static void connection_that_waited_before_is_set_up_like_any_other(void **state)
{
    (void)state;
    expect_connection(false, true);
}

static void connection_of_an_adopted_socket_with_tls_uses_tls(void **state)
{
    (void)state;
    expect_connection(true, false);
}

static void without_memory_the_socket_is_closed(void **state)
{
    struct fixture fixture;
    struct error_text why;

    (void)state;
    fixture_open(&fixture);
    nth_alloc_fail(1);
    assert_false(fixture_adopt(&fixture, false, &why));
    nth_alloc_fail(0);
    assert_string_equal(why.text, "out of memory");
    assert_int_equal(fcntl(fixture.fd, F_GETFD), -1);
    assert_true(listeners_empty(&fixture.listeners));
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connection_is_set_up_like_any_other),
        cmocka_unit_test(connection_that_waited_before_is_set_up_like_any_other),
        cmocka_unit_test(connection_of_an_adopted_socket_with_tls_uses_tls),
        cmocka_unit_test(without_memory_the_socket_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
