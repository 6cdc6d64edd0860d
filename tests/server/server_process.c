/* SPDX-License-Identifier: MIT */
#include "tests/server/server_process.h"

#include "tests/support/with_cmocka.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// Far more than anything here takes, even on a machine that is busy with something else.
enum { PATIENCE_MS = 120000, ARGS_MAX = 32 };

// The program, or what starts it in its place.
static const char *program(void)
{
    const char *named = getenv("TANDEMD");

    return named ? named : TANDEMD_PATH;
}

void process_start(struct process *process, const char *const *args)
{
    process_start_prepared(process, NULL, NULL, args);
}

void process_start_prepared(struct process *process, void (*prepare)(void *context), void *context,
                            const char *const *args)
{
    // Tests run side by side, and these ports are taken by default.
    const char *argv[ARGS_MAX] = {program(),      "--set", "gearman.listen=", "--set",
                                  "http.listen=", "--set", "admin.listen="};
    int ends[2];

    for (int i = 0; args[i]; i++) {
        assert_in_range(i, 0, ARGS_MAX - 9);
        argv[i + 7] = args[i];
    }
    memset(process, 0, sizeof *process);
    assert_int_equal(pipe(ends), 0);
    process->pid = fork();
    assert_true(process->pid >= 0);
    if (process->pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        if (prepare) {
            prepare(context);
        }
        (void)execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)close(ends[1]);
    process->output = ends[0];
}

// Reads more of the output; 0 at its end.
static size_t process_read(struct process *process)
{
    struct pollfd waiting = {.fd = process->output, .events = POLLIN};
    size_t room = sizeof process->text - 1 - process->len;
    ssize_t n;

    if (poll(&waiting, 1, PATIENCE_MS) != 1) {
        fail_msg("nothing more was printed after: %s", process->text);
    }
    assert_int_not_equal(room, 0);
    n = read(process->output, process->text + process->len, room);
    assert_true(n >= 0);
    process->len += (size_t)n;
    process->text[process->len] = '\0';
    return (size_t)n;
}

void process_expect(struct process *process, const char *text, size_t *from)
{
    size_t start = from ? *from : 0;
    const char *found;

    while (!(found = strstr(process->text + start, text))) {
        if (process_read(process) == 0) {
            fail_msg("it ended without \"%s\": %s", text, process->text);
        }
    }
    if (from) {
        *from = (size_t)(found - process->text) + strlen(text);
    }
}

void process_address(struct process *process, unsigned n, char address[128])
{
    size_t from = 0;

    for (unsigned i = 0; i <= n; i++) {
        process_expect(process, "listening address=", &from);
    }
    // The rest of the line may still be on its way.
    while (!strchr(process->text + from, '\n')) {
        assert_int_not_equal(process_read(process), 0);
    }
    assert_int_equal(sscanf(process->text + from, "%127s", address), 1);
}

void process_signal(const struct process *process, int number)
{
    assert_int_equal(kill(process->pid, number), 0);
}

int process_wait(struct process *process)
{
    int status;

    while (process_read(process) > 0) {
    }
    (void)close(process->output);
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void process_expect_exit(struct process *process, int code, const char *words)
{
    int ended = process_wait(process);

    if (ended != code || !strstr(process->text, words)) {
        fail_msg("expected %d and \"%s\", got %d: %s", code, words, ended, process->text);
    }
}

void process_stop(struct process *process)
{
    process_signal(process, SIGTERM);
    process_expect_exit(process, 0, "");
}

// Room for any kind of address; returns its length.
static socklen_t address_of(const char *text, struct sockaddr_storage *storage)
{
    const char *port = strrchr(text, ':') + 1;
    struct sockaddr_in *in = (void *)storage;
    struct sockaddr_in6 *in6 = (void *)storage;
    struct sockaddr_un *un = (void *)storage;
    char host[128];

    memset(storage, 0, sizeof *storage);
    text += strncmp(text, "proxy:", 6) == 0 ? 6 : 0;
    if (strncmp(text, "unix:", 5) == 0) {
        un->sun_family = AF_UNIX;
        (void)snprintf(un->sun_path, sizeof un->sun_path, "%s", text + 5);
        return sizeof *un;
    }
    if (text[0] == '[') {
        (void)snprintf(host, sizeof host, "%.*s", (int)(port - text) - 3, text + 1);
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)strtoul(port, NULL, 10));
        assert_int_equal(inet_pton(AF_INET6, host, &in6->sin6_addr), 1);
        return sizeof *in6;
    }
    (void)snprintf(host, sizeof host, "%.*s", (int)(port - text) - 1, text);
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    assert_int_equal(inet_pton(AF_INET, host, &in->sin_addr), 1);
    return sizeof *in;
}

int client_try(const char *address)
{
    struct sockaddr_storage storage;
    socklen_t len = address_of(address, &storage);
    int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (struct sockaddr *)&storage, len) != 0) {
        int saved = errno;

        (void)close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int client_connect(struct process *process)
{
    char address[128];
    int client;

    process_address(process, 0, address);
    client = client_try(address);
    assert_true(client >= 0);
    return client;
}

void client_send(int client, const char *text)
{
    assert_int_equal(send(client, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

// Like recv, for a bounded time.
static ssize_t client_receive(int client, char *bytes, size_t room)
{
    struct pollfd waiting = {.fd = client, .events = POLLIN};

    if (poll(&waiting, 1, PATIENCE_MS) != 1) {
        fail_msg("%s", "the server says nothing");
    }
    return recv(client, bytes, room, 0);
}

void client_expect(int client, const char *text)
{
    char bytes[4096] = "";
    size_t len = strlen(text);
    size_t got = 0;

    assert_in_range(len, 1, sizeof bytes - 1);
    while (got < len) {
        ssize_t n = client_receive(client, bytes + got, len - got);

        if (n <= 0) {
            break;
        }
        got += (size_t)n;
    }
    assert_string_equal(bytes, text);
}

void client_expect_end(int client)
{
    char byte;
    ssize_t n = client_receive(client, &byte, 1);

    if (n > 0 || (n < 0 && errno != ECONNRESET)) {
        fail_msg("expected the end, got %zd (errno %d)", n, errno);
    }
    (void)close(client);
}
