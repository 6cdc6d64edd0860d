/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_SPREAD_H
#define TANDEM_SERVER_IO_SPREAD_H

// Decides whether the I/O threads or the core's loop serve connections. To hand something to
// another thread and to wake that costs some microseconds. These are well spent if the core's
// thread is the bottleneck and each turn has much to hand over, and wasted if a client waits for
// the reply to its only request. So connections are spread while the core's thread has no time left
// and its turns are long, and return when all threads together do less than one thread could easily
// do. In between, nothing changes.
//
// A thread is busy while it does not sleep (struct meter). This module reads no clock.

#include "core/base/nsec.h"

#include <stdbool.h>

// How often the load is judged.
#define SPREAD_WINDOW (NSEC_PER_MSEC * 10)
// Connections are spread after SPREAD_BUSY_WINDOWS windows in a row in which the core's thread was
// busy for SPREAD_BUSY percent, and its turns took SPREAD_TURN_FOR on average.
#define SPREAD_BUSY 60
#define SPREAD_TURN_FOR ((nsec_t)20000)
#define SPREAD_BUSY_WINDOWS 2
// They return after SPREAD_CALM_WINDOWS windows in a row in which all threads together were busy
// for less than SPREAD_CALM percent of one window.
#define SPREAD_CALM 45
#define SPREAD_CALM_WINDOWS 20

struct spread {
    bool on;               // active connections go to the I/O threads
    bool always;           // whatever the load
    nsec_t next_at;        /* private: when the window ends */
    nsec_t began_at;       /* private */
    nsec_t core_slept_for; /* private: when it began */
    nsec_t slept_for;      /* private: of all threads, when it began */
    unsigned turns;        /* private: in this window */
    unsigned windows;      /* private: in a row that ask for a change */
};

void spread_init(struct spread *spread, bool always, nsec_t now_at);

// A turn has ended. Whether the window has, too, so that spread_judge() is to be called.
static inline bool spread_turn(struct spread *spread, nsec_t now_at)
{
    spread->turns++;
    return now_at >= spread->next_at;
}

// Judges a window. `core_slept_for`: how long the core's thread has slept so far; `slept_for`: all
// `threads` threads together, including the core's.
void spread_judge(struct spread *spread, nsec_t now_at, nsec_t core_slept_for, nsec_t slept_for,
                  unsigned threads);

#endif
