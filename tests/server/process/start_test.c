/* SPDX-License-Identifier: MIT */
// Starting in beanstalkd's place, and what a start leaves in the file system.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTING_MAX 160

static const char *setting(char text[SETTING_MAX], const char *key, const char *value)
{
    (void)snprintf(text, SETTING_MAX, "%s=%s", key, value);
    return text;
}

// Ends it without giving it a chance to tidy up.
static void crash(struct process *process)
{
    process_signal(process, SIGKILL);
    assert_int_equal(process_wait(process), -SIGKILL);
}

static void flags_of_beanstalkd_start_it_in_its_place(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    size_t from = 0;
    int client;

    PROCESS_START(process, "-VFz", "5", "-l", "127.0.0.1", "-p0", "-c");
    process_expect(process, " warn flag note=\"-c is ignored", &from);
    client = client_connect(process);
    client_send(client, "put 0 0 10 6\r\n123456\r\nput 0 0 10 5\r\n12345\r\n");
    client_expect(client, "JOB_TOO_BIG\r\nINSERTED 1\r\n");
    process_expect(process, " debug connected ", &from);
    process_stop(process);
    client_expect_end(client);
}

static void port_alone_is_listened_at_on_every_ipv4_address(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    PROCESS_START(process, "-p", "0");
    process_expect(process, "listening address=0.0.0.0:", NULL);
    process_stop(process);
}

// A flag that has nothing to do with addresses opens no port and closes none.
static void only_l_and_p_say_where_it_listens(void **state)
{
    static const char *const flags[] = {"-V", "-z9", "-F",  "-f7",   "-s9",
                                        "-c", "-n",  "-b/", "-uroot"};
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    FILE *file = fopen(sandbox->config, "w");

    assert_non_null(file);
    (void)fputs("[beanstalk]\nlisten = 127.0.0.2:7\n", file);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        PROCESS_START(process, flags[i], "--config", sandbox->config, "--check-config", "--set",
                      "gearman.listen=127.0.0.1:8");
        process_expect_exit(process, 0, "listen = 127.0.0.2:7\n");
        assert_non_null(strstr(process->text, "listen = 127.0.0.1:8\n"));
        PROCESS_START(process, flags[i], "--config", "/dev/null", "--check-config");
        process_expect_exit(process, 0, "listen = 127.0.0.1:11300\n");
    }
}

static void unix_socket_is_an_address_for_l(void **state)
{
    struct sandbox *sandbox = *state;
    char address[96];
    int client;

    (void)snprintf(address, sizeof address, "unix:%s", sandbox->socket);
    PROCESS_START(&sandbox->process, "-l", address);
    client = client_connect(&sandbox->process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(&sandbox->process);
    client_expect_end(client);
}

static void it_ends_with_the_exit_codes_of_beanstalkd(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    PROCESS_START(process, "-z", "abc");
    process_expect_exit(process, 5, "-z: `abc` is not a whole number");
    PROCESS_START(process, "-p");
    process_expect_exit(process, 5, "-p: a value is missing");
    PROCESS_START(process, "-F", "--set", "beanstalk.width=7");
    process_expect_exit(process, 5, "there is no key `width`");
    PROCESS_START(process, "-l", "192.0.2.1");
    process_expect_exit(process, 111, "192.0.2.1:11300: Cannot assign requested address");
    PROCESS_START(process, "-l", "no-such-host.invalid");
    process_expect_exit(process, 111, "no-such-host.invalid:11300: ");
    PROCESS_START(process, "-p0", "-l127.0.0.1", "-u", "no-such-user");
    process_expect_exit(process, 33, "user no-such-user: no such user");
    PROCESS_START(process, ANY_PORT, "--set", "server.user=no-such-user");
    process_expect_exit(process, 1, "user no-such-user: no such user");
}

// The content of the file, without its end of line.
static void read_pid(const struct sandbox *sandbox, char text[32])
{
    FILE *file = fopen(sandbox->pid, "r");

    assert_non_null(file);
    assert_non_null(fgets(text, 32, file));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(text[strlen(text) - 1], '\n');
    text[strlen(text) - 1] = '\0';
}

static void narrow_umask(void *context)
{
    (void)context;
    (void)umask(077);
}

static void pid_file_names_the_process_until_it_stops(void **state)
{
    struct sandbox *sandbox = *state;
    char text[SETTING_MAX];
    char expected[32];
    char pid[32];
    struct stat st;

    setting(text, "server.pid_file", sandbox->pid);
    PROCESS_PREPARED(&sandbox->process, narrow_umask, NULL, ANY_PORT, "--set", text);
    process_expect(&sandbox->process, " info started ", NULL);
    read_pid(sandbox, pid);
    (void)snprintf(expected, sizeof expected, "%ld", (long)sandbox->process.pid);
    assert_string_equal(pid, expected);
    assert_int_equal(stat(sandbox->pid, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    process_stop(&sandbox->process);
    assert_int_equal(stat(sandbox->pid, &st), -1);
}

static void pid_file_of_a_living_process_stops_the_start(void **state)
{
    struct sandbox *sandbox = *state;
    struct process second;
    char text[SETTING_MAX];
    char words[64];
    char pid[32];

    setting(text, "server.pid_file", sandbox->pid);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", text);
    process_expect(&sandbox->process, " info started ", NULL);
    (void)snprintf(words, sizeof words, "another process holds it: %ld",
                   (long)sandbox->process.pid);
    PROCESS_START(&second, ANY_PORT, "--set", text);
    process_expect_exit(&second, 1, words);
    // The one that did not start leaves the file of the other alone.
    read_pid(sandbox, pid);
    assert_true(strstr(words, pid) != NULL);
    process_stop(&sandbox->process);
}

static void pid_file_of_a_dead_process_is_taken_over(void **state)
{
    struct sandbox *sandbox = *state;
    char text[SETTING_MAX];
    char expected[32];
    char pid[32];
    struct stat st;
    FILE *file;

    setting(text, "server.pid_file", sandbox->pid);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", text);
    process_expect(&sandbox->process, " info started ", NULL);
    crash(&sandbox->process);
    // The old content may be longer than the new one.
    file = fopen(sandbox->pid, "r+");
    assert_non_null(file);
    (void)fputs("12345678901234567890\n1\n", file);
    assert_int_equal(fclose(file), 0);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", text);
    process_expect(&sandbox->process, " info started ", NULL);
    read_pid(sandbox, pid);
    (void)snprintf(expected, sizeof expected, "%ld", (long)sandbox->process.pid);
    assert_string_equal(pid, expected);
    assert_int_equal(stat(sandbox->pid, &st), 0);
    assert_int_equal(st.st_size, strlen(pid) + 1);
    process_stop(&sandbox->process);
}

static void pid_file_that_cannot_be_stops_the_start(void **state)
{
    struct sandbox *sandbox = *state;
    char text[SETTING_MAX];

    PROCESS_START(&sandbox->process, ANY_PORT, "--set", "server.pid_file=/nonexistent/pid");
    process_expect_exit(&sandbox->process, 1, "pid_file /nonexistent/pid: No such file");
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", "server.pid_file=/dev/null");
    process_expect_exit(&sandbox->process, 1, "/dev/null: not a regular file");
    assert_int_equal(symlink(sandbox->log, sandbox->pid), 0);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set",
                  setting(text, "server.pid_file", sandbox->pid));
    process_expect_exit(&sandbox->process, 1, "pid: Too many levels of symbolic links");
    assert_int_equal(access(sandbox->log, F_OK), -1);
}

// The file goes again where the start fails after it was made.
static void failed_start_leaves_no_pid_file(void **state)
{
    struct sandbox *sandbox = *state;
    char text[SETTING_MAX];

    setting(text, "server.pid_file", sandbox->pid);
    PROCESS_START(&sandbox->process, "--set", "beanstalk.listen=192.0.2.1:80", "--set", text);
    process_expect_exit(&sandbox->process, 1, "Cannot assign requested address");
    assert_int_equal(access(sandbox->pid, F_OK), -1);
}

static mode_t mode_of_socket(struct sandbox *sandbox, const char *mode)
{
    char address[96];
    char listen[SETTING_MAX];
    char text[SETTING_MAX];
    struct stat st;

    (void)snprintf(address, sizeof address, "unix:%s", sandbox->socket);
    PROCESS_PREPARED(&sandbox->process, narrow_umask, NULL, "--set",
                     setting(listen, "beanstalk.listen", address), "--set",
                     setting(text, "server.socket_mode", mode));
    process_expect(&sandbox->process, " info started ", NULL);
    assert_int_equal(lstat(sandbox->socket, &st), 0);
    process_stop(&sandbox->process);
    return st.st_mode & 07777;
}

static void unix_socket_has_the_mode_that_is_set(void **state)
{
    assert_int_equal(mode_of_socket(*state, "0660"), 0660);
    assert_int_equal(mode_of_socket(*state, "777"), 0777);
    assert_int_equal(mode_of_socket(*state, ""), 0700);
}

static void invalid_mode_is_a_wrong_configuration(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    PROCESS_START(process, "--set", "server.socket_mode=0680");
    process_expect_exit(process, 2, "socket_mode: `0680` is not a mode from 0 to 0777");
    PROCESS_START(process, "--set", "server.socket_mode=1777");
    process_expect_exit(process, 2, "`1777` is not a mode");
    PROCESS_START(process, "--set", "server.socket_mode=rw");
    process_expect_exit(process, 2, "`rw` is not a mode");
}

static void socket_left_by_a_crash_is_replaced(void **state)
{
    struct sandbox *sandbox = *state;
    char address[96];
    struct stat st;
    int client;

    (void)snprintf(address, sizeof address, "unix:%s", sandbox->socket);
    PROCESS_START(&sandbox->process, "-l", address);
    process_expect(&sandbox->process, " info started ", NULL);
    crash(&sandbox->process);
    assert_int_equal(lstat(sandbox->socket, &st), 0);
    PROCESS_START(&sandbox->process, "-l", address);
    client = client_connect(&sandbox->process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(&sandbox->process);
    client_expect_end(client);
}

static void file_at_the_path_that_is_not_a_socket_is_left_alone(void **state)
{
    struct sandbox *sandbox = *state;
    char address[96];
    FILE *file = fopen(sandbox->socket, "w");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(address, sizeof address, "unix:%s", sandbox->socket);
    PROCESS_START(&sandbox->process, "-l", address);
    process_expect_exit(&sandbox->process, 111, "the file there is not a socket");
    assert_int_equal(access(sandbox->socket, F_OK), 0);
}

static void block_signals(void *context)
{
    sigset_t all;

    (void)context;
    (void)sigfillset(&all);
    if (sigprocmask(SIG_SETMASK, &all, NULL) != 0 || raise(SIGHUP) != 0) {
        _exit(99);
    }
}

// A signal that comes early is deferred; the parent process may have blocked signals.
static void signals_count_that_were_blocked_at_the_start(void **state)
{
    struct sandbox *sandbox = *state;

    PROCESS_PREPARED(&sandbox->process, block_signals, NULL, ANY_PORT);
    process_expect(&sandbox->process, " info reloaded ", NULL);
    process_stop(&sandbox->process);
}

static void hup_names_settings_of_the_process_that_need_a_restart(void **state)
{
    struct sandbox *sandbox = *state;
    size_t from = 0;
    FILE *file = fopen(sandbox->config, "w");

    assert_non_null(file);
    (void)fputs("[beanstalk]\nlisten = 127.0.0.1:0\n", file);
    assert_int_equal(fclose(file), 0);
    PROCESS_START(&sandbox->process, "-C", sandbox->config);
    process_expect(&sandbox->process, " info started ", &from);
    file = fopen(sandbox->config, "a");
    assert_non_null(file);
    (void)fputs("[server]\nuser = daemon\npid_file = /x\nsocket_mode = 0600\n"
                "max_connections = 5\nslow_turn = 6\n"
                "[journal]\ndir = /x\nfsync = 7\n",
                file);
    assert_int_equal(fclose(file), 0);
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, "setting_needs_restart section=server key=user", &from);
    process_expect(&sandbox->process, "setting_needs_restart section=server key=pid_file", &from);
    process_expect(&sandbox->process, "setting_needs_restart section=server key=socket_mode",
                   &from);
    process_expect(&sandbox->process, "setting_changed section=server key=max_connections", &from);
    process_expect(&sandbox->process, "setting_changed section=server key=slow_turn", &from);
    process_expect(&sandbox->process, "setting_needs_restart section=journal key=dir", &from);
    process_expect(&sandbox->process, "setting_needs_restart section=journal key=fsync", &from);
    process_expect(&sandbox->process, " info reloaded ", &from);
    process_stop(&sandbox->process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(flags_of_beanstalkd_start_it_in_its_place),
        SANDBOX_TEST(port_alone_is_listened_at_on_every_ipv4_address),
        SANDBOX_TEST(only_l_and_p_say_where_it_listens),
        SANDBOX_TEST(unix_socket_is_an_address_for_l),
        SANDBOX_TEST(it_ends_with_the_exit_codes_of_beanstalkd),
        SANDBOX_TEST(pid_file_names_the_process_until_it_stops),
        SANDBOX_TEST(pid_file_of_a_living_process_stops_the_start),
        SANDBOX_TEST(pid_file_of_a_dead_process_is_taken_over),
        SANDBOX_TEST(pid_file_that_cannot_be_stops_the_start),
        SANDBOX_TEST(failed_start_leaves_no_pid_file),
        SANDBOX_TEST(unix_socket_has_the_mode_that_is_set),
        SANDBOX_TEST(invalid_mode_is_a_wrong_configuration),
        SANDBOX_TEST(socket_left_by_a_crash_is_replaced),
        SANDBOX_TEST(file_at_the_path_that_is_not_a_socket_is_left_alone),
        SANDBOX_TEST(signals_count_that_were_blocked_at_the_start),
        SANDBOX_TEST(hup_names_settings_of_the_process_that_need_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
