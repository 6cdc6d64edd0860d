/* SPDX-License-Identifier: MIT */
// Handshakes: their ends, their bounds, and the state that they leave.
#include "server/net/handshakes.h"

#include "server/net/budget.h"
#include "server/process/clock.h"
#include "tests/server/fake_handshake.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT (10 * NSEC_PER_SEC)

struct fixture {
    struct event_base *base;
    struct handshakes handshakes;
    unsigned done;
    int done_fd;
    unsigned done_steps;
    const void *done_service;
    unsigned failed;
    char peers[128];   // of handshakes that are done or have failed, in order
    char why[64];      // of the last failure
    unsigned too_many; // that have failed because there were too many
};

// The argument of the host, and its address.
static const int service;
static int shared;
static nsec_t fixture_time;

static nsec_t fixture_now(void)
{
    return fixture_time;
}

static void note_peer(struct fixture *fixture, const char *peer)
{
    size_t len = strlen(fixture->peers);

    if (*peer) {
        (void)snprintf(fixture->peers + len, sizeof fixture->peers - len, "%s ", peer);
    }
}

static void fixture_done(void *context, const void *given, int fd, void *own, const char *peer)
{
    struct fixture *fixture = context;

    fixture->done++;
    fixture->done_fd = fd;
    fixture->done_service = given;
    fixture->done_steps = fake_handshake_steps(own);
    note_peer(fixture, peer);
}

static void fixture_failed(void *context, const void *given, const char *peer, const char *why)
{
    struct fixture *fixture = context;

    assert_ptr_equal(given, &service);
    fixture->failed++;
    note_peer(fixture, peer);
    (void)snprintf(fixture->why, sizeof fixture->why, "%s", why);
    fixture->too_many += strcmp(why, "too many handshakes at once") == 0 ? 1 : 0;
}

static const struct handshakes_host virtual_host = {
    .now = fixture_now, .done = fixture_done, .failed = fixture_failed};
static const struct handshakes_host real_host = {
    .now = clock_awake, .done = fixture_done, .failed = fixture_failed};

static int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    nth_alloc_fail(0);
    fake_handshake_reset();
    fixture_time = 1000 * NSEC_PER_SEC;
    fixture->base = event_base_new();
    handshakes_init(&fixture->handshakes, fixture->base, &virtual_host, fixture, TIMEOUT);
    *state = fixture;
    return 0;
}

static int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    nth_alloc_fail(0);
    handshakes_close(&fixture->handshakes);
    assert_int_equal(event_base_get_num_events(fixture->base, EVENT_BASE_COUNT_ADDED), 0);
    event_base_free(fixture->base);
    free(fixture);
    return 0;
}

// Rounds of the base, in each of which ready sockets are handled.
static void rounds(struct fixture *fixture, unsigned count)
{
    while (count-- > 0) {
        (void)event_base_loop(fixture->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
}

// A peer; its side of a socket pair.
static int add(struct fixture *fixture, const char *peer)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    handshakes_add(&fixture->handshakes, &fake_handshake_transport, &shared, &service, fds[0],
                   peer);
    return fds[1];
}

static void say(int peer, const char *text)
{
    assert_int_equal(write(peer, text, strlen(text)), strlen(text));
}

static void assert_closed(int peer)
{
    char byte;

    assert_int_equal(recv(peer, &byte, 1, 0), 0);
    (void)close(peer);
}

static void socket_is_handed_over_when_its_handshake_is_made(void **state)
{
    struct fixture *fixture = *state;
    int peer = add(fixture, "10.0.0.1:5");
    char bytes[4] = "";

    say(peer, ".");
    rounds(fixture, 3);
    assert_int_equal(fixture->done, 0);
    assert_int_equal(fixture->handshakes.count, 1);
    say(peer, "dabc");
    rounds(fixture, 2);
    assert_int_equal(fixture->done, 1);
    assert_int_equal(fixture->done_steps, 2);
    assert_ptr_equal(fixture->done_service, &service);
    assert_ptr_equal(fake_handshake.shared, &shared);
    assert_string_equal(fixture->peers, "10.0.0.1:5 ");
    assert_int_equal(fixture->handshakes.count, 0);
    assert_int_equal(fake_handshake.closes, 0);
    assert_int_equal(recv(fixture->done_fd, bytes, 3, 0), 3);
    assert_string_equal(bytes, "abc");
    (void)close(fixture->done_fd);
    (void)close(peer);
}

static void nothing_is_begun_for_a_peer_that_sends_nothing(void **state)
{
    struct fixture *fixture = *state;
    int peer = add(fixture, "a");

    rounds(fixture, 5);
    assert_int_equal(fake_handshake.begins, 0);
    say(peer, ".");
    rounds(fixture, 2);
    assert_int_equal(fake_handshake.begins, 1);
    (void)close(peer);
}

static void failed_handshake_closes_the_socket_with_a_reason(void **state)
{
    struct fixture *fixture = *state;
    int peer = add(fixture, "10.0.0.1:5");

    say(peer, "f");
    rounds(fixture, 2);
    assert_int_equal(fixture->failed, 1);
    assert_string_equal(fixture->why, "it was told to");
    assert_string_equal(fixture->peers, "10.0.0.1:5 ");
    assert_int_equal(fixture->handshakes.count, 0);
    assert_int_equal(fake_handshake.closes, 1);
    assert_closed(peer);
}

static void peer_that_leaves_ends_its_handshake_at_once(void **state)
{
    struct fixture *fixture = *state;
    int half_way = add(fixture, "half-way");
    int silent = add(fixture, "silent");

    say(half_way, ".");
    rounds(fixture, 2);
    (void)close(half_way);
    (void)close(silent);
    rounds(fixture, 2);
    assert_int_equal(fixture->failed, 2);
    assert_string_equal(fixture->why, "the peer has gone");
}

static void handshake_that_needs_room_goes_on_when_the_peer_has_read(void **state)
{
    struct fixture *fixture = *state;
    char bytes[4096] = {0};
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    while (write(fds[0], bytes, sizeof bytes) > 0) {
    }
    handshakes_add(&fixture->handshakes, &fake_handshake_transport, &shared, &service, fds[0], "a");
    say(fds[1], "r.");
    rounds(fixture, 5);
    assert_int_equal(fake_handshake.steps, 1);
    while (read(fds[1], bytes, sizeof bytes) > 0) {
    }
    rounds(fixture, 2);
    assert_int_equal(fake_handshake.steps, 2);
    // It waits for input now.
    say(fds[1], "d");
    rounds(fixture, 2);
    assert_int_equal(fixture->done, 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

// Something that is connected already.
struct bystander {
    unsigned most_steps; // that were made between two calls
    unsigned last_steps;
};

static void bystander_called(evutil_socket_t fd, short what, void *context)
{
    struct bystander *bystander = context;
    unsigned steps = fake_handshake.steps - bystander->last_steps;

    (void)fd;
    (void)what;
    bystander->last_steps = fake_handshake.steps;
    bystander->most_steps = steps > bystander->most_steps ? steps : bystander->most_steps;
}

// Serves `count` peers that have all said the first step, beside an event that is always ready;
// returns how many steps were made between two calls of that.
static unsigned steps_beside(struct fixture *fixture, unsigned count)
{
    struct bystander bystander = {0};
    int *peers = calloc(count, sizeof *peers);
    struct event event;
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(event_assign(&event, fixture->base, fds[0], EV_WRITE | EV_PERSIST,
                                  bystander_called, &bystander),
                     0);
    assert_int_equal(event_add(&event, NULL), 0);
    for (unsigned i = 0; i < count; i++) {
        peers[i] = add(fixture, "");
        say(peers[i], ".");
    }
    for (unsigned i = 0; fake_handshake.steps < count; i++) {
        assert_in_range(i, 0, count + 1);
        rounds(fixture, 1);
    }
    rounds(fixture, 1);
    assert_int_equal(fake_handshake.steps, count);
    for (unsigned i = 0; i < count; i++) {
        (void)close(peers[i]);
    }
    free(peers);
    (void)event_del(&event);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return bystander.most_steps;
}

static void others_are_served_between_passes_of_a_bounded_number_of_steps(void **state)
{
    assert_int_equal(steps_beside(*state, 200), HANDSHAKES_STEPS_MAX);
}

static void pass_that_has_lasted_begins_no_step(void **state)
{
    fake_handshake.time = &fixture_time;
    fake_handshake.step_for = HANDSHAKES_FOR / 2;
    assert_int_equal(steps_beside(*state, 20), 2);
}

static void step_that_lasts_longer_than_a_pass_is_the_only_one(void **state)
{
    fake_handshake.time = &fixture_time;
    fake_handshake.step_for = 3 * HANDSHAKES_FOR;
    assert_int_equal(steps_beside(*state, 20), 1);
}

static void peer_that_floods_gets_only_its_share(void **state)
{
    struct fixture *fixture = *state;
    int flood = add(fixture, "flood");
    int quick = add(fixture, "quick");

    for (int i = 0; i < 50; i++) {
        say(flood, "....");
        if (i == 25) {
            say(quick, "d");
        }
        rounds(fixture, 1);
        assert_in_range(fake_handshake.steps, 0, i + 2);
    }
    assert_int_equal(fixture->done, 1);
    (void)close(fixture->done_fd);
    (void)close(quick);
    (void)close(flood);
}

static void handshake_that_takes_too_long_is_closed(void **state)
{
    struct fixture *fixture = *state;
    int silent = add(fixture, "silent");
    int busy = add(fixture, "busy");
    int later;

    fixture_time += 4 * NSEC_PER_SEC;
    later = add(fixture, "later");
    say(busy, ".");
    rounds(fixture, 2);
    fixture_time += 6 * NSEC_PER_SEC - 1;
    say(busy, ".");
    rounds(fixture, 1);
    handshakes_expire(&fixture->handshakes);
    assert_int_equal(fixture->failed, 0);
    fixture_time++;
    handshakes_expire(&fixture->handshakes);
    assert_int_equal(fixture->failed, 2);
    assert_string_equal(fixture->peers, "silent busy ");
    assert_string_equal(fixture->why, "timeout");
    assert_int_equal(fake_handshake.closes, 2);
    rounds(fixture, 2);
    fixture_time += 4 * NSEC_PER_SEC;
    handshakes_expire(&fixture->handshakes);
    assert_int_equal(fixture->handshakes.count, 0);
    assert_closed(silent);
    (void)close(busy);
    assert_closed(later);
}

static void expired_handshake_may_be_done_all_the_same(void **state)
{
    struct fixture *fixture = *state;
    int silent = add(fixture, "silent");
    int begun = add(fixture, "begun");

    fake_handshake.is_late = true;
    say(begun, ".");
    rounds(fixture, 2);
    assert_int_equal(fake_handshake.begins, 1);
    fixture_time += TIMEOUT;
    handshakes_expire(&fixture->handshakes);
    assert_int_equal(fake_handshake.begins, 2);
    assert_int_equal(fixture->failed, 0);
    assert_int_equal(fixture->done, 2);
    assert_int_equal(fixture->handshakes.count, 0);
    // Without memory to begin, it has failed.
    fake_handshake.refuses = true;
    (void)close(silent);
    silent = add(fixture, "refused");
    fixture_time += TIMEOUT;
    handshakes_expire(&fixture->handshakes);
    assert_int_equal(fixture->failed, 1);
    (void)close(silent);
    (void)close(begun);
}

// Closing takes time, too: it is done in portions, with other events in between.
static void many_expired_handshakes_are_closed_over_several_passes(void **state)
{
    enum { MANY = 3 * HANDSHAKES_CLOSED_MAX };
    struct fixture *fixture = *state;
    int peers[MANY];

    for (unsigned i = 0; i < MANY; i++) {
        peers[i] = add(fixture, "");
    }
    fixture_time += TIMEOUT;
    handshakes_set_timeout(&fixture->handshakes, TIMEOUT);
    for (unsigned i = 1; i <= 3; i++) {
        rounds(fixture, 1);
        assert_int_equal(fixture->failed, i * HANDSHAKES_CLOSED_MAX);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_closed(peers[i]);
    }
}

static void longest_waiting_handshake_is_closed_for_a_new_one(void **state)
{
    struct fixture *fixture = *state;
    int peers[4];

    fixture->handshakes.begun_max = 3;
    for (int i = 0; i < 3; i++) {
        peers[i] = add(fixture, (const char *[]){"a", "b", "c"}[i]);
        say(peers[i], ".");
        rounds(fixture, 2);
    }
    // `a` has sent something since `b` has.
    say(peers[0], ".");
    rounds(fixture, 2);
    peers[3] = add(fixture, "d");
    rounds(fixture, 2);
    assert_int_equal(fixture->failed, 0);
    say(peers[3], ".");
    rounds(fixture, 2);
    assert_string_equal(fixture->peers, "b ");
    assert_string_equal(fixture->why, "too many handshakes at once");
    assert_closed(peers[1]);
    assert_int_equal(fake_handshake.begins, 4);
    say(peers[3], "f");
    rounds(fixture, 2);
    assert_string_equal(fixture->peers, "b d ");
    (void)close(peers[0]);
    (void)close(peers[2]);
    (void)close(peers[3]);
}

// Handshakes whose peers answer are not given up: many clients that connect at once are served.
static void peers_that_answer_are_served_beyond_the_limit(void **state)
{
    enum { CLIENTS = 12 * HANDSHAKES_STEPS_MAX };
    struct fixture *fixture = *state;
    int peers[CLIENTS];
    unsigned answered = 0;

    fixture->handshakes.begun_max = 2 * HANDSHAKES_STEPS_MAX;
    for (unsigned i = 0; i < CLIENTS; i++) {
        peers[i] = add(fixture, "");
        say(peers[i], ".");
    }
    while (fixture->handshakes.count > 0) {
        rounds(fixture, 1);
        // They are begun in the order in which they came.
        for (; answered < fake_handshake.begins; answered++) {
            say(peers[answered], "f");
        }
    }
    assert_int_equal(fixture->failed, CLIENTS);
    assert_string_equal(fixture->why, "it was told to");
    assert_int_equal(fixture->too_many, 0);
    for (unsigned i = 0; i < CLIENTS; i++) {
        (void)close(peers[i]);
    }
}

static void new_and_continued_handshakes_alternate(void **state)
{
    enum { EACH = 5 };
    struct fixture *fixture = *state;
    int peers[2 * EACH];

    for (unsigned i = 0; i < EACH; i++) {
        peers[i] = add(fixture, "");
        say(peers[i], ".");
    }
    rounds(fixture, 2);
    for (unsigned i = 0; i < 2 * EACH; i++) {
        if (i >= EACH) {
            peers[i] = add(fixture, "");
        }
        say(peers[i], ".");
    }
    fake_handshake.time = &fixture_time;
    fake_handshake.step_for = HANDSHAKES_FOR / 2;
    rounds(fixture, 1);
    for (unsigned pass = 1; pass <= EACH; pass++) {
        rounds(fixture, 1);
        assert_int_equal(fake_handshake.begins, EACH + pass);
        assert_int_equal(fake_handshake.steps, EACH + 2 * pass);
    }
    for (unsigned i = 0; i < 2 * EACH; i++) {
        (void)close(peers[i]);
    }
}

static void timer_of_the_base_closes_expired_handshakes(void **state)
{
    struct fixture *fixture = *state;
    int peers[2];

    handshakes_init(&fixture->handshakes, fixture->base, &real_host, fixture, 20 * NSEC_PER_MSEC);
    peers[0] = add(fixture, "a");
    peers[1] = add(fixture, "b");
    while (fixture->handshakes.count > 0) {
        assert_int_equal(event_base_loop(fixture->base, EVLOOP_ONCE), 0);
    }
    assert_string_equal(fixture->peers, "a b ");
    assert_closed(peers[0]);
    assert_closed(peers[1]);
}

static void timer_is_set_for_the_next_when_the_oldest_ends(void **state)
{
    struct fixture *fixture = *state;
    int first;
    int second;

    handshakes_init(&fixture->handshakes, fixture->base, &real_host, fixture, 20 * NSEC_PER_MSEC);
    first = add(fixture, "first");
    say(first, "f");
    rounds(fixture, 2);
    assert_int_equal(fixture->failed, 1);
    second = add(fixture, "second");
    while (fixture->handshakes.count > 0) {
        assert_int_equal(event_base_loop(fixture->base, EVLOOP_ONCE), 0);
    }
    assert_string_equal(fixture->why, "timeout");
    assert_closed(first);
    assert_closed(second);
}

static void new_timeout_applies_to_handshakes_that_have_begun(void **state)
{
    struct fixture *fixture = *state;
    int peer = add(fixture, "a");

    fixture_time += 3 * NSEC_PER_SEC;
    handshakes_set_timeout(&fixture->handshakes, 2 * NSEC_PER_SEC);
    // It is due: the timer fires.
    rounds(fixture, 2);
    assert_int_equal(fixture->failed, 1);
    assert_closed(peer);
}

static void closing_closes_all_without_calling_the_host(void **state)
{
    struct fixture *fixture = *state;
    int begun = add(fixture, "begun");
    int silent = add(fixture, "silent");
    int ready = add(fixture, "ready");

    say(begun, ".");
    rounds(fixture, 2);
    say(ready, "d");
    rounds(fixture, 1);
    handshakes_close(&fixture->handshakes);
    assert_int_equal(fixture->done + fixture->failed, 0);
    assert_int_equal(fixture->handshakes.count, 0);
    assert_int_equal(fake_handshake.closes, 3);
    assert_closed(begun);
    assert_closed(silent);
    (void)close(ready);
}

static void transport_without_memory_fails_its_handshake(void **state)
{
    struct fixture *fixture = *state;
    int peer = add(fixture, "a");

    fake_handshake.refuses = true;
    say(peer, "d");
    rounds(fixture, 2);
    assert_int_equal(fixture->failed, 1);
    assert_string_equal(fixture->why, "out of memory");
    assert_int_equal(fake_handshake.steps, 0);
    assert_int_equal(fake_handshake.closes, 1);
    (void)close(peer);
}

static void any_allocation_may_fail(void **state)
{
    struct fixture *fixture = *state;
    bool failed = true;

    for (size_t n = 1; failed; n++) {
        unsigned before = fixture->failed;
        int peer;

        nth_alloc_fail(n);
        peer = add(fixture, "a");
        (void)send(peer, "d", 1, MSG_NOSIGNAL);
        rounds(fixture, 3);
        failed = nth_alloc_count() >= n;
        nth_alloc_fail(0);
        // In either case it has ended.
        assert_int_equal(fixture->handshakes.count, 0);
        assert_int_equal(fixture->failed + fixture->done, n);
        if (fixture->failed == before) {
            (void)close(fixture->done_fd);
        }
        (void)close(peer);
    }
    assert_true(fixture->failed > 0);
    assert_true(fixture->done > 0);
}

#define HANDSHAKES_TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HANDSHAKES_TEST(socket_is_handed_over_when_its_handshake_is_made),
        HANDSHAKES_TEST(nothing_is_begun_for_a_peer_that_sends_nothing),
        HANDSHAKES_TEST(failed_handshake_closes_the_socket_with_a_reason),
        HANDSHAKES_TEST(peer_that_leaves_ends_its_handshake_at_once),
        HANDSHAKES_TEST(handshake_that_needs_room_goes_on_when_the_peer_has_read),
        HANDSHAKES_TEST(others_are_served_between_passes_of_a_bounded_number_of_steps),
        HANDSHAKES_TEST(pass_that_has_lasted_begins_no_step),
        HANDSHAKES_TEST(step_that_lasts_longer_than_a_pass_is_the_only_one),
        HANDSHAKES_TEST(peer_that_floods_gets_only_its_share),
        HANDSHAKES_TEST(handshake_that_takes_too_long_is_closed),
        HANDSHAKES_TEST(expired_handshake_may_be_done_all_the_same),
        HANDSHAKES_TEST(many_expired_handshakes_are_closed_over_several_passes),
        HANDSHAKES_TEST(longest_waiting_handshake_is_closed_for_a_new_one),
        HANDSHAKES_TEST(peers_that_answer_are_served_beyond_the_limit),
        HANDSHAKES_TEST(new_and_continued_handshakes_alternate),
        HANDSHAKES_TEST(timer_of_the_base_closes_expired_handshakes),
        HANDSHAKES_TEST(timer_is_set_for_the_next_when_the_oldest_ends),
        HANDSHAKES_TEST(new_timeout_applies_to_handshakes_that_have_begun),
        HANDSHAKES_TEST(closing_closes_all_without_calling_the_host),
        HANDSHAKES_TEST(transport_without_memory_fails_its_handshake),
        HANDSHAKES_TEST(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
