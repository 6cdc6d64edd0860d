/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_SPREAD_H
#define TANDEM_SERVER_IO_SPREAD_H

// Whether connections are to be served by the I/O threads or by the core's loop. To hand something
// to another thread and to wake it costs some microseconds, which are well spent where the core's
// thread is the bottleneck and each turn has much to hand over, and wasted where a client waits for
// the answer to its only request. So connections are spread while the core's thread has no time
// left and its turns are long, and come back when all threads together do no more than one of them
// could do easily. In between things stay as they are.
//
// A thread is busy while it does not sleep (meter.h). Nothing here reads a clock.

#include "core/base/nsec.h"

#include <stdbool.h>

// How often it is judged.
#define SPREAD_WINDOW (NSEC_PER_MSEC * 10)
// The core's thread is busy for so much of it, in percent, and its turns take so long on average
// ...
#define SPREAD_BUSY 60
#define SPREAD_TURN_FOR ((nsec_t)20000)
// ... for so many windows: connections are spread.
#define SPREAD_BUSY_WINDOWS 2
// All threads together are busy for less than so much of it ...
#define SPREAD_CALM 45
// ... for so many windows: they come back.
#define SPREAD_CALM_WINDOWS 20

struct spread {
    bool on;               // connections that have something to do go to the I/O threads
    bool always;           // whatever the load
    nsec_t next_at;        /* private: when the window ends */
    nsec_t began_at;       /* private */
    nsec_t core_slept_for; /* private: when it began */
    nsec_t slept_for;      /* private: all threads, then */
    unsigned turns;        /* private: in this window */
    unsigned windows;      /* private: in a row that speak for a change */
};

void spread_init(struct spread *spread, bool always, nsec_t now_at);

// A turn has ended. Whether it is time for spread_judge().
static inline bool spread_turn(struct spread *spread, nsec_t now_at)
{
    spread->turns++;
    return now_at >= spread->next_at;
}

// How long the core's thread has slept so far, and all `threads` threads together, with it.
void spread_judge(struct spread *spread, nsec_t now_at, nsec_t core_slept_for, nsec_t slept_for,
                  unsigned threads);

#endif
