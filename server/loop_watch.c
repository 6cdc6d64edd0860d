/* SPDX-License-Identifier: MIT */
#include "server/loop_watch.h"

#include <string.h>

// Where nothing has happened for long, all windows are over.
void loop_watch_roll(struct loop_watch *watch, nsec_t now_at)
{
    nsec_t late_for = now_at - watch->ends_at;

    if (late_for >= LOOP_WATCH_WINDOWS * LOOP_WATCH_WINDOW_FOR) {
        memset(watch->windows, 0, sizeof watch->windows);
        watch->ends_at = now_at + LOOP_WATCH_WINDOW_FOR;
        return;
    }
    while (now_at >= watch->ends_at) {
        watch->at = (watch->at + 1) % LOOP_WATCH_WINDOWS;
        watch->windows[watch->at] = (struct loop_window){0};
        watch->ends_at += LOOP_WATCH_WINDOW_FOR;
    }
}

struct loop_window loop_watch_worst(struct loop_watch *watch, nsec_t now_at)
{
    struct loop_window worst = {0};

    if (now_at >= watch->ends_at) {
        loop_watch_roll(watch, now_at);
    }
    for (unsigned i = 0; i < LOOP_WATCH_WINDOWS; i++) {
        const struct loop_window *window = &watch->windows[i];

        worst.longest_for =
            window->longest_for > worst.longest_for ? window->longest_for : worst.longest_for;
        worst.lag_for = window->lag_for > worst.lag_for ? window->lag_for : worst.lag_for;
    }
    return worst;
}
