/* SPDX-License-Identifier: MIT */
// Connections that the I/O threads accept: how many, by which thread, their handshakes, and that
// each socket is counted as long as it is open.
#include "server/net/admission.h"
#include "server/io/io_thread.h"
#include "server/io/io_private.h"

#include "core/base/log.h"
#include "tests/server/fake_handshake.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS_MAX = 40, PLENTY = 1000 };

struct acceptor_bed {
    struct bed bed;
    struct io *io;
    int listening;
    struct sockaddr_un addr;
    int clients[CLIENTS_MAX];
    unsigned count;
    unsigned rests;    // that were logged
    unsigned refusals; // likewise
    char why[64];      // of the last
};

static void acceptor_bed_log(void *context, enum log_level level, const char *event,
                             const struct log_field *fields, size_t count)
{
    struct acceptor_bed *bed = context;

    (void)level;
    bed->rests += strcmp(event, "accept_failed") == 0 ? 1 : 0;
    if (strcmp(event, "handshake_failed") != 0) {
        return;
    }
    bed->refusals++;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, "why") == 0) {
            (void)snprintf(bed->why, sizeof bed->why, "%.*s", (int)fields[i].text.len,
                           fields[i].text.ptr);
        }
    }
}

static void limit(struct acceptor_bed *bed, uint64_t most, nsec_t handshake_for)
{
    io_set_limits(bed->io, &(struct io_limits){.most = most, .handshake_for = handshake_for});
    bed_turns(&bed->bed, 1);
}

// With an abstract address of Linux, without a file.
static void acceptor_bed_listen(struct acceptor_bed *bed)
{
    bed->addr = (struct sockaddr_un){.sun_family = AF_UNIX};
    bed->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)snprintf(bed->addr.sun_path + 1, sizeof bed->addr.sun_path - 1, "door_test.%d.%d",
                   (int)getpid(), bed->listening);
    assert_int_equal(bind(bed->listening, (const struct sockaddr *)&bed->addr, sizeof bed->addr),
                     0);
    assert_int_equal(listen(bed->listening, CLIENTS_MAX), 0);
}

static void *acceptor_bed_open(const struct transport *transport)
{
    struct acceptor_bed *bed = calloc(1, sizeof *bed);

    nth_alloc_fail(0);
    fake_handshake_reset();
    bed_init(&bed->bed, bed_now);
    bed->io = bed->bed.loop.turn.io;
    bed_use_transport(&bed->bed, transport);
    acceptor_bed_listen(bed);
    assert_true(io_listen(bed->io, &bed->bed.service.io, bed->listening));
    limit(bed, PLENTY, NSEC_PER_SEC * 1000);
    log_set_sink(acceptor_bed_log, bed, LOG_LEVEL_INFO);
    return bed;
}

static int plain_setup(void **state)
{
    *state = acceptor_bed_open(&transport_plain);
    return 0;
}

static int shaking_setup(void **state)
{
    *state = acceptor_bed_open(&fake_handshake_transport);
    return 0;
}

static int acceptor_bed_teardown(void **state)
{
    struct acceptor_bed *bed = *state;

    nth_alloc_fail(0);
    bed_close(&bed->bed);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    for (unsigned i = 0; i < bed->count; i++) {
        (void)close(bed->clients[i]);
    }
    (void)close(bed->listening);
    free(bed);
    return 0;
}

// Connects this many clients, which are not accepted yet; returns the last.
static int knock(struct acceptor_bed *bed, unsigned count)
{
    int fd = -1;

    while (count-- > 0) {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_int_equal(connect(fd, (const struct sockaddr *)&bed->addr, sizeof bed->addr), 0);
        assert_in_range(bed->count, 0, CLIENTS_MAX - 1);
        bed->clients[bed->count++] = fd;
    }
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static uint64_t count_open(struct acceptor_bed *bed)
{
    return bed->bed.loop.turn.open;
}

static void rounds(struct acceptor_bed *bed, unsigned thread, unsigned count)
{
    while (count-- > 0) {
        (void)io_thread_round(&bed->io->threads[thread], false);
    }
}

static void threads_accept_and_serve(void **state)
{
    struct acceptor_bed *bed = *state;
    int client = knock(bed, 20);

    bed_turns(&bed->bed, 30);
    assert_int_equal(bed->bed.front.open, 20);
    assert_int_equal(count_open(bed), 20);
    assert_true(bed_latest(&bed->bed)->remote);
    say(client, "one\n");
    bed_expect(&bed->bed, client, "one\n");
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(shutdown(bed->clients[i], SHUT_RDWR), 0);
    }
    bed_turns(&bed->bed, 5);
    assert_int_equal(bed->bed.front.open, 0);
    assert_int_equal(count_open(bed), 0);
}

static void limit_of_connections_holds_for_all_threads_together(void **state)
{
    struct acceptor_bed *bed = *state;

    limit(bed, 5, 1);
    knock(bed, 20);
    bed_turns(&bed->bed, 30);
    assert_int_equal(bed->bed.front.open, 5);
    assert_int_equal(count_open(bed), 5);
    // The threads notice by themselves, and wait for the core.
    assert_int_equal(bed->io->common.full, SLOTS_ALL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(bed->io->threads[i].kinds_open, 0);
    }
    assert_int_equal(shutdown(bed->clients[0], SHUT_RDWR), 0);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 4);
    io_set_full(bed->io, 0);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 5);
}

// No other event would cause it while the core's thread sleeps.
static void core_is_woken_when_the_limit_is_reached(void **state)
{
    struct acceptor_bed *bed = *state;
    const struct io_batch *news;

    bed_use_transport(&bed->bed, &fake_handshake_transport);
    limit(bed, 1, NSEC_PER_SEC * 1000);
    knock(bed, 1);
    (void)io_begin_sleep(bed->io);
    rounds(bed, 0, 1);
    assert_false(bed->io->sleeper.asleep);
    news = io_batch_of(mailbox_take(&bed->io->news));
    assert_non_null(news);
    assert_int_equal(news->notes[0].what, NEWS_FULL);
    mailbox_put(&bed->io->news, &((struct io_batch *)(uintptr_t)news)->mail);
}

static void no_connection_is_accepted_while_the_core_reports_the_limit(void **state)
{
    struct acceptor_bed *bed = *state;

    io_set_full(bed->io, SLOTS_ALL);
    // They close when the threads have been told.
    bed_turns(&bed->bed, 1);
    knock(bed, 3);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 0);
    io_set_full(bed->io, 0);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 3);
}

static void threads_accept_nothing_while_the_core_accepts(void **state)
{
    struct acceptor_bed *bed = *state;

    atomic_store(&bed->io->common.accepts, false);
    bed_turns(&bed->bed, 1);
    knock(bed, 3);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 0);
    atomic_store(&bed->io->common.accepts, true);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 3);
}

// The process may open no other descriptor.
static struct rlimit allow_no_more(void)
{
    struct rlimit before;
    struct rlimit now;
    int next = dup(STDOUT_FILENO);

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    (void)close(next);
    now = before;
    now.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    return before;
}

static void end_rest(struct acceptor_bed *bed, unsigned thread)
{
    event_active(&bed->io->threads[thread].rest, EV_TIMEOUT, 0);
    bed_turns(&bed->bed, 5);
}

static void accepting_pauses_without_descriptors(void **state)
{
    struct acceptor_bed *bed = *state;
    struct rlimit before;

    knock(bed, 3);
    before = allow_no_more();
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 0);
    assert_int_equal(bed->rests, 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(bed->io->threads[i].rests);
        assert_int_equal(bed->io->threads[i].kinds_open, 0);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 0);
    end_rest(bed, 1);
    assert_int_equal(count_open(bed), 3);
    // Another episode is logged again.
    end_rest(bed, 0);
    knock(bed, 1);
    bed_turns(&bed->bed, 5);
    knock(bed, 1);
    before = allow_no_more();
    bed_turns(&bed->bed, 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(bed->rests, 2);
}

// A failed attempt of one thread has a descriptor for a moment, which may be the last.
static void accepting_while_another_thread_rests_ends_no_episode(void **state)
{
    struct acceptor_bed *bed = *state;
    struct rlimit before;

    knock(bed, 1);
    before = allow_no_more();
    rounds(bed, 0, 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(bed->io->threads[0].rests);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 1);
    knock(bed, 1);
    before = allow_no_more();
    bed_turns(&bed->bed, 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(bed->io->threads[1].rests);
    assert_int_equal(bed->rests, 1);
}

static void thread_that_accepts_keeps_the_connection(void **state)
{
    struct acceptor_bed *bed = *state;

    knock(bed, 8);
    rounds(bed, 1, 10);
    assert_int_equal(io_thread_links(&bed->io->threads[1]), 8);
    assert_int_equal(io_thread_links(&bed->io->threads[0]), 0);
}

static void excess_connections_go_to_the_other_thread(void **state)
{
    struct acceptor_bed *bed = *state;

    knock(bed, 30);
    rounds(bed, 1, 50);
    assert_int_equal(count_open(bed), 30);
    // Nine more links than the other thread has are too many.
    assert_in_range(io_thread_links(&bed->io->threads[1]), 19, 20);
    assert_int_equal(io_thread_links(&bed->io->threads[0]) + io_thread_links(&bed->io->threads[1]),
                     30);
    bed_turns(&bed->bed, 3);
    assert_int_equal(bed->bed.front.open, 30);
    say(bed->clients[29], "last\n");
    bed_expect(&bed->bed, bed->clients[29], "last\n");
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(shutdown(bed->clients[i], SHUT_RDWR), 0);
    }
    bed_turns(&bed->bed, 5);
    assert_int_equal(io_thread_links(&bed->io->threads[0]), 0);
    assert_int_equal(io_thread_links(&bed->io->threads[1]), 0);
    assert_int_equal(count_open(bed), 0);
}

static void connection_that_is_refused_is_closed(void **state)
{
    struct acceptor_bed *bed = *state;
    int client = knock(bed, 1);

    bed->bed.front.refuses = true;
    bed_turns(&bed->bed, 3);
    assert_int_equal(count_open(bed), 0);
    bed_expect_end(&bed->bed, dup(client));
}

static void socket_without_memory_is_closed_and_not_counted(void **state)
{
    struct acceptor_bed *bed = *state;
    int client = knock(bed, 1);

    nth_alloc_fail_from(1);
    bed_turns(&bed->bed, 3);
    nth_alloc_fail(0);
    bed_turns(&bed->bed, 3);
    assert_int_equal(count_open(bed), 0);
    assert_int_equal(bed->refusals, 1);
    assert_string_equal(bed->why, "out of memory");
    bed_expect_end(&bed->bed, dup(client));
}

static void connection_begins_when_its_handshake_is_done(void **state)
{
    struct acceptor_bed *bed = *state;
    int client = knock(bed, 1);

    bed_turns(&bed->bed, 3);
    assert_int_equal(count_open(bed), 1);
    assert_int_equal(bed->bed.front.open, 0);
    say(client, "..r.d");
    bed_turns(&bed->bed, 5);
    assert_int_equal(bed->bed.front.open, 1);
    assert_int_equal(count_open(bed), 1);
    say(client, "one\n");
    bed_expect(&bed->bed, client, "one\n");
    assert_int_equal(shutdown(client, SHUT_RDWR), 0);
    bed_turns(&bed->bed, 3);
    assert_int_equal(count_open(bed), 0);
}

static void failed_handshake_is_reported_and_not_counted(void **state)
{
    struct acceptor_bed *bed = *state;
    int client = knock(bed, 1);

    say(client, ".f");
    bed_turns(&bed->bed, 5);
    assert_int_equal(bed->refusals, 1);
    assert_string_equal(bed->why, "it was told to");
    assert_int_equal(count_open(bed), 0);
    assert_int_equal(fake_handshake.closes, 1);
}

static void handshake_that_takes_too_long_is_reported_and_not_counted(void **state)
{
    struct acceptor_bed *bed = *state;

    knock(bed, 3);
    bed_turns(&bed->bed, 3);
    assert_int_equal(count_open(bed), 3);
    limit(bed, PLENTY, 1);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 0);
    assert_string_equal(bed->why, "timeout");
    assert_int_equal(fake_handshake.closes, 3);
}

// Which are connections as far as that goes.
static void handshakes_count_against_the_limit(void **state)
{
    struct acceptor_bed *bed = *state;
    int client;

    limit(bed, 2, NSEC_PER_SEC * 1000);
    client = knock(bed, 3);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 2);
    say(bed->clients[0], "f");
    bed_turns(&bed->bed, 3);
    io_set_full(bed->io, 0);
    say(client, "d");
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 2);
    assert_int_equal(bed->bed.front.open, 1);
}

// Returns the client of a socket that the core hands to a thread.
static int begin_handshake(struct acceptor_bed *bed)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    assert_true(io_begin_handshake(bed->io, &bed->bed.service.io, fds[0]));
    bed->bed.loop.turn.open++;
    bed->clients[bed->count++] = fds[1];
    return fds[1];
}

static void socket_that_the_core_has_accepted_is_greeted_by_a_thread(void **state)
{
    struct acceptor_bed *bed = *state;
    int client = begin_handshake(bed);

    say(client, "done\n");
    bed_turns(&bed->bed, 5);
    bed_expect(&bed->bed, client, "one\n");
    assert_int_equal(count_open(bed), 1);
    assert_int_equal(io_thread_links(&bed->io->threads[0]) + io_thread_links(&bed->io->threads[1]),
                     1);
}

static void handshake_without_memory_leaves_the_socket_to_the_core(void **state)
{
    struct acceptor_bed *bed = *state;

    nth_alloc_fail(1);
    assert_false(io_begin_handshake(bed->io, &bed->bed.service.io, bed->clients[0]));
    nth_alloc_fail(0);
    bed_turns(&bed->bed, 2);
    assert_int_equal(io_thread_links(&bed->io->threads[0]), 0);
}

static void sockets_without_a_connection_are_closed_when_accepting_ends(void **state)
{
    struct acceptor_bed *bed = *state;
    int served = knock(bed, 1);
    int shaking;

    say(served, "d");
    bed_turns(&bed->bed, 5);
    assert_int_equal(bed->bed.front.open, 1);
    // One makes its handshake, one is on its way to a thread, one is not known to the core yet, and
    // one waits in the kernel.
    shaking = knock(bed, 1);
    rounds(bed, 0, 2);
    say(knock(bed, 1), "d");
    rounds(bed, 0, 4);
    assert_int_equal(count_open(bed), 3);
    (void)begin_handshake(bed);
    io_shut(bed->io);
    knock(bed, 1);
    bed_turns(&bed->bed, 5);
    assert_int_equal(count_open(bed), 1);
    bed_expect_end(&bed->bed, dup(shaking));
    bed_expect_end(&bed->bed, dup(bed->clients[2]));
    bed_expect_end(&bed->bed, dup(bed->clients[3]));
    // Connections that were served are still served.
    say(served, "one\n");
    bed_expect(&bed->bed, served, "one\n");
}

// The teardown does it.
static void threads_may_end_with_pending_sockets_and_handshakes(void **state)
{
    struct acceptor_bed *bed = *state;

    for (unsigned i = 0; i < 4; i++) {
        say(knock(bed, 1), i % 2 ? "d" : ".");
        rounds(bed, i % 2, 1 + i);
    }
    (void)begin_handshake(bed);
    knock(bed, 1);
}

#define PLAIN_TEST(f) cmocka_unit_test_setup_teardown(f, plain_setup, acceptor_bed_teardown)
#define SHAKING_TEST(f) cmocka_unit_test_setup_teardown(f, shaking_setup, acceptor_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAIN_TEST(threads_accept_and_serve),
        PLAIN_TEST(limit_of_connections_holds_for_all_threads_together),
        PLAIN_TEST(core_is_woken_when_the_limit_is_reached),
        PLAIN_TEST(no_connection_is_accepted_while_the_core_reports_the_limit),
        PLAIN_TEST(threads_accept_nothing_while_the_core_accepts),
        PLAIN_TEST(accepting_pauses_without_descriptors),
        PLAIN_TEST(accepting_while_another_thread_rests_ends_no_episode),
        PLAIN_TEST(thread_that_accepts_keeps_the_connection),
        PLAIN_TEST(excess_connections_go_to_the_other_thread),
        PLAIN_TEST(connection_that_is_refused_is_closed),
        PLAIN_TEST(socket_without_memory_is_closed_and_not_counted),
        SHAKING_TEST(connection_begins_when_its_handshake_is_done),
        SHAKING_TEST(failed_handshake_is_reported_and_not_counted),
        SHAKING_TEST(handshake_that_takes_too_long_is_reported_and_not_counted),
        SHAKING_TEST(handshakes_count_against_the_limit),
        SHAKING_TEST(socket_that_the_core_has_accepted_is_greeted_by_a_thread),
        SHAKING_TEST(handshake_without_memory_leaves_the_socket_to_the_core),
        SHAKING_TEST(sockets_without_a_connection_are_closed_when_accepting_ends),
        SHAKING_TEST(threads_may_end_with_pending_sockets_and_handshakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
