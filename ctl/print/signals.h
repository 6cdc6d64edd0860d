/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PRINT_SIGNALS_H
#define TANDEM_CTL_PRINT_SIGNALS_H

// Signals, as facts that are looked at when there is time: a handler only notes them, and makes a
// descriptor readable that a wait can include.

#include <stdbool.h>

// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end the process but count as a stop.
void signals_catch_stops(void);
// They end the process again.
void signals_release_stops(void);
// From now on SIGWINCH, SIGTSTP and SIGCONT are noted.
void signals_catch_terminal(void);

// Readable once something has come, until it is looked at; -1 where nothing is caught.
int signals_fd(void);
// Makes it unreadable again.
void signals_look(void);

// The signal that asked for a stop last; 0: none did.
int signals_stop(void);
// The same as a question: whether one did. Makes the descriptor unreadable again.
bool signals_stopped(void *unused);
// Forgets it: the next one is a new one.
void signals_forget_stop(void);

// Whether the terminal has another size, and whether the process is to be suspended, or goes on,
// since it was asked last.
bool signals_resized(void);
bool signals_suspend(void);
bool signals_resumed(void);

#endif
