/* SPDX-License-Identifier: MIT */
// A socket as a transport: how much each operation moves, and whether an event must come before
// more can be moved.
#include "server/transport/transport.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
    int ours;
    int peers;
};

static struct pair make_pair(void)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    return (struct pair){.ours = fds[0], .peers = fds[1]};
}

static void close_pair(const struct pair *pair)
{
    transport_plain.close(pair->ours, NULL);
    (void)close(pair->peers);
}

static struct received receive(int fd, char *first, size_t first_len, char *second,
                               size_t second_len)
{
    const struct iovec parts[2] = {{.iov_base = first, .iov_len = first_len},
                                   {.iov_base = second, .iov_len = second_len}};

    return transport_plain.receive(fd, NULL, parts, second ? 2 : 1, first_len + second_len);
}

static void assert_received(struct received got, enum transfer result, size_t len, bool drained)
{
    assert_int_equal(got.result, result);
    assert_int_equal(got.len, len);
    assert_int_equal(got.drained, drained);
}

static void short_read_means_that_the_socket_is_drained(void **state)
{
    struct pair pair = make_pair();
    char bytes[4];

    (void)state;
    assert_int_equal(write(pair.peers, "abcdef", 6), 6);
    assert_received(receive(pair.ours, bytes, 4, NULL, 0), TRANSFER_BYTES, 4, false);
    assert_memory_equal(bytes, "abcd", 4);
    assert_received(receive(pair.ours, bytes, 4, NULL, 0), TRANSFER_BYTES, 2, true);
    assert_received(receive(pair.ours, bytes, 4, NULL, 0), TRANSFER_NONE, 0, true);
    close_pair(&pair);
}

static void parts_are_filled_in_order(void **state)
{
    struct pair pair = make_pair();
    char first[2];
    char second[3];

    (void)state;
    assert_int_equal(write(pair.peers, "abcdefgh", 8), 8);
    assert_received(receive(pair.ours, first, 2, second, 3), TRANSFER_BYTES, 5, false);
    assert_memory_equal(first, "ab", 2);
    assert_memory_equal(second, "cde", 3);
    assert_received(receive(pair.ours, first, 2, second, 3), TRANSFER_BYTES, 3, true);
    assert_memory_equal(second, "h", 1);
    close_pair(&pair);
}

static void end_and_loss_are_distinguished(void **state)
{
    struct pair pair = make_pair();
    char byte;

    (void)state;
    assert_int_equal(shutdown(pair.peers, SHUT_WR), 0);
    assert_received(receive(pair.ours, &byte, 1, NULL, 0), TRANSFER_END, 0, true);
    // Input that the peer has not read when it closes causes a reset.
    assert_int_equal(write(pair.ours, "x", 1), 1);
    (void)close(pair.peers);
    assert_int_equal(transport_plain.error(pair.ours, NULL), ECONNRESET);
    assert_int_equal(transport_plain.error(pair.ours, NULL), 0);
    transport_plain.close(pair.ours, NULL);
}

static void socket_that_takes_less_is_full(void **state)
{
    static char bytes[1 << 20];
    const struct iovec parts[2] = {{.iov_base = bytes, .iov_len = 3},
                                   {.iov_base = bytes, .iov_len = sizeof bytes}};
    struct pair pair = make_pair();
    struct sent sent = transport_plain.send(pair.ours, NULL, parts, 1, 3);

    (void)state;
    assert_int_equal(sent.result, TRANSFER_BYTES);
    assert_int_equal(sent.len, 3);
    assert_false(sent.full);
    sent = transport_plain.send(pair.ours, NULL, parts, 2, 3 + sizeof bytes);
    assert_int_equal(sent.result, TRANSFER_BYTES);
    assert_in_range(sent.len, 1, sizeof bytes);
    assert_true(sent.full);
    sent = transport_plain.send(pair.ours, NULL, parts, 1, 3);
    assert_int_equal(sent.result, TRANSFER_NONE);
    assert_true(sent.full);
    close_pair(&pair);
}

static void sending_to_a_peer_that_has_gone_is_a_loss_and_no_signal(void **state)
{
    const struct iovec parts[2] = {{.iov_base = "a", .iov_len = 1},
                                   {.iov_base = "b", .iov_len = 1}};
    struct pair pair = make_pair();

    (void)state;
    (void)close(pair.peers);
    for (unsigned count = 1; count <= 2; count++) {
        struct sent sent = transport_plain.send(pair.ours, NULL, parts, count, count);

        assert_int_equal(sent.result, TRANSFER_FAILED);
        assert_int_equal(sent.error, EPIPE);
    }
    transport_plain.close(pair.ours, NULL);
}

static void socket_that_was_shut_can_still_receive(void **state)
{
    struct pair pair = make_pair();
    char peer[8];
    char byte;

    (void)state;
    transport_plain.shut(pair.ours, NULL);
    assert_int_equal(read(pair.peers, &byte, 1), 0);
    assert_int_equal(write(pair.peers, "x", 1), 1);
    assert_received(receive(pair.ours, &byte, 1, NULL, 0), TRANSFER_BYTES, 1, false);
    transport_plain.peer(pair.ours, NULL, peer, sizeof peer);
    assert_string_equal(peer, "-");
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_read_means_that_the_socket_is_drained),
        cmocka_unit_test(parts_are_filled_in_order),
        cmocka_unit_test(end_and_loss_are_distinguished),
        cmocka_unit_test(socket_that_takes_less_is_full),
        cmocka_unit_test(sending_to_a_peer_that_has_gone_is_a_loss_and_no_signal),
        cmocka_unit_test(socket_that_was_shut_can_still_receive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
