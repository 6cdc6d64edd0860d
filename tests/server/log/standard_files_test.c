/* SPDX-License-Identifier: MIT */
// Started with files that are closed, full, nobody's, or too few.
#include "tests/server/server_cmocka.h"
#include "tests/server/server_den.h"

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
static void closed_standard_files_are_not_taken_for_something_else(void **state)
{
    struct den *den = *state;
    char address[96];
    char listen[SETTING_MAX];
    char log[SETTING_MAX];
    int client;

    (void)snprintf(address, sizeof address, "unix:%s", den->socket);
    (void)snprintf(listen, sizeof listen, "beanstalk.listen=%s", address);
    (void)snprintf(log, sizeof log, "server.log_file=%s", den->log);
    PROCESS_PREPARED(&den->process, close_standard_files, NULL, "--set", listen, "--set", log);
    den_expect_log(den, " info started ");
    client = client_try(address);
    assert_true(client >= 0);
    client_send(client, "put 0 0 60 1\r\na\r\n");
    client_expect(client, "INSERTED 1\r\n");
    (void)close(client);
    process_stop(&den->process);
}

static void fill_standard_output(void *context)
{
    int full = open("/dev/full", O_WRONLY);

    (void)context;
    if (full < 0 || dup2(full, STDOUT_FILENO) < 0) {
        _exit(99);
    }
}

static void what_cannot_be_printed_is_an_error(void **state)
{
    struct den *den = *state;

    PROCESS_PREPARED(&den->process, fill_standard_output, NULL, "--version");
    process_expect_exit(&den->process, 1, "standard output");
    PROCESS_PREPARED(&den->process, fill_standard_output, NULL, "--check-config");
    process_expect_exit(&den->process, 1, "standard output");
}

static void pipe_that_nobody_reads_is_no_log(void **state)
{
    struct den *den = *state;
    char log[SETTING_MAX];

    assert_int_equal(mkfifo(den->log, 0600), 0);
    (void)snprintf(log, sizeof log, "server.log_file=%s", den->log);
    PROCESS_START(&den->process, ANY_PORT, "--set", log);
    process_expect_exit(&den->process, 1, "log_file");
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
    struct den *den = *state;

    PROCESS_PREPARED(&den->process, allow_few_files, NULL, ANY_PORT);
    process_expect_exit(&den->process, 1, "");
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
    struct den *den = *state;
    char listen[LISTENERS * 16 + 32] = "beanstalk.listen=";
    int clients[ROOM + 1];

    for (int i = 1; i <= LISTENERS; i++) {
        size_t len = strlen(listen);

        (void)snprintf(listen + len, sizeof listen - len, "127.0.0.%d:0 ", i);
    }
    PROCESS_PREPARED(&den->process, allow_some_files, NULL, "--set", listen);
    for (int i = 0; i <= ROOM; i++) {
        clients[i] = client_connect(&den->process);
    }
    process_expect(&den->process, "connections_limit connections=24", NULL);
    for (int i = 0; i <= ROOM; i++) {
        (void)close(clients[i]);
    }
    process_stop(&den->process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEN_TEST(closed_standard_files_are_not_taken_for_something_else),
        DEN_TEST(what_cannot_be_printed_is_an_error),
        DEN_TEST(pipe_that_nobody_reads_is_no_log),
        DEN_TEST(too_few_descriptors_stop_the_start),
        DEN_TEST(listeners_take_no_descriptors_that_are_set_aside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
