/* SPDX-License-Identifier: MIT */
// Listening sockets: what they are bound to, what is left behind, and running out of descriptors.
#include "server/listener.h"

#include "core/base/log.h"
#include "tests/support/nth_alloc.h"
#include "tests/server/server_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct hall {
    struct event_base *base;
    struct listeners listeners;
    struct reason why;
    char addresses[8][160]; // that the log named
    unsigned listening;
    unsigned failures; // to accept, that the log named
    unsigned guests;
    int guest; // the latest
    char peer[PEER_TEXT_MAX];
    char dir[32];
    char path[64];    // of a socket
    char address[80]; // of the same
};

static void hall_log(void *context, enum log_level level, const char *event,
                     const struct log_field *fields, size_t count)
{
    struct hall *hall = context;

    (void)level;
    (void)count;
    if (strcmp(event, "listening") == 0) {
        assert_in_range(hall->listening, 0, 7);
        (void)snprintf(hall->addresses[hall->listening++], sizeof hall->addresses[0], "%.*s",
                       (int)fields[0].text.len, fields[0].text.ptr);
    } else if (strcmp(event, "accept_failed") == 0) {
        hall->failures++;
    }
}

static void hall_accept(void *context, int fd, const char *peer)
{
    struct hall *hall = context;

    hall->guests++;
    hall->guest = fd;
    (void)snprintf(hall->peer, sizeof hall->peer, "%s", peer);
}

static int hall_setup(void **state)
{
    struct hall *hall = calloc(1, sizeof *hall);

    nth_alloc_fail(0);
    hall->base = event_base_new();
    listeners_init(&hall->listeners, hall->base);
    (void)snprintf(hall->dir, sizeof hall->dir, "/tmp/tandem-listen-XXXXXX");
    assert_non_null(mkdtemp(hall->dir));
    (void)snprintf(hall->path, sizeof hall->path, "%s/socket", hall->dir);
    (void)snprintf(hall->address, sizeof hall->address, "unix:%s", hall->path);
    log_set_sink(hall_log, hall, LOG_LEVEL_DEBUG);
    *state = hall;
    return 0;
}

static int hall_teardown(void **state)
{
    struct hall *hall = *state;

    nth_alloc_fail(0);
    listeners_close(&hall->listeners);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    event_base_free(hall->base);
    (void)unlink(hall->path);
    assert_int_equal(rmdir(hall->dir), 0);
    free(hall);
    return 0;
}

static bool hall_open(struct hall *hall, const char *addresses)
{
    return listeners_open(&hall->listeners, addresses, "stub", hall_accept, hall, &hall->why);
}

static void hall_turn(struct hall *hall)
{
    (void)event_base_loop(hall->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

// Connects to 127.0.0.1 at the port of an address that the log named.
static int connect_to(const char *address)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    addr.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    return fd;
}

// Connects to the unix socket; -1 where nobody listens.
static int connect_unix(const struct hall *hall)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", hall->path);
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

// A socket file as a process leaves it that was killed.
static void leave_stale_socket(const struct hall *hall)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", hall->path);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    (void)close(fd);
}

static void expect_reason(const struct hall *hall, const char *words)
{
    if (!strstr(hall->why.text, words)) {
        fail_msg("expected \"%s\" in: %s", words, hall->why.text);
    }
}

static int flag_of(int fd, int level, int name)
{
    int value = 0;
    socklen_t len = sizeof value;

    assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

static void connection_comes_in_ready_for_use(void **state)
{
    struct hall *hall = *state;
    int client;

    assert_true(hall_open(hall, "127.0.0.1:0"));
    assert_int_equal(hall->listening, 1);
    client = connect_to(hall->addresses[0]);
    hall_turn(hall);
    assert_int_equal(hall->guests, 1);
    assert_memory_equal(hall->peer, "127.0.0.1:", 10);
    assert_true(fcntl(hall->guest, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(hall->guest, F_GETFD) & FD_CLOEXEC);
    assert_true(flag_of(hall->guest, IPPROTO_TCP, TCP_NODELAY));
    assert_true(flag_of(hall->guest, SOL_SOCKET, SO_KEEPALIVE));
    (void)close(hall->guest);
    (void)close(client);
}

static void several_addresses_are_listened_at(void **state)
{
    struct hall *hall = *state;
    char text[256];
    int clients[3];

    (void)snprintf(text, sizeof text, "127.0.0.1:0, localhost:0 %s", hall->address);
    assert_true(hall_open(hall, text));
    assert_in_range(hall->listening, 3, 4);
    assert_string_equal(hall->addresses[hall->listening - 1], hall->address);
    clients[0] = connect_to(hall->addresses[0]);
    clients[1] = connect_unix(hall);
    hall_turn(hall);
    hall_turn(hall);
    assert_int_equal(hall->guests, 2);
    (void)close(clients[0]);
    (void)close(clients[1]);
}

static void empty_list_listens_nowhere(void **state)
{
    struct hall *hall = *state;

    assert_true(hall_open(hall, ""));
    assert_true(listeners_empty(&hall->listeners));
}

static void any_address_includes_the_loopback(void **state)
{
    struct hall *hall = *state;
    int client;

    assert_true(hall_open(hall, "*:0"));
    assert_in_range(hall->listening, 1, 2);
    for (unsigned i = 0; i < hall->listening; i++) {
        if (hall->addresses[i][0] != '[') {
            client = connect_to(hall->addresses[i]);
            hall_turn(hall);
            (void)close(client);
        }
    }
    assert_int_equal(hall->guests, 1);
    (void)close(hall->guest);
}

static void address_in_use_is_an_error_that_names_it(void **state)
{
    struct hall *hall = *state;
    char taken[160];

    assert_true(hall_open(hall, "127.0.0.1:0"));
    (void)snprintf(taken, sizeof taken, "%s", hall->addresses[0]);
    assert_false(hall_open(hall, taken));
    expect_reason(hall, taken);
    expect_reason(hall, "Address already in use");
}

static void unknown_host_is_an_error_that_names_it(void **state)
{
    struct hall *hall = *state;

    assert_false(hall_open(hall, "no-such-host.invalid:80"));
    expect_reason(hall, "no-such-host.invalid:80: ");
}

static void unix_socket_is_removed_at_the_end(void **state)
{
    struct hall *hall = *state;
    struct stat st;
    int client;

    assert_true(hall_open(hall, hall->address));
    client = connect_unix(hall);
    hall_turn(hall);
    assert_string_equal(hall->peer, "unix:");
    (void)close(client);
    (void)close(hall->guest);
    listeners_close(&hall->listeners);
    assert_int_equal(lstat(hall->path, &st), -1);
}

static void stale_unix_socket_is_replaced(void **state)
{
    struct hall *hall = *state;
    int client;

    leave_stale_socket(hall);
    assert_true(hall_open(hall, hall->address));
    client = connect_unix(hall);
    assert_in_range(client, 0, 1000);
    (void)close(client);
}

static void unix_socket_that_answers_is_left_alone(void **state)
{
    struct hall *hall = *state;
    int client;

    assert_true(hall_open(hall, hall->address));
    assert_false(hall_open(hall, hall->address));
    expect_reason(hall, "another process listens");
    client = connect_unix(hall);
    assert_in_range(client, 0, 1000);
    (void)close(client);
}

static void file_that_is_no_socket_is_left_alone(void **state)
{
    struct hall *hall = *state;
    struct stat st;

    (void)close(open(hall->path, O_CREAT | O_WRONLY, 0600));
    assert_false(hall_open(hall, hall->address));
    expect_reason(hall, "something else than a socket");
    assert_int_equal(lstat(hall->path, &st), 0);
}

static void socket_of_a_successor_is_not_removed(void **state)
{
    struct hall *hall = *state;
    struct stat st;

    assert_true(hall_open(hall, hall->address));
    (void)unlink(hall->path);
    leave_stale_socket(hall);
    listeners_close(&hall->listeners);
    assert_int_equal(lstat(hall->path, &st), 0);
}

// No descriptor above the highest that is open now can be had while this holds.
static rlim_t forbid_descriptors(int highest)
{
    struct rlimit limit;
    rlim_t former;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    former = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)highest + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return former;
}

static void allow_descriptors(rlim_t former)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = former;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void listeners_rest_when_descriptors_run_out_and_come_back(void **state)
{
    struct hall *hall = *state;
    rlim_t former;
    int client;

    assert_true(hall_open(hall, "127.0.0.1:0"));
    client = connect_to(hall->addresses[0]);
    former = forbid_descriptors(client);
    for (int i = 0; i < 20; i++) {
        hall_turn(hall);
    }
    allow_descriptors(former);
    assert_int_equal(hall->guests, 0);
    assert_int_equal(hall->failures, 1);
    while (hall->guests == 0) {
        (void)event_base_loop(hall->base, EVLOOP_ONCE);
    }
    (void)close(hall->guest);
    (void)close(client);
}

static void resting_listeners_can_be_closed(void **state)
{
    struct hall *hall = *state;
    rlim_t former;
    int client;

    assert_true(hall_open(hall, "127.0.0.1:0"));
    client = connect_to(hall->addresses[0]);
    former = forbid_descriptors(client);
    hall_turn(hall);
    allow_descriptors(former);
    listeners_close(&hall->listeners);
    assert_int_equal(event_base_get_num_events(hall->base, EVENT_BASE_COUNT_ADDED), 0);
    (void)close(client);
}

static void listener_without_memory_is_an_error(void **state)
{
    struct hall *hall = *state;

    nth_alloc_fail(1);
    assert_false(hall_open(hall, "127.0.0.1:0"));
    expect_reason(hall, "out of memory");
    assert_true(listeners_empty(&hall->listeners));
}

#define HALL_TEST(name) cmocka_unit_test_setup_teardown(name, hall_setup, hall_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HALL_TEST(connection_comes_in_ready_for_use),
        HALL_TEST(several_addresses_are_listened_at),
        HALL_TEST(empty_list_listens_nowhere),
        HALL_TEST(any_address_includes_the_loopback),
        HALL_TEST(address_in_use_is_an_error_that_names_it),
        HALL_TEST(unknown_host_is_an_error_that_names_it),
        HALL_TEST(unix_socket_is_removed_at_the_end),
        HALL_TEST(stale_unix_socket_is_replaced),
        HALL_TEST(unix_socket_that_answers_is_left_alone),
        HALL_TEST(file_that_is_no_socket_is_left_alone),
        HALL_TEST(socket_of_a_successor_is_not_removed),
        HALL_TEST(listeners_rest_when_descriptors_run_out_and_come_back),
        HALL_TEST(resting_listeners_can_be_closed),
        HALL_TEST(listener_without_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
