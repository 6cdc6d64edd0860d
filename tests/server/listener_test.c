/* SPDX-License-Identifier: MIT */
// Listening sockets: their addresses, their files, and running out of descriptors.
#include "server/net/listener.h"

#include "core/base/log.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

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

// Contexts of connections with TLS and without.
struct way {
    struct fixture *fixture;
    unsigned accepted_count;
};

struct fixture {
    struct event_base *base;
    struct way plain;
    struct way tls;
    struct listeners listeners;
    struct error_text why;
    char addresses[8][160]; // that were logged
    unsigned listening;
    unsigned failures; // to accept, that were logged
    unsigned accepted_count;
    int accepted; // the latest
    char peer[PEER_TEXT_MAX];
    char dir[32];
    char path[64];    // of a socket
    char address[80]; // of the same
};

static void fixture_log(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    struct fixture *fixture = context;

    (void)level;
    (void)count;
    if (strcmp(event, "listening") == 0) {
        assert_in_range(fixture->listening, 0, 7);
        (void)snprintf(fixture->addresses[fixture->listening++], sizeof fixture->addresses[0],
                       "%.*s", (int)fields[0].text.len, fields[0].text.ptr);
    } else if (strcmp(event, "accept_failed") == 0) {
        fixture->failures++;
    }
}

static void fixture_accept(void *context, int fd, const char *peer)
{
    struct way *way = context;
    struct fixture *fixture = way->fixture;

    way->accepted_count++;
    fixture->accepted_count++;
    fixture->accepted = fd;
    (void)snprintf(fixture->peer, sizeof fixture->peer, "%s", peer);
}

static int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    nth_alloc_fail(0);
    fixture->base = event_base_new();
    fixture->plain.fixture = fixture;
    fixture->tls.fixture = fixture;
    listeners_init(&fixture->listeners, fixture->base);
    (void)snprintf(fixture->dir, sizeof fixture->dir, "/tmp/tandem-listen-XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    (void)snprintf(fixture->path, sizeof fixture->path, "%s/socket", fixture->dir);
    (void)snprintf(fixture->address, sizeof fixture->address, "unix:%s", fixture->path);
    log_set_sink(fixture_log, fixture, LOG_LEVEL_DEBUG);
    *state = fixture;
    return 0;
}

static int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    nth_alloc_fail(0);
    listeners_close(&fixture->listeners);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    event_base_free(fixture->base);
    (void)unlink(fixture->path);
    assert_int_equal(rmdir(fixture->dir), 0);
    free(fixture);
    return 0;
}

static bool fixture_open(struct fixture *fixture, const char *addresses)
{
    const struct listener_target target = {.protocol = "stub",
                                           .accept = fixture_accept,
                                           .context = &fixture->plain,
                                           .tls_context = &fixture->tls};

    return listeners_open(&fixture->listeners, addresses, &target, &fixture->why);
}

static void fixture_turn(struct fixture *fixture)
{
    (void)event_base_loop(fixture->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

// Connects to 127.0.0.1 at the port of a logged address.
static int connect_to(const char *address)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    addr.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    return fd;
}

// Connects to the unix socket; -1: no process listens.
static int connect_unix(const struct fixture *fixture)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", fixture->path);
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

// A socket file as a killed process leaves it.
static void leave_stale_socket(const struct fixture *fixture)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", fixture->path);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    (void)close(fd);
}

static void expect_reason(const struct fixture *fixture, const char *words)
{
    if (!strstr(fixture->why.text, words)) {
        fail_msg("expected \"%s\" in: %s", words, fixture->why.text);
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
    struct fixture *fixture = *state;
    int client;

    assert_true(fixture_open(fixture, "127.0.0.1:0"));
    assert_int_equal(fixture->listening, 1);
    client = connect_to(fixture->addresses[0]);
    fixture_turn(fixture);
    assert_int_equal(fixture->accepted_count, 1);
    assert_memory_equal(fixture->peer, "127.0.0.1:", 10);
    assert_true(fcntl(fixture->accepted, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fixture->accepted, F_GETFD) & FD_CLOEXEC);
    assert_true(flag_of(fixture->accepted, IPPROTO_TCP, TCP_NODELAY));
    assert_true(flag_of(fixture->accepted, SOL_SOCKET, SO_KEEPALIVE));
    assert_int_equal(flag_of(fixture->accepted, IPPROTO_TCP, TCP_KEEPIDLE), 60);
    assert_int_equal(flag_of(fixture->accepted, IPPROTO_TCP, TCP_KEEPINTVL), 10);
    assert_int_equal(flag_of(fixture->accepted, IPPROTO_TCP, TCP_KEEPCNT), 6);
    (void)close(fixture->accepted);
    (void)close(client);
}

// For the kernel, a peer that does not read is gone: it must not close the connection earlier than
// the broker does.
static void lost_peer_is_given_up_after_two_minutes_unless_one_may_be_slower(void **state)
{
    static const struct {
        nsec_t unread_for;
        int lost_after;
    } cases[] = {
        {60 * NSEC_PER_SEC, 120000}, {120 * NSEC_PER_SEC, 120000}, {121 * NSEC_PER_SEC, 0}, {0, 0}};
    struct fixture *fixture = *state;

    assert_true(fixture_open(fixture, "127.0.0.1:0"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int client;

        listeners_limit_silence(&fixture->listeners, cases[i].unread_for);
        client = connect_to(fixture->addresses[0]);
        fixture_turn(fixture);
        assert_int_equal(flag_of(fixture->accepted, IPPROTO_TCP, TCP_USER_TIMEOUT),
                         cases[i].lost_after);
        (void)close(fixture->accepted);
        (void)close(client);
    }
}

static void several_addresses_are_listened_at(void **state)
{
    struct fixture *fixture = *state;
    char text[256];
    int clients[3];

    (void)snprintf(text, sizeof text, "127.0.0.1:0, localhost:0 %s", fixture->address);
    assert_true(fixture_open(fixture, text));
    assert_in_range(fixture->listening, 3, 4);
    assert_string_equal(fixture->addresses[fixture->listening - 1], fixture->address);
    clients[0] = connect_to(fixture->addresses[0]);
    clients[1] = connect_unix(fixture);
    fixture_turn(fixture);
    fixture_turn(fixture);
    assert_int_equal(fixture->accepted_count, 2);
    (void)close(clients[0]);
    (void)close(clients[1]);
}

// Each connection has a descriptor of its own.
static void drop_accepted(const struct fixture *fixture)
{
    (void)close(fixture->accepted);
}

static void addresses_with_tls_and_without_stand_side_by_side(void **state)
{
    struct fixture *fixture = *state;
    char text[256];
    char expected[128];
    int clients[3];

    (void)snprintf(text, sizeof text, "tls:127.0.0.1:0 127.0.0.1:0 tls:%s", fixture->address);
    (void)snprintf(expected, sizeof expected, "tls:%s", fixture->address);
    assert_true(fixture_open(fixture, text));
    assert_int_equal(fixture->listening, 3);
    assert_memory_equal(fixture->addresses[0], "tls:127.0.0.1:", 14);
    assert_memory_equal(fixture->addresses[1], "127.0.0.1:", 10);
    assert_string_equal(fixture->addresses[2], expected);
    clients[0] = connect_to(fixture->addresses[0]);
    fixture_turn(fixture);
    assert_int_equal(fixture->tls.accepted_count, 1);
    drop_accepted(fixture);
    clients[1] = connect_to(fixture->addresses[1]);
    fixture_turn(fixture);
    assert_int_equal(fixture->plain.accepted_count, 1);
    drop_accepted(fixture);
    clients[2] = connect_unix(fixture);
    fixture_turn(fixture);
    assert_int_equal(fixture->tls.accepted_count, 2);
    drop_accepted(fixture);
    for (size_t i = 0; i < 3; i++) {
        (void)close(clients[i]);
    }
}

static bool shuts_with_tls(void *context, const char *protocol, bool tls)
{
    assert_non_null(context);
    assert_string_equal(protocol, "stub");
    return tls;
}

static void connections_at_an_address_that_is_shut_wait(void **state)
{
    struct fixture *fixture = *state;
    int clients[2];

    assert_true(fixture_open(fixture, "tls:127.0.0.1:0 127.0.0.1:0"));
    listeners_shut(&fixture->listeners, shuts_with_tls, fixture);
    for (unsigned i = 0; i < 2; i++) {
        clients[i] = connect_to(fixture->addresses[i]);
    }
    fixture_turn(fixture);
    assert_int_equal(fixture->plain.accepted_count, 1);
    assert_int_equal(fixture->tls.accepted_count, 0);
    drop_accepted(fixture);
    listeners_shut(&fixture->listeners, NULL, NULL);
    fixture_turn(fixture);
    assert_int_equal(fixture->tls.accepted_count, 1);
    drop_accepted(fixture);
    (void)close(clients[0]);
    (void)close(clients[1]);
}

static void empty_list_listens_nowhere(void **state)
{
    struct fixture *fixture = *state;

    assert_true(fixture_open(fixture, ""));
    assert_true(listeners_empty(&fixture->listeners));
}

static void any_address_includes_the_loopback(void **state)
{
    struct fixture *fixture = *state;
    int client;

    assert_true(fixture_open(fixture, "*:0"));
    assert_in_range(fixture->listening, 1, 2);
    for (unsigned i = 0; i < fixture->listening; i++) {
        if (fixture->addresses[i][0] != '[') {
            client = connect_to(fixture->addresses[i]);
            fixture_turn(fixture);
            (void)close(client);
        }
    }
    assert_int_equal(fixture->accepted_count, 1);
    (void)close(fixture->accepted);
}

static void address_in_use_is_an_error_that_names_it(void **state)
{
    struct fixture *fixture = *state;
    char taken[160];

    assert_true(fixture_open(fixture, "127.0.0.1:0"));
    (void)snprintf(taken, sizeof taken, "%s", fixture->addresses[0]);
    assert_false(fixture_open(fixture, taken));
    expect_reason(fixture, taken);
    expect_reason(fixture, "Address already in use");
}

static void unknown_host_is_an_error_that_names_it(void **state)
{
    struct fixture *fixture = *state;

    assert_false(fixture_open(fixture, "no-such-host.invalid:80"));
    expect_reason(fixture, "no-such-host.invalid:80: ");
}

static void unix_socket_is_removed_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct stat st;
    int client;

    assert_true(fixture_open(fixture, fixture->address));
    client = connect_unix(fixture);
    fixture_turn(fixture);
    assert_string_equal(fixture->peer, "unix:");
    (void)close(client);
    (void)close(fixture->accepted);
    listeners_close(&fixture->listeners);
    assert_int_equal(lstat(fixture->path, &st), -1);
}

static void stale_unix_socket_is_replaced(void **state)
{
    struct fixture *fixture = *state;
    int client;

    leave_stale_socket(fixture);
    assert_true(fixture_open(fixture, fixture->address));
    client = connect_unix(fixture);
    assert_in_range(client, 0, 1000);
    (void)close(client);
}

static void unix_socket_that_answers_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    int client;

    assert_true(fixture_open(fixture, fixture->address));
    assert_false(fixture_open(fixture, fixture->address));
    expect_reason(fixture, "another process listens");
    client = connect_unix(fixture);
    assert_in_range(client, 0, 1000);
    (void)close(client);
}

static void file_that_is_not_a_socket_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct stat st;

    (void)close(open(fixture->path, O_CREAT | O_WRONLY, 0600));
    assert_false(fixture_open(fixture, fixture->address));
    expect_reason(fixture, "the file there is not a socket");
    assert_int_equal(lstat(fixture->path, &st), 0);
}

static void socket_of_a_successor_is_not_removed(void **state)
{
    struct fixture *fixture = *state;
    struct stat st;

    assert_true(fixture_open(fixture, fixture->address));
    (void)unlink(fixture->path);
    leave_stale_socket(fixture);
    listeners_close(&fixture->listeners);
    assert_int_equal(lstat(fixture->path, &st), 0);
}

// While this holds, no descriptor above the highest open one can be had.
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
    struct fixture *fixture = *state;
    rlim_t former;
    int client;

    assert_true(fixture_open(fixture, "127.0.0.1:0"));
    client = connect_to(fixture->addresses[0]);
    former = forbid_descriptors(client);
    for (int i = 0; i < 20; i++) {
        fixture_turn(fixture);
    }
    allow_descriptors(former);
    assert_int_equal(fixture->accepted_count, 0);
    assert_int_equal(fixture->failures, 1);
    while (fixture->accepted_count == 0) {
        (void)event_base_loop(fixture->base, EVLOOP_ONCE);
    }
    (void)close(fixture->accepted);
    (void)close(client);
}

static void resting_listeners_can_be_closed(void **state)
{
    struct fixture *fixture = *state;
    rlim_t former;
    int client;

    assert_true(fixture_open(fixture, "127.0.0.1:0"));
    client = connect_to(fixture->addresses[0]);
    former = forbid_descriptors(client);
    fixture_turn(fixture);
    allow_descriptors(former);
    listeners_close(&fixture->listeners);
    assert_int_equal(event_base_get_num_events(fixture->base, EVENT_BASE_COUNT_ADDED), 0);
    (void)close(client);
}

static void listener_without_memory_is_an_error(void **state)
{
    struct fixture *fixture = *state;

    nth_alloc_fail(1);
    assert_false(fixture_open(fixture, "127.0.0.1:0"));
    expect_reason(fixture, "out of memory");
    assert_true(listeners_empty(&fixture->listeners));
}

#define FIXTURE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(connection_comes_in_ready_for_use),
        FIXTURE_TEST(lost_peer_is_given_up_after_two_minutes_unless_one_may_be_slower),
        FIXTURE_TEST(several_addresses_are_listened_at),
        FIXTURE_TEST(connections_at_an_address_that_is_shut_wait),
        FIXTURE_TEST(addresses_with_tls_and_without_stand_side_by_side),
        FIXTURE_TEST(empty_list_listens_nowhere),
        FIXTURE_TEST(any_address_includes_the_loopback),
        FIXTURE_TEST(address_in_use_is_an_error_that_names_it),
        FIXTURE_TEST(unknown_host_is_an_error_that_names_it),
        FIXTURE_TEST(unix_socket_is_removed_at_the_end),
        FIXTURE_TEST(stale_unix_socket_is_replaced),
        FIXTURE_TEST(unix_socket_that_answers_is_left_alone),
        FIXTURE_TEST(file_that_is_not_a_socket_is_left_alone),
        FIXTURE_TEST(socket_of_a_successor_is_not_removed),
        FIXTURE_TEST(listeners_rest_when_descriptors_run_out_and_come_back),
        FIXTURE_TEST(resting_listeners_can_be_closed),
        FIXTURE_TEST(listener_without_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
