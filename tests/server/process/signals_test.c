/* SPDX-License-Identifier: MIT */
// Signals are requests to the process from its first moment to its last.
#include "server/process/signals.h"

#include "tests/support/with_cmocka.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 2000

static void ignore_request(void *context, enum signal_request request)
{
    (void)context;
    (void)request;
}

// A process that begins to listen to signals and ends doing so, as often as the rounds say. Each
// round begins with what a signal does to a process that never asked for it: it ends it.
static _Noreturn void listen_and_end(int told)
{
    struct event_base *base = event_base_new();
    struct signals signals;

    for (unsigned i = 0; base && i < ROUNDS; i++) {
        sigset_t stop;

        (void)sigemptyset(&stop);
        (void)sigaddset(&stop, SIGTERM);
        (void)sigprocmask(SIG_BLOCK, &stop, NULL);
        (void)signal(SIGTERM, SIG_DFL);
        if (!signals_open(&signals, base, ignore_request, NULL)) {
            _exit(EXIT_FAILURE);
        }
        if (i == 0 && write(told, "", 1) != 1) {
            _exit(EXIT_FAILURE);
        }
        signals_close(&signals);
    }
    _exit(base ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void signal_during_the_stop_does_not_kill_the_process(void **state)
{
    int channel[2];
    int status = -1;
    char byte;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(channel), 0);
    child = fork();
    if (child == 0) {
        listen_and_end(channel[1]);
    }
    assert_true(child > 0);
    assert_int_equal(read(channel[0], &byte, 1), 1);
    while (waitpid(child, &status, WNOHANG) == 0) {
        assert_int_equal(kill(child, SIGTERM), 0);
    }
    (void)close(channel[0]);
    (void)close(channel[1]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signal_during_the_stop_does_not_kill_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
