/* SPDX-License-Identifier: MIT */
// Becoming another user. Only root can, so most of these tests are skipped for other users.

// setgroups is not in POSIX.
#define _GNU_SOURCE
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTING_MAX 160
#define NOBODY "nobody"
#define USER_NOBODY "server.user=nobody"

static const struct passwd *need_root(void)
{
    const struct passwd *user = getpwnam(NOBODY);

    if (geteuid() != 0 || !user) {
        skip();
    }
    return user;
}

// Groups that it must not keep; and a process that has changed its user cannot be searched for
// leaks, since it cannot be traced.
static void with_groups(void *context)
{
    static const gid_t groups[] = {0, 4, 24};

    (void)context;
    if (setgroups(sizeof groups / sizeof *groups, groups) != 0 ||
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1) != 0) {
        _exit(126);
    }
}

// The line of /proc/PID/status that begins with the word, without it.
static void status_line(const struct process *process, const char *word, char line[256])
{
    char path[64];
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)process->pid);
    file = fopen(path, "r");
    assert_non_null(file);
    do {
        assert_non_null(fgets(line, 256, file));
    } while (strncmp(line, word, strlen(word)) != 0);
    assert_int_equal(fclose(file), 0);
    memmove(line, line + strlen(word), strlen(line + strlen(word)) + 1);
}

static void expect_numbers(const struct process *process, const char *word, unsigned number)
{
    char line[256];
    char *cursor = line;

    status_line(process, word, line);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(strtoul(cursor, &cursor, 10), number);
    }
}

static void user_is_changed_and_every_other_group_dropped(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    const struct passwd *user = need_root();
    char line[256];
    int client;

    PROCESS_PREPARED(process, with_groups, NULL, "-VFl127.0.0.1", "-p0", "-Vu", NOBODY);
    process_expect(process, " info started ", NULL);
    expect_numbers(process, "Uid:", user->pw_uid);
    expect_numbers(process, "Gid:", user->pw_gid);
    status_line(process, "Groups:", line);
    assert_int_equal(line[strspn(line, " \t\n")], '\0');
    status_line(process, "CapPrm:", line);
    assert_int_equal(line[strspn(line, " \t\n0")], '\0');
    client = client_connect(process);
    client_send(client, "list-tube-used\r\n");
    client_expect(client, "USING default\r\n");
    process_stop(process);
    client_expect_end(client);
}

// A process that already is the user of the setting accepts it.
static void as_nobody(void *context)
{
    const struct passwd *user = context;

    if (setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) {
        _exit(126);
    }
}

static void the_current_user_is_not_changed(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    struct passwd user = *need_root();

    // The program itself must be within the reach of that user.
    PROCESS_PREPARED(process, as_nobody, &user, "--version");
    if (process_wait(process) != 0) {
        skip();
    }
    PROCESS_PREPARED(process, as_nobody, &user, ANY_PORT, "--set", USER_NOBODY);
    process_expect(process, " info started ", NULL);
    process_stop(process);
    PROCESS_PREPARED(process, as_nobody, &user, "-l127.0.0.1", "-p0", "-uroot");
    process_expect_exit(process, 34, "user root: the groups cannot be dropped");
}

static void without_capability(void *context)
{
    if (prctl(PR_CAPBSET_DROP, *(const int *)context, 0, 0, 0) != 0) {
        _exit(126);
    }
}

static void user_that_cannot_be_set_stops_the_start(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;
    int capability = CAP_SETGID;

    (void)need_root();
    PROCESS_PREPARED(process, without_capability, &capability, "-l127.0.0.1", "-p0", "-u", NOBODY);
    process_expect_exit(process, 34, "the groups cannot be dropped: Operation not permitted");
    capability = CAP_SETUID;
    PROCESS_PREPARED(process, without_capability, &capability, "-l127.0.0.1", "-p0", "-u", NOBODY);
    process_expect_exit(process, 34, "user " NOBODY ": Operation not permitted");
}

// With this, the kernel keeps the capabilities of root after a change of the user.
static void with_lasting_capabilities(void *context)
{
    with_groups(context);
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) != 0) {
        _exit(126);
    }
}

static void way_back_to_root_stops_the_start(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    (void)need_root();
    PROCESS_PREPARED(process, with_lasting_capabilities, NULL, "-l127.0.0.1", "-p0", "-u", NOBODY);
    process_expect_exit(process, 34, "root could not be given up for good");
}

static void log_file_can_be_reopened_by_the_user(void **state)
{
    struct sandbox *sandbox = *state;
    const struct passwd *user = need_root();
    char log[SETTING_MAX];
    struct stat st;

    assert_int_equal(chmod(sandbox->dir, 0755), 0);
    (void)snprintf(log, sizeof log, "server.log_file=%s", sandbox->log);
    PROCESS_PREPARED(&sandbox->process, with_groups, NULL, ANY_PORT, "--set", log, "--set",
                     USER_NOBODY);
    sandbox_expect_log(sandbox, " info started ");
    assert_int_equal(stat(sandbox->log, &st), 0);
    assert_int_equal(st.st_uid, user->pw_uid);
    process_signal(&sandbox->process, SIGHUP);
    sandbox_expect_log(sandbox, " info reloaded ");
    process_stop(&sandbox->process);
    sandbox_expect_log(sandbox, " info stopped ");
}

// Better at the start than at the first SIGHUP.
static void log_file_out_of_the_users_reach_stops_the_start(void **state)
{
    struct sandbox *sandbox = *state;
    char log[SETTING_MAX];

    (void)need_root();
    (void)snprintf(log, sizeof log, "server.log_file=%s", sandbox->log);
    PROCESS_PREPARED(&sandbox->process, with_groups, NULL, ANY_PORT, "--set", log, "--set",
                     USER_NOBODY);
    process_expect_exit(&sandbox->process, 1, "");
    sandbox_expect_log(sandbox, "why=\"as user nobody: log_file");
}

static void pid_file_that_the_user_cannot_remove_is_left_empty(void **state)
{
    struct sandbox *sandbox = *state;
    char pid[SETTING_MAX];
    struct stat st;

    (void)need_root();
    (void)snprintf(pid, sizeof pid, "server.pid_file=%s", sandbox->pid);
    PROCESS_PREPARED(&sandbox->process, with_groups, NULL, ANY_PORT, "--set", pid, "--set",
                     USER_NOBODY);
    process_expect(&sandbox->process, " info started ", NULL);
    assert_int_equal(stat(sandbox->pid, &st), 0);
    assert_true(st.st_size > 0);
    process_stop(&sandbox->process);
    assert_int_equal(stat(sandbox->pid, &st), 0);
    assert_int_equal(st.st_size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(user_is_changed_and_every_other_group_dropped),
        SANDBOX_TEST(the_current_user_is_not_changed),
        SANDBOX_TEST(user_that_cannot_be_set_stops_the_start),
        SANDBOX_TEST(way_back_to_root_stops_the_start),
        SANDBOX_TEST(log_file_can_be_reopened_by_the_user),
        SANDBOX_TEST(log_file_out_of_the_users_reach_stops_the_start),
        SANDBOX_TEST(pid_file_that_the_user_cannot_remove_is_left_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
