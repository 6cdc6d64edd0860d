/* SPDX-License-Identifier: MIT */
// Running I/O threads with many clients at once: connections that the threads accept, that move
// between them and the loop, and that end in every way. Nothing is lost, the test ends, and
// ThreadSanitizer finds no race.
#include "server/net/admission.h"
#include "server/io/io_private.h"

#include "server/process/clock.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Each client makes its connections one after the other, and keeps some of them for a while.
enum { CLIENTS = 12, CONNECTIONS = 25, COMMANDS_MAX = 60, BODY_MAX = 60000 };

struct stress {
    struct bed bed;
    struct sockaddr_in addr;
    int listening;
    unsigned done;     // clients
    atomic_uint wrong; // answers
};

struct client {
    struct stress *stress;
    pthread_t thread;
    uint64_t random;
    int done; // is closed when it is; the loop has the other end
    struct event event;
};

// How a connection ends.
enum ending { ENDS_BY_QUIT, ENDS_BY_HALF, ENDS_BY_CLOSE, ENDS_BY_RESET, ENDINGS };

static unsigned draw(struct client *client, unsigned n)
{
    client->random ^= client->random << 13;
    client->random ^= client->random >> 7;
    client->random ^= client->random << 17;
    return (unsigned)(client->random >> 20) % n;
}

static bool send_all(struct client *client, int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t most = 1 + draw(client, 20000);
        ssize_t sent = send(fd, bytes, len < most ? len : most, MSG_NOSIGNAL);

        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

// The bytes that come are these.
static bool expect(int fd, const char *bytes, size_t len)
{
    char got[4096];

    while (len > 0) {
        ssize_t n = recv(fd, got, len < sizeof got ? len : sizeof got, 0);

        if (n <= 0 || memcmp(got, bytes, (size_t)n) != 0) {
            return false;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

// One command, and its answer. The lines are sent before the first is answered.
static bool ask(struct client *client, int fd)
{
    static char body[BODY_MAX];
    char text[700] = "";
    unsigned len = 1 + draw(client, BODY_MAX);
    int at = 0;

    if (draw(client, 8) == 0) {
        at = snprintf(text, sizeof text, "take %u\n", len);
        return send_all(client, fd, text, (size_t)at) && send_all(client, fd, body, len) &&
               expect(fd, "took ", 5) && expect(fd, body, len) && expect(fd, "\n", 1);
    }
    for (unsigned i = 1 + draw(client, 20); i > 0; i--) {
        at += snprintf(text + at, sizeof text - (size_t)at, "command %u\n", draw(client, 1000));
    }
    return send_all(client, fd, text, (size_t)at) && expect(fd, text, (size_t)at);
}

static bool is_over(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0) == 0;
}

// Asks for more than it may read before it closes.
static bool end(struct client *client, int fd)
{
    const struct linger at_once = {.l_onoff = 1};
    bool good = true;

    switch ((enum ending)draw(client, ENDINGS)) {
    case ENDS_BY_QUIT:
        good = send_all(client, fd, "last\nquit\n", 10) && expect(fd, "last\n", 5) && is_over(fd);
        break;
    case ENDS_BY_HALF:
        good = send_all(client, fd, "last\n", 5) && shutdown(fd, SHUT_WR) == 0 &&
               expect(fd, "last\n", 5) && is_over(fd);
        break;
    case ENDS_BY_CLOSE:
        good = !draw(client, 2) || send_all(client, fd, "big 500000\n", 11);
        break;
    case ENDS_BY_RESET:
        good = (!draw(client, 2) || send_all(client, fd, "big 500000\nquit\n", 16)) &&
               setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0;
        break;
    case ENDINGS:
        UNREACHABLE();
    }
    return good;
}

static void *client_run(void *context)
{
    struct client *client = context;
    struct stress *stress = client->stress;

    for (unsigned i = 1; i <= CONNECTIONS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        bool good = connect(fd, (const struct sockaddr *)&stress->addr, sizeof stress->addr) == 0;

        for (unsigned count = draw(client, COMMANDS_MAX); good && count > 0; count--) {
            good = ask(client, fd);
        }
        if (!good || !end(client, fd)) {
            atomic_fetch_add(&stress->wrong, 1);
        }
        (void)close(fd);
    }
    (void)close(client->done);
    return NULL;
}

static void client_is_done(evutil_socket_t fd, short what, void *context)
{
    struct client *client = context;

    (void)what;
    client->stress->done++;
    (void)event_del(&client->event);
    (void)close(fd);
}

static void client_start(struct client *client, struct stress *stress, unsigned seed)
{
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    *client = (struct client){.stress = stress, .random = 77 * (uint64_t)seed + 1, .done = fds[1]};
    assert_int_equal(event_assign(&client->event, stress->bed.loop.turn.base, fds[0], EV_READ,
                                  client_is_done, client),
                     0);
    assert_int_equal(event_add(&client->event, NULL), 0);
    assert_int_equal(pthread_create(&client->thread, NULL, client_run, client), 0);
}

static void stress_open(struct stress *stress)
{
    socklen_t len = sizeof stress->addr;

    memset(stress, 0, sizeof *stress);
    bed_init(&stress->bed, clock_now);
    stress->addr.sin_family = AF_INET;
    stress->addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    stress->listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(stress->listening, (const struct sockaddr *)&stress->addr, len), 0);
    assert_int_equal(listen(stress->listening, CLIENTS), 0);
    assert_int_equal(getsockname(stress->listening, (struct sockaddr *)&stress->addr, &len), 0);
    stress->bed.service.io = (struct io_service){.transport = stress->bed.service.transport,
                                                 .context = &stress->bed.service};
}

static void start(struct stress *stress, struct client clients[CLIENTS])
{
    struct io *io = stress->bed.loop.turn.io;

    assert_true(io_listen(io, &stress->bed.service.io, stress->listening));
    io_set_limits(io, &(struct io_limits){.most = CLIENTS * 2, .handshake_for = NSEC_PER_SEC});
    assert_true(io_start(io));
    for (unsigned i = 0; i < CLIENTS; i++) {
        client_start(&clients[i], stress, i);
    }
}

// Turns of the loop, with the load going up and down, until no client is left.
static void run(struct stress *stress)
{
    struct loop *loop = &stress->bed.loop;

    for (unsigned turn = 0; stress->done < CLIENTS || atomic_load(&loop->turn.open) > 0; turn++) {
        loop->turn.io->spread.on = turn % 64 < 32;
        loop_turn(loop, true);
        io_set_full(loop->turn.io, atomic_load(&loop->turn.open) >= CLIENTS * 2 ? SLOTS_ALL : 0);
    }
}

static void many_clients_of_threads_that_run_lose_nothing(void **state)
{
    struct stress *stress = malloc(sizeof *stress);
    struct client *clients = malloc(CLIENTS * sizeof *clients);

    (void)state;
    stress_open(stress);
    start(stress, clients);
    run(stress);
    for (unsigned i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
    }
    assert_int_equal(stress->wrong, 0);
    assert_int_equal(stress->bed.front.open, 0);
    bed_close(&stress->bed);
    (void)close(stress->listening);
    free(clients);
    free(stress);
}

// While clients are active: whatever is under way, the threads end.
static void threads_that_run_end_while_there_are_clients(void **state)
{
    struct stress *stress = malloc(sizeof *stress);
    struct client *clients = malloc(CLIENTS * sizeof *clients);

    (void)state;
    for (unsigned turns = 10; turns < 250; turns += turns / 2) {
        stress_open(stress);
        start(stress, clients);
        for (unsigned turn = 0; turn < turns; turn++) {
            stress->bed.loop.turn.io->spread.on = turn % 16 < 8;
            loop_turn(&stress->bed.loop, true);
        }
        if (turns % 2) {
            io_shut(stress->bed.loop.turn.io);
            loop_stop_conns(&stress->bed.loop);
            loop_turn(&stress->bed.loop, false);
        }
        loop_close_all(&stress->bed.loop);
        io_close(stress->bed.loop.turn.io);
        stress->bed.loop.turn.io = NULL;
        assert_int_equal(stress->bed.loop.turn.open, 0);
        (void)close(stress->listening);
        // Their answers have ended at any point.
        for (unsigned i = 0; i < CLIENTS; i++) {
            assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
        }
        while (stress->done < CLIENTS) {
            loop_turn(&stress->bed.loop, true);
        }
        bed_close(&stress->bed);
    }
    free(clients);
    free(stress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_clients_of_threads_that_run_lose_nothing),
        cmocka_unit_test(threads_that_run_end_while_there_are_clients),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
