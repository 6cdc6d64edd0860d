/* SPDX-License-Identifier: MIT */
// tandemd under a service manager, whose part the test plays: sockets that are handed over, and
// what the manager is told.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// Descriptors are handed over from 3 on; this is out of their way.
enum { FIRST = 3, ELSEWHERE = 50, PATIENCE_MS = 120000, MESSAGE_MAX = 256 };

struct handover {
    int fds[2];
    size_t count;
    const char *names;  // NULL: none are given
    const char *number; // in place of `count`
    bool to_another;    // process
};

// Does what systemd does between fork and exec.
static void hand_over(void *context)
{
    struct handover *handover = context;
    char text[32];

    for (size_t i = 0; i < handover->count; i++) {
        int high = fcntl(handover->fds[i], F_DUPFD_CLOEXEC, ELSEWHERE);

        if (high < 0) {
            _exit(126);
        }
        handover->fds[i] = high;
    }
    for (size_t i = 0; i < handover->count; i++) {
        if (dup2(handover->fds[i], FIRST + (int)i) < 0) {
            _exit(126);
        }
    }
    (void)snprintf(text, sizeof text, "%ld", (long)getpid() + (handover->to_another ? 1 : 0));
    (void)setenv("LISTEN_PID", text, 1);
    (void)snprintf(text, sizeof text, "%zu", handover->count);
    (void)setenv("LISTEN_FDS", handover->number ? handover->number : text, 1);
    if (handover->names) {
        (void)setenv("LISTEN_FDNAMES", handover->names, 1);
    }
}

// A TCP socket at a free port of the loopback.
static int tcp_socket(bool listens)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    if (listens) {
        assert_int_equal(listen(fd, 8), 0);
    }
    return fd;
}

static int unix_socket(const char *path, int type)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr), 0);
    if (type == SOCK_STREAM) {
        assert_int_equal(listen(fd, 8), 0);
    }
    return fd;
}

static void close_all(const struct handover *handover)
{
    for (size_t i = 0; i < handover->count; i++) {
        assert_int_equal(close(handover->fds[i]), 0);
    }
}

static void sockets_that_are_handed_over_serve_the_same_queues(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct handover handover = {.count = 2, .names = "beanstalk:beanstalkd.socket"};
    char address[128];
    struct stat st;
    size_t from = 0;
    int tcp;
    int local;

    handover.fds[0] = tcp_socket(true);
    handover.fds[1] = unix_socket(sandbox->socket, SOCK_STREAM);
    // The address of the key cannot be had: it must not be tried.
    PROCESS_PREPARED(process, hand_over, &handover, "--set", "beanstalk.listen=192.0.2.1:80");
    close_all(&handover);
    process_expect(process, "listening address=127.0.0.1:", &from);
    process_expect(process, "inherited_by_default fd=4 name=beanstalkd.socket protocol=", &from);
    process_expect(process, "listening address=unix:", &from);
    process_expect(process, "listen_replaced protocol=beanstalk addresses=192.0.2.1:80", &from);
    tcp = client_connect(process);
    process_address(process, 1, address);
    local = client_try(address);
    assert_true(local >= 0);
    client_send(local, "put 0 0 10 1\r\nx\r\n");
    client_expect(local, "INSERTED 1\r\n");
    client_send(tcp, "reserve\r\n");
    client_expect(tcp, "RESERVED 1 1\r\nx\r\n");
    process_stop(process);
    assert_null(strstr(process->text, "inherited_by_default fd=3"));
    client_expect_end(tcp);
    client_expect_end(local);
    // The file belongs to the process that created it.
    assert_int_equal(lstat(sandbox->socket, &st), 0);
}

static void socket_without_a_name_goes_to_the_first_protocol(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    struct handover handover = {.count = 1};
    int client;

    handover.fds[0] = tcp_socket(true);
    PROCESS_PREPARED(process, hand_over, &handover, "-V");
    close_all(&handover);
    process_expect(process, "inherited_by_default fd=3 name=unknown protocol=beanstalk", NULL);
    client = client_connect(process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(process);
    client_expect_end(client);
}

static void expect_refused(struct sandbox *sandbox, struct handover handover, const char *words)
{
    PROCESS_PREPARED(&sandbox->process, hand_over, &handover, ANY_PORT);
    process_expect_exit(&sandbox->process, 1, words);
    PROCESS_PREPARED(&sandbox->process, hand_over, &handover, "-p0");
    process_expect_exit(&sandbox->process, 111, words);
    close_all(&handover);
}

static void descriptor_that_is_not_a_listening_socket_is_refused(void **state)
{
    struct sandbox *sandbox = *state;
    static const char words[] = "descriptor 3 (beanstalk), handed over in LISTEN_FDS, is not a "
                                "listening stream socket";

    expect_refused(sandbox,
                   (struct handover){.fds = {tcp_socket(false)}, .count = 1, .names = "beanstalk"},
                   words);
    expect_refused(sandbox,
                   (struct handover){.fds = {unix_socket(sandbox->socket, SOCK_DGRAM)},
                                     .count = 1,
                                     .names = "beanstalk"},
                   words);
    expect_refused(sandbox,
                   (struct handover){.fds = {open("/dev/null", O_RDWR | O_CLOEXEC)},
                                     .count = 1,
                                     .names = "beanstalk"},
                   words);
}

static void names_and_number_of_the_sockets_that_do_not_fit_are_refused(void **state)
{
    struct sandbox *sandbox = *state;

    expect_refused(sandbox,
                   (struct handover){.fds = {tcp_socket(true)}, .count = 1, .names = "http:http"},
                   "LISTEN_FDNAMES has 2 names, but LISTEN_FDS says 1");
    expect_refused(sandbox,
                   (struct handover){.fds = {tcp_socket(true)}, .count = 1, .number = "1x"},
                   "LISTEN_FDS: `1x` is not a number");
    expect_refused(sandbox,
                   (struct handover){.fds = {tcp_socket(true)}, .count = 1, .number = "2147483647"},
                   "LISTEN_FDS: there cannot be 2147483647 sockets");
    // The second is not there: it was not passed, or is a descriptor of our own.
    expect_refused(sandbox,
                   (struct handover){.fds = {tcp_socket(true)}, .count = 1, .number = "200"},
                   "(unknown), handed over in LISTEN_FDS, is not a listening stream socket");
}

// A slip of the pen must not offer one protocol at another's address.
static void name_that_is_not_a_protocol_is_refused(void **state)
{
    static const char *const names[] = {
        "htpp", "tandemd-http.socket", "Beanstalk",   "http-tls-", "http-",
        "tls",  "http-tls-proxy",      "http-proxy-", "proxy"};
    struct sandbox *sandbox = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        expect_refused(
            sandbox, (struct handover){.fds = {tcp_socket(true)}, .count = 1, .names = names[i]},
            "which is not a protocol: FileDescriptorName= is beanstalk, gearman or http");
    }
}

// A name says so, as `tls:` does in the key that the socket replaces.
static void socket_may_be_named_as_one_with_tls(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct handover handover = {.count = 2, .names = "beanstalk-tls:beanstalk"};
    char certificate[128];
    char key[128];
    size_t from = 0;

    sandbox_make_certificates(sandbox);
    (void)snprintf(certificate, sizeof certificate, "tls.certificate=%s/server.pem", sandbox->tls);
    (void)snprintf(key, sizeof key, "tls.key=%s/server.key", sandbox->tls);
    handover.fds[0] = tcp_socket(true);
    handover.fds[1] = tcp_socket(true);
    PROCESS_PREPARED(process, hand_over, &handover, ANY_PORT, "--set", certificate, "--set", key);
    close_all(&handover);
    process_expect(process, "listening address=tls:127.0.0.1:", &from);
    process_expect(process, "protocol=beanstalk\n", &from);
    process_expect(process, "listening address=127.0.0.1:", &from);
    process_expect(process, "listen_replaced protocol=beanstalk", &from);
    process_expect(process, " info started ", &from);
    process_stop(process);
}

// The same for `proxy:`.
static void socket_may_be_named_as_one_for_proxies(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    struct handover handover = {.fds = {tcp_socket(true)}, .count = 1, .names = "beanstalk-proxy"};
    int client;

    PROCESS_PREPARED(process, hand_over, &handover, ANY_PORT, "--set", "server.proxies=127.0.0.1");
    close_all(&handover);
    client = client_connect(process);
    client_send(client, "PROXY TCP4 10.1.2.3 10.0.0.1 1234 11300\r\nlist-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(process);
    client_expect_end(client);
    assert_non_null(strstr(process->text, "listening address=proxy:127.0.0.1:"));
}

static void socket_with_tls_needs_a_certificate(void **state)
{
    expect_refused(
        *state, (struct handover){.fds = {tcp_socket(true)}, .count = 1, .names = "beanstalk-tls"},
        "tls.certificate");
}

static void sockets_for_another_process_are_not_touched(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    struct handover handover = {.count = 1, .names = "beanstalk", .to_another = true};
    int client;

    handover.fds[0] = tcp_socket(true);
    PROCESS_PREPARED(process, hand_over, &handover, ANY_PORT);
    close_all(&handover);
    client = client_connect(process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(process);
    assert_null(strstr(process->text, "listen_replaced"));
    client_expect_end(client);
}

static void with_manager(void *context)
{
    (void)setenv("NOTIFY_SOCKET", context, 1);
}

static void receive(int manager, char text[MESSAGE_MAX])
{
    struct pollfd waiting = {.fd = manager, .events = POLLIN};
    ssize_t len;

    assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
    len = recv(manager, text, MESSAGE_MAX - 1, 0);
    assert_true(len >= 0);
    text[len] = '\0';
}

// The next message that is not a keep-alive.
static void receive_other(int manager, char text[MESSAGE_MAX])
{
    do {
        receive(manager, text);
    } while (strcmp(text, "WATCHDOG=1") == 0);
}

static void expect_message(int manager, const char *begin)
{
    char text[MESSAGE_MAX];

    receive(manager, text);
    if (strncmp(text, begin, strlen(begin)) != 0) {
        fail_msg("expected %s, got %s", begin, text);
    }
}

static void manager_is_notified_of_start_reload_and_stop(void **state)
{
    struct sandbox *sandbox = *state;
    int manager = unix_socket(sandbox->socket, SOCK_DGRAM);

    PROCESS_PREPARED(&sandbox->process, with_manager, sandbox->socket, ANY_PORT);
    expect_message(manager, "READY=1");
    // Ready means that clients are served.
    assert_int_equal(close(client_connect(&sandbox->process)), 0);
    process_signal(&sandbox->process, SIGHUP);
    expect_message(manager, "RELOADING=1\nMONOTONIC_USEC=");
    expect_message(manager, "READY=1");
    process_signal(&sandbox->process, SIGTERM);
    expect_message(manager, "STOPPING=1");
    process_expect_exit(&sandbox->process, 0, " info stopped ");
    assert_int_equal(close(manager), 0);
}

static void manager_is_not_notified_of_a_failed_start(void **state)
{
    struct sandbox *sandbox = *state;
    int manager = unix_socket(sandbox->socket, SOCK_DGRAM);
    char byte;

    PROCESS_PREPARED(&sandbox->process, with_manager, sandbox->socket, "--set",
                     "beanstalk.listen=192.0.2.1:80");
    process_expect_exit(&sandbox->process, 1, "Cannot assign requested address");
    assert_int_equal(recv(manager, &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(close(manager), 0);
}

static void with_watchdog(void *context)
{
    with_manager(context);
    (void)setenv("WATCHDOG_USEC", "100000", 1);
}

static void watchdog_gets_keep_alives_until_the_stop(void **state)
{
    struct sandbox *sandbox = *state;
    int manager = unix_socket(sandbox->socket, SOCK_DGRAM);
    char text[MESSAGE_MAX];

    PROCESS_PREPARED(&sandbox->process, with_watchdog, sandbox->socket, ANY_PORT);
    process_expect(&sandbox->process, " info started ", NULL);
    // It may have begun before the start was over.
    receive_other(manager, text);
    assert_string_equal(text, "READY=1");
    for (unsigned i = 0; i < 3; i++) {
        expect_message(manager, "WATCHDOG=1");
    }
    process_signal(&sandbox->process, SIGTERM);
    receive_other(manager, text);
    // The journal's end may take its time.
    assert_string_equal(text, "STOPPING=1\nWATCHDOG_USEC=0");
    process_expect_exit(&sandbox->process, 0, " info stopped ");
    assert_int_equal(close(manager), 0);
}

static void with_credentials(void *context)
{
    (void)setenv("CREDENTIALS_DIRECTORY", context, 1);
}

// The sandbox is the manager's directory, and has one file.
static void file_that_is_handed_over_is_read_again_by_its_name(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    const char *name = strrchr(sandbox->config, '/') + 1;
    char setting[128];
    int client;

    sandbox_configure(sandbox, "any observe *\n");
    (void)snprintf(setting, sizeof setting, "server.access_file=credential:%s", name);
    PROCESS_PREPARED(process, with_credentials, sandbox->dir, ANY_PORT, "--set", setting);
    client = client_connect(process);
    client_send(client, "put 0 0 10 1\r\nx\r\n");
    client_expect(client, "FORBIDDEN\r\n");
    sandbox_configure(sandbox, "any observe,submit *\n");
    process_signal(process, SIGHUP);
    process_expect(process, " info reloaded ", NULL);
    client_send(client, "put 0 0 10 1\r\nx\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_stop(process);
    client_expect_end(client);
    (void)snprintf(setting, sizeof setting, "server.access_file=credential:no-%s", name);
    PROCESS_PREPARED(process, with_credentials, sandbox->dir, ANY_PORT, "--set", setting);
    process_expect_exit(process, 2, "No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(sockets_that_are_handed_over_serve_the_same_queues),
        SANDBOX_TEST(socket_without_a_name_goes_to_the_first_protocol),
        SANDBOX_TEST(descriptor_that_is_not_a_listening_socket_is_refused),
        SANDBOX_TEST(name_that_is_not_a_protocol_is_refused),
        SANDBOX_TEST(names_and_number_of_the_sockets_that_do_not_fit_are_refused),
        SANDBOX_TEST(socket_may_be_named_as_one_with_tls),
        SANDBOX_TEST(socket_may_be_named_as_one_for_proxies),
        SANDBOX_TEST(socket_with_tls_needs_a_certificate),
        SANDBOX_TEST(sockets_for_another_process_are_not_touched),
        SANDBOX_TEST(manager_is_notified_of_start_reload_and_stop),
        SANDBOX_TEST(manager_is_not_notified_of_a_failed_start),
        SANDBOX_TEST(watchdog_gets_keep_alives_until_the_stop),
        SANDBOX_TEST(file_that_is_handed_over_is_read_again_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
