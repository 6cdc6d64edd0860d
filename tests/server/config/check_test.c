/* SPDX-License-Identifier: MIT */
// What --check-config finds before a start would, and what a start and a reload refuse.
#include "tests/server/server_cmocka.h"
#include "tests/server/server_den.h"

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

static void expect_checked(struct den *den, const char *setting, const char *words)
{
    PROCESS_START(&den->process, "-C", "/dev/null", "--set", setting, "--check-config");
    process_expect_exit(&den->process, words ? 2 : 0, words ? words : "");
}

static void check_refuses_what_is_not_there(void **state)
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
        {"http.hosts=a.example b.example:8080", "hosts: `b.example:8080` is not a name alone"},
        {"http.hosts=*", "hosts: `*` is not a name alone"},
        {"gearman.handle_prefix=a b", "[gearman] handle_prefix: a handle has no blanks"},
    };
    struct den *den = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_checked(den, cases[i].setting, cases[i].words);
    }
    PROCESS_START(&den->process, "-C", "/dev/null", "-b", den->journal, "--check-config");
    process_expect_exit(&den->process, 5, "No such file");
}

static void check_takes_what_a_start_would_make(void **state)
{
    struct den *den = *state;
    char setting[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "journal.dir=%s/", den->journal);
    expect_checked(den, setting, NULL);
    (void)snprintf(setting, sizeof setting, "server.log_file=%s", den->log);
    expect_checked(den, setting, NULL);
    (void)snprintf(setting, sizeof setting, "server.pid_file=%s", den->pid);
    expect_checked(den, setting, NULL);
    (void)snprintf(setting, sizeof setting, "http.listen=unix:%s :0", den->socket);
    expect_checked(den, setting, NULL);
    expect_checked(den, "server.log_file=log", NULL);
    expect_checked(den, "server.user=root", NULL);
    expect_checked(den, "http.cors_origins=*", NULL);
    expect_checked(den, "http.cors_origins=null https://a.example:80 moz-extension://x-1", NULL);
    expect_checked(den, "http.hosts=a.example, [::1], b_c", NULL);
    // It has made none of it.
    assert_int_equal(access(den->journal, F_OK), -1);
    assert_int_equal(access(den->log, F_OK), -1);
    assert_int_equal(access(den->pid, F_OK), -1);
    assert_int_equal(access(den->socket, F_OK), -1);
}

// The same words say it that a start would have.
static void check_and_start_refuse(struct den *den, const char *key, const char *path,
                                   const char *words)
{
    char setting[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "%s%s", key, path);
    expect_checked(den, setting, words);
    PROCESS_START(&den->process, ANY_PORT, "--set", setting);
    process_expect_exit(&den->process, 1, "");
}

static void check_refuses_what_a_start_would_not_take(void **state)
{
    struct den *den = *state;

    assert_int_equal(mkfifo(den->config, 0600), 0);
    check_and_start_refuse(den, "server.pid_file=", den->config, "there is something else");
    check_and_start_refuse(den, "http.listen=unix:", den->config, "there is something else");
    assert_int_equal(symlink("/nonexistent/a", den->socket), 0);
    check_and_start_refuse(den, "server.log_file=", den->socket, "No such file");
    check_and_start_refuse(den, "server.pid_file=", den->socket, "symbolic links");
    check_and_start_refuse(den, "journal.dir=", den->socket, "No such file");
    check_and_start_refuse(den, "journal.dir=", "/nonexistent/a/", "No such file");
}

// To root alone, a second name matters.
static void check_refuses_what_root_would_not_take(void **state)
{
    struct den *den = *state;

    if (geteuid() != 0) {
        skip();
    }
    write_file(den->pid, "");
    assert_int_equal(link(den->pid, den->log), 0);
    check_and_start_refuse(den, "server.pid_file=", den->pid, "second name");
    check_and_start_refuse(den, "server.log_file=", den->log, "second name");
}

static void start_without_its_tokens_names_the_file_and_the_line(void **state)
{
    struct den *den = *state;
    char setting[SETTING_MAX];
    char words[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "http.tokens=%s", den->socket);
    (void)snprintf(words, sizeof words, "[http] tokens: %s: No such file", den->socket);
    PROCESS_START(&den->process, ANY_PORT, "--set", setting);
    process_expect_exit(&den->process, 2, words);
    write_file(den->socket, "# tokens\n" HASH " *\nsecret *\n");
    (void)snprintf(words, sizeof words, "[http] tokens: %s:3: it begins with no hash", den->socket);
    PROCESS_START(&den->process, ANY_PORT, "--set", setting);
    process_expect_exit(&den->process, 2, words);
}

// A named pipe has nothing to say until somebody writes to it, perhaps never.
static void tokens_are_not_waited_for(void **state)
{
    struct den *den = *state;
    char setting[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "http.tokens=%s", den->socket);
    assert_int_equal(mkfifo(den->socket, 0600), 0);
    expect_checked(den, setting, NULL);
}

static void hup_with_bad_tokens_changes_nothing(void **state)
{
    struct den *den = *state;
    char text[SETTING_MAX];
    size_t from = 0;

    write_file(den->socket, HASH " *\n");
    (void)snprintf(text, sizeof text, "[http]\ntokens = %s\n", den->socket);
    write_file(den->config, text);
    PROCESS_START(&den->process, ANY_PORT, "-C", den->config);
    process_expect(&den->process, " info started ", &from);
    write_file(den->socket, "no hash\n");
    (void)snprintf(text, sizeof text, "[http]\ntokens = %s\n[server]\nslow_turn = 5\n",
                   den->socket);
    write_file(den->config, text);
    process_signal(&den->process, SIGHUP);
    process_expect(&den->process, " error reload_failed ", &from);
    process_expect(&den->process, "it begins with no hash of a token", &from);
    process_expect(&den->process, "what was read before holds", &from);
    write_file(den->socket, HASH " *\n");
    process_signal(&den->process, SIGHUP);
    process_expect(&den->process, "setting_changed section=server key=slow_turn", &from);
    process_expect(&den->process, " info reloaded ", &from);
    process_stop(&den->process);
    // That it was read anew is not said of what was not.
    assert_null(strstr(strstr(den->process.text, " info reloaded ") + 1, " info reloaded "));
}

// Better that the old file goes on than that nothing is known of what comes.
static void hup_with_a_log_file_that_cannot_be_changes_nothing(void **state)
{
    struct den *den = *state;
    size_t from = 0;

    write_file(den->config, "[server]\nslow_turn = 1\n");
    PROCESS_START(&den->process, ANY_PORT, "-C", den->config);
    process_expect(&den->process, " info started ", &from);
    write_file(den->config, "[server]\nslow_turn = 5\nlog_file = /nonexistent/log\n");
    process_signal(&den->process, SIGHUP);
    process_expect(&den->process, " error reload_failed ", &from);
    process_expect(&den->process, "log_file /nonexistent/log: No such file", &from);
    process_stop(&den->process);
    assert_null(strstr(den->process.text, "setting_changed"));
    assert_null(strstr(den->process.text, " info reloaded "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEN_TEST(check_refuses_what_is_not_there),
        DEN_TEST(check_takes_what_a_start_would_make),
        DEN_TEST(check_refuses_what_a_start_would_not_take),
        DEN_TEST(check_refuses_what_root_would_not_take),
        DEN_TEST(start_without_its_tokens_names_the_file_and_the_line),
        DEN_TEST(tokens_are_not_waited_for),
        DEN_TEST(hup_with_bad_tokens_changes_nothing),
        DEN_TEST(hup_with_a_log_file_that_cannot_be_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
