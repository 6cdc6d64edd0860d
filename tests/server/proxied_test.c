/* SPDX-License-Identifier: MIT */
// A connection whose proxy names the client: who may be a proxy, and the transport behind the head.
#include "server/net/proxied.h"

#include "server/net/admission.h"
#include "server/net/socket.h"
#include "server/transport/origin.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE "PROXY TCP4 10.1.2.3 10.0.0.1 1234 11300\r\n"

// The address of each peer; empty: that of the socket; left: the peer has reset the connection.
static const char *peer_address;

int __real_getpeername(int fd, struct sockaddr *addr, socklen_t *len);
int __wrap_getpeername(int fd, struct sockaddr *addr, socklen_t *len);

int __wrap_getpeername(int fd, struct sockaddr *addr, socklen_t *len)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(99)};

    if (strcmp(peer_address, "left") == 0) {
        errno = ENOTCONN;
        return -1;
    }
    if (*peer_address == '\0') {
        return __real_getpeername(fd, addr, len);
    }
    assert_int_equal(inet_pton(AF_INET, peer_address, &v4.sin_addr), 1);
    assert_true(*len >= sizeof v4);
    memcpy(addr, &v4, sizeof v4);
    *len = sizeof v4;
    return 0;
}

// A connection, of which this is the proxy's end.
struct fixture {
    struct proxied_service service;
    int proxy;
    int fd;
    uint64_t own[2];
    struct error_text why;
};

static int setup(void **state)
{
    struct fixture *fixture = test_calloc(1, sizeof *fixture);
    int fds[2];

    peer_address = "192.0.2.9";
    assert_int_equal(transport_proxied.state_size, sizeof fixture->own);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    fixture->proxy = fds[0];
    fixture->fd = fds[1];
    fixture->service.inner = &transport_plain;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    if (fixture->fd >= 0) {
        transport_proxied.close(fixture->fd, fixture->own);
    }
    (void)close(fixture->proxy);
    test_free(fixture);
    return 0;
}

static void begin(struct fixture *fixture)
{
    assert_true(transport_proxied.begin(fixture->fd, fixture->own, &fixture->service));
}

static void send_bytes(const struct fixture *fixture, struct slice bytes)
{
    assert_int_equal(send(fixture->proxy, bytes.ptr, bytes.len, MSG_NOSIGNAL), bytes.len);
}

static enum handshake shake(struct fixture *fixture)
{
    *fixture->why.text = '\0';
    return transport_proxied.handshake(fixture->fd, fixture->own, &fixture->why);
}

// What the connection receives now.
static void receives(struct fixture *fixture, const char *text)
{
    char bytes[64];
    const struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct received received =
        transport_proxied.receive(fixture->fd, fixture->own, &part, 1, sizeof bytes);

    assert_int_equal(received.result, TRANSFER_BYTES);
    assert_int_equal(received.len, strlen(text));
    assert_memory_equal(bytes, text, received.len);
}

// The texts of whom it speaks for.
static void speaks_for(const struct fixture *fixture, const char *with_port, const char *without)
{
    char text[PEER_TEXT_MAX];

    socket_speaker_text(&transport_proxied, fixture->fd, fixture->own, text, sizeof text);
    assert_string_equal(text, with_port);
    transport_proxied.peer(fixture->fd, fixture->own, text, sizeof text);
    assert_string_equal(text, without);
}

static void a_head_in_any_pieces_leaves_what_follows(void **state)
{
    struct slice bytes = SLICE(LINE "put");

    for (size_t cut = 0; cut <= sizeof LINE - 1; cut++) {
        struct fixture *fixture;
        void *made = NULL;

        assert_int_equal(setup(&made), 0);
        fixture = made;
        begin(fixture);
        if (cut > 0) {
            send_bytes(fixture, slice_of(bytes.ptr, cut));
        }
        assert_int_equal(shake(fixture),
                         cut == sizeof LINE - 1 ? HANDSHAKE_DONE : HANDSHAKE_NEEDS_INPUT);
        send_bytes(fixture, slice_from(bytes, cut));
        assert_int_equal(shake(fixture), HANDSHAKE_DONE);
        receives(fixture, "put");
        speaks_for(fixture, "10.1.2.3:1234", "10.1.2.3");
        assert_int_equal(teardown(&made), 0);
    }
    (void)state;
}

static void a_named_client_counts_instead_of_the_proxy(void **state)
{
    struct fixture *fixture = *state;
    struct origin origin;

    begin(fixture);
    assert_null(transport_proxied.client(fixture->own));
    send_bytes(fixture, SLICE("PROXY TCP6 2001:db8::7 2001:db8::1 1234 1\r\n"));
    assert_int_equal(shake(fixture), HANDSHAKE_DONE);
    speaks_for(fixture, "[2001:db8::7]:1234", "2001:db8::7");
    origin = origin_of_client(transport_proxied.client(fixture->own));
    assert_true(origin.has_address);
    assert_false(origin_is_local(&origin));
}

static void a_client_that_is_not_named_has_no_address(void **state)
{
    struct fixture *fixture = *state;
    struct origin origin;

    peer_address = "127.0.0.1";
    begin(fixture);
    send_bytes(fixture, SLICE("PROXY UNKNOWN\r\n"));
    assert_int_equal(shake(fixture), HANDSHAKE_DONE);
    speaks_for(fixture, "-", "-");
    origin = origin_of_client(transport_proxied.client(fixture->own));
    assert_false(origin.has_address || origin.has_user || origin_is_local(&origin));
}

static void a_proxy_that_speaks_for_itself_has_its_own_address(void **state)
{
    struct fixture *fixture = *state;

    begin(fixture);
    send_bytes(fixture, SLICE("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"));
    assert_int_equal(shake(fixture), HANDSHAKE_DONE);
    assert_null(transport_proxied.client(fixture->own));
    speaks_for(fixture, "192.0.2.9:99", "192.0.2.9");
}

// Loopback is this machine only if the proxy is on it.
static void a_client_on_the_machine_of_the_proxy_has_the_address_of_the_proxy(void **state)
{
    static const char *const peers[] = {"192.0.2.9", "127.0.0.1"};
    static const char *const named[] = {"192.0.2.9:99", "127.0.0.7:1"};

    for (size_t i = 0; i < 2; i++) {
        void *made = NULL;

        assert_int_equal(setup(&made), 0);
        peer_address = peers[i];
        begin(made);
        send_bytes(made, SLICE("PROXY TCP4 127.0.0.7 127.0.0.1 1 1\r\n"));
        assert_int_equal(shake(made), HANDSHAKE_DONE);
        speaks_for(made, named[i], i == 0 ? "192.0.2.9" : "127.0.0.7");
        assert_int_equal(teardown(&made), 0);
    }
    (void)state;
}

static void anything_else_than_a_head_is_refused(void **state)
{
    struct fixture *fixture = *state;

    begin(fixture);
    send_bytes(fixture, SLICE("put 0 0 1 1\r\n"));
    assert_int_equal(shake(fixture), HANDSHAKE_FAILED);
    assert_string_equal(fixture->why.text, PROXIED_NO_HEAD);
}

static void the_end_within_a_head_is_told_and_the_end_before_it_is_not(void **state)
{
    for (size_t len = 0; len <= 20; len += 20) {
        struct fixture *fixture;
        void *made = NULL;

        assert_int_equal(setup(&made), 0);
        fixture = made;
        begin(fixture);
        if (len > 0) {
            send_bytes(fixture, slice_of(LINE, len));
        }
        assert_int_equal(shutdown(fixture->proxy, SHUT_WR), 0);
        assert_int_equal(shake(fixture), HANDSHAKE_FAILED);
        assert_string_equal(fixture->why.text, len > 0 ? "closed by the peer" : "");
        assert_int_equal(teardown(&made), 0);
    }
    (void)state;
}

static void the_limit_of_an_address_is_that_of_the_client(void **state)
{
    static const struct siphash_key key = {{0}};
    struct peer_limits *limits = peer_limits_new(&key);
    struct fixture *fixtures[3];

    assert_non_null(limits);
    peer_limits_set(limits, 1);
    for (unsigned i = 0; i < 3; i++) {
        void *made = NULL;

        assert_int_equal(setup(&made), 0);
        fixtures[i] = made;
        fixtures[i]->service.peer_limits = limits;
        peer_limits_enter_proxy(limits, fixtures[i]->fd, 0);
        begin(made);
        send_bytes(made, i == 2 ? SLICE("PROXY TCP4 10.1.2.4 10.0.0.1 1 1\r\n") : SLICE(LINE));
        assert_int_equal(shake(made), i == 1 ? HANDSHAKE_FAILED : HANDSHAKE_DONE);
        if (i == 1) {
            assert_string_equal(fixtures[i]->why.text, PEER_LIMITS_REACHED);
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        void *made = fixtures[i];

        peer_limits_leave(limits, fixtures[i]->fd);
        assert_int_equal(teardown(&made), 0);
    }
    assert_int_equal(peer_limits_slots(limits)->taken[0], 0);
    peer_limits_free(limits);
    (void)state;
}

static void only_proxies_of_the_list_may_connect(void **state)
{
    struct fixture *fixture = *state;
    struct proxies *proxies = proxies_new();

    assert_non_null(proxies);
    assert_string_equal(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0),
                        PROXIED_STRANGER);
    proxies_set(proxies, "192.0.2.8, 198.51.100.0/24");
    assert_string_equal(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0),
                        PROXIED_STRANGER);
    peer_address = "198.51.100.7";
    assert_null(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0));
    proxies_set(proxies, "192.0.2.8 unix");
    assert_string_equal(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0),
                        PROXIED_STRANGER);
    peer_address = "";
    assert_null(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0));
    proxies_set(proxies, "0.0.0.0/0 ::/0");
    assert_string_equal(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0),
                        PROXIED_STRANGER);
    assert_null(proxied_admit(proxies, PROXIED_BY_NONE, NULL, fixture->fd, 0));
    peer_address = "left";
    assert_string_equal(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0), "");
    proxies_free(proxies);
}

static void members_are_named_once_and_stay(void **state)
{
    struct fixture *fixture = *state;
    struct proxies *proxies = proxies_new();

    assert_non_null(proxies);
    assert_false(proxies_have_member(proxies, fixture->fd));
    proxies_set_members(proxies, "192.0.2.0/24,unix");
    proxies_set(proxies, "198.51.100.7");
    assert_true(proxies_have_member(proxies, fixture->fd));
    assert_null(proxied_admit(proxies, PROXIED_BY_MEMBER, NULL, fixture->fd, 0));
    assert_string_equal(proxied_admit(proxies, PROXIED_BY_PROXY, NULL, fixture->fd, 0),
                        PROXIED_STRANGER);
    peer_address = "198.51.100.7";
    assert_false(proxies_have_member(proxies, fixture->fd));
    peer_address = "";
    assert_false(proxies_have_member(proxies, fixture->fd));
    proxies_free(proxies);
}

// However the first bytes are cut, they are only taken away if they are a head.
static void a_member_may_send_a_head_or_none(void **state)
{
    static const struct slice starts[] = {
        {"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\1\2\3\x0a\0\0\1\4\xd2\x2c\x24", 28},
        {"put", 3},
        {"\r\n\r\nput", 7},
        {"PROXY UNKNOWN\r\n", 15}};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        for (size_t cut = 1; cut < starts[i].len; cut++) {
            struct fixture *fixture;
            void *made = NULL;
            enum handshake step;

            assert_int_equal(setup(&made), 0);
            fixture = made;
            fixture->service.optional = true;
            begin(fixture);
            assert_int_equal(shake(fixture), HANDSHAKE_NEEDS_INPUT);
            send_bytes(fixture, slice_of(starts[i].ptr, cut));
            step = shake(fixture);
            send_bytes(fixture, slice_from(starts[i], cut));
            if (step == HANDSHAKE_NEEDS_INPUT) {
                step = shake(fixture);
            }
            assert_int_equal(step, HANDSHAKE_DONE);
            if (i == 0) {
                send_bytes(fixture, SLICE("put"));
                receives(fixture, "put");
                speaks_for(fixture, "10.1.2.3:1234", "10.1.2.3");
            } else {
                receives(fixture, starts[i].ptr);
                speaks_for(fixture, "192.0.2.9:99", "192.0.2.9");
            }
            assert_int_equal(teardown(&made), 0);
        }
    }
    (void)state;
}

static void a_silent_member_begins_when_its_time_is_over(void **state)
{
    struct fixture *fixture = *state;

    fixture->service.optional = true;
    begin(fixture);
    send_bytes(fixture, SLICE("\r\n"));
    assert_int_equal(shake(fixture), HANDSHAKE_NEEDS_INPUT);
    assert_true(transport_proxied.late(fixture->fd, fixture->own));
    receives(fixture, "\r\n");
}

static void a_silent_proxy_has_failed_when_its_time_is_over(void **state)
{
    struct fixture *fixture = *state;

    begin(fixture);
    assert_int_equal(shake(fixture), HANDSHAKE_NEEDS_INPUT);
    assert_false(transport_proxied.late(fixture->fd, fixture->own));
}

static void without_memory_no_connection_begins(void **state)
{
    struct fixture *fixture = *state;

    for (unsigned long n = 1; n <= 2; n++) {
        memset(fixture->own, 0, sizeof fixture->own);
        nth_alloc_fail(n);
        assert_false(transport_proxied.begin(fixture->fd, fixture->own, &fixture->service));
        nth_alloc_fail(0);
        transport_proxied.close(dup(fixture->fd), fixture->own);
    }
    memset(fixture->own, 0, sizeof fixture->own);
}

static void the_head_alone_leaves_the_socket_to_its_owner(void **state)
{
    struct fixture *fixture = *state;
    struct client_address client;

    fixture->service.inner = NULL;
    begin(fixture);
    assert_true(proxied_is_head_alone(fixture->own));
    send_bytes(fixture, SLICE(LINE "put"));
    assert_int_equal(shake(fixture), HANDSHAKE_DONE);
    assert_true(proxied_release(fixture->own, &client));
    assert_int_equal(client.port, 1234);
    memset(fixture->own, 0, sizeof fixture->own);
    send_bytes(fixture, SLICE(" 0"));
    assert_int_equal(recv(fixture->fd, &client, sizeof client, 0), 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_head_in_any_pieces_leaves_what_follows),
        TEST(a_named_client_counts_instead_of_the_proxy),
        TEST(a_client_that_is_not_named_has_no_address),
        TEST(a_proxy_that_speaks_for_itself_has_its_own_address),
        TEST(a_client_on_the_machine_of_the_proxy_has_the_address_of_the_proxy),
        TEST(anything_else_than_a_head_is_refused),
        TEST(the_end_within_a_head_is_told_and_the_end_before_it_is_not),
        TEST(the_limit_of_an_address_is_that_of_the_client),
        TEST(only_proxies_of_the_list_may_connect),
        TEST(members_are_named_once_and_stay),
        TEST(a_member_may_send_a_head_or_none),
        TEST(a_silent_member_begins_when_its_time_is_over),
        TEST(a_silent_proxy_has_failed_when_its_time_is_over),
        TEST(without_memory_no_connection_begins),
        TEST(the_head_alone_leaves_the_socket_to_its_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
