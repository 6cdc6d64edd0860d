/* SPDX-License-Identifier: MIT */
// Peers of links that send nothing more, read nothing, or send without end. The effect on their own
// connections and on others must be the same as without I/O threads.
#include "server/io/io_private.h"

#include "server/io/io_thread.h"
#include "server/net/socket.h"

#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int peer_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *state = bed;
    return 0;
}

static int peer_teardown(void **state)
{
    struct bed *bed = *state;

    bed_close(bed);
    free(bed);
    return 0;
}

static int connect_remote(struct bed *bed)
{
    int client = bed_connect(bed);

    bed_turns(bed, 2);
    assert_true(bed_latest(bed)->remote);
    return client;
}

static void core_turn(struct bed *bed)
{
    loop_turn(&bed->loop, false);
}

static void send_bytes(int client, const char *bytes, size_t len)
{
    assert_int_equal(send(client, bytes, len, MSG_NOSIGNAL), len);
}

static void send_text(int client, const char *text)
{
    send_bytes(client, text, strlen(text));
}

// More than a thread hands over at once, then the end. The thread knows of the end before it has
// read the input before that.
enum { LONG_BODY = 100000 };

static char *long_body(void)
{
    char *body = calloc(1, LONG_BODY + 1);

    assert_non_null(body);
    memset(body, 'x', LONG_BODY);
    return body;
}

static void input_before_the_end_is_used_where_the_end_means_that_the_peer_has_gone(void **state)
{
    struct bed *bed = *state;
    char *body = long_body();
    int client = connect_remote(bed);

    bed_keep(bed);
    bed->front.eof_means_gone = true;
    send_text(client, "keep first\ntake 100000\n");
    send_bytes(client, body, LONG_BODY);
    send_text(client, "last\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    (void)io_thread_round(bed_latest(bed)->link->side.thread, false);
    core_turn(bed);
    core_turn(bed);
    // The answer leaves while the thread has not read on.
    bed->front.store.reached = 1;
    core_turn(bed);
    bed_expect(bed, client, "first\ntook ");
    bed_expect(bed, client, body);
    bed_expect(bed, client, "\nlast\n");
    bed_expect_end(bed, client);
    assert_int_equal(bed->front.eofs, 1);
    free(body);
}

// More of its answer than the socket takes was handed over, and no more is to come.
static int leave_output_unread(struct bed *bed)
{
    int client = connect_remote(bed);
    const int small = 4096;

    assert_int_equal(
        setsockopt(bed_latest(bed)->link->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    send_text(client, "big 100000\n");
    bed_turns(bed, 3);
    assert_int_equal(output_pending(&bed_latest(bed)->wire.out), 0);
    return client;
}

// The threads check links whose peers have not read everything; a peer that has read nothing since
// the last check is dropped.
static void look_at_unread(struct bed *bed)
{
    struct io *io = bed->loop.turn.io;

    io_set_limits(io, &(struct io_limits){.unread_for = 1});
    for (unsigned i = 0; i < io->count; i++) {
        event_active(&io->threads[i].unread_timer, EV_TIMEOUT, 0);
    }
    bed_turns(bed, 2);
}

static void peer_that_reads_none_of_the_handed_over_output_is_dropped(void **state)
{
    struct bed *bed = *state;
    int client = leave_output_unread(bed);

    look_at_unread(bed);
    assert_int_equal(bed->front.open, 1);
    look_at_unread(bed);
    assert_int_equal(bed->front.open, 0);
    assert_int_equal(bed->loop.turn.open, 0);
    (void)close(client);
}

static void peer_that_reads_some_of_the_handed_over_output_stays(void **state)
{
    struct bed *bed = *state;
    int client = leave_output_unread(bed);
    char *bytes = calloc(1, LONG_BODY);

    look_at_unread(bed);
    assert_in_range(recv(client, bytes, LONG_BODY, 0), 1, LONG_BODY - 1);
    bed_turns(bed, 1);
    look_at_unread(bed);
    assert_int_equal(bed->front.open, 1);
    free(bytes);
    (void)close(client);
}

static void peer_that_has_taken_all_may_be_silent(void **state)
{
    struct bed *bed = *state;
    int client = leave_output_unread(bed);
    char *bytes = calloc(1, LONG_BODY);
    size_t got = 0;

    look_at_unread(bed);
    while (got <= LONG_BODY) {
        ssize_t len = recv(client, bytes, LONG_BODY, 0);

        got += len > 0 ? (size_t)len : 0;
        bed_turns(bed, 1);
    }
    look_at_unread(bed);
    look_at_unread(bed);
    assert_int_equal(bed->front.open, 1);
    free(bytes);
    (void)close(client);
}

// More connections than a turn reads, all of which always have input.
enum { CLIENTS = 2 * TURN_CONNS_MAX };

// Turns pass, before each of which all clients send something.
static void clients_turns(struct bed *bed, const int clients[CLIENTS], unsigned turns)
{
    while (turns-- > 0) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            send_text(clients[i], "x\n");
        }
        bed_turns(bed, 1);
    }
}

static void links_have_their_share_of_turns_that_others_fill(void **state)
{
    struct bed *bed = *state;
    int client = connect_remote(bed);
    int clients[CLIENTS];
    char answer[8];

    ((struct io *)bed->loop.turn.io)->spread.on = false;
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = bed_connect(bed);
    }
    clients_turns(bed, clients, 10);
    send_text(client, "one\n");
    clients_turns(bed, clients, 10);
    assert_int_equal(recv(client, answer, sizeof answer, 0), 4);
    for (unsigned i = 0; i < CLIENTS; i++) {
        (void)close(clients[i]);
    }
    (void)close(client);
}

static void count_up(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    ++*(unsigned *)context;
}

static void events_of_the_loop_have_their_share_of_turns_that_links_fill(void **state)
{
    struct bed *bed = *state;
    int clients[CLIENTS];
    struct event event;
    unsigned calls = 0;

    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = connect_remote(bed);
    }
    assert_int_equal(evtimer_assign(&event, bed->loop.turn.base, count_up, &calls), 0);
    clients_turns(bed, clients, 5);
    for (unsigned i = 0; i < 5; i++) {
        event_active(&event, EV_TIMEOUT, 0);
        clients_turns(bed, clients, 2);
        assert_int_equal(calls, i + 1);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        (void)close(clients[i]);
    }
}

// Connections that a thread has accepted, whose peers say nothing.
static void no_more_connections_begin_in_a_turn_than_it_takes_input_from(void **state)
{
    struct bed *bed = *state;
    struct io *io = bed->loop.turn.io;
    int clients[CLIENTS];

    for (unsigned i = 0; i < CLIENTS; i++) {
        int fds[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        clients[i] = fds[1];
        bed->loop.turn.open++;
        io_thread_expect_link(&io->threads[0]);
        io_thread_send_link(&io->threads[0], link_new(&bed->service.io, fds[0], NULL));
    }
    (void)io_thread_round(&io->threads[0], false);
    core_turn(bed);
    assert_in_range(bed->front.open, 1, TURN_CONNS_MAX);
    core_turn(bed);
    core_turn(bed);
    assert_int_equal(bed->front.open, CLIENTS);
    for (unsigned i = 0; i < CLIENTS; i++) {
        (void)close(clients[i]);
    }
}

static unsigned count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir)) {
        count++;
    }
    (void)closedir(dir);
    return count;
}

static void threads_take_as_many_descriptors_as_are_set_aside_for_them(void **state)
{
    struct bed *bed = *state;
    unsigned before = count_descriptors();
    struct io *io = io_open(5, true, bed->loop.turn.base, &bed->loop.turn.open,
                            bed->loop.turn.io->host, &bed->loop.turn);

    assert_non_null(io);
    assert_int_equal(count_descriptors() - before, IO_DESCRIPTORS(5));
    io_close(io);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(IO_DESCRIPTORS(0), 0);
}

// The thread has not noticed yet.
static void peer_that_has_reset_its_connection_has_no_address(void **state)
{
    struct bed *bed = *state;
    int client = bed_connect_tcp(bed);
    char text[64];

    bed_turns(bed, 2);
    socket_peer_text(link_fd(bed_latest(bed)->link), text, sizeof text);
    assert_memory_equal(text, "127.0.0.1:", 10);
    reset_client(client);
    socket_peer_text(link_fd(bed_latest(bed)->link), text, sizeof text);
    assert_string_equal(text, "-");
}

#define PEER_TEST(f) cmocka_unit_test_setup_teardown(f, peer_setup, peer_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PEER_TEST(peer_that_reads_none_of_the_handed_over_output_is_dropped),
        PEER_TEST(peer_that_reads_some_of_the_handed_over_output_stays),
        PEER_TEST(peer_that_has_taken_all_may_be_silent),
        PEER_TEST(links_have_their_share_of_turns_that_others_fill),
        PEER_TEST(events_of_the_loop_have_their_share_of_turns_that_links_fill),
        PEER_TEST(no_more_connections_begin_in_a_turn_than_it_takes_input_from),
        PEER_TEST(threads_take_as_many_descriptors_as_are_set_aside_for_them),
        PEER_TEST(peer_that_has_reset_its_connection_has_no_address),
        PEER_TEST(input_before_the_end_is_used_where_the_end_means_that_the_peer_has_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
