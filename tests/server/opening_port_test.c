/* SPDX-License-Identifier: MIT */
// The port of operators while the journal is being opened: it is served, and no other is.
#include "tests/server/hung_disk.h"
#include "tests/support/with_cmocka.h"

#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX 4096
#define ADMIN "--set", "admin.listen=127.0.0.1:0"
// Clients that send nothing or half of a request are not closed.
#define NO_HURRY "--set", "admin.header_timeout=600", "--set", "admin.idle_timeout=600"
#define READY "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"

// Until the connection ends.
static void read_answer(int client, char answer[ANSWER_MAX])
{
    const struct timeval patience = {.tv_sec = 120};
    size_t len = 0;
    ssize_t n;

    (void)setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    while ((n = recv(client, answer + len, ANSWER_MAX - 1 - len, 0)) > 0) {
        len += (size_t)n;
    }
    answer[len] = '\0';
    assert_int_equal(n, 0);
    (void)close(client);
}

static int connect_to_operators(struct process *process)
{
    char address[128];
    int client;

    // The first one is for beanstalk clients.
    process_address(process, 1, address);
    client = client_try(address);
    assert_true(client >= 0);
    return client;
}

// Gets the path, and finds the words in the answer, which is the last of the connection.
static void expect_answer(struct process *process, const char *request, unsigned status,
                          const char *words)
{
    char answer[ANSWER_MAX];
    char begins[32];
    int client = connect_to_operators(process);

    client_send(client, request);
    read_answer(client, answer);
    (void)snprintf(begins, sizeof begins, "HTTP/1.1 %u ", status);
    if (strncmp(answer, begins, strlen(begins)) != 0 || !strstr(answer, words) ||
        !strstr(answer, "\r\nConnection: close\r\n")) {
        fail_msg("expected %u and \"%s\", got: %s", status, words, answer);
    }
}

static void operators_are_served_while_jobs_come_back(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;

    HUNG_DISK_START(&disk, sandbox, ADMIN);
    expect_answer(process, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200, "\r\n\r\nok\n");
    expect_answer(process, READY, 503,
                  "\r\n\r\nthe journal is being read: 0 %, 0 of 0 bytes, 0 jobs so far\n");
    expect_answer(process, READY, 503, "\r\nRetry-After: ");
    expect_answer(process, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 200,
                  "\ntandem_build_info{");
    expect_answer(process, "GET /api/v1/queues HTTP/1.1\r\nHost: localhost\r\n\r\n", 503,
                  "\r\nRetry-After: ");
    expect_answer(process,
                  "POST /api/v1/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                  "X-Tandem-Request: 1\r\n\r\n",
                  503, "the journal is being read: /readyz shows the progress");
    expect_answer(process, "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n", 503,
                  "\r\nRetry-After: ");
    hung_disk_stop(&disk);
    hung_disk_close(&disk);
}

// Their input from before is used when they are served.
static void clients_wait_until_all_jobs_are_back(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;
    char byte;
    int client;

    HUNG_DISK_START(&disk, sandbox, ADMIN);
    client = client_connect(process);
    client_send(client, "put 0 0 10 1\r\nb\r\n");
    expect_answer(process, READY, 503, "");
    assert_int_equal(recv(client, &byte, 1, MSG_DONTWAIT), -1);
    hung_disk_answer(&disk);
    client_expect(client, "INSERTED ");
    process_expect(process, "started", NULL);
    process_stop(process);
    hung_disk_close(&disk);
    (void)close(client);
}

// The same address serves the restored jobs; earlier connections end.
static void operators_see_the_jobs_when_they_are_back(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;
    int silent;
    int half;
    int client;

    HUNG_DISK_START(&disk, sandbox, ADMIN, NO_HURRY);
    silent = connect_to_operators(process);
    half = connect_to_operators(process);
    client_send(half, "GET /rea");
    expect_answer(process, READY, 503, "");
    hung_disk_answer(&disk);
    process_expect(process, "started", NULL);
    client_expect_end(silent);
    client_expect_end(half);
    client = connect_to_operators(process);
    client_send(client, READY);
    client_expect(client, "HTTP/1.1 200 OK\r\n");
    process_stop(process);
    hung_disk_close(&disk);
    (void)close(client);
}

static void a_start_can_be_stopped_while_operators_are_connected(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;
    int silent;
    int half;

    HUNG_DISK_START(&disk, sandbox, ADMIN, NO_HURRY);
    silent = connect_to_operators(process);
    half = connect_to_operators(process);
    client_send(half, "GET /rea");
    expect_answer(process, READY, 503, "");
    process_signal(process, SIGTERM);
    hung_disk_answer(&disk);
    process_expect_exit(process, 0, " stopped version=");
    hung_disk_close(&disk);
    client_expect_end(silent);
    client_expect_end(half);
}

// Clients' unix sockets wait as their ports do.
static void operators_are_served_at_a_unix_socket_too(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;
    char operators[JOURNAL_SETTING_MAX];
    char clients[JOURNAL_SETTING_MAX];
    char byte;
    int client;

    (void)snprintf(operators, sizeof operators, "admin.listen=unix:%s", sandbox->socket);
    (void)snprintf(clients, sizeof clients, "gearman.listen=unix:%s", sandbox->pid);
    HUNG_DISK_START(&disk, sandbox, "--set", operators, "--set", clients);
    process_expect(process, "protocol=admin", NULL);
    client = client_try(clients + strlen("gearman.listen="));
    assert_true(client >= 0);
    client_send(client, "version\n");
    for (unsigned i = 0; i < 3; i++) {
        char answer[ANSWER_MAX];
        int asker = client_try(operators + strlen("admin.listen="));

        assert_true(asker >= 0);
        client_send(asker, READY);
        read_answer(asker, answer);
        assert_non_null(strstr(answer, "HTTP/1.1 503 "));
    }
    assert_int_equal(recv(client, &byte, 1, MSG_DONTWAIT), -1);
    hung_disk_answer(&disk);
    client_expect(client, "OK ");
    process_stop(process);
    hung_disk_close(&disk);
    (void)close(client);
}

static void rules_hold_while_jobs_come_back(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;
    char setting[JOURNAL_SETTING_MAX];
    FILE *file = fopen(sandbox->config, "w");

    assert_non_null(file);
    (void)fputs("net:192.0.2.1 observe *\n", file);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(setting, sizeof setting, "server.access_file=%s", sandbox->config);
    HUNG_DISK_START(&disk, sandbox, ADMIN, "--set", setting);
    expect_answer(process, "GET /api/v1/queues HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "");
    expect_answer(process, READY, 503, "0 jobs so far");
    hung_disk_stop(&disk);
    hung_disk_close(&disk);
}

static void limit_of_connections_holds_while_jobs_come_back(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;
    int silent[2];

    HUNG_DISK_START(&disk, sandbox, ADMIN, NO_HURRY, "--set", "server.max_connections=2");
    silent[0] = connect_to_operators(process);
    silent[1] = connect_to_operators(process);
    process_expect(process, "connections_limit connections=2", NULL);
    (void)close(silent[0]);
    expect_answer(process, READY, 503, "");
    hung_disk_stop(&disk);
    hung_disk_close(&disk);
    (void)close(silent[1]);
}

static void operators_are_served_over_tls(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    struct hung_disk disk;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *tls = SSL_new(context);
    char certificate[JOURNAL_SETTING_MAX];
    char key[JOURNAL_SETTING_MAX];
    char answer[ANSWER_MAX] = "";
    char address[128];
    int client;

    sandbox_make_certificates(sandbox);
    (void)snprintf(certificate, sizeof certificate, "tls.certificate=%s/server.pem", sandbox->tls);
    (void)snprintf(key, sizeof key, "tls.key=%s/server.key", sandbox->tls);
    HUNG_DISK_START(&disk, sandbox, "--set", "admin.listen=tls:127.0.0.1:0", "--set", certificate,
                    "--set", key);
    process_address(process, 1, address);
    client = client_try(address + strlen("tls:"));
    assert_true(client >= 0);
    assert_int_equal(SSL_set_fd(tls, client), 1);
    assert_int_equal(SSL_connect(tls), 1);
    assert_int_equal(SSL_write(tls, READY, sizeof READY - 1), sizeof READY - 1);
    assert_true(SSL_read(tls, answer, sizeof answer - 1) > 0);
    assert_non_null(strstr(answer, "HTTP/1.1 503 "));
    hung_disk_stop(&disk);
    hung_disk_close(&disk);
    SSL_free(tls);
    SSL_CTX_free(context);
    (void)close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(operators_are_served_while_jobs_come_back),
        SANDBOX_TEST(clients_wait_until_all_jobs_are_back),
        SANDBOX_TEST(operators_see_the_jobs_when_they_are_back),
        SANDBOX_TEST(a_start_can_be_stopped_while_operators_are_connected),
        SANDBOX_TEST(operators_are_served_at_a_unix_socket_too),
        SANDBOX_TEST(rules_hold_while_jobs_come_back),
        SANDBOX_TEST(limit_of_connections_holds_while_jobs_come_back),
        SANDBOX_TEST(operators_are_served_over_tls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
