/* SPDX-License-Identifier: MIT */
// Two sockets between which bytes are passed: all bytes, the ends, errors, and bounds.
#include "server/proxy/relay.h"

#include "server/process/clock.h"
#include "tests/server/proxy_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/chance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

// The data is this text, repeated: its length divides no buffer's.
#define PATTERN 1000003
#define PIPE_HOLDS 65536

struct fixture {
    struct proxy_bed bed;
    struct pipe_pool pool;
    struct relay relay;
    int client[2]; // the client's end, and ours
    int owner[2];  // our end, and the owner's
    unsigned over; // calls of `over`
    int error;
    char *pattern;
};

static struct fixture *current;

static void fixture_over(struct relay *relay, int error)
{
    assert_ptr_equal(relay, &current->relay);
    current->over++;
    current->error = error;
    relay_stop(relay);
}

static void begin(struct fixture *fixture)
{
    const int fds[] = {fixture->client[1], fixture->owner[0]};

    assert_true(relay_start(&fixture->relay, fixture->bed.base, &fixture->pool, fds, fixture_over));
}

static int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    current = fixture;
    proxy_bed_open(&fixture->bed);
    bed_connect(fixture->client);
    bed_connect(fixture->owner);
    begin(fixture);
    *state = fixture;
    return 0;
}

static int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    relay_stop(&fixture->relay);
    pipe_pool_clear(&fixture->pool);
    for (unsigned i = 0; i < 2; i++) {
        (void)close(fixture->client[i]);
        (void)close(fixture->owner[i]);
    }
    proxy_bed_close(&fixture->bed);
    free(fixture->pattern);
    free(fixture);
    return 0;
}

// One direction of a long transfer.
struct stream {
    const char *pattern;
    int from;
    int to;
    size_t sent;
    size_t received;
};

static void stream_send(struct stream *stream, size_t most)
{
    size_t at = stream->sent % PATTERN;
    size_t len = most - stream->sent < PATTERN - at ? most - stream->sent : PATTERN - at;
    ssize_t sent = len > 0 ? send(stream->from, stream->pattern + at, len, MSG_NOSIGNAL) : 0;

    stream->sent += sent > 0 ? (size_t)sent : 0;
}

static void stream_receive(struct stream *stream)
{
    static char bytes[65536];
    size_t at = stream->received % PATTERN;
    size_t room = PATTERN - at < sizeof bytes ? PATTERN - at : sizeof bytes;
    ssize_t got = bed_receive(stream->to, bytes, room);

    if (got > 0) {
        assert_memory_equal(bytes, stream->pattern + at, (size_t)got);
        stream->received += (size_t)got;
    }
}

static void make_pattern(struct fixture *fixture)
{
    fixture->pattern = malloc(PATTERN);
    assert_non_null(fixture->pattern);
    for (size_t i = 0; i < PATTERN; i++) {
        fixture->pattern[i] = (char)below(256);
    }
}

static void bytes_of_both_directions_arrive_as_they_were_sent(void **state)
{
    struct fixture *fixture = *state;
    const size_t most = (size_t)64 * 1024 * 1024;
    struct stream there = {.from = fixture->client[0], .to = fixture->owner[1]};
    struct stream back = {.from = fixture->owner[1], .to = fixture->client[0]};

    make_pattern(fixture);
    there.pattern = back.pattern = fixture->pattern;
    while (there.received < most || back.received < most) {
        size_t before = there.received + back.received;
        nsec_t began_at = clock_awake();

        while (there.received + back.received == before) {
            proxy_bed_check_time(began_at);
            stream_send(&there, most);
            stream_send(&back, most);
            proxy_bed_turn(&fixture->bed);
            stream_receive(&there);
            stream_receive(&back);
        }
    }
    assert_int_equal(there.sent, most);
    assert_int_equal(fixture->relay.ways[0].passed, most);
    assert_int_equal(fixture->relay.ways[1].passed, most);
    assert_int_equal(fixture->over, 0);
}

static void end_of_one_side_is_told_to_the_other_which_may_go_on(struct fixture *fixture, int first,
                                                                 int second)
{
    char at_second[64] = "";
    char at_first[64] = "";

    bed_send(first, "last words");
    assert_int_equal(shutdown(first, SHUT_WR), 0);
    BED_UNTIL(&fixture->bed, bed_has_got(second, at_second, "last words"));
    BED_UNTIL(&fixture->bed, bed_has_ended(second));
    assert_int_equal(fixture->over, 0);
    bed_send(second, "answer");
    BED_UNTIL(&fixture->bed, bed_has_got(first, at_first, "answer"));
    assert_int_equal(shutdown(second, SHUT_WR), 0);
    BED_UNTIL(&fixture->bed, fixture->over > 0);
    assert_true(bed_has_ended(first));
    assert_int_equal(fixture->over, 1);
    assert_int_equal(fixture->error, 0);
}

static void client_that_sends_no_more_still_gets_its_answer(void **state)
{
    struct fixture *fixture = *state;

    end_of_one_side_is_told_to_the_other_which_may_go_on(fixture, fixture->client[0],
                                                         fixture->owner[1]);
}

static void owner_that_sends_no_more_still_gets_what_the_client_sends(void **state)
{
    struct fixture *fixture = *state;

    end_of_one_side_is_told_to_the_other_which_may_go_on(fixture, fixture->owner[1],
                                                         fixture->client[0]);
}

static void let_patience_end(struct fixture *fixture)
{
    assert_true(event_pending(&fixture->relay.patience, EV_TIMEOUT, NULL));
    event_active(&fixture->relay.patience, EV_TIMEOUT, 0);
    proxy_bed_turn(&fixture->bed);
}

static void client_that_stays_after_the_owner_closed_is_dropped_soon(void **state)
{
    struct fixture *fixture = *state;
    char byte;

    assert_int_equal(shutdown(fixture->owner[1], SHUT_WR), 0);
    BED_UNTIL(&fixture->bed, bed_has_ended(fixture->client[0]));
    assert_int_equal(send(fixture->client[0], "a", 1, MSG_NOSIGNAL), 1);
    BED_UNTIL(&fixture->bed, bed_receive(fixture->owner[1], &byte, 1) == 1);
    // It has sent something meanwhile.
    let_patience_end(fixture);
    assert_int_equal(fixture->over, 0);
    let_patience_end(fixture);
    assert_int_equal(fixture->over, 1);
    assert_int_equal(fixture->error, 0);
}

static void owner_is_waited_for_though_the_client_sends_no_more(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(shutdown(fixture->client[0], SHUT_WR), 0);
    BED_UNTIL(&fixture->bed, bed_has_ended(fixture->owner[1]));
    assert_false(event_pending(&fixture->relay.patience, EV_TIMEOUT, NULL));
}

static void bound_buffers(int fd)
{
    int bytes = 16384;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
}

// Sends until nothing is taken for many rounds.
static void send_until_full(struct fixture *fixture, struct stream *stream)
{
    unsigned idle = 0;

    while (idle < 100) {
        size_t before = stream->sent;

        stream_send(stream, SIZE_MAX);
        proxy_bed_turn(&fixture->bed);
        assert_in_range(fixture->relay.ways[0].held, 0, PIPE_HOLDS);
        idle = stream->sent > before ? 0 : idle + 1;
    }
}

static void side_that_takes_nothing_makes_the_other_one_wait(void **state)
{
    struct fixture *fixture = *state;
    struct stream stream = {.from = fixture->client[0], .to = fixture->owner[1]};
    char text[64] = "";

    make_pattern(fixture);
    stream.pattern = fixture->pattern;
    for (unsigned i = 0; i < 2; i++) {
        bound_buffers(fixture->client[i]);
        bound_buffers(fixture->owner[i]);
    }
    send_until_full(fixture, &stream);
    assert_true(fixture->relay.ways[0].held > 0);
    // At most what buffers of sockets and a pipe hold.
    assert_in_range(stream.sent, 1, 8 * PIPE_HOLDS);
    // The other direction is not hindered.
    bed_send(fixture->owner[1], "meanwhile");
    BED_UNTIL(&fixture->bed, bed_has_got(fixture->client[0], text, "meanwhile"));
    // Everything has arrived.
    BED_UNTIL(&fixture->bed, (stream_receive(&stream), stream.received == stream.sent));
    assert_int_equal(fixture->relay.ways[0].held, 0);
}

static void end_is_passed_on_after_the_last_byte(void **state)
{
    struct fixture *fixture = *state;
    struct stream stream = {.from = fixture->client[0], .to = fixture->owner[1]};

    make_pattern(fixture);
    stream.pattern = fixture->pattern;
    bound_buffers(fixture->owner[0]);
    bound_buffers(fixture->owner[1]);
    send_until_full(fixture, &stream);
    assert_int_equal(shutdown(fixture->client[0], SHUT_WR), 0);
    BED_UNTIL(&fixture->bed, (stream_receive(&stream), stream.received == stream.sent));
    BED_UNTIL(&fixture->bed, bed_has_ended(fixture->owner[1]));
}

static void reset(int *fd)
{
    const struct linger linger = {.l_onoff = 1};

    assert_int_equal(setsockopt(*fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    (void)close(*fd);
    *fd = -1;
}

static void reset_by_the_client_ends_it(void **state)
{
    struct fixture *fixture = *state;

    reset(&fixture->client[0]);
    BED_UNTIL(&fixture->bed, fixture->over > 0);
    assert_int_equal(fixture->error, ECONNRESET);
}

static void reset_by_the_owner_ends_it(void **state)
{
    struct fixture *fixture = *state;

    reset(&fixture->owner[1]);
    BED_UNTIL(&fixture->bed, fixture->over > 0);
    assert_int_equal(fixture->error, ECONNRESET);
}

static void side_that_left_while_bytes_were_on_their_way_to_it_ends_it(void **state)
{
    struct fixture *fixture = *state;
    struct stream stream = {.from = fixture->client[0], .to = fixture->owner[1]};

    make_pattern(fixture);
    stream.pattern = fixture->pattern;
    send_until_full(fixture, &stream);
    reset(&fixture->owner[1]);
    BED_UNTIL(&fixture->bed, fixture->over > 0);
    assert_int_not_equal(fixture->error, 0);
}

static void urgent_data_does_not_stop_what_follows(void **state)
{
    struct fixture *fixture = *state;
    char text[64] = "";

    bed_send(fixture->client[0], "before ");
    assert_int_equal(send(fixture->client[0], "!", 1, MSG_OOB), 1);
    bed_send(fixture->client[0], "after");
    BED_UNTIL(&fixture->bed, bed_has_got(fixture->owner[1], text, "before after"));
    bed_send(fixture->client[0], ", and on");
    BED_UNTIL(&fixture->bed, bed_has_got(fixture->owner[1], text, "before after, and on"));
}

static void idle_relay_has_no_pipe(void **state)
{
    struct fixture *fixture = *state;
    size_t before = proxy_bed_descriptors();
    char text[64] = "";

    bed_send(fixture->client[0], "hello");
    BED_UNTIL(&fixture->bed, bed_has_got(fixture->owner[1], text, "hello"));
    pipe_pool_clear(&fixture->pool);
    assert_int_equal(proxy_bed_descriptors(), before);
}

static void without_descriptors_for_a_pipe_it_ends(void **state)
{
    struct fixture *fixture = *state;
    struct rlimit former;
    struct rlimit none;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &former), 0);
    none = former;
    none.rlim_cur = 0;
    bed_send(fixture->client[0], "hello");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    BED_UNTIL(&fixture->bed, fixture->over > 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &former), 0);
    assert_int_equal(fixture->error, EMFILE);
}

static void unix_sockets_are_passed_as_well(void **state)
{
    struct fixture *fixture = *state;
    char text[64] = "";

    relay_stop(&fixture->relay);
    (void)close(fixture->client[0]);
    (void)close(fixture->client[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fixture->client), 0);
    begin(fixture);
    bed_send(fixture->client[0], "hello");
    BED_UNTIL(&fixture->bed, bed_has_got(fixture->owner[1], text, "hello"));
    text[0] = '\0';
    bed_send(fixture->owner[1], "you, too");
    BED_UNTIL(&fixture->bed, bed_has_got(fixture->client[0], text, "you, too"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_of_both_directions_arrive_as_they_were_sent,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(client_that_sends_no_more_still_gets_its_answer,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(owner_that_sends_no_more_still_gets_what_the_client_sends,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(client_that_stays_after_the_owner_closed_is_dropped_soon,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(owner_is_waited_for_though_the_client_sends_no_more,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(side_that_takes_nothing_makes_the_other_one_wait,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(end_is_passed_on_after_the_last_byte, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(reset_by_the_client_ends_it, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(reset_by_the_owner_ends_it, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(side_that_left_while_bytes_were_on_their_way_to_it_ends_it,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(urgent_data_does_not_stop_what_follows, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(idle_relay_has_no_pipe, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(without_descriptors_for_a_pipe_it_ends, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(unix_sockets_are_passed_as_well, fixture_setup,
                                        fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
