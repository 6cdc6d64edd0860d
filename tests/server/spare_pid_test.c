/* SPDX-License-Identifier: MIT */
// A server whose pid file another process holds: whether it opens all the same.
#include "server/server.h"

#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 64 };

// As a process that lives would hold it.
static void hold_pid_file(struct pid_file *held, char path[PATH_SIZE])
{
    struct error_text why;
    int fd;

    (void)snprintf(path, PATH_SIZE, "/tmp/tandem-pid-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_true(pid_file_claim(held, path, &why));
    assert_true(pid_file_write(held, &why));
}

static void told_ready(void *context)
{
    (void)context;
}

static enum exit_reason open_and_close(const char *path, const char *spare)
{
    char setting[128];
    const char *const sets[] = {"beanstalk.listen=", "gearman.listen=127.0.0.1:0", "http.listen=",
                                "admin.listen=",     "server.io_threads=0",        setting};
    struct settings_source source = {.sets = sets, .set_count = sizeof sets / sizeof *sets};
    struct log_output log;
    struct server_start start = {
        .source = &source, .log = &log, .spare_pid_file = spare, .ready = told_ready};
    struct server server;
    struct error_text why;
    enum exit_reason result;

    (void)snprintf(setting, sizeof setting, "server.pid_file=%s", path);
    start.settings = settings_load(&source, &why);
    assert_non_null(start.settings);
    log_output_init(&log);
    assert_true(log_output_open(&log, "/dev/null", LOG_FORMAT_TEXT, LOG_LEVEL_WARN, &why));
    result = server_open(&server, &start, &why);
    if (result != EXIT_REASON_NONE) {
        assert_non_null(strstr(why.text, "another process holds it"));
    }
    assert_true(server_close(&server));
    log_output_close(&log);
    settings_free(start.settings);
    return result;
}

static void spare_pid_file_that_another_process_holds_is_left_to_it(void **state)
{
    struct pid_file held;
    char path[PATH_SIZE];
    char expected[32];
    char text[32] = "";
    FILE *file;

    (void)state;
    hold_pid_file(&held, path);
    assert_int_equal(open_and_close(path, path), EXIT_REASON_NONE);
    (void)snprintf(expected, sizeof expected, "%ld\n", (long)getpid());
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, expected);
    pid_file_release(&held);
}

static void no_other_pid_file_may_be_held(void **state)
{
    struct pid_file held;
    char path[PATH_SIZE];

    (void)state;
    hold_pid_file(&held, path);
    assert_int_equal(open_and_close(path, NULL), EXIT_REASON_OTHER);
    assert_int_equal(open_and_close(path, "/elsewhere"), EXIT_REASON_OTHER);
    pid_file_release(&held);
    // Free again, it is had, and removed.
    assert_int_equal(open_and_close(path, path), EXIT_REASON_NONE);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spare_pid_file_that_another_process_holds_is_left_to_it),
        cmocka_unit_test(no_other_pid_file_may_be_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
