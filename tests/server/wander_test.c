/* SPDX-License-Identifier: MIT */
// Connections that move to the I/O threads and back while they are busy: whatever is under way
// then, each client gets its answers in order. The test makes the rounds of the threads itself, so
// that a seed always gives the same run.
#include "server/io/io_private.h"
#include "server/conn/conn.h"

#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 6, COMMANDS = 400, SEEDS = 12, MANY_STEPS = 200000, BODY_MAX = 40000 };

struct text {
    char *bytes;
    size_t len;
    size_t size;
    size_t at; // bytes that were sent, or received
};

struct client {
    int fd;
    struct text input;
    struct text answers;
    unsigned rests; // how often it does not send although it could
    bool has_ended; // the client's side
    bool is_over;   // the server's side
};

struct peer_limits {
    struct bed bed;
    uint64_t random;
    struct client clients[CLIENTS];
    unsigned moves;
};

// Of xorshift; below `n`.
static unsigned draw(struct peer_limits *peer_limits, unsigned n)
{
    peer_limits->random ^= peer_limits->random << 13;
    peer_limits->random ^= peer_limits->random >> 7;
    peer_limits->random ^= peer_limits->random << 17;
    return (unsigned)(peer_limits->random >> 20) % n;
}

static void text_add(struct text *text, const char *bytes, size_t len)
{
    if (text->len + len > text->size) {
        text->size = 2 * (text->len + len);
        text->bytes = realloc(text->bytes, text->size);
        assert_non_null(text->bytes);
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
}

static void text_add_line(struct text *text, const char *word, unsigned number)
{
    char line[64];
    int len = snprintf(line, sizeof line, "%s %u\n", word, number);

    text_add(text, line, (size_t)len);
}

// Long answers, bodies that are received directly, and lines.
static void add_command(struct peer_limits *peer_limits, struct client *client, unsigned number)
{
    static char body[BODY_MAX];
    unsigned len = 1 + draw(peer_limits, draw(peer_limits, 10) ? 200 : BODY_MAX);

    switch (draw(peer_limits, 12)) {
    case 0:
        memset(body, 'B', len);
        text_add_line(&client->input, "big", len);
        text_add(&client->answers, body, len);
        text_add(&client->answers, "\n", 1);
        return;
    case 1:
        memset(body, 'a' + (int)(number % 26), len);
        text_add_line(&client->input, "take", len);
        text_add(&client->input, body, len);
        text_add(&client->answers, "took ", 5);
        text_add(&client->answers, body, len);
        text_add(&client->answers, "\n", 1);
        return;
    case 2:
        text_add(&client->input, "again\n", 6);
        text_add(&client->answers, "again\n", 6);
        return;
    default:
        text_add_line(&client->input, "number", number);
        text_add_line(&client->answers, "number", number);
    }
}

static void crowd_open(struct peer_limits *peer_limits, uint64_t seed)
{
    memset(peer_limits, 0, sizeof *peer_limits);
    bed_init(&peer_limits->bed, bed_now);
    peer_limits->random = seed * 0x9e3779b97f4a7c15u + 1;
    for (unsigned i = 0; i < CLIENTS; i++) {
        for (unsigned number = 0; number < COMMANDS; number++) {
            add_command(peer_limits, &peer_limits->clients[i], number);
        }
        peer_limits->clients[i].fd = bed_connect(&peer_limits->bed);
    }
}

static void crowd_close(struct peer_limits *peer_limits)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        (void)close(peer_limits->clients[i].fd);
        free(peer_limits->clients[i].input.bytes);
        free(peer_limits->clients[i].answers.bytes);
    }
    bed_close(&peer_limits->bed);
}

static void send_piece(struct peer_limits *peer_limits, struct client *client)
{
    struct text *input = &client->input;
    size_t most = 1 + draw(peer_limits, draw(peer_limits, 20) ? 100 : 30000);
    size_t left = input->len - input->at;
    ssize_t sent;

    // A connection that is always busy stays where it is.
    if (client->rests > 0) {
        client->rests--;
        return;
    }
    client->rests = draw(peer_limits, 3) ? 0 : draw(peer_limits, 40);
    sent = send(client->fd, input->bytes + input->at, left < most ? left : most,
                MSG_NOSIGNAL | MSG_DONTWAIT);

    input->at += sent > 0 ? (size_t)sent : 0;
    if (input->at == input->len && !client->has_ended) {
        client->has_ended = true;
        assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
    }
}

static void receive_piece(struct peer_limits *peer_limits, struct client *client)
{
    static char bytes[50000];
    struct text *answers = &client->answers;
    size_t most = 1 + draw(peer_limits, draw(peer_limits, 2) ? 300 : sizeof bytes - 1);
    ssize_t got = recv(client->fd, bytes, most, 0);

    if (got == 0) {
        assert_int_equal(answers->at, answers->len);
        client->is_over = true;
    } else if (got > 0) {
        assert_in_range(got, 1, answers->len - answers->at);
        assert_memory_equal(bytes, answers->bytes + answers->at, (size_t)got);
        answers->at += (size_t)got;
    }
}

static unsigned count_remote(const struct peer_limits *peer_limits)
{
    unsigned count = 0;

    for (const struct conn *conn = conn_registry_first(&peer_limits->bed.loop.turn); conn;
         conn = conn_registry_next(conn)) {
        count += conn->remote ? 1 : 0;
    }
    return count;
}

// One random event.
static void crowd_step(struct peer_limits *peer_limits)
{
    struct io *io = peer_limits->bed.loop.turn.io;
    struct client *client = &peer_limits->clients[draw(peer_limits, CLIENTS)];
    unsigned before = count_remote(peer_limits);

    if (draw(peer_limits, 50) == 0) {
        io->spread.on = !io->spread.on;
    }
    switch (draw(peer_limits, 7)) {
    case 0:
    case 1:
        if (!client->has_ended) {
            send_piece(peer_limits, client);
        }
        return;
    case 2:
    case 3:
        if (!client->is_over) {
            receive_piece(peer_limits, client);
        }
        return;
    case 4:
        (void)io_thread_round(&io->threads[draw(peer_limits, io->count)], false);
        return;
    default:
        loop_turn(&peer_limits->bed.loop, false);
        peer_limits->moves += before != count_remote(peer_limits) ? 1 : 0;
    }
}

static bool crowd_is_over(const struct peer_limits *peer_limits)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (!peer_limits->clients[i].is_over) {
            return false;
        }
    }
    return true;
}

static void connections_that_come_and_go_answer_everything_in_order(void **state)
{
    struct peer_limits *peer_limits = malloc(sizeof *peer_limits);

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        unsigned steps = 0;

        crowd_open(peer_limits, seed);
        for (; steps < MANY_STEPS && !crowd_is_over(peer_limits); steps++) {
            crowd_step(peer_limits);
        }
        assert_true(crowd_is_over(peer_limits));
        assert_in_range(peer_limits->moves, 20, MANY_STEPS);
        bed_turns(&peer_limits->bed, 3);
        assert_int_equal(peer_limits->bed.front.open, 0);
        assert_int_equal(peer_limits->bed.loop.turn.open, 0);
        crowd_close(peer_limits);
    }
    free(peer_limits);
}

// Clients that leave at any point: nothing is left of them, whichever thread has their socket.
static void connections_may_be_lost_wherever_they_are(void **state)
{
    struct peer_limits *peer_limits = malloc(sizeof *peer_limits);

    (void)state;
    for (uint64_t seed = 1; seed <= 5 * SEEDS; seed++) {
        crowd_open(peer_limits, seed);
        for (unsigned i = 200 + draw(peer_limits, 1000); i > 0; i--) {
            crowd_step(peer_limits);
        }
        for (unsigned i = 0; i < CLIENTS; i += 2) {
            (void)shutdown(peer_limits->clients[i].fd, SHUT_RDWR);
            peer_limits->clients[i].has_ended = true;
            peer_limits->clients[i].is_over = true;
        }
        for (unsigned i = draw(peer_limits, 30); i > 0; i--) {
            crowd_step(peer_limits);
        }
        crowd_close(peer_limits);
    }
    free(peer_limits);
}

// Lines, more than any buffer takes, of which nothing is received for a while.
enum { LINES = 4000 };

static size_t line_of(char *line, unsigned number)
{
    return (size_t)sprintf(line, "%099u\n", number);
}

// Sends lines from the `at`-th on as long as they are taken; returns the next.
static unsigned send_lines(struct bed *bed, int fd, unsigned at)
{
    char line[101];

    for (unsigned idle = 0; idle < 3; idle++) {
        while (at < LINES && send(fd, line, line_of(line, at), MSG_NOSIGNAL) == 100) {
            at++;
            idle = 0;
        }
        bed_turns(bed, 1);
    }
    return at;
}

// Receives; what comes are the answers. `got` is counted up. Whether the end has come.
static bool receive_lines(int fd, size_t *got)
{
    char bytes[1000];
    char line[101];
    ssize_t len;

    while ((len = recv(fd, bytes, sizeof bytes, 0)) > 0) {
        for (ssize_t i = 0; i < len; i++) {
            (void)line_of(line, (unsigned)((*got + (size_t)i) / 100));
            assert_int_equal(bytes[i], line[(*got + (size_t)i) % 100]);
        }
        *got += (size_t)len;
    }
    return len == 0;
}

static int conn_fd(const struct conn *conn)
{
    return conn->remote ? conn->link->fd : conn->fd;
}

// A connection that does everything. It is served to the end, or it ends.
static void be_served(struct bed *bed)
{
    struct io *io = bed->loop.turn.io;
    const int small = 4096;
    int fd = bed_connect(bed);
    unsigned sent;
    size_t got = 0;
    bool over = false;

    if (bed->front.open == 2) {
        assert_int_equal(
            setsockopt(conn_fd(bed_latest(bed)), SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    }
    sent = send_lines(bed, fd, 0);
    io->spread.on = false;
    sent = send_lines(bed, fd, sent);
    over = receive_lines(fd, &got);
    bed_turns(bed, 3);
    io->spread.on = true;
    for (unsigned turns = 0; !over && got < (size_t)sent * 100; turns++) {
        assert_in_range(turns, 0, MANY_STEPS);
        bed_turns(bed, 1);
        over = receive_lines(fd, &got);
    }
    (void)close(fd);
    bed_turns(bed, 4);
}

static void other_is_served(struct bed *bed, int other)
{
    char bytes[8];

    assert_int_equal(send(other, "other\n", 6, MSG_NOSIGNAL), 6);
    bed_turns(bed, 6);
    assert_int_equal(recv(other, bytes, sizeof bytes, 0), 6);
    assert_memory_equal(bytes, "other\n", 6);
}

static void missing_memory_ends_one_connection_at_most(void **state)
{
    size_t made = 0;
    size_t n;

    (void)state;
    for (n = 1; n == 1 || made >= n - 1; n++) {
        struct bed *bed = malloc(sizeof *bed);
        int other;

        bed_init(bed, bed_now);
        other = bed_connect(bed);
        other_is_served(bed, other);
        nth_alloc_fail(n);
        be_served(bed);
        made = nth_alloc_count();
        nth_alloc_fail(0);
        other_is_served(bed, other);
        assert_int_equal(bed->front.open, 1);
        assert_int_equal(bed->loop.turn.open, 1);
        (void)close(other);
        bed_close(bed);
        free(bed);
    }
    assert_in_range(n, 15, 1000);
}

// For a while there is none at all.
static void connections_go_on_when_there_is_memory_again(void **state)
{
    struct bed *bed = malloc(sizeof *bed);
    int others[20];

    (void)state;
    bed_init(bed, bed_now);
    for (unsigned i = 0; i < 20; i++) {
        others[i] = bed_connect(bed);
        other_is_served(bed, others[i]);
    }
    for (unsigned n = 1; n < 20; n++) {
        nth_alloc_fail_from(n);
        for (unsigned i = 0; i < 20; i++) {
            assert_int_equal(send(others[i], "again\n", 6, MSG_NOSIGNAL), 6);
        }
        ((struct io *)bed->loop.turn.io)->spread.on = n % 2;
        bed_turns(bed, 10);
        nth_alloc_fail(0);
        bed_turns(bed, 10);
        for (unsigned i = 0; i < 20; i++) {
            char bytes[8];

            if (recv(others[i], bytes, sizeof bytes, 0) == 0) {
                (void)close(others[i]);
                others[i] = bed_connect(bed);
            }
            other_is_served(bed, others[i]);
        }
    }
    for (unsigned i = 0; i < 20; i++) {
        (void)close(others[i]);
    }
    bed_turns(bed, 3);
    assert_int_equal(bed->loop.turn.open, 0);
    bed_close(bed);
    free(bed);
}

static void threads_without_memory_leave_nothing_behind(void **state)
{
    static const struct io_host host = {0};
    struct event_base *base = event_base_new();
    _Atomic(uint64_t) open = 0;
    struct io *io = NULL;

    (void)state;
    for (size_t n = 1; !io; n++) {
        assert_in_range(n, 1, 20);
        nth_alloc_fail(n);
        io = io_open(2, false, base, &open, &host, NULL);
    }
    nth_alloc_fail(0);
    io_close(io);
    event_base_free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_that_come_and_go_answer_everything_in_order),
        cmocka_unit_test(connections_may_be_lost_wherever_they_are),
        cmocka_unit_test(missing_memory_ends_one_connection_at_most),
        cmocka_unit_test(connections_go_on_when_there_is_memory_again),
        cmocka_unit_test(threads_without_memory_leave_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
