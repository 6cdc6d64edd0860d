/* SPDX-License-Identifier: MIT */
// A listening socket that somebody else made.
#include "server/listener.h"

#include "tests/support/nth_alloc.h"
#include "tests/server/server_cmocka.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

struct porch {
    struct event_base *base;
    struct listeners listeners;
    struct sockaddr_in addr; // of the socket
    int fd;                  // the socket
    int guest;               // that came in
};

static void porch_accept(void *context, int fd, const char *peer)
{
    struct porch *porch = context;

    (void)peer;
    porch->guest = fd;
}

// A socket as plain as can be: it blocks and has no options set.
static void porch_open(struct porch *porch)
{
    socklen_t len = sizeof porch->addr;

    porch->base = event_base_new();
    assert_non_null(porch->base);
    listeners_init(&porch->listeners, porch->base);
    porch->guest = -1;
    porch->addr =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    porch->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(porch->fd, (const struct sockaddr *)&porch->addr, len), 0);
    assert_int_equal(getsockname(porch->fd, (struct sockaddr *)&porch->addr, &len), 0);
    assert_int_equal(listen(porch->fd, 1), 0);
}

static void porch_close(struct porch *porch)
{
    listeners_close(&porch->listeners);
    event_base_free(porch->base);
}

static int option_of(int fd, int level, int name)
{
    int value = 0;
    socklen_t len = sizeof value;

    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void connection_is_set_up_like_any_other(void **state)
{
    struct porch porch;
    struct reason why;
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    porch_open(&porch);
    assert_true(
        listeners_adopt(&porch.listeners, porch.fd, "beanstalk", porch_accept, &porch, &why));
    assert_int_equal(connect(client, (const struct sockaddr *)&porch.addr, sizeof porch.addr), 0);
    // Otherwise the loop would stand still once it has accepted the one that is waiting.
    assert_int_not_equal(fcntl(porch.fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(event_base_loop(porch.base, EVLOOP_ONCE), 0);
    assert_true(porch.guest >= 0);
    assert_int_not_equal(option_of(porch.guest, IPPROTO_TCP, TCP_NODELAY), 0);
    assert_int_not_equal(option_of(porch.guest, SOL_SOCKET, SO_KEEPALIVE), 0);
    assert_int_not_equal(fcntl(porch.guest, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(close(porch.guest), 0);
    assert_int_equal(close(client), 0);
    porch_close(&porch);
}

static void without_memory_the_socket_is_closed(void **state)
{
    struct porch porch;
    struct reason why;

    (void)state;
    porch_open(&porch);
    nth_alloc_fail(1);
    assert_false(
        listeners_adopt(&porch.listeners, porch.fd, "beanstalk", porch_accept, &porch, &why));
    nth_alloc_fail(0);
    assert_string_equal(why.text, "out of memory");
    assert_int_equal(fcntl(porch.fd, F_GETFD), -1);
    assert_true(listeners_empty(&porch.listeners));
    porch_close(&porch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connection_is_set_up_like_any_other),
        cmocka_unit_test(without_memory_the_socket_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
