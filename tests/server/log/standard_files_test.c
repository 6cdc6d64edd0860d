/* SPDX-License-Identifier: MIT */
// Started with standard files that are closed, full or without a reader, or with few descriptors.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTING_MAX 160

static void close_standard_files(void *context)
{
    (void)context;
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO);
    (void)close(STDERR_FILENO);
}

// Where one of these numbers went to something else, log lines would go there, too.
static void closed_standard_files_are_not_reused(void **state)
{
    struct sandbox *sandbox = *state;
    char address[96];
    char listen[SETTING_MAX];
    char log[SETTING_MAX];
    int client;

    (void)snprintf(address, sizeof address, "unix:%s", sandbox->socket);
    (void)snprintf(listen, sizeof listen, "beanstalk.listen=%s", address);
    (void)snprintf(log, sizeof log, "server.log_file=%s", sandbox->log);
    PROCESS_PREPARED(&sandbox->process, close_standard_files, NULL, "--set", listen, "--set", log);
    sandbox_expect_log(sandbox, " info started ");
    client = client_try(address);
    assert_true(client >= 0);
    client_send(client, "put 0 0 60 1\r\na\r\n");
    client_expect(client, "INSERTED 1\r\n");
    (void)close(client);
    process_stop(&sandbox->process);
}

static void fill_standard_output(void *context)
{
    int full = open("/dev/full", O_WRONLY);

    (void)context;
    if (full < 0 || dup2(full, STDOUT_FILENO) < 0) {
        _exit(99);
    }
}

static void failure_to_print_is_an_error(void **state)
{
    struct sandbox *sandbox = *state;

    PROCESS_PREPARED(&sandbox->process, fill_standard_output, NULL, "--version");
    process_expect_exit(&sandbox->process, 1, "standard output");
    PROCESS_PREPARED(&sandbox->process, fill_standard_output, NULL, "--check-config");
    process_expect_exit(&sandbox->process, 1, "standard output");
}

static void pipe_without_a_reader_is_refused_as_a_log(void **state)
{
    struct sandbox *sandbox = *state;
    char log[SETTING_MAX];

    assert_int_equal(mkfifo(sandbox->log, 0600), 0);
    (void)snprintf(log, sizeof log, "server.log_file=%s", sandbox->log);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", log);
    process_expect_exit(&sandbox->process, 1, "log_file");
}

static void allow_few_files(void *context)
{
    const struct rlimit few = {.rlim_cur = 5, .rlim_max = 5};

    (void)context;
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) {
        _exit(99);
    }
}

static void too_few_descriptors_stop_the_start(void **state)
{
    struct sandbox *sandbox = *state;

    PROCESS_PREPARED(&sandbox->process, allow_few_files, NULL, ANY_PORT);
    process_expect_exit(&sandbox->process, 1, "");
}

static void allow_some_files(void *context)
{
    const struct rlimit some = {.rlim_cur = 96, .rlim_max = 96};

    (void)context;
    if (setrlimit(RLIMIT_NOFILE, &some) != 0) {
        _exit(99);
    }
}

// Those of the listeners are not the ones that the journal and the log need.
static void listeners_take_no_descriptors_that_are_set_aside(void **state)
{
    enum { LISTENERS = 40, ROOM = 96 - 32 - LISTENERS };
    struct sandbox *sandbox = *state;
    char listen[LISTENERS * 16 + 32] = "beanstalk.listen=";
    int clients[ROOM + 1];

    for (int i = 1; i <= LISTENERS; i++) {
        size_t len = strlen(listen);

        (void)snprintf(listen + len, sizeof listen - len, "127.0.0.%d:0 ", i);
    }
    PROCESS_PREPARED(&sandbox->process, allow_some_files, NULL, "--set", listen, "--set",
                     "server.io_threads=0");
    for (int i = 0; i <= ROOM; i++) {
        clients[i] = client_connect(&sandbox->process);
    }
    process_expect(&sandbox->process, "connections_limit connections=24", NULL);
    for (int i = 0; i <= ROOM; i++) {
        (void)close(clients[i]);
    }
    process_stop(&sandbox->process);
}

// Nor are those of the I/O threads: four for each, and one.
static void io_threads_take_no_descriptors_that_are_set_aside(void **state)
{
    enum { ROOM = 96 - 32 - 1 - (1 + 4 * 9) };
    struct sandbox *sandbox = *state;
    int clients[ROOM]; // not one more, which may be counted as well before the log is told

    PROCESS_PREPARED(&sandbox->process, allow_some_files, NULL, ANY_PORT, "--set",
                     "server.io_threads=9");
    for (int i = 0; i < ROOM; i++) {
        clients[i] = client_connect(&sandbox->process);
    }
    process_expect(&sandbox->process, "connections_limit connections=26", NULL);
    for (int i = 0; i < ROOM; i++) {
        (void)close(clients[i]);
    }
    process_stop(&sandbox->process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(closed_standard_files_are_not_reused),
        SANDBOX_TEST(failure_to_print_is_an_error),
        SANDBOX_TEST(pipe_without_a_reader_is_refused_as_a_log),
        SANDBOX_TEST(too_few_descriptors_stop_the_start),
        SANDBOX_TEST(listeners_take_no_descriptors_that_are_set_aside),
        SANDBOX_TEST(io_threads_take_no_descriptors_that_are_set_aside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
