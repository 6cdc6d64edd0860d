/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOOP_WATCH_H
#define TANDEM_SERVER_LOOP_WATCH_H

// How long turns of the loop take, and how late they come to what is due. What is told is the worst
// of the last minute or so: of some windows of time, of which the oldest is forgotten when another
// begins.

#include "core/base/nsec.h"

#include <stdint.h>

#define LOOP_WATCH_WINDOWS 5
#define LOOP_WATCH_WINDOW_FOR (15 * NSEC_PER_SEC)

struct loop_window {
    nsec_t longest_for;
    nsec_t lag_for;
};

struct loop_watch {
    uint64_t turns;
    uint64_t slow_turns;                            // that were logged
    struct loop_window windows[LOOP_WATCH_WINDOWS]; /* private */
    unsigned at;                                    /* private: the present one */
    nsec_t ends_at;                                 /* private: when that ends, monotonic */
};

// The present window has ended.
void loop_watch_roll(struct loop_watch *watch, nsec_t now_at);

// A turn has ended now, and taken so long since its wait; what was due first when that ended had
// been due for `lag_for`, which is negative where nothing was.
static inline void loop_watch_turn(struct loop_watch *watch, nsec_t now_at, nsec_t took_for,
                                   nsec_t lag_for)
{
    struct loop_window *window;

    watch->turns++;
    if (now_at >= watch->ends_at) {
        loop_watch_roll(watch, now_at);
    }
    window = &watch->windows[watch->at];
    if (took_for > window->longest_for) {
        window->longest_for = took_for;
    }
    if (lag_for > window->lag_for) {
        window->lag_for = lag_for;
    }
}

// The worst of all windows that are not over for long at that moment.
struct loop_window loop_watch_worst(struct loop_watch *watch, nsec_t now_at);

#endif
