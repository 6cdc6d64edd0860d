/* SPDX-License-Identifier: MIT */
// Connections that the I/O threads accept themselves: how many, in which thread, what becomes of
// handshakes, and that every socket is counted as long as it is open.
#include "server/net/admission.h"
#include "server/io/io_thread.h"
#include "server/io/io_private.h"

#include "core/base/log.h"
#include "tests/server/fake_handshake.h"
#include "tests/server/server_bed.h"
#include "tests/server/server_cmocka.h"
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

struct house {
    struct bed bed;
    struct io *io;
    int listening;
    struct sockaddr_un addr;
    int clients[CLIENTS_MAX];
    unsigned count;
    unsigned rests;    // that the log told of
    unsigned refusals; // likewise
    char why[64];      // of the last
};

static void house_log(void *context, enum log_level level, const char *event,
                      const struct log_field *fields, size_t count)
{
    struct house *house = context;

    (void)level;
    house->rests += strcmp(event, "accept_failed") == 0 ? 1 : 0;
    if (strcmp(event, "handshake_failed") != 0) {
        return;
    }
    house->refusals++;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, "why") == 0) {
            (void)snprintf(house->why, sizeof house->why, "%.*s", (int)fields[i].text.len,
                           fields[i].text.ptr);
        }
    }
}

static void limit(struct house *house, uint64_t most, nsec_t handshake_for)
{
    io_set_limits(house->io, &(struct io_limits){.most = most, .handshake_for = handshake_for});
    bed_turns(&house->bed, 1);
}

// With an address of Linux's that is no file.
static void house_listen(struct house *house)
{
    house->addr = (struct sockaddr_un){.sun_family = AF_UNIX};
    house->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)snprintf(house->addr.sun_path + 1, sizeof house->addr.sun_path - 1, "door_test.%d.%d",
                   (int)getpid(), house->listening);
    assert_int_equal(
        bind(house->listening, (const struct sockaddr *)&house->addr, sizeof house->addr), 0);
    assert_int_equal(listen(house->listening, CLIENTS_MAX), 0);
}

static void *house_open(const struct transport *transport)
{
    struct house *house = calloc(1, sizeof *house);

    nth_alloc_fail(0);
    fake_handshake_reset();
    bed_init(&house->bed, bed_now);
    house->io = house->bed.loop.turn.io;
    bed_use_transport(&house->bed, transport);
    house_listen(house);
    assert_true(io_listen(house->io, &house->bed.service.io, house->listening));
    limit(house, PLENTY, NSEC_PER_SEC * 1000);
    log_set_sink(house_log, house, LOG_LEVEL_INFO);
    return house;
}

static int plain_setup(void **state)
{
    *state = house_open(&transport_plain);
    return 0;
}

static int shaking_setup(void **state)
{
    *state = house_open(&fake_handshake_transport);
    return 0;
}

static int house_teardown(void **state)
{
    struct house *house = *state;

    nth_alloc_fail(0);
    bed_close(&house->bed);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    for (unsigned i = 0; i < house->count; i++) {
        (void)close(house->clients[i]);
    }
    (void)close(house->listening);
    free(house);
    return 0;
}

// Connects so many, which nobody has accepted yet; returns the last.
static int knock(struct house *house, unsigned count)
{
    int fd = -1;

    while (count-- > 0) {
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_int_equal(connect(fd, (const struct sockaddr *)&house->addr, sizeof house->addr), 0);
        assert_in_range(house->count, 0, CLIENTS_MAX - 1);
        house->clients[house->count++] = fd;
    }
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static uint64_t count_open(struct house *house)
{
    return house->bed.loop.turn.open;
}

static void rounds(struct house *house, unsigned thread, unsigned count)
{
    while (count-- > 0) {
        (void)io_thread_round(&house->io->threads[thread], false);
    }
}

static void threads_accept_and_serve(void **state)
{
    struct house *house = *state;
    int client = knock(house, 20);

    bed_turns(&house->bed, 30);
    assert_int_equal(house->bed.front.open, 20);
    assert_int_equal(count_open(house), 20);
    assert_true(bed_latest(&house->bed)->remote);
    say(client, "one\n");
    bed_expect(&house->bed, client, "one\n");
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(shutdown(house->clients[i], SHUT_RDWR), 0);
    }
    bed_turns(&house->bed, 5);
    assert_int_equal(house->bed.front.open, 0);
    assert_int_equal(count_open(house), 0);
}

static void no_more_are_open_than_may_be_over_all_threads(void **state)
{
    struct house *house = *state;

    limit(house, 5, 1);
    knock(house, 20);
    bed_turns(&house->bed, 30);
    assert_int_equal(house->bed.front.open, 5);
    assert_int_equal(count_open(house), 5);
    // They found out themselves, and wait for the core.
    assert_int_equal(house->io->common.full, SLOTS_ALL);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(house->io->threads[i].kinds_open, 0);
    }
    assert_int_equal(shutdown(house->clients[0], SHUT_RDWR), 0);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 4);
    io_set_full(house->io, 0);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 5);
}

// Nobody else would see to it while the core's thread sleeps.
static void core_is_woken_when_there_are_as_many_as_there_may_be(void **state)
{
    struct house *house = *state;
    const struct io_batch *news;

    bed_use_transport(&house->bed, &fake_handshake_transport);
    limit(house, 1, NSEC_PER_SEC * 1000);
    knock(house, 1);
    (void)io_begin_sleep(house->io);
    rounds(house, 0, 1);
    assert_false(house->io->sleeper.asleep);
    news = io_batch_of(mailbox_take(&house->io->news));
    assert_non_null(news);
    assert_int_equal(news->notes[0].what, NEWS_FULL);
    mailbox_put(&house->io->news, &((struct io_batch *)(uintptr_t)news)->mail);
}

static void none_is_accepted_while_the_core_says_that_there_are_enough(void **state)
{
    struct house *house = *state;

    io_set_full(house->io, SLOTS_ALL);
    // They close when the threads have heard of it.
    bed_turns(&house->bed, 1);
    knock(house, 3);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 0);
    io_set_full(house->io, 0);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 3);
}

static void none_is_accepted_where_the_core_does_so(void **state)
{
    struct house *house = *state;

    atomic_store(&house->io->common.accepts, false);
    bed_turns(&house->bed, 1);
    knock(house, 3);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 0);
    atomic_store(&house->io->common.accepts, true);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 3);
}

// The process may have no descriptor more than it has.
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

static void end_rest(struct house *house, unsigned thread)
{
    event_active(&house->io->threads[thread].rest, EV_TIMEOUT, 0);
    bed_turns(&house->bed, 5);
}

static void doors_rest_where_there_are_no_descriptors(void **state)
{
    struct house *house = *state;
    struct rlimit before;

    knock(house, 3);
    before = allow_no_more();
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 0);
    assert_int_equal(house->rests, 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(house->io->threads[i].rests);
        assert_int_equal(house->io->threads[i].kinds_open, 0);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 0);
    end_rest(house, 1);
    assert_int_equal(count_open(house), 3);
    // Another episode is told again.
    end_rest(house, 0);
    knock(house, 1);
    bed_turns(&house->bed, 5);
    knock(house, 1);
    before = allow_no_more();
    bed_turns(&house->bed, 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(house->rests, 2);
}

// An attempt of one thread that is in vain has a descriptor for a moment, which may be the last.
static void accepting_while_another_thread_rests_ends_no_episode(void **state)
{
    struct house *house = *state;
    struct rlimit before;

    knock(house, 1);
    before = allow_no_more();
    rounds(house, 0, 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(house->io->threads[0].rests);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 1);
    knock(house, 1);
    before = allow_no_more();
    bed_turns(&house->bed, 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(house->io->threads[1].rests);
    assert_int_equal(house->rests, 1);
}

static void who_accepts_keeps_the_connection(void **state)
{
    struct house *house = *state;

    knock(house, 8);
    rounds(house, 1, 10);
    assert_int_equal(io_thread_links(&house->io->threads[1]), 8);
    assert_int_equal(io_thread_links(&house->io->threads[0]), 0);
}

static void what_one_thread_has_too_many_of_goes_to_the_other(void **state)
{
    struct house *house = *state;

    knock(house, 30);
    rounds(house, 1, 50);
    assert_int_equal(count_open(house), 30);
    // Nine more than the other has are too many.
    assert_in_range(io_thread_links(&house->io->threads[1]), 19, 20);
    assert_int_equal(
        io_thread_links(&house->io->threads[0]) + io_thread_links(&house->io->threads[1]), 30);
    bed_turns(&house->bed, 3);
    assert_int_equal(house->bed.front.open, 30);
    say(house->clients[29], "last\n");
    bed_expect(&house->bed, house->clients[29], "last\n");
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(shutdown(house->clients[i], SHUT_RDWR), 0);
    }
    bed_turns(&house->bed, 5);
    assert_int_equal(io_thread_links(&house->io->threads[0]), 0);
    assert_int_equal(io_thread_links(&house->io->threads[1]), 0);
    assert_int_equal(count_open(house), 0);
}

static void connection_that_is_refused_is_closed(void **state)
{
    struct house *house = *state;
    int client = knock(house, 1);

    house->bed.front.refuses = true;
    bed_turns(&house->bed, 3);
    assert_int_equal(count_open(house), 0);
    bed_expect_end(&house->bed, dup(client));
}

static void socket_that_there_is_no_memory_for_is_closed_and_not_counted(void **state)
{
    struct house *house = *state;
    int client = knock(house, 1);

    nth_alloc_fail_from(1);
    bed_turns(&house->bed, 3);
    nth_alloc_fail(0);
    bed_turns(&house->bed, 3);
    assert_int_equal(count_open(house), 0);
    assert_int_equal(house->refusals, 1);
    assert_string_equal(house->why, "out of memory");
    bed_expect_end(&house->bed, dup(client));
}

static void connection_begins_when_its_handshake_is_done(void **state)
{
    struct house *house = *state;
    int client = knock(house, 1);

    bed_turns(&house->bed, 3);
    assert_int_equal(count_open(house), 1);
    assert_int_equal(house->bed.front.open, 0);
    say(client, "..r.d");
    bed_turns(&house->bed, 5);
    assert_int_equal(house->bed.front.open, 1);
    assert_int_equal(count_open(house), 1);
    say(client, "one\n");
    bed_expect(&house->bed, client, "one\n");
    assert_int_equal(shutdown(client, SHUT_RDWR), 0);
    bed_turns(&house->bed, 3);
    assert_int_equal(count_open(house), 0);
}

static void handshake_that_fails_is_told_and_not_counted(void **state)
{
    struct house *house = *state;
    int client = knock(house, 1);

    say(client, ".f");
    bed_turns(&house->bed, 5);
    assert_int_equal(house->refusals, 1);
    assert_string_equal(house->why, "it was told to");
    assert_int_equal(count_open(house), 0);
    assert_int_equal(fake_handshake.closes, 1);
}

static void handshake_that_lasts_too_long_is_told_and_not_counted(void **state)
{
    struct house *house = *state;

    knock(house, 3);
    bed_turns(&house->bed, 3);
    assert_int_equal(count_open(house), 3);
    limit(house, PLENTY, 1);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 0);
    assert_string_equal(house->why, "timeout");
    assert_int_equal(fake_handshake.closes, 3);
}

// Which are connections as far as that goes.
static void handshakes_count_where_no_more_may_be_open(void **state)
{
    struct house *house = *state;
    int client;

    limit(house, 2, NSEC_PER_SEC * 1000);
    client = knock(house, 3);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 2);
    say(house->clients[0], "f");
    bed_turns(&house->bed, 3);
    io_set_full(house->io, 0);
    say(client, "d");
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 2);
    assert_int_equal(house->bed.front.open, 1);
}

// Returns the client of a socket that the core hands to a thread.
static int greet(struct house *house)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    assert_true(io_begin_handshake(house->io, &house->bed.service.io, fds[0]));
    house->bed.loop.turn.open++;
    house->clients[house->count++] = fds[1];
    return fds[1];
}

static void socket_that_the_core_has_accepted_is_greeted_by_a_thread(void **state)
{
    struct house *house = *state;
    int client = greet(house);

    say(client, "done\n");
    bed_turns(&house->bed, 5);
    bed_expect(&house->bed, client, "one\n");
    assert_int_equal(count_open(house), 1);
    assert_int_equal(
        io_thread_links(&house->io->threads[0]) + io_thread_links(&house->io->threads[1]), 1);
}

static void greeting_without_memory_leaves_the_socket_to_the_core(void **state)
{
    struct house *house = *state;

    nth_alloc_fail(1);
    assert_false(io_begin_handshake(house->io, &house->bed.service.io, house->clients[0]));
    nth_alloc_fail(0);
    bed_turns(&house->bed, 2);
    assert_int_equal(io_thread_links(&house->io->threads[0]), 0);
}

static void what_has_no_connection_yet_is_closed_when_the_doors_shut(void **state)
{
    struct house *house = *state;
    int served = knock(house, 1);
    int shaking;

    say(served, "d");
    bed_turns(&house->bed, 5);
    assert_int_equal(house->bed.front.open, 1);
    // One shakes hands, one is on its way to a thread, one is not known to the core yet, and one
    // waits in the kernel.
    shaking = knock(house, 1);
    rounds(house, 0, 2);
    say(knock(house, 1), "d");
    rounds(house, 0, 4);
    assert_int_equal(count_open(house), 3);
    (void)greet(house);
    io_shut(house->io);
    knock(house, 1);
    bed_turns(&house->bed, 5);
    assert_int_equal(count_open(house), 1);
    bed_expect_end(&house->bed, dup(shaking));
    bed_expect_end(&house->bed, dup(house->clients[2]));
    bed_expect_end(&house->bed, dup(house->clients[3]));
    // Who was served is served on.
    say(served, "one\n");
    bed_expect(&house->bed, served, "one\n");
}

// The teardown does it.
static void threads_may_end_with_all_of_that(void **state)
{
    struct house *house = *state;

    for (unsigned i = 0; i < 4; i++) {
        say(knock(house, 1), i % 2 ? "d" : ".");
        rounds(house, i % 2, 1 + i);
    }
    (void)greet(house);
    knock(house, 1);
}

#define PLAIN_TEST(f) cmocka_unit_test_setup_teardown(f, plain_setup, house_teardown)
#define SHAKING_TEST(f) cmocka_unit_test_setup_teardown(f, shaking_setup, house_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAIN_TEST(threads_accept_and_serve),
        PLAIN_TEST(no_more_are_open_than_may_be_over_all_threads),
        PLAIN_TEST(core_is_woken_when_there_are_as_many_as_there_may_be),
        PLAIN_TEST(none_is_accepted_while_the_core_says_that_there_are_enough),
        PLAIN_TEST(none_is_accepted_where_the_core_does_so),
        PLAIN_TEST(doors_rest_where_there_are_no_descriptors),
        PLAIN_TEST(accepting_while_another_thread_rests_ends_no_episode),
        PLAIN_TEST(who_accepts_keeps_the_connection),
        PLAIN_TEST(what_one_thread_has_too_many_of_goes_to_the_other),
        PLAIN_TEST(connection_that_is_refused_is_closed),
        PLAIN_TEST(socket_that_there_is_no_memory_for_is_closed_and_not_counted),
        SHAKING_TEST(connection_begins_when_its_handshake_is_done),
        SHAKING_TEST(handshake_that_fails_is_told_and_not_counted),
        SHAKING_TEST(handshake_that_lasts_too_long_is_told_and_not_counted),
        SHAKING_TEST(handshakes_count_where_no_more_may_be_open),
        SHAKING_TEST(socket_that_the_core_has_accepted_is_greeted_by_a_thread),
        SHAKING_TEST(greeting_without_memory_leaves_the_socket_to_the_core),
        SHAKING_TEST(what_has_no_connection_yet_is_closed_when_the_doors_shut),
        SHAKING_TEST(threads_may_end_with_all_of_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
