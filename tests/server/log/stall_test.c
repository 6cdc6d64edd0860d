/* SPDX-License-Identifier: MIT */
// Readers that do not read must not stop the broker: of its log, and of its messages to the
// manager.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 120000 };

// Puts that are refused, each with a line in the log.
enum { REFUSED = 10000 };
#define PUT "put 0 0 10 1\r\nx\r\n"
#define REFUSAL "DRAINING\r\n"

// The log behind `*from`, which moves on, of a process that is not read otherwise: the
// number behind the words.
static unsigned long read_until(int output, const char *words)
{
    char text[8192] = "";
    size_t len = 0;
    const char *found;

    while (!(found = strstr(text, words)) || !strchr(found, '\n')) {
        struct pollfd waiting = {.fd = output, .events = POLLIN};
        ssize_t n;

        // The end of what is there may be the beginning of what is looked for.
        if (len > sizeof text / 2) {
            memmove(text, text + len / 2, len - len / 2);
            len -= len / 2;
        }
        assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
        n = read(output, text + len, sizeof text / 2 - 1);
        assert_true(n > 0);
        len += (size_t)n;
        text[len] = '\0';
    }
    return strtoul(found + strlen(words), NULL, 10);
}

// Makes it log far more lines than fit in any buffer, while no process reads them.
static int flood(struct process *process)
{
    int client;

    PROCESS_START(process, ANY_PORT, "--set", "server.log_level=debug");
    client = client_connect(process);
    process_signal(process, SIGUSR1);
    process_expect(process, " info draining ", NULL);
    for (int i = 0; i < REFUSED; i++) {
        client_send(client, PUT);
        client_expect(client, REFUSAL);
    }
    return client;
}

static void stalled_log_reader_does_not_stop_clients(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client = flood(process);

    // When reading continues, a line reports the dropped lines, of two for each refusal.
    assert_in_range(read_until(process->output, " warn log_lines_dropped lines="), 1, 2 * REFUSED);
    client_send(client, PUT);
    client_expect(client, REFUSAL);
    (void)read_until(process->output, " debug put_refused_draining conn=");
    process_signal(process, SIGTERM);
    (void)read_until(process->output, " info stopped ");
    client_expect_end(client);
    (void)process_wait(process);
}

static void end_does_not_wait_for_the_reader_of_the_log(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client = flood(process);
    int status;

    process_signal(process, SIGTERM);
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    client_expect_end(client);
    (void)close(process->output);
}

static void with_manager(void *context)
{
    (void)setenv("NOTIFY_SOCKET", context, 1);
}

static struct sockaddr_un manager_address(const struct sandbox *sandbox)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", sandbox->socket);
    return addr;
}

// Sends the manager as much as it has room for; returns how many messages that is.
static int fill_manager(const struct sandbox *sandbox)
{
    struct sockaddr_un addr = manager_address(sandbox);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int count = 0;

    while (sendto(fd, "full", 4, MSG_DONTWAIT, (const struct sockaddr *)&addr, sizeof addr) == 4) {
        count++;
    }
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(close(fd), 0);
    return count;
}

static void expect_message(int manager, const char *begin)
{
    struct pollfd waiting = {.fd = manager, .events = POLLIN};
    char text[256] = "";

    assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
    assert_true(recv(manager, text, sizeof text - 1, 0) > 0);
    if (strncmp(text, begin, strlen(begin)) != 0) {
        fail_msg("expected %s, got %s", begin, text);
    }
}

static void stalled_manager_does_not_stop_clients_and_is_notified_later(void **state)
{
    struct sandbox *sandbox = *state;
    struct sockaddr_un addr = manager_address(sandbox);
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int count;
    int client;

    assert_int_equal(bind(manager, (const struct sockaddr *)&addr, sizeof addr), 0);
    count = fill_manager(sandbox);
    PROCESS_PREPARED(&sandbox->process, with_manager, sandbox->socket, ANY_PORT);
    client = client_connect(&sandbox->process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, " info reloaded ", NULL);
    for (int i = 0; i < count; i++) {
        expect_message(manager, "full");
    }
    expect_message(manager, "READY=1");
    expect_message(manager, "RELOADING=1\nMONOTONIC_USEC=");
    expect_message(manager, "READY=1");
    process_stop(&sandbox->process);
    expect_message(manager, "STOPPING=1");
    client_expect_end(client);
    assert_int_equal(close(manager), 0);
}

// Somebody put a named pipe in the place of the file.
static void reload_refuses_a_pipe_without_waiting(void **state)
{
    struct sandbox *sandbox = *state;
    FILE *file = fopen(sandbox->config, "w");
    int client;

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    PROCESS_START(&sandbox->process, ANY_PORT, "-C", sandbox->config);
    client = client_connect(&sandbox->process);
    assert_int_equal(unlink(sandbox->config), 0);
    assert_int_equal(mkfifo(sandbox->config, 0600), 0);
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, "tandemd.conf: not a file", NULL);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(&sandbox->process);
    client_expect_end(client);
}

static void reload_refuses_a_pipe_with_a_value_without_waiting(void **state)
{
    struct sandbox *sandbox = *state;
    FILE *file = fopen(sandbox->config, "w");
    int client;

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    (void)setenv("TANDEM_HTTP_HOSTS_FILE", sandbox->config, 1);
    PROCESS_START(&sandbox->process, ANY_PORT);
    (void)unsetenv("TANDEM_HTTP_HOSTS_FILE");
    client = client_connect(&sandbox->process);
    assert_int_equal(unlink(sandbox->config), 0);
    assert_int_equal(mkfifo(sandbox->config, 0600), 0);
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, "tandemd.conf: not a regular file", NULL);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(&sandbox->process);
    client_expect_end(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(stalled_log_reader_does_not_stop_clients),
        SANDBOX_TEST(end_does_not_wait_for_the_reader_of_the_log),
        SANDBOX_TEST(stalled_manager_does_not_stop_clients_and_is_notified_later),
        SANDBOX_TEST(reload_refuses_a_pipe_without_waiting),
        SANDBOX_TEST(reload_refuses_a_pipe_with_a_value_without_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
