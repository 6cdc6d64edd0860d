/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_CTL_SIGNALS_H
#define TANDEM_CTL_PRINT_CTL_SIGNALS_H

// Signals as flags: a handler sets a flag and makes a descriptor readable, which a poll can
// include.

#include <stdbool.h>

// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT request a stop and do not end the process.
void signals_catch_stops(void);
// Restores the default action of these signals.
void signals_release_stops(void);
// From now on SIGWINCH, SIGTSTP and SIGCONT set flags.
void signals_catch_terminal(void);

// Readable after a signal until signals_drain(); -1 if no signals are caught.
int signals_fd(void);
// Drains the descriptor.
void signals_drain(void);

// The signal that requested a stop last; 0: none.
int signals_stop(void);
// Whether a stop was requested, as a callback. Drains the descriptor.
bool signals_stopped(void *unused);
// Clears the request to stop.
void signals_forget_stop(void);

// Each returns and clears a flag: the terminal was resized, the process is to be suspended, or it
// was resumed.
bool signals_resized(void);
bool signals_suspend(void);
bool signals_resumed(void);

#endif
