/* SPDX-License-Identifier: MIT */
// The file of rules: what a check, a start and a reload make of it.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTING_MAX 160

// The rules are in the sandbox's journal's place.
static const char *rules_path(const struct sandbox *sandbox)
{
    return sandbox->journal;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_rules(const struct sandbox *sandbox, const char *text)
{
    write_file(rules_path(sandbox), text);
}

// A configuration that names the rules.
static void write_config(const struct sandbox *sandbox)
{
    char text[SETTING_MAX];

    (void)snprintf(text, sizeof text, "[server]\naccess_file = %s\n", rules_path(sandbox));
    write_file(sandbox->config, text);
}

static void expect_refused(struct sandbox *sandbox, const char *setting, const char *words)
{
    PROCESS_START(&sandbox->process, "-C", "/dev/null", "--set", setting, "--check-config");
    process_expect_exit(&sandbox->process, 2, words);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", setting);
    process_expect_exit(&sandbox->process, 2, words);
}

static void a_check_and_a_start_name_the_line_that_is_wrong(void **state)
{
    struct sandbox *sandbox = *state;
    char setting[SETTING_MAX];
    char words[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "server.access_file=%s", rules_path(sandbox));
    (void)snprintf(words, sizeof words, "[server] access_file: %s: No such file",
                   rules_path(sandbox));
    expect_refused(sandbox, setting, words);
    write_rules(sandbox, "# rules\nany observe *\nany fly *\n");
    (void)snprintf(words, sizeof words, "[server] access_file: %s:3: ", rules_path(sandbox));
    expect_refused(sandbox, setting, words);
    write_rules(sandbox, "# rules\nany observe *\n");
    PROCESS_START(&sandbox->process, "-C", "/dev/null", "--set", setting, "--check-config");
    process_expect_exit(&sandbox->process, 0, "access_file = ");
    (void)unlink(rules_path(sandbox));
}

static void ask(int client, const char *line, const char *answer)
{
    client_send(client, line);
    client_expect(client, answer);
}

static void hup_with_bad_rules_changes_nothing(void **state)
{
    static const char *const bad[] = {"any fly *\n", "any submit,observe *\nany\n", "\xff\n"};
    struct sandbox *sandbox = *state;
    size_t from = 0;
    int client;

    write_rules(sandbox, "any submit *\n");
    write_config(sandbox);
    PROCESS_START(&sandbox->process, ANY_PORT, "-C", sandbox->config);
    process_expect(&sandbox->process, " info started ", &from);
    client = client_connect(&sandbox->process);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_rules(sandbox, bad[i]);
        process_signal(&sandbox->process, SIGHUP);
        process_expect(&sandbox->process, " error reload_failed ", &from);
        process_expect(&sandbox->process, "[server] access_file: ", &from);
        process_expect(&sandbox->process, "what was read before holds", &from);
        ask(client, "use a\r\n", "USING a\r\n");
        ask(client, "peek-ready\r\n", "FORBIDDEN\r\n");
    }
    assert_int_equal(unlink(rules_path(sandbox)), 0);
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, " error reload_failed ", &from);
    ask(client, "peek-ready\r\n", "FORBIDDEN\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
}

static void hup_adds_and_removes_rules(void **state)
{
    struct sandbox *sandbox = *state;
    size_t from = 0;
    int client;

    write_file(sandbox->config, "");
    write_rules(sandbox, "any submit *\n");
    PROCESS_START(&sandbox->process, ANY_PORT, "-C", sandbox->config);
    process_expect(&sandbox->process, " info started ", &from);
    client = client_connect(&sandbox->process);
    ask(client, "peek-ready\r\n", "NOT_FOUND\r\n");
    write_config(sandbox);
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, " key=access_file ", &from);
    process_expect(&sandbox->process, " info reloaded ", &from);
    ask(client, "peek-ready\r\n", "FORBIDDEN\r\n");
    write_file(sandbox->config, "");
    process_signal(&sandbox->process, SIGHUP);
    process_expect(&sandbox->process, " info reloaded ", &from);
    ask(client, "peek-ready\r\n", "NOT_FOUND\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
    (void)unlink(rules_path(sandbox));
}

// The leak detector cannot trace a process that changes its user.
static void without_leak_check(void *context)
{
    (void)context;
    if (setenv("ASAN_OPTIONS", "detect_leaks=0", 1) != 0) {
        _exit(126);
    }
}

static void rules_that_the_user_cannot_read_are_logged(void **state)
{
    struct sandbox *sandbox = *state;
    struct process *process = &sandbox->process;
    size_t from = 0;

    if (geteuid() != 0 || !getpwnam("nobody")) {
        skip();
    }
    write_rules(sandbox, "any submit *\n");
    assert_int_equal(chmod(rules_path(sandbox), 0600), 0);
    write_config(sandbox);
    PROCESS_PREPARED(process, without_leak_check, NULL, ANY_PORT, "-C", sandbox->config, "--set",
                     "server.user=nobody");
    process_expect(process, " warn access_not_readable user=nobody ", &from);
    process_expect(process, " info started ", &from);
    process_signal(process, SIGHUP);
    process_expect(process, " error reload_failed ", &from);
    process_stop(process);
    (void)unlink(rules_path(sandbox));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(a_check_and_a_start_name_the_line_that_is_wrong),
        SANDBOX_TEST(hup_with_bad_rules_changes_nothing),
        SANDBOX_TEST(hup_adds_and_removes_rules),
        SANDBOX_TEST(rules_that_the_user_cannot_read_are_logged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
