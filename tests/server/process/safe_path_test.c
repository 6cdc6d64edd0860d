/* SPDX-License-Identifier: MIT */
// Files that root opens in directories where another user may create links. Only root can act as
// both, so these tests are skipped for other users.
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTING_MAX 160
#define NOBODY "nobody"
#define USER_NOBODY "server.user=nobody"
#define SECRET "root's\n"

// A directory of root's, with a file in it, beside the sandbox.
struct vault {
    struct sandbox *sandbox;
    char dir[48];
    char file[64];
};

static int vault_setup(void **state)
{
    struct vault *vault = calloc(1, sizeof *vault);
    void *sandbox = NULL;
    FILE *file;

    assert_non_null(vault);
    assert_int_equal(sandbox_setup(&sandbox), 0);
    vault->sandbox = sandbox;
    (void)snprintf(vault->dir, sizeof vault->dir, "%s.vault", vault->sandbox->dir);
    (void)snprintf(vault->file, sizeof vault->file, "%s/log", vault->dir);
    assert_int_equal(mkdir(vault->dir, 0755), 0);
    file = fopen(vault->file, "w");
    assert_non_null(file);
    assert_true(fputs(SECRET, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(vault->file, 0600), 0);
    *state = vault;
    return 0;
}

static int vault_teardown(void **state)
{
    struct vault *vault = *state;
    void *sandbox = vault->sandbox;
    char file[64];

    (void)snprintf(file, sizeof file, "%s/socket", vault->dir);
    (void)unlink(file);
    (void)unlink(vault->file);
    (void)rmdir(vault->dir);
    (void)unlink(vault->sandbox->journal);
    assert_int_equal(sandbox_teardown(&sandbox), 0);
    free(vault);
    return 0;
}

static const struct passwd *need_root(void)
{
    const struct passwd *user = getpwnam(NOBODY);

    if (geteuid() != 0 || !user) {
        skip();
    }
    return user;
}

// The sandbox is that user's: every name in it is his choice.
static void give_den(const struct sandbox *sandbox)
{
    const struct passwd *user = need_root();

    assert_int_equal(chmod(sandbox->dir, 0755), 0);
    assert_int_equal(chown(sandbox->dir, user->pw_uid, user->pw_gid), 0);
}

// The file must be unchanged.
static void expect_untouched(const struct vault *vault)
{
    char text[64] = "";
    struct stat st;
    FILE *file = fopen(vault->file, "r");

    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_null(fgets(text + strlen(text), 8, file));
    assert_string_equal(text, SECRET);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(stat(vault->file, &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(st.st_gid, 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

// A process that has changed its user cannot be searched for leaks.
static void untraced(void *context)
{
    (void)context;
    (void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

static void expect_refused(struct sandbox *sandbox, const char *key, const char *value,
                           const char *words)
{
    char setting[SETTING_MAX];

    (void)snprintf(setting, sizeof setting, "%s=%s", key, value);
    PROCESS_PREPARED(&sandbox->process, untraced, NULL, ANY_PORT, "--set", setting, "--set",
                     USER_NOBODY);
    process_expect_exit(&sandbox->process, 1, words);
}

static void link_in_the_users_directory_is_not_followed_to_a_log_file(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;

    give_den(sandbox);
    assert_int_equal(symlink(vault->file, sandbox->log), 0);
    expect_refused(sandbox, "server.log_file", sandbox->log, "leads through a symbolic link");
    expect_untouched(vault);
}

static void broken_link_creates_no_file(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;

    give_den(sandbox);
    assert_int_equal(unlink(vault->file), 0);
    assert_int_equal(symlink(vault->file, sandbox->log), 0);
    expect_refused(sandbox, "server.log_file", sandbox->log, "leads through a symbolic link");
    assert_int_equal(access(vault->file, F_OK), -1);
}

static void link_in_the_middle_of_a_path_is_not_followed(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;
    char path[SETTING_MAX];

    give_den(sandbox);
    assert_int_equal(symlink(vault->dir, sandbox->journal), 0);
    (void)snprintf(path, sizeof path, "%s/log", sandbox->journal);
    expect_refused(sandbox, "server.log_file", path, "leads through a symbolic link");
    expect_refused(sandbox, "server.pid_file", path, "leads through a symbolic link");
    expect_untouched(vault);
    assert_int_equal(unlink(vault->file), 0);
    (void)snprintf(path, sizeof path, "unix:%s/socket", sandbox->journal);
    expect_refused(sandbox, "gearman.listen", path, "leads through a symbolic link");
    expect_refused(sandbox, "server.log_file", path + sizeof "unix:" - 1,
                   "leads through a symbolic link");
    (void)snprintf(path, sizeof path, "%s/socket", vault->dir);
    assert_int_equal(access(path, F_OK), -1);
}

// A link of another user in a world-writable directory is not followed.
static void link_of_another_user_in_a_shared_directory_is_not_followed(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;
    const struct passwd *user = need_root();

    assert_int_equal(chmod(sandbox->dir, 01777), 0);
    assert_int_equal(symlink(vault->file, sandbox->log), 0);
    assert_int_equal(lchown(sandbox->log, user->pw_uid, user->pw_gid), 0);
    expect_refused(sandbox, "server.log_file", sandbox->log, "leads through a symbolic link");
    expect_untouched(vault);
}

// Anybody could put another link there at any moment, root's own being gone then.
static void link_in_a_world_writable_directory_is_not_followed(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;
    char path[SETTING_MAX];

    (void)need_root();
    assert_int_equal(chmod(sandbox->dir, 0777), 0);
    assert_int_equal(symlink(vault->file, sandbox->log), 0);
    expect_refused(sandbox, "server.log_file", sandbox->log, "leads through a symbolic link");
    assert_int_equal(symlink(vault->dir, sandbox->journal), 0);
    (void)snprintf(path, sizeof path, "%s/log", sandbox->journal);
    expect_refused(sandbox, "server.pid_file", path, "leads through a symbolic link");
    expect_untouched(vault);
}

// Not even where it is root's own: it would be emptied.
static void pid_file_is_never_a_link(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;

    (void)need_root();
    assert_int_equal(symlink(vault->file, sandbox->pid), 0);
    expect_refused(sandbox, "server.pid_file", sandbox->pid, "symbolic links");
    expect_untouched(vault);
}

// A start does not wait for the reader of the pipe, and writes no PID to it.
static void pipe_in_the_place_of_a_file_is_refused_at_once(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;

    give_den(sandbox);
    assert_int_equal(mkfifo(sandbox->log, 0666), 0);
    assert_int_equal(mkfifo(sandbox->pid, 0666), 0);
    expect_refused(sandbox, "server.log_file", sandbox->log, "No such device or address");
    expect_refused(sandbox, "server.pid_file", sandbox->pid, "not a regular file");
}

static void expect_refused_as_anothers(struct sandbox *sandbox, const char *key, const char *path)
{
    expect_refused(sandbox, key, path, "the file is another user's");
}

// As in /tmp: the owner of the file could read the log, or change the PID to that of another
// process.
static void file_of_another_in_a_shared_directory_is_refused(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;
    const struct passwd *user = need_root();
    struct stat st;
    int reader;

    assert_int_equal(chmod(sandbox->dir, 01777), 0);
    assert_int_equal(rename(vault->file, sandbox->pid), 0);
    assert_int_equal(chown(sandbox->pid, user->pw_uid, user->pw_gid), 0);
    expect_refused_as_anothers(sandbox, "server.pid_file", sandbox->pid);
    expect_refused_as_anothers(sandbox, "server.log_file", sandbox->pid);
    assert_int_equal(stat(sandbox->pid, &st), 0);
    assert_int_equal(st.st_size, strlen(SECRET));
    assert_int_equal(mkfifo(sandbox->log, 0666), 0);
    assert_int_equal(chown(sandbox->log, user->pw_uid, user->pw_gid), 0);
    reader = open(sandbox->log, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    expect_refused_as_anothers(sandbox, "server.log_file", sandbox->log);
    assert_int_equal(close(reader), 0);
}

static void second_name_of_a_file_is_refused(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;

    give_den(sandbox);
    assert_int_equal(link(vault->file, sandbox->log), 0);
    assert_int_equal(link(vault->file, sandbox->pid), 0);
    expect_refused(sandbox, "server.log_file", sandbox->log, "the file has a second name");
    expect_refused(sandbox, "server.pid_file", sandbox->pid, "the file has a second name");
    expect_untouched(vault);
}

// Only what was made is given away, and only its mode is set.
static void existing_file_keeps_its_owner(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;
    char setting[SETTING_MAX];
    struct stat st;

    give_den(sandbox);
    assert_int_equal(rename(vault->file, sandbox->log), 0);
    expect_refused(sandbox, "server.log_file", sandbox->log, "");
    sandbox_expect_log(sandbox, "why=\"as user nobody: log_file");
    assert_int_equal(stat(sandbox->log, &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(rename(sandbox->log, sandbox->pid), 0);
    (void)snprintf(setting, sizeof setting, "server.pid_file=%s", sandbox->pid);
    PROCESS_PREPARED(&sandbox->process, untraced, NULL, ANY_PORT, "--set", setting);
    process_expect(&sandbox->process, " info started ", NULL);
    assert_int_equal(stat(sandbox->pid, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    process_stop(&sandbox->process);
}

static void pid_file_of_another_process_in_its_place_is_left_alone(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;
    char setting[SETTING_MAX];

    (void)need_root();
    (void)snprintf(setting, sizeof setting, "server.pid_file=%s", sandbox->pid);
    PROCESS_PREPARED(&sandbox->process, untraced, NULL, ANY_PORT, "--set", setting);
    process_expect(&sandbox->process, " info started ", NULL);
    assert_int_equal(rename(vault->file, sandbox->pid), 0);
    process_stop(&sandbox->process);
    assert_int_equal(rename(sandbox->pid, vault->file), 0);
    expect_untouched(vault);
}

// As it is where an administrator moved logs to another disk.
static void link_of_root_is_followed(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;
    char setting[SETTING_MAX];

    (void)need_root();
    assert_int_equal(symlink(vault->dir, sandbox->journal), 0);
    (void)snprintf(setting, sizeof setting, "%s/log", sandbox->journal);
    assert_int_equal(symlink(setting, sandbox->log), 0);
    (void)snprintf(setting, sizeof setting, "server.log_file=%s", sandbox->log);
    PROCESS_PREPARED(&sandbox->process, untraced, NULL, ANY_PORT, "--set", setting);
    sandbox_expect_log(sandbox, " info started ");
    process_stop(&sandbox->process);
    sandbox_expect_log(sandbox, " info stopped ");
}

static void standard_streams_can_be_named_as_files(void **state)
{
    struct vault *vault = *state;
    struct sandbox *sandbox = vault->sandbox;

    PROCESS_PREPARED(&sandbox->process, untraced, NULL, ANY_PORT, "--set",
                     "server.log_file=/dev/stdout");
    process_expect(&sandbox->process, " info started ", NULL);
    process_stop(&sandbox->process);
}

#define VAULT_TEST(name) cmocka_unit_test_setup_teardown(name, vault_setup, vault_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VAULT_TEST(link_in_the_users_directory_is_not_followed_to_a_log_file),
        VAULT_TEST(broken_link_creates_no_file),
        VAULT_TEST(link_in_the_middle_of_a_path_is_not_followed),
        VAULT_TEST(link_of_another_user_in_a_shared_directory_is_not_followed),
        VAULT_TEST(link_in_a_world_writable_directory_is_not_followed),
        VAULT_TEST(pid_file_is_never_a_link),
        VAULT_TEST(pipe_in_the_place_of_a_file_is_refused_at_once),
        VAULT_TEST(file_of_another_in_a_shared_directory_is_refused),
        VAULT_TEST(second_name_of_a_file_is_refused),
        VAULT_TEST(existing_file_keeps_its_owner),
        VAULT_TEST(pid_file_of_another_process_in_its_place_is_left_alone),
        VAULT_TEST(link_of_root_is_followed),
        VAULT_TEST(standard_streams_can_be_named_as_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
