/* SPDX-License-Identifier: MIT */
// Connections that a standby passes to the owner: which are taken, where they go, and how they end.
#include "server/proxy/proxy.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/net/admission.h"
#include "server/process/clock.h"
#include "tests/server/proxy_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
    struct proxy_bed bed;
    struct proxy_limits limits;
    struct proxy *proxy;
    int owner; // listens
    uint16_t port;
    char text[128]; // what the owner advertises
    unsigned began; // that were logged
    unsigned ended;
    unsigned failed;
    char why[64]; // of the last failure
};

static void fixture_log(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    struct fixture *fixture = context;

    if (strcmp(event, "proxy_began") == 0) {
        assert_int_equal(level, LOG_LEVEL_DEBUG);
        fixture->began++;
    } else if (strcmp(event, "proxy_ended") == 0) {
        assert_int_equal(level, LOG_LEVEL_DEBUG);
        fixture->ended++;
    } else if (strcmp(event, "proxy_failed") == 0) {
        assert_int_equal(level, LOG_LEVEL_WARN);
        fixture->failed++;
        (void)snprintf(fixture->why, sizeof fixture->why, "%.*s", (int)fields[count - 1].text.len,
                       fields[count - 1].text.ptr);
    }
}

static int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    nth_alloc_fail(0);
    proxy_bed_open(&fixture->bed);
    fixture->limits = (struct proxy_limits){.most = 10000, .connect_for = PROXY_CONNECT_FOR};
    fixture->proxy = proxy_new(fixture->bed.base, &fixture->limits);
    fixture->owner = bed_listen(&fixture->port);
    (void)snprintf(fixture->text, sizeof fixture->text, "http=127.0.0.1:%u", fixture->port);
    log_set_sink(fixture_log, fixture, LOG_LEVEL_DEBUG);
    *state = fixture;
    return 0;
}

static int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    nth_alloc_fail(0);
    proxy_free(fixture->proxy);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    (void)close(fixture->owner);
    proxy_bed_close(&fixture->bed);
    assert_int_equal(memory_counted(), 0);
    free(fixture);
    return 0;
}

// A client that was given to the proxy; whether it was taken.
static bool come_to(struct fixture *fixture, const char *protocol, bool tls, int *client)
{
    int fds[2];

    bed_connect(fds);
    *client = fds[0];
    return bed_pass(fixture->proxy, fds[1], "10.0.0.9:4711", protocol, tls);
}

static int come(struct fixture *fixture)
{
    int client;

    assert_true(come_to(fixture, "http", false, &client));
    return client;
}

// The owner's end of the next connection.
static int accept_next(struct fixture *fixture, int listening)
{
    int fd = -1;

    BED_UNTIL(&fixture->bed, (fd = bed_accept(listening)) >= 0);
    return fd;
}

static void expect_open(const struct fixture *fixture, uint64_t open, uint64_t total)
{
    uint64_t is_open;
    uint64_t in_total;

    proxy_show(fixture->proxy, &is_open, &in_total);
    assert_int_equal(is_open, open);
    assert_int_equal(in_total, total);
}

static uint64_t count_open(const struct fixture *fixture)
{
    uint64_t open;
    uint64_t total;

    proxy_show(fixture->proxy, &open, &total);
    return open;
}

static void expect_talk(struct fixture *fixture, int one, int other)
{
    char at_other[64] = "";
    char at_one[64] = "";

    bed_send(one, "question");
    BED_UNTIL(&fixture->bed, bed_has_got(other, at_other, "question"));
    bed_send(other, "answer");
    BED_UNTIL(&fixture->bed, bed_has_got(one, at_one, "answer"));
}

static void connection_goes_to_the_owners_address_of_its_protocol_and_kind(void **state)
{
    static const char *const protocols[] = {"http", "http", "beanstalk", "gearman"};
    static const bool with_tls[] = {false, true, false, true};
    struct fixture *fixture = *state;
    char text[256] = "";
    int listening[4];
    int clients[4];

    for (unsigned i = 0; i < 4; i++) {
        uint16_t port;
        size_t len = strlen(text);

        listening[i] = bed_listen(&port);
        (void)snprintf(text + len, sizeof text - len, "%s%s=127.0.0.1:%u ", protocols[i],
                       with_tls[i] ? "+tls" : "", port);
    }
    proxy_aim(fixture->proxy, text);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(proxy_can_take(fixture->proxy, protocols[i], with_tls[i]));
        assert_true(come_to(fixture, protocols[i], with_tls[i], &clients[i]));
    }
    expect_open(fixture, 4, 4);
    for (unsigned i = 0; i < 4; i++) {
        int fd = accept_next(fixture, listening[i]);

        expect_talk(fixture, clients[i], fd);
        (void)close(fd);
        BED_UNTIL(&fixture->bed, bed_has_ended(clients[i]));
        (void)close(clients[i]);
        (void)close(listening[i]);
    }
    BED_UNTIL(&fixture->bed, count_open(fixture) == 0);
    expect_open(fixture, 0, 4);
    assert_int_equal(fixture->began, 4);
    assert_int_equal(fixture->ended, 4);
    assert_int_equal(fixture->failed, 0);
}

static void expect_none_taken(struct fixture *fixture, const char *protocol, bool tls)
{
    int client;

    assert_false(proxy_can_take(fixture->proxy, protocol, tls));
    assert_false(come_to(fixture, protocol, tls, &client));
    BED_UNTIL(&fixture->bed, bed_has_ended(client));
    (void)close(client);
}

static void without_an_owner_no_connection_is_taken(void **state)
{
    struct fixture *fixture = *state;

    expect_none_taken(fixture, "http", false);
    proxy_aim(fixture->proxy, "");
    expect_none_taken(fixture, "http", false);
    proxy_aim(fixture->proxy, fixture->text);
    assert_true(proxy_can_take(fixture->proxy, "http", false));
    proxy_aim(fixture->proxy, "");
    expect_none_taken(fixture, "http", false);
    expect_open(fixture, 0, 0);
}

static void protocol_or_kind_that_the_owner_does_not_have_is_not_taken(void **state)
{
    struct fixture *fixture = *state;

    proxy_aim(fixture->proxy, fixture->text);
    expect_none_taken(fixture, "http", true);
    expect_none_taken(fixture, "gearman", false);
}

static void text_that_is_too_long_names_no_owner(void **state)
{
    struct fixture *fixture = *state;
    char text[600] = "http=127.0.0.1:1 ";

    memset(text + strlen(text), 'x', sizeof text - strlen(text) - 1);
    text[sizeof text - 1] = '\0';
    proxy_aim(fixture->proxy, text);
    assert_false(proxy_can_take(fixture->proxy, "http", false));
}

static void connections_beyond_the_limit_are_refused(void **state)
{
    struct fixture *fixture = *state;
    int clients[2];

    proxy_limit(fixture->proxy, 2);
    proxy_aim(fixture->proxy, fixture->text);
    clients[0] = come(fixture);
    clients[1] = come(fixture);
    expect_none_taken(fixture, "http", false);
    expect_open(fixture, 2, 2);
    // A connection that ends frees a place.
    (void)close(accept_next(fixture, fixture->owner));
    (void)close(clients[0]);
    BED_UNTIL(&fixture->bed, count_open(fixture) == 1);
    assert_true(proxy_can_take(fixture->proxy, "http", false));
    (void)close(clients[1]);
}

// A socket that has a port and does not listen: connecting to it is refused.
static int bind_closed(uint16_t *port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof addr;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
    *port = ntohs(addr.sin_port);
    return fd;
}

static void owner_that_refuses_ends_it_and_rests_for_a_moment(void **state)
{
    struct fixture *fixture = *state;
    char text[128];
    uint16_t port;
    int closed = bind_closed(&port);
    int clients[3];

    (void)snprintf(text, sizeof text, "http=127.0.0.1:%u", port);
    proxy_aim(fixture->proxy, text);
    for (unsigned i = 0; i < 3; i++) {
        (void)come_to(fixture, "http", false, &clients[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        BED_UNTIL(&fixture->bed, bed_has_ended(clients[i]));
        (void)close(clients[i]);
    }
    BED_UNTIL(&fixture->bed, count_open(fixture) == 0);
    // The log is told once.
    assert_int_equal(fixture->failed, 1);
    assert_string_equal(fixture->why, "Connection refused");
    assert_int_equal(fixture->began, 0);
    BED_UNTIL(&fixture->bed, proxy_can_take(fixture->proxy, "http", false));
    (void)close(closed);
}

static void one_of_the_owners_addresses_rests_alone(void **state)
{
    struct fixture *fixture = *state;
    char text[256];
    uint16_t port;
    int client;
    int closed = bind_closed(&port);

    (void)snprintf(text, sizeof text, "%s gearman=127.0.0.1:%u", fixture->text, port);
    proxy_aim(fixture->proxy, text);
    (void)come_to(fixture, "gearman", false, &client);
    BED_UNTIL(&fixture->bed, fixture->failed > 0);
    assert_false(proxy_can_take(fixture->proxy, "gearman", false));
    assert_true(proxy_can_take(fixture->proxy, "http", false));
    (void)close(client);
    (void)close(closed);
}

// A socket that listens, and answers no client any more.
static int listen_deaf(uint16_t *port, int fillers[8])
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = bed_listen(port);

    assert_int_equal(listen(fd, 0), 0);
    addr.sin_port = htons(*port);
    for (unsigned i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(fillers[i], (struct sockaddr *)&addr, sizeof addr);
    }
    return fd;
}

static void owner_that_does_not_answer_in_time_ends_it(void **state)
{
    struct fixture *fixture = *state;
    int fillers[8];
    char text[64];
    uint16_t port;
    int deaf = listen_deaf(&port, fillers);
    int client;

    proxy_free(fixture->proxy);
    fixture->limits.connect_for = 50 * NSEC_PER_MSEC;
    fixture->proxy = proxy_new(fixture->bed.base, &fixture->limits);
    (void)snprintf(text, sizeof text, "http=127.0.0.1:%u", port);
    proxy_aim(fixture->proxy, text);
    client = come(fixture);
    BED_UNTIL(&fixture->bed, bed_has_ended(client));
    assert_int_equal(fixture->failed, 1);
    assert_string_equal(fixture->why, "Connection timed out");
    expect_open(fixture, 0, 1);
    (void)close(client);
    (void)close(deaf);
    for (unsigned i = 0; i < 8; i++) {
        (void)close(fillers[i]);
    }
}

static void another_owner_ends_all_connections_and_the_same_owner_keeps_them(void **state)
{
    struct fixture *fixture = *state;
    struct siphash_key key = {0};
    struct peer_limits *peer_limits = peer_limits_new(&key);
    int fds[2];
    int client;
    int fd;

    peer_limits_set(peer_limits, 1);
    proxy_free(fixture->proxy);
    fixture->limits.peer_limits = peer_limits;
    fixture->proxy = proxy_new(fixture->bed.base, &fixture->limits);
    proxy_aim(fixture->proxy, fixture->text);
    bed_connect(fds);
    client = fds[0];
    assert_true(peer_limits_enter(peer_limits, fds[1], 0));
    assert_true(bed_pass(fixture->proxy, fds[1], "127.0.0.1:1", "http", false));
    fd = accept_next(fixture, fixture->owner);
    expect_talk(fixture, client, fd);
    proxy_aim(fixture->proxy, fixture->text);
    expect_talk(fixture, client, fd);
    proxy_aim(fixture->proxy, "http=127.0.0.1:1");
    expect_open(fixture, 0, 1);
    BED_UNTIL(&fixture->bed, bed_has_ended(client));
    BED_UNTIL(&fixture->bed, bed_has_ended(fd));
    (void)close(client);
    (void)close(fd);
    // Its address has no connection any more.
    bed_connect(fds);
    assert_true(peer_limits_enter(peer_limits, fds[1], 0));
    proxy_aim(fixture->proxy, "");
    assert_false(bed_pass(fixture->proxy, fds[1], "127.0.0.1:1", "http", false));
    assert_int_equal(atomic_load(&peer_limits_slots(peer_limits)->taken[0]), 0);
    (void)close(fds[0]);
    peer_limits_free(peer_limits);
}

static void connection_that_is_still_being_made_ends_with_the_owner(void **state)
{
    struct fixture *fixture = *state;
    int client;

    proxy_aim(fixture->proxy, fixture->text);
    client = come(fixture);
    proxy_aim(fixture->proxy, "");
    expect_open(fixture, 0, 1);
    BED_UNTIL(&fixture->bed, bed_has_ended(client));
    (void)close(client);
}

static void client_that_left_before_the_owner_answered_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    int client;
    int fd;

    proxy_aim(fixture->proxy, fixture->text);
    client = come(fixture);
    bed_send(client, "bye");
    (void)close(client);
    fd = accept_next(fixture, fixture->owner);
    BED_UNTIL(&fixture->bed, bed_has_ended(fd));
    BED_UNTIL(&fixture->bed, bed_has_ended(fd));
    (void)close(fd);
    BED_UNTIL(&fixture->bed, count_open(fixture) == 0);
}

static void thousands_that_come_and_go_leave_nothing(void **state)
{
    enum { ROUNDS = 60, AT_ONCE = 50 };
    struct fixture *fixture = *state;
    int clients[AT_ONCE];
    int fds[AT_ONCE];

    proxy_aim(fixture->proxy, fixture->text);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            clients[i] = come(fixture);
            bed_send(clients[i], "hello");
        }
        for (unsigned i = 0; i < AT_ONCE; i++) {
            fds[i] = accept_next(fixture, fixture->owner);
        }
        for (unsigned i = 0; i < AT_ONCE; i++) {
            char text[64] = "";

            BED_UNTIL(&fixture->bed, bed_has_got(fds[i], text, "hello"));
            (void)close(i % 2 ? fds[i] : clients[i]);
            (void)close(i % 2 ? clients[i] : fds[i]);
        }
        BED_UNTIL(&fixture->bed, count_open(fixture) == 0);
    }
    expect_open(fixture, 0, (uint64_t)ROUNDS * AT_ONCE);
}

// Everything that may fail for memory, with the n-th allocation failing.
static void try_without_memory(struct fixture *fixture, size_t n)
{
    struct proxy *proxy;
    int fds[2];
    int fd;

    bed_connect(fds);
    nth_alloc_fail(n);
    proxy = proxy_new(fixture->bed.base, &fixture->limits);
    if (proxy) {
        proxy_aim(proxy, fixture->text);
        (void)bed_pass(proxy, fds[1], "127.0.0.1:1", "http", false);
    } else {
        (void)close(fds[1]);
    }
    for (unsigned i = 0; i < 10; i++) {
        proxy_bed_turn(&fixture->bed);
    }
    nth_alloc_fail(0);
    proxy_free(proxy);
    while ((fd = bed_accept(fixture->owner)) >= 0) {
        (void)close(fd);
    }
    (void)close(fds[0]);
}

static void without_memory_nothing_is_left(void **state)
{
    struct fixture *fixture = *state;

    for (size_t n = 1; n < 10; n++) {
        size_t before = proxy_bed_descriptors();

        try_without_memory(fixture, n);
        assert_int_equal(proxy_bed_descriptors(), before);
        assert_int_equal(memory_counted(), 0);
    }
}

// What the owner receives first from a connection that was taken with that client: a head of that
// length, which begins so.
static void expect_head(struct fixture *fixture, const struct client_address *named,
                        const char *believed, size_t head_len, struct slice expected)
{
    char text[256];
    char got[64] = "";
    size_t len = 0;
    struct passed_client passed = {.peer = "10.0.0.9:4711", .named = named};
    int fds[2];
    int fd;

    (void)snprintf(text, sizeof text, "%s proxies=%s", fixture->text, believed);
    proxy_aim(fixture->proxy, text);
    bed_connect(fds);
    passed.fd = fds[1];
    assert_true(proxy_take(fixture->proxy, &passed, "http"));
    fd = accept_next(fixture, fixture->owner);
    bed_send(fds[0], "hello");
    while (len < 5 || memcmp(got + len - 5, "hello", 5) != 0) {
        ssize_t more;

        BED_UNTIL(&fixture->bed, (more = bed_receive(fd, got + len, sizeof got - len)) > 0);
        len += (size_t)more;
    }
    assert_int_equal(len, 5 + head_len);
    assert_memory_equal(got, expected.ptr, expected.len);
    (void)close(fds[0]);
    (void)close(fd);
}

static void the_client_is_named_to_an_owner_that_believes_this_address(void **state)
{
    struct client_address named = {.known = true, .port = 1234};
    const struct client_address unknown = {.known = false};

    assert_int_equal(inet_pton(AF_INET6, "2001:db8::7", &named.address), 1);
    expect_head(*state, &named, "10.0.0.7,127.0.0.0/8", 52,
                SLICE("\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x24"
                      "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7"));
    expect_head(*state, &unknown, "127.0.0.1", 16, SLICE("\r\n\r\n\0\r\nQUIT\n\x21\0\0\0"));
    expect_head(*state, &named, "10.0.0.7,10.1.0.0/16", 0, SLICE("hello"));
    expect_head(*state, &named, "10.0.0.7,nonsense", 0, SLICE("hello"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(connection_goes_to_the_owners_address_of_its_protocol_and_kind),
        TEST(without_an_owner_no_connection_is_taken),
        TEST(protocol_or_kind_that_the_owner_does_not_have_is_not_taken),
        TEST(text_that_is_too_long_names_no_owner),
        TEST(connections_beyond_the_limit_are_refused),
        TEST(owner_that_refuses_ends_it_and_rests_for_a_moment),
        TEST(one_of_the_owners_addresses_rests_alone),
        TEST(owner_that_does_not_answer_in_time_ends_it),
        TEST(another_owner_ends_all_connections_and_the_same_owner_keeps_them),
        TEST(connection_that_is_still_being_made_ends_with_the_owner),
        TEST(client_that_left_before_the_owner_answered_leaves_nothing),
        TEST(thousands_that_come_and_go_leave_nothing),
        TEST(the_client_is_named_to_an_owner_that_believes_this_address),
        TEST(without_memory_nothing_is_left),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
