/* SPDX-License-Identifier: MIT */
// Going to the background: what the process that was started ends with.
#include "server/process/daemon.h"

#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum end { END_WELL, END_BADLY, END_KILLED, READY_AND_END_BADLY };

// Runs in the child.
static _Noreturn void end_so(struct background *background, enum end end)
{
    if (end == READY_AND_END_BADLY) {
        background_ready(background);
    }
    if (end == END_KILLED) {
        (void)raise(SIGKILL);
    }
    _exit(end == END_WELL ? 0 : 7);
}

// The exit code of the process that waits.
static int code_for(enum end end)
{
    int status = 0;
    pid_t starter = fork();

    assert_true(starter >= 0);
    if (starter == 0) {
        struct background background;
        struct error_text why;

        if (!background_enter(&background, &why)) {
            _exit(126);
        }
        end_so(&background, end);
    }
    while (waitpid(starter, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void start_succeeds_once_the_child_is_ready_even_if_it_fails_later(void **state)
{
    (void)state;
    assert_int_equal(code_for(READY_AND_END_BADLY), 0);
}

static void start_fails_with_the_exit_code_of_the_child(void **state)
{
    (void)state;
    assert_int_equal(code_for(END_BADLY), 7);
    assert_int_equal(code_for(END_KILLED), EXIT_FAILURE);
}

static void start_fails_if_the_child_exits_with_0_before_it_is_ready(void **state)
{
    (void)state;
    assert_int_equal(code_for(END_WELL), EXIT_FAILURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_succeeds_once_the_child_is_ready_even_if_it_fails_later),
        cmocka_unit_test(start_fails_with_the_exit_code_of_the_child),
        cmocka_unit_test(start_fails_if_the_child_exits_with_0_before_it_is_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
