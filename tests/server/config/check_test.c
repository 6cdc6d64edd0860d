/* SPDX-License-Identifier: MIT */
// The errors that --check-config finds before a start would, and those that a start and a reload
// refuse.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTING_MAX 160
#define HASH "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_checked(struct sandbox *sandbox, const char *setting, const char *words)
{
    PROCESS_START(&sandbox->process, "-C", "/dev/null", "--set", setting, "--check-config");
    process_expect_exit(&sandbox->process, words ? 2 : 0, words ? words : "");
}

static void check_refuses_missing_paths(void **state)
{
    static const struct {
        const char *setting;
        const char *words;
    } cases[] = {
        {"server.user=no-such-user", "user no-such-user: no such user"},
        {"server.log_file=/nonexistent/log", "log_file /nonexistent/log: No such file"},
        {"server.log_file=/tmp", "log_file /tmp: Is a directory"},
        {"server.log_file=/dev/null/log", "log_file /dev/null/log: Not a directory"},
        {"server.pid_file=/nonexistent/pid", "pid_file /nonexistent/pid: No such file"},
        {"journal.dir=/nonexistent/a", "journal.dir /nonexistent/a: No such file"},
        {"journal.dir=/dev/null", "journal.dir /dev/null: Not a directory"},
        {"http.tokens=/nonexistent/tokens", "[http] tokens: /nonexistent/tokens: No such file"},
        {"http.listen=unix:/nonexistent/s", "unix socket /nonexistent/s: No such file"},
        {"http.cors_origins=https://a.example, b.example", "`b.example` is not an origin"},
        {"http.cors_origins=https://a.example/", "`https://a.example/` is not an origin"},
        {"http.cors_origins=://a", "`://a` is not an origin"},
        {"http.cors_origins=https:/a", "`https:/a` is not an origin"},
        {"http.cors_origins=https://*.example", "`https://*.example` is not an origin"},
        {"http.cors_origins=https://a.example:443", "`https://a.example:443` is not an origin"},
        {"http.cors_origins=http://a.example:80", "`http://a.example:80` is not an origin"},
        {"http.hosts=a.example b.example:8080", "hosts: `b.example:8080` is not a host name"},
        {"http.hosts=*.", "hosts: `*.` is not a host name"},
        {"http.hosts=a.*", "hosts: `a.*` is not a host name"},
        {"http.hosts=*.*.example", "hosts: `*.*.example` is not a host name"},
        {"http.hosts=*.b.example:80", "hosts: `*.b.example:80` is not a host name"},
        {"http.hosts=*.[::1]", "hosts: `*.[::1]` is not a host name"},
        {"http.functions=a, b[", "functions: `b[` is not a valid glob"},
        {"http.functions=[[:alpha:]]", "functions: `[[:alpha:]]` is not a valid glob"},
        {"gearman.handle_prefix=a b",
         "[gearman] handle_prefix must not contain blanks or control bytes"},
    };
    struct sandbox *sandbox = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_checked(sandbox, cases[i].setting, cases[i].words);
    }
    PROCESS_START(&sandbox->process, "-C", "/dev/null", "-b", sandbox->journal, "--check-config");
    process_expect_exit(&sandbox->process, 5, "No such file");
}

static void check_accepts_files_that_a_start_would_create(void **state)
{
    struct sandbox *sandbox = *state;
    char setting[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "journal.dir=%s/", sandbox->journal);
    expect_checked(sandbox, setting, NULL);
    (void)snprintf(setting, sizeof setting, "server.log_file=%s", sandbox->log);
    expect_checked(sandbox, setting, NULL);
    (void)snprintf(setting, sizeof setting, "server.pid_file=%s", sandbox->pid);
    expect_checked(sandbox, setting, NULL);
    (void)snprintf(setting, sizeof setting, "http.listen=unix:%s :0", sandbox->socket);
    expect_checked(sandbox, setting, NULL);
    expect_checked(sandbox, "server.log_file=log", NULL);
    expect_checked(sandbox, "server.user=root", NULL);
    expect_checked(sandbox, "http.cors_origins=*", NULL);
    expect_checked(sandbox, "http.cors_origins=null https://a.example:80 moz-extension://x-1",
                   NULL);
    expect_checked(sandbox, "http.hosts=a.example, [::1], b_c *.c.example", NULL);
    expect_checked(sandbox, "admin.hosts=*", NULL);
    // It has created nothing.
    assert_int_equal(access(sandbox->journal, F_OK), -1);
    assert_int_equal(access(sandbox->log, F_OK), -1);
    assert_int_equal(access(sandbox->pid, F_OK), -1);
    assert_int_equal(access(sandbox->socket, F_OK), -1);
}

// The same words say it that a start would have.
static void check_and_start_refuse(struct sandbox *sandbox, const char *key, const char *path,
                                   const char *words)
{
    char setting[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "%s%s", key, path);
    expect_checked(sandbox, setting, words);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", setting);
    process_expect_exit(&sandbox->process, 1, "");
}

static void check_refuses_files_that_a_start_would_refuse(void **state)
{
    struct sandbox *sandbox = *state;

    assert_int_equal(mkfifo(sandbox->config, 0600), 0);
    check_and_start_refuse(sandbox, "server.pid_file=", sandbox->config,
                           "a file of another kind is there");
    check_and_start_refuse(sandbox, "http.listen=unix:", sandbox->config,
                           "a file of another kind is there");
    assert_int_equal(symlink("/nonexistent/a", sandbox->socket), 0);
    check_and_start_refuse(sandbox, "server.log_file=", sandbox->socket, "No such file");
    check_and_start_refuse(sandbox, "server.pid_file=", sandbox->socket, "symbolic links");
    check_and_start_refuse(sandbox, "journal.dir=", sandbox->socket, "No such file");
    check_and_start_refuse(sandbox, "journal.dir=", "/nonexistent/a/", "No such file");
}

// To root alone, a second name matters.
static void check_refuses_files_that_root_would_refuse(void **state)
{
    struct sandbox *sandbox = *state;

    if (geteuid() != 0) {
        skip();
    }
    write_file(sandbox->pid, "");
    assert_int_equal(link(sandbox->pid, sandbox->log), 0);
    check_and_start_refuse(sandbox, "server.pid_file=", sandbox->pid, "second name");
    check_and_start_refuse(sandbox, "server.log_file=", sandbox->log, "second name");
}

static void start_without_its_tokens_names_the_file_and_the_line(void **state)
{
    struct sandbox *sandbox = *state;
    char setting[SETTING_MAX];
    char words[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "http.tokens=%s", sandbox->socket);
    (void)snprintf(words, sizeof words, "[http] tokens: %s: No such file", sandbox->socket);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", setting);
    process_expect_exit(&sandbox->process, 2, words);
    write_file(sandbox->socket, "# tokens\n" HASH " *\nsecret *\n");
    (void)snprintf(words, sizeof words,
                   "[http] tokens: %s:3: the line does not begin with the hash", sandbox->socket);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", setting);
    process_expect_exit(&sandbox->process, 2, words);
}

// A named pipe may never have a writer.
static void tokens_in_a_pipe_are_refused_without_waiting(void **state)
{
    struct sandbox *sandbox = *state;
    char setting[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "http.tokens=%s", sandbox->socket);
    assert_int_equal(mkfifo(sandbox->socket, 0600), 0);
    expect_checked(sandbox, setting, "not a regular file");
}

static void hup_with_bad_tokens_changes_nothing(void **state)
{
    struct sandbox *sandbox = *state;
    char text[SETTING_MAX];
    size_t from = 0;

    write_file(sandbox->socket, HASH " *\n");
    (void)snprintf(text, sizeof text, "[http]\ntokens = %s\n", sandbox->socket);
    write_file(sandbox->config, text);
    PROCESS_START(&sandbox->process, ANY_PORT, "-C", sandbox->config);
    process_expect(&sandbox->process, " info started ", &from);
    write_file(sandbox->socket, "no hash\n");
    (void)snprintf(text, sizeof text, "[http]\ntokens = %s\n[server]\nslow_turn = 5\n",
                   sandbox->socket);
    write_file(sandbox->config, text);
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, " error reload_failed ", &from);
    process_expect(&sandbox->process, "the line does not begin with the hash of a token", &from);
    process_expect(&sandbox->process, "what was read before holds", &from);
    write_file(sandbox->socket, HASH " *\n");
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, "setting_changed section=server key=slow_turn", &from);
    process_expect(&sandbox->process, " info reloaded ", &from);
    process_stop(&sandbox->process);
    // A failed reload does not log `reloaded`.
    assert_null(strstr(strstr(sandbox->process.text, " info reloaded ") + 1, " info reloaded "));
}

// Logging to the old file is better than no log.
static void hup_with_a_log_file_that_cannot_be_changes_nothing(void **state)
{
    struct sandbox *sandbox = *state;
    size_t from = 0;

    write_file(sandbox->config, "[server]\nslow_turn = 1\n");
    PROCESS_START(&sandbox->process, ANY_PORT, "-C", sandbox->config);
    process_expect(&sandbox->process, " info started ", &from);
    write_file(sandbox->config, "[server]\nslow_turn = 5\nlog_file = /nonexistent/log\n");
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, " error reload_failed ", &from);
    process_expect(&sandbox->process, "log_file /nonexistent/log: No such file", &from);
    process_stop(&sandbox->process);
    assert_null(strstr(sandbox->process.text, "setting_changed"));
    assert_null(strstr(sandbox->process.text, " info reloaded "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(check_refuses_missing_paths),
        SANDBOX_TEST(check_accepts_files_that_a_start_would_create),
        SANDBOX_TEST(check_refuses_files_that_a_start_would_refuse),
        SANDBOX_TEST(check_refuses_files_that_root_would_refuse),
        SANDBOX_TEST(start_without_its_tokens_names_the_file_and_the_line),
        SANDBOX_TEST(tokens_in_a_pipe_are_refused_without_waiting),
        SANDBOX_TEST(hup_with_bad_tokens_changes_nothing),
        SANDBOX_TEST(hup_with_a_log_file_that_cannot_be_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
