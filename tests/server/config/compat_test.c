/* SPDX-License-Identifier: MIT */
// Command lines in the place of beanstalkd and gearmand, where memory runs out at any point, and
// with any arguments. tests/dropin compares their meaning with those programs.
#include "server/config/command_line.h"

#include "server/config/compat.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/chance.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ARGS_MAX 24

static enum exit_reason parse(struct command_line *command, const char *const *args,
                              struct error_text *why)
{
    static char copies[ARGS_MAX][64];
    char *argv[ARGS_MAX + 1] = {NULL};
    int argc = 0;

    for (; args[argc]; argc++) {
        assert_in_range(argc, 0, ARGS_MAX - 1);
        (void)snprintf(copies[argc], sizeof copies[0], "%s", args[argc]);
        argv[argc] = copies[argc];
    }
    return command_line_parse(command, argc, argv, why);
}

static void fail_each_allocation(const char *const *args)
{
    for (size_t n = 1;; n++) {
        struct command_line command;
        struct error_text why;
        enum exit_reason result;
        size_t count;

        nth_alloc_fail(n);
        result = parse(&command, args, &why);
        count = nth_alloc_count();
        nth_alloc_fail(0);
        command_line_clear(&command);
        if (count < n) {
            assert_int_equal(result, EXIT_REASON_NONE);
            return;
        }
        if (result != EXIT_REASON_NONE) {
            assert_string_equal(why.text, "out of memory");
        }
    }
}

static void any_failed_allocation_for_beanstalkd_fails_the_command_line(void **state)
{
    static const char *const args[] = {"/usr/bin/beanstalkd",
                                       "-VFu",
                                       "nobody",
                                       "-p7",
                                       "-z",
                                       "5",
                                       "-b/d",
                                       "-s9",
                                       "-c",
                                       "-n",
                                       "--set",
                                       "admin.listen=:7",
                                       "-l::1",
                                       NULL};

    (void)state;
    fail_each_allocation(args);
}

static void any_failed_allocation_for_gearmand_fails_the_command_line(void **state)
{
    static const char *const args[] = {
        "gearmand", "-dRu",  "nobody", "-p7", "-L",     "::1", "--ssl", "-j", "5",   "-t", "2",
        "-w3",      "--set", "a.b",    "-l",  "stderr", "-r",  "http",  "-P", "pid", NULL};

    (void)state;
    fail_each_allocation(args);
}

// Arguments are made of these and of parts of them.
static const char *const pieces[] = {
    "-d",
    "-p",
    "--port",
    "--port=",
    "-",
    "--",
    "",
    "-dRp",
    "-x",
    "--libpq-table",
    "=",
    "-j",
    "99999999999999999999",
    "-1",
    "+",
    "--set",
    "--as",
    "--as=beanstalkd",
    "--as=gearmand",
    "--config",
    "-b",
    "-z",
    "-VFlp",
    "unix:",
    "--verbose",
    "DEBUG",
    "-q",
    "libsqlite3",
    "--libsqlite3-db",
    "[::",
    "tls",
    "-L",
    "--ssl",
    "-r",
    "http",
    "--check-args",
    "--config-file",
    "/dev/null",
    "-h",
    "-V",
    "-v",
    "\xff\n",
};

static void random_arguments_are_taken_or_refused_with_a_reason(void **state)
{
    static const char *const names[] = {"gearmand", "beanstalkd"};

    (void)state;
    for (int round = 0; round < 3000; round++) {
        const char *args[ARGS_MAX] = {names[round % 2]};
        size_t count = 1 + below(8);
        struct command_line command;
        struct error_text why = {""};

        for (size_t i = 1; i <= count; i++) {
            args[i] = pieces[below(sizeof pieces / sizeof *pieces)];
        }
        if (parse(&command, args, &why) != EXIT_REASON_NONE) {
            assert_string_not_equal(why.text, "");
        }
        command_line_clear(&command);
    }
}

static void words_that_stand_for_many_numbers_are_bounded(void **state)
{
    static const char *const args[] = {"gearmand", "-l",  "none", "-P", "pid",
                                       "-j",       "300", "-f",   "-1", NULL};
    struct command_line command;
    struct error_text why;
    bool seen[2] = {false};

    (void)state;
    assert_int_equal(parse(&command, args, &why), EXIT_REASON_NONE);
    for (size_t i = 0; i < command.sets.count; i++) {
        seen[0] = seen[0] || strcmp(command.sets.all[i], "gearman.job_retries=300") == 0;
        seen[1] = seen[1] || strcmp(command.sets.all[i], "server.max_connections=1000000000") == 0;
    }
    assert_true(seen[0] && seen[1]);
    command_line_clear(&command);
}

static const char *spare_pid_file(const char *const args[], char shown[PATH_MAX])
{
    struct command_line command;
    struct error_text why;

    assert_int_equal(parse(&command, args, &why), EXIT_REASON_NONE);
    (void)snprintf(shown, PATH_MAX, "%s",
                   command.optional_pid_file ? command.optional_pid_file : "");
    command_line_clear(&command);
    return shown;
}

static void only_gearmands_default_pid_file_may_be_missed(void **state)
{
    static const char *const by_default[] = {"gearmand", "-l", "none", NULL};
    static const char *const named[] = {"gearmand", "-l", "none", "-P", "pid", NULL};
    static const char *const other[] = {"beanstalkd", NULL};
    char shown[PATH_MAX];

    (void)state;
    // Others cannot make it, and have none.
    assert_string_equal(spare_pid_file(by_default, shown),
                        access("/var", W_OK) == 0 ? "/var/gearmand.pid" : "");
    assert_string_equal(spare_pid_file(named, shown), "");
    assert_string_equal(spare_pid_file(other, shown), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_failed_allocation_for_beanstalkd_fails_the_command_line),
        cmocka_unit_test(any_failed_allocation_for_gearmand_fails_the_command_line),
        cmocka_unit_test(random_arguments_are_taken_or_refused_with_a_reason),
        cmocka_unit_test(words_that_stand_for_many_numbers_are_bounded),
        cmocka_unit_test(only_gearmands_default_pid_file_may_be_missed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
