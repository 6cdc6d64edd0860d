/* SPDX-License-Identifier: MIT */
// tandemd as its operator sees it: start, talk, signals, exit codes.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void job_goes_through_and_term_ends_with_zero(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = client_connect(process);
    client_send(client, "put 0 0 10 5\r\nhello\r\nreserve\r\ndelete 1\r\n");
    client_expect(client, "INSERTED 1\r\nRESERVED 1 5\r\nhello\r\nDELETED\r\n");
    process_stop(process);
    client_expect_end(client);
    assert_non_null(strstr(process->text, " info stopped "));
}

static void tls_hello_on_a_plain_port_is_closed_and_logged(void **state)
{
    static const char *const listen[][2] = {{"beanstalk", "beanstalk.listen=127.0.0.1:0"},
                                            {"gearman", "gearman.listen=127.0.0.1:0"},
                                            {"http", "http.listen=127.0.0.1:0"},
                                            {"admin", "admin.listen=127.0.0.1:0"}};
    struct process *process = &((struct sandbox *)*state)->process;
    char line[80];

    for (size_t i = 0; i < sizeof listen / sizeof *listen; i++) {
        int client;

        PROCESS_START(process, "--set", "beanstalk.listen=", "--set", listen[i][1]);
        client = client_connect(process);
        client_send(client, "\x16\x03\x01");
        client_expect_end(client);
        (void)snprintf(line, sizeof line,
                       " warn tls_on_plain_port conn=1 peer=127.0.0.1 protocol=%s\n", listen[i][0]);
        process_expect(process, line, NULL);
        process_stop(process);
    }
}

static void proxy_head_on_a_plain_port_is_refused_and_logged(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = client_connect(process);
    client_send(client, "PROXY TCP4 10.1.2.3 10.0.0.1 1234 11300\r\nput 0 0 10 1\r\na\r\n");
    client_expect(client, "BAD_FORMAT\r\n");
    client_expect_end(client);
    process_expect(process,
                   " warn proxy_head_unexpected conn=1 peer=127.0.0.1 protocol=beanstalk\n", NULL);
    process_stop(process);
}

// A client that has far more coming than it reads.
static int clogged_client(struct process *process)
{
    char body[60001];
    char head[64];
    int client = client_connect(process);

    memset(body, 'b', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    (void)snprintf(head, sizeof head, "put 0 0 10 %zu\r\n", sizeof body - 1);
    client_send(client, head);
    client_send(client, body);
    client_send(client, "\r\n");
    client_expect(client, "INSERTED 1\r\n");
    for (int i = 0; i < 200; i++) {
        client_send(client, "peek 1\r\n");
    }
    client_expect(client, "FOUND 1 60000\r\n");
    return client;
}

static void client_that_does_not_read_delays_the_stop_for_a_bounded_time(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = clogged_client(process);
    process_stop(process);
    (void)close(client);
}

static void stop_logs_the_number_of_lost_jobs(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    char setting[160];
    int client;

    PROCESS_START(process, ANY_PORT);
    client = client_connect(process);
    client_send(client, "put 0 0 9 1\r\nx\r\nput 0 9 9 1\r\nx\r\nput 0 0 9 1\r\nx\r\nreserve\r\n");
    client_expect(client, "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\nRESERVED 1 1\r\nx\r\n");
    process_stop(process);
    client_expect_end(client);
    assert_non_null(strstr(process->text, " warn jobs_lost jobs=3 "));
    // Jobs in the journal are not lost.
    (void)snprintf(setting, sizeof setting, "journal.dir=%s", sandbox->journal);
    PROCESS_START(process, ANY_PORT, "--set", setting);
    client = client_connect(process);
    client_send(client, "put 0 0 9 1\r\nx\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_stop(process);
    client_expect_end(client);
    assert_null(strstr(process->text, "jobs_lost"));
}

// A request that waits is nowhere but in memory, whatever the journal keeps.
static void waiting_request_is_answered_at_the_stop(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    char setting[160];
    char address[128];
    int worker;
    int client;

    (void)snprintf(setting, sizeof setting, "journal.dir=%s", sandbox->journal);
    PROCESS_START(process, ANY_PORT, "--set", setting, "--set", "http.listen=127.0.0.1:0");
    worker = client_connect(process);
    process_address(process, 1, address);
    client = client_try(address);
    assert_true(client >= 0);
    client_send(client, "POST /f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx");
    client_send(worker, "watch f\r\nreserve\r\n");
    client_expect(worker, "WATCHING 2\r\nRESERVED 1 1\r\nx\r\n");
    client_send(worker, "put 0 0 9 1\r\ny\r\n");
    client_expect(worker, "INSERTED 2\r\n");
    process_signal(process, SIGTERM);
    client_expect(client, "HTTP/1.1 503 ");
    process_expect_exit(process, 0, " warn jobs_lost jobs=1 ");
    (void)close(client);
    (void)close(worker);
}

static void second_signal_ends_at_once(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = clogged_client(process);
    process_signal(process, SIGTERM);
    process_expect(process, " info stopping ", NULL);
    process_stop(process);
    (void)close(client);
}

static void int_ends_with_zero_too(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    PROCESS_START(process, ANY_PORT);
    process_expect(process, "started", NULL);
    process_signal(process, SIGINT);
    assert_int_equal(process_wait(process), 0);
}

static void waiting_worker_gets_a_job_from_another_client(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int worker;
    int producer;

    PROCESS_START(process, ANY_PORT);
    worker = client_connect(process);
    producer = client_connect(process);
    client_send(worker, "reserve\r\n");
    client_send(producer, "put 0 0 10 1\r\nx\r\n");
    client_expect(producer, "INSERTED 1\r\n");
    client_expect(worker, "RESERVED 1 1\r\nx\r\n");
    process_stop(process);
    client_expect_end(worker);
    client_expect_end(producer);
}

static void reserve_times_out_while_nothing_else_happens(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = client_connect(process);
    client_send(client, "reserve-with-timeout 1\r\n");
    client_expect(client, "TIMED_OUT\r\n");
    process_stop(process);
    client_expect_end(client);
}

static void half_closed_client_gets_all_its_answers(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = client_connect(process);
    client_send(client, "use a\r\nreserve\r\nlist-tube-used\r\n");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    client_expect(client, "USING a\r\nTIMED_OUT\r\nUSING a\r\n");
    client_expect_end(client);
    process_stop(process);
}

static void usr1_refuses_new_jobs_and_goes_on(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = client_connect(process);
    client_send(client, "put 0 0 10 1\r\nx\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_signal(process, SIGUSR1);
    process_expect(process, " info draining ", NULL);
    client_send(client, "put 0 0 10 1\r\nx\r\nreserve\r\n");
    client_expect(client, "DRAINING\r\nRESERVED 1 1\r\nx\r\n");
    process_stop(process);
    client_expect_end(client);
}

static void usr2_takes_new_jobs_again(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    size_t from = 0;
    int client;

    PROCESS_START(process, ANY_PORT);
    client = client_connect(process);
    // Repeated signals change nothing, nor does the end of a drain that has not begun.
    process_signal(process, SIGUSR2);
    process_expect(process, " info accepting_jobs ", &from);
    process_signal(process, SIGUSR1);
    process_expect(process, " info draining ", &from);
    client_send(client, "put 0 0 10 1\r\nx\r\n");
    client_expect(client, "DRAINING\r\n");
    process_signal(process, SIGUSR2);
    process_expect(process, " info accepting_jobs ", &from);
    client_send(client, "put 0 0 10 1\r\nx\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_stop(process);
    client_expect_end(client);
}

// How many keys the command line has set, as the log says.
static unsigned sets_logged(struct process *process)
{
    size_t from = 0;
    unsigned long sets;
    char *end;

    process_expect(process, " configured file=/dev/null environment=0 sets=", &from);
    process_expect(process, " started ", NULL);
    sets = strtoul(process->text + from, &end, 10);
    assert_int_equal(*end, '\n');
    process_stop(process);
    return (unsigned)sets;
}

static void log_counts_the_keys_that_the_command_line_sets(void **state)
{
    struct sandbox *sandbox = *state;
    unsigned sets;

    PROCESS_START(&sandbox->process, "-C", "/dev/null", ANY_PORT);
    sets = sets_logged(&sandbox->process);
    PROCESS_START(&sandbox->process, "-C", "/dev/null", ANY_PORT, "--set", "server.log_level=info",
                  "--set", "server.slow_turn=0");
    assert_int_equal(sets_logged(&sandbox->process), sets + 2);
}

static void hup_applies_live_keys_and_names_the_others(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;
    int client;

    sandbox_configure(sandbox, "[beanstalk]\nlisten = 127.0.0.1:0\nmax_job_size = 5\n");
    PROCESS_START(process, "-C", sandbox->config);
    process_expect(process, " info configured file=/tmp/", &from);
    process_expect(process, "/tandemd.conf environment=0 sets=", &from);
    client = client_connect(process);
    client_send(client, "put 0 0 10 6\r\n123456\r\n");
    client_expect(client, "JOB_TOO_BIG\r\n");
    sandbox_configure(sandbox, "[beanstalk]\nlisten = 127.0.0.1:1\nmax_job_size = 6\n");
    process_signal(process, SIGHUP);
    process_expect(
        process,
        "setting_needs_restart section=beanstalk key=listen old=127.0.0.1:0 new=127.0.0.1:1",
        &from);
    process_expect(process, "setting_changed section=beanstalk key=max_job_size old=5 new=6",
                   &from);
    process_expect(process, " info reloaded ", &from);
    client_send(client, "put 0 0 10 6\r\n123456\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_stop(process);
    client_expect_end(client);
}

static void hup_with_a_wrong_file_changes_nothing(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;
    int client;

    sandbox_configure(sandbox, "[beanstalk]\nlisten = 127.0.0.1:0\n");
    PROCESS_START(process, "-C", sandbox->config);
    client = client_connect(process);
    sandbox_configure(sandbox, "[beanstalk]\nmax_job_size = 1\nwidth = 7\n");
    process_signal(process, SIGHUP);
    process_expect(process, " error reload_failed ", &from);
    process_expect(process, "tandemd.conf:3: there is no key `width`", &from);
    client_send(client, "put 0 0 10 6\r\n123456\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_stop(process);
    client_expect_end(client);
}

// The error is found late: all other settings are valid and have been read.
static void hup_that_fails_late_changes_nothing_of_the_log(void **state)
{
    static const char *const bad[] = {
        "[schedule x]\ncron = * * * * *\ntimezone = No/Where\nqueue = q\n",
        "[http]\ntokens = /nonexistent/tokens\n",
        ("[queue q]\npush = http://127.0.0.1:9/\npush_private = yes\npush_secret_file = "
         "/nonexistent/secret\n"),
        "[server]\naccess_file = /nonexistent/access\n",
    };
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    char text[4096] = "";
    char other[64];
    FILE *file;

    (void)snprintf(other, sizeof other, "%s/other", sandbox->dir);
    (void)snprintf(text, sizeof text,
                   "[server]\nlog_file = %s\n[beanstalk]\nlisten = 127.0.0.1:0\n", sandbox->log);
    sandbox_configure(sandbox, text);
    PROCESS_START(process, "-C", sandbox->config);
    sandbox_expect_log(sandbox, " info started ");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        // As if it had been rotated.
        assert_int_equal(unlink(sandbox->log), 0);
        (void)snprintf(text, sizeof text,
                       "[server]\nlog_file = %s\nlog_format = json\nlog_level = debug\n"
                       "slow_turn = 7\n[beanstalk]\nlisten = 127.0.0.1:0\nmax_job_size = 5\n%s",
                       other, bad[i]);
        sandbox_configure(sandbox, text);
        process_signal(process, SIGHUP);
        sandbox_expect_log(sandbox, " error reload_failed why=");
    }
    process_stop(process);
    sandbox_expect_log(sandbox, " info stopped ");
    file = fopen(sandbox->log, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_null(strstr(text, "setting_changed"));
    assert_null(strstr(text, " debug "));
    assert_null(strchr(text, '{'));
    (void)unlink(other);
}

// Reading so much takes far more than the millisecond that is allowed, whatever the machine.
static void hup_that_takes_long_is_a_slow_turn(void **state)
{
    enum { COMMENTS = 200000 };
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;
    FILE *file;

    sandbox_configure(sandbox, "[beanstalk]\nlisten = 127.0.0.1:0\n[server]\nslow_turn = 1\n");
    PROCESS_START(process, "-C", sandbox->config);
    process_expect(process, " info started ", &from);
    file = fopen(sandbox->config, "a");
    assert_non_null(file);
    for (int i = 0; i < COMMENTS; i++) {
        (void)fputs("# a line that says nothing\n", file);
    }
    assert_int_equal(fclose(file), 0);
    process_signal(process, SIGHUP);
    process_expect(process, " info reloaded ", &from);
    process_expect(process, " warn slow_turn us=", &from);
    process_stop(process);
}

static void hup_reopens_the_log_file(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    char setting[128];

    (void)snprintf(setting, sizeof setting, "server.log_file=%s", sandbox->log);
    PROCESS_START(process, ANY_PORT, "--set", setting, "--set", "server.log_format=json");
    sandbox_expect_log(sandbox, "\"event\":\"started\"");
    assert_int_equal(unlink(sandbox->log), 0);
    process_signal(process, SIGHUP);
    sandbox_expect_log(sandbox, "\"event\":\"reloaded\"");
    process_stop(process);
    assert_int_equal(process->len, 0);
}

static void several_listeners_serve_the_same_queues(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    char setting[160];
    char address[128];
    struct stat st;
    int tcp;
    int local;

    (void)snprintf(setting, sizeof setting, "beanstalk.listen=127.0.0.1:0 unix:%s",
                   sandbox->socket);
    PROCESS_START(process, "--set", setting);
    tcp = client_connect(process);
    process_address(process, 1, address);
    assert_memory_equal(address, "unix:", 5);
    local = client_try(address);
    assert_true(local >= 0);
    client_send(local, "put 0 0 10 1\r\nx\r\n");
    client_expect(local, "INSERTED 1\r\n");
    client_send(tcp, "reserve\r\n");
    client_expect(tcp, "RESERVED 1 1\r\nx\r\n");
    process_stop(process);
    client_expect_end(tcp);
    client_expect_end(local);
    assert_int_equal(lstat(sandbox->socket, &st), -1);
}

static void ipv6_is_served(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int fd = client_try("[::1]:1");
    int client;

    if (fd < 0 && errno != ECONNREFUSED) {
        skip();
    }
    (void)close(fd);
    PROCESS_START(process, "--set", "beanstalk.listen=[::1]:0");
    client = client_connect(process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(process);
    client_expect_end(client);
}

static void unavailable_resources_exit_with_1(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    PROCESS_START(process, "--set", "beanstalk.listen=");
    process_expect_exit(process, 1, "no address to listen at");
    PROCESS_START(process, "--set", "beanstalk.listen=192.0.2.1:80");
    process_expect_exit(process, 1, "192.0.2.1:80: Cannot assign requested address");
    PROCESS_START(process, ANY_PORT, "--set", "server.log_file=/nonexistent/log");
    process_expect_exit(process, 1, "/nonexistent/log: No such file");
}

static void connections_are_logged_at_debug(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    size_t from = 0;
    int client;

    PROCESS_START(process, ANY_PORT, "--set", "server.log_level=debug");
    client = client_connect(process);
    process_expect(process, " debug connected conn=1 protocol=beanstalk peer=127.0.0.1:", &from);
    (void)close(client);
    process_expect(process, " debug closed conn=1", &from);
    process_stop(process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(job_goes_through_and_term_ends_with_zero),
        SANDBOX_TEST(tls_hello_on_a_plain_port_is_closed_and_logged),
        SANDBOX_TEST(proxy_head_on_a_plain_port_is_refused_and_logged),
        SANDBOX_TEST(client_that_does_not_read_delays_the_stop_for_a_bounded_time),
        SANDBOX_TEST(stop_logs_the_number_of_lost_jobs),
        SANDBOX_TEST(waiting_request_is_answered_at_the_stop),
        SANDBOX_TEST(second_signal_ends_at_once),
        SANDBOX_TEST(int_ends_with_zero_too),
        SANDBOX_TEST(waiting_worker_gets_a_job_from_another_client),
        SANDBOX_TEST(reserve_times_out_while_nothing_else_happens),
        SANDBOX_TEST(half_closed_client_gets_all_its_answers),
        SANDBOX_TEST(usr1_refuses_new_jobs_and_goes_on),
        SANDBOX_TEST(usr2_takes_new_jobs_again),
        SANDBOX_TEST(log_counts_the_keys_that_the_command_line_sets),
        SANDBOX_TEST(hup_applies_live_keys_and_names_the_others),
        SANDBOX_TEST(hup_with_a_wrong_file_changes_nothing),
        SANDBOX_TEST(hup_that_fails_late_changes_nothing_of_the_log),
        SANDBOX_TEST(hup_that_takes_long_is_a_slow_turn),
        SANDBOX_TEST(hup_reopens_the_log_file),
        SANDBOX_TEST(several_listeners_serve_the_same_queues),
        SANDBOX_TEST(ipv6_is_served),
        SANDBOX_TEST(unavailable_resources_exit_with_1),
        SANDBOX_TEST(connections_are_logged_at_debug),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
