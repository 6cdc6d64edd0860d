/* SPDX-License-Identifier: MIT */
// Limits of connections, as the program keeps them, and what a reload changes of them.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void configure(const struct sandbox *sandbox, const char *text)
{
    FILE *file = fopen(sandbox->config, "w");

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void time_limits_take_effect_by_a_reload(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;
    int worker, idle, half;

    configure(sandbox, "");
    PROCESS_START(process, "--config", sandbox->config, ANY_PORT);
    worker = client_connect(process);
    idle = client_connect(process);
    half = client_connect(process);
    client_send(worker, "reserve\r\n");
    client_send(idle, "list-tube-used\r\n");
    client_expect(idle, "USING default\r\n");
    client_send(half, "put 0 0 60 100\r\nbeginning");
    process_expect(process, " info started ", &from);
    configure(sandbox, "[beanstalk]\nidle_timeout = 1\nbody_timeout = 1\n");
    process_signal(process, SIGHUP);
    client_expect_end(idle);
    client_expect_end(half);
    configure(sandbox, "[beanstalk]\nidle_timeout = 0\n");
    process_signal(process, SIGHUP);
    process_expect(process, " info reloaded ", &from);
    process_expect(process, " info reloaded ", &from);
    idle = client_connect(process);
    client_send(idle, "put 0 0 60 1\r\nx\r\n");
    client_expect(idle, "INSERTED 1\r\n");
    client_expect(worker, "RESERVED 1 1\r\nx\r\n");
    process_stop(process);
    client_expect_end(idle);
    client_expect_end(worker);
}

// A new connection that the broker keeps: then it answers. -1 where it does not.
static int connect_if_kept(struct process *process)
{
    static const char question[] = "list-tube-used\r\n", answer[] = "USING default\r\n";
    int client = client_connect(process);
    char heard[sizeof answer];

    (void)send(client, question, sizeof question - 1, MSG_NOSIGNAL);
    if (recv(client, heard, sizeof answer - 1, MSG_WAITALL) == (ssize_t)sizeof answer - 1) {
        return client;
    }
    (void)close(client);
    return -1;
}

// The broker may hear later that others have gone than that this one has come.
static int connect_at_last(struct process *process)
{
    int client;

    do {
        client = connect_if_kept(process);
    } while (client < 0);
    return client;
}

static void address_has_no_more_connections_than_it_may(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;
    int clients[2];
    int more[5];

    configure(sandbox, "[server]\nmax_connections_per_address = 2\n");
    PROCESS_START(process, "--config", sandbox->config, ANY_PORT);
    for (int round = 0; round < 3; round++) {
        clients[0] = connect_at_last(process);
        clients[1] = connect_at_last(process);
        assert_int_equal(connect_if_kept(process), -1);
        (void)close(clients[0]);
        (void)close(clients[1]);
    }
    process_expect(process, " warn address_limit peer=127.0.0.1:", &from);
    configure(sandbox, "[server]\nmax_connections_per_address = 0\n");
    process_signal(process, SIGHUP);
    process_expect(process, " info reloaded ", &from);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        more[i] = connect_if_kept(process);
        assert_int_not_equal(more[i], -1);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        (void)close(more[i]);
    }
    process_stop(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(address_has_no_more_connections_than_it_may),
        SANDBOX_TEST(time_limits_take_effect_by_a_reload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
