/* SPDX-License-Identifier: MIT */
#include "server/process/signals.h"

#include <signal.h>
#include <string.h>

static const struct {
    int number;
    enum signal_request request;
} signal_table[SIGNALS] = {
    {SIGTERM, SIGNAL_STOP},   {SIGINT, SIGNAL_STOP},   {SIGUSR1, SIGNAL_DRAIN},
    {SIGUSR2, SIGNAL_ACCEPT}, {SIGHUP, SIGNAL_RELOAD},
};

static void signal_came(evutil_socket_t number, short what, void *context)
{
    struct signals *signals = context;

    (void)what;
    for (size_t i = 0; i < SIGNALS; i++) {
        if (signal_table[i].number == number) {
            signals->handler(signals->context, signal_table[i].request);
        }
    }
}

void signals_hold(void)
{
    sigset_t held;

    (void)sigemptyset(&held);
    for (size_t i = 0; i < SIGNALS; i++) {
        if (signal_table[i].request != SIGNAL_STOP) {
            (void)sigaddset(&held, signal_table[i].number);
        }
    }
    (void)pthread_sigmask(SIG_BLOCK, &held, NULL);
}

static void signals_mask(int how)
{
    sigset_t ours;

    (void)sigemptyset(&ours);
    for (size_t i = 0; i < SIGNALS; i++) {
        (void)sigaddset(&ours, signal_table[i].number);
    }
    (void)pthread_sigmask(how, &ours, NULL);
}

bool signals_open(struct signals *signals, struct event_base *base, signal_handler handler,
                  void *context)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    memset(signals, 0, sizeof *signals);
    signals->handler = handler;
    signals->context = context;
    (void)sigaction(SIGPIPE, &ignore, NULL);
    // Without the signal, a write beyond the file size limit fails with EFBIG.
    (void)sigaction(SIGXFSZ, &ignore, NULL);
    for (size_t i = 0; i < SIGNALS; i++) {
        if (evsignal_assign(&signals->events[i], base, signal_table[i].number, signal_came,
                            signals) != 0 ||
            event_add(&signals->events[i], NULL) != 0) {
            signals_close(signals);
            return false;
        }
    }
    signals_mask(SIG_UNBLOCK);
    return true;
}

void signals_close(struct signals *signals)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    // A second request to stop must not kill a process that is stopping. A signal whose event is
    // deleted has its old action until it is ignored, so all are blocked meanwhile.
    signals_mask(SIG_BLOCK);
    for (size_t i = 0; i < SIGNALS; i++) {
        if (event_initialized(&signals->events[i])) {
            (void)event_del(&signals->events[i]);
            (void)sigaction(signal_table[i].number, &ignore, NULL);
        }
    }
    memset(signals, 0, sizeof *signals);
}
