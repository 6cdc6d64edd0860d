/* SPDX-License-Identifier: MIT */
// Connections with one command each: what each costs, and that many at once do not delay others.
#include "server/net/listener.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// System calls of the broker while turns passed.
struct calls {
    unsigned accepts;
    unsigned receives;
    unsigned sends;
    unsigned options; // that were set
    unsigned closes;
    unsigned watched; // of those, while the kernel watched the descriptor
};

static struct calls calls;
static bool counts;

int __real_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
ssize_t __real_recv(int fd, void *bytes, size_t len, int flags);
ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __real_close(int fd);

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_close(int fd);

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    calls.accepts += counts ? 1 : 0;
    return __real_accept4(fd, addr, len, flags);
}

ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags)
{
    calls.receives += counts ? 1 : 0;
    return __real_recv(fd, bytes, len, flags);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
    calls.sends += counts ? 1 : 0;
    return __real_send(fd, bytes, len, flags);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    calls.options += counts ? 1 : 0;
    return __real_setsockopt(fd, level, name, value, len);
}

// Whether a file of /proc describes an epoll that watches this descriptor.
static bool tells_of(const char *name, int watched)
{
    char path[64];
    char line[128];
    bool found = false;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%.16s", name);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        found = found || (strncmp(line, "tfd:", 4) == 0 && strtol(line + 4, NULL, 10) == watched);
    }
    if (file) {
        (void)fclose(file);
    }
    return found;
}

static bool is_watched(int fd)
{
    DIR *all = opendir("/proc/self/fdinfo");
    const struct dirent *one;
    bool found = false;

    assert_non_null(all);
    while ((one = readdir(all))) {
        found = found || tells_of(one->d_name, fd);
    }
    (void)closedir(all);
    return found;
}

int __wrap_close(int fd)
{
    if (counts) {
        calls.closes++;
        calls.watched += is_watched(fd) ? 1 : 0;
    }
    return __real_close(fd);
}

struct fixture {
    struct bed bed;
    struct listeners listeners;
    struct sockaddr_in addr; // of the socket that listens
};

static void fixture_accept(void *context, int fd, const char *peer)
{
    struct fixture *fixture = context;

    turn_tick(&fixture->bed.loop.turn);
    conn_open(&fixture->bed.service, fd, NULL, peer);
}

static int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    const struct listener_target target = {
        .protocol = "bed", .accept = fixture_accept, .context = fixture};
    socklen_t len = sizeof fixture->addr;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct error_text why;

    bed_init(&fixture->bed, bed_now);
    fixture->addr =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (const struct sockaddr *)&fixture->addr, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&fixture->addr, &len), 0);
    assert_int_equal(listen(fd, 1024), 0);
    listeners_init(&fixture->listeners, fixture->bed.loop.turn.base);
    assert_true(listeners_adopt(&fixture->listeners, fd, false, false, &target, &why));
    counts = false;
    calls = (struct calls){0};
    *state = fixture;
    return 0;
}

static int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    listeners_close(&fixture->listeners);
    bed_close(&fixture->bed);
    free(fixture);
    return 0;
}

static int client_connect(const struct fixture *fixture)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&fixture->addr, sizeof fixture->addr), 0);
    return fd;
}

static void client_send(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void client_expect(int client, const char *text)
{
    char reply[32];

    assert_int_equal(recv(client, reply, sizeof reply, MSG_DONTWAIT), strlen(text));
    assert_memory_equal(reply, text, strlen(text));
}

static void pass(struct fixture *fixture, unsigned turns)
{
    counts = true;
    bed_turns(&fixture->bed, turns);
    counts = false;
}

static void short_connections_make_no_needless_system_call(void **state)
{
    enum { CLIENTS = 10 };
    struct fixture *fixture = *state;
    int clients[CLIENTS];

    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = client_connect(fixture);
        client_send(clients[i], "put\n");
    }
    pass(fixture, 3);
    for (int i = 0; i < CLIENTS; i++) {
        client_expect(clients[i], "put\n");
        client_send(clients[i], "quit\n");
        (void)close(clients[i]);
    }
    pass(fixture, 3);
    assert_int_equal(fixture->bed.front.open, 0);
    assert_int_equal(calls.accepts, CLIENTS);
    assert_int_equal(calls.receives, 2 * CLIENTS);
    assert_int_equal(calls.sends, CLIENTS);
    assert_int_equal(calls.options, 0);
}

static void input_that_waits_at_the_begin_is_answered_in_that_turn(void **state)
{
    struct fixture *fixture = *state;
    int client = client_connect(fixture);

    client_send(client, "at once\n");
    pass(fixture, 1);
    client_expect(client, "at once\n");
    (void)close(client);
}

static void turn_reads_a_bounded_number_of_new_connections(void **state)
{
    enum { CLIENTS = TURN_CONNS_MAX + 40 };
    struct bed *bed = &((struct fixture *)*state)->bed;
    int fds[CLIENTS][2];

    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds[i]), 0);
        client_send(fds[i][0], "line\n");
        conn_open(&bed->service, fds[i][1], NULL, "test");
    }
    assert_in_range(bed->front.feeds, 1, TURN_CONNS_MAX);
    bed_turns(bed, 4);
    assert_int_equal(bed->front.feeds, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        client_expect(fds[i][0], "line\n");
        (void)close(fds[i][0]);
    }
}

// The kernel stops watching with the last descriptor; the next one has the same number.
static void descriptor_of_a_closed_connection_serves_the_next(void **state)
{
    struct fixture *fixture = *state;
    int number = -1;

    for (int i = 0; i < 3; i++) {
        int client = client_connect(fixture);

        pass(fixture, 1);
        assert_true(i == 0 || bed_latest(&fixture->bed)->fd == number);
        number = bed_latest(&fixture->bed)->fd;
        client_send(client, "late\nquit\n");
        pass(fixture, 2);
        client_expect(client, "late\n");
        (void)close(client);
        assert_int_equal(fixture->bed.front.open, 0);
    }
}

// Otherwise another thread, or a file, could get the number before the kernel is told to stop
// watching.
static void closed_descriptor_is_not_watched(void **state)
{
    struct fixture *fixture = *state;
    int client = client_connect(fixture);

    pass(fixture, 1);
    assert_true(is_watched(bed_latest(&fixture->bed)->fd));
    client_send(client, "quit\n");
    pass(fixture, 2);
    assert_int_equal(fixture->bed.front.open, 0);
    assert_int_equal(calls.closes, 1);
    assert_int_equal(calls.watched, 0);
    (void)close(client);
}

#define SHORT_TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHORT_TEST(short_connections_make_no_needless_system_call),
        SHORT_TEST(input_that_waits_at_the_begin_is_answered_in_that_turn),
        SHORT_TEST(turn_reads_a_bounded_number_of_new_connections),
        SHORT_TEST(descriptor_of_a_closed_connection_serves_the_next),
        SHORT_TEST(closed_descriptor_is_not_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
