/* SPDX-License-Identifier: MIT */
#include "ctl/print/ctl_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static volatile sig_atomic_t resized;
static volatile sig_atomic_t suspend;
static volatile sig_atomic_t resumed;
// A pipe: handlers write to one end, and poll() watches the other.
static int ends[2] = {-1, -1};

static void note_signal(int number)
{
    if (number == SIGWINCH) {
        resized = 1;
    } else if (number == SIGTSTP) {
        suspend = 1;
    } else if (number == SIGCONT) {
        resumed = 1;
    } else {
        stop = number;
    }
    // A full pipe is already readable.
    if (write(ends[1], "", 1) != 1) {
        return;
    }
}

// Without SA_RESTART, so that a signal interrupts a read.
static void handle_all(const int *numbers, size_t count, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};

    if (ends[0] < 0 && pipe(ends) == 0) {
        for (size_t i = 0; i < 2; i++) {
            (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
            (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        }
    }
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < count; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void signals_catch_stops(void)
{
    handle_all(stops, sizeof stops / sizeof *stops, note_signal);
}

void signals_release_stops(void)
{
    handle_all(stops, sizeof stops / sizeof *stops, SIG_DFL);
}

void signals_catch_terminal(void)
{
    static const int numbers[] = {SIGWINCH, SIGTSTP, SIGCONT};

    handle_all(numbers, sizeof numbers / sizeof *numbers, note_signal);
}

int signals_fd(void)
{
    return ends[0];
}

void signals_drain(void)
{
    char bytes[64];

    while (ends[0] >= 0 && read(ends[0], bytes, sizeof bytes) > 0) {
    }
}

int signals_stop(void)
{
    return stop;
}

bool signals_stopped(void *unused)
{
    (void)unused;
    signals_drain();
    return signals_stop() != 0;
}

void signals_forget_stop(void)
{
    stop = 0;
}

static bool take_flag(volatile sig_atomic_t *flag)
{
    bool was = *flag != 0;

    *flag = 0;
    return was;
}

bool signals_resized(void)
{
    return take_flag(&resized);
}

bool signals_suspend(void)
{
    return take_flag(&suspend);
}

bool signals_resumed(void)
{
    return take_flag(&resumed);
}
