/* SPDX-License-Identifier: MIT */
#include "server/io/spread.h"

#include <string.h>

void spread_init(struct spread *spread, bool always, nsec_t now_at)
{
    memset(spread, 0, sizeof *spread);
    spread->always = always;
    spread->on = always;
    spread->began_at = now_at;
    spread->next_at = nsec_add(now_at, SPREAD_WINDOW);
}

// A long sleep counts as many windows.
static void spread_count_windows(struct spread *spread, bool change, nsec_t lasted_for)
{
    nsec_t windows = spread->on ? lasted_for / SPREAD_WINDOW : 1;

    if (!change) {
        spread->windows = 0;
    } else if (windows < SPREAD_CALM_WINDOWS) {
        spread->windows += (unsigned)windows;
    } else {
        spread->windows = SPREAD_CALM_WINDOWS;
    }
}

void spread_judge(struct spread *spread, nsec_t now_at, nsec_t core_slept_for, nsec_t slept_for,
                  unsigned threads)
{
    nsec_t lasted_for = now_at - spread->began_at;
    nsec_t core_busy_for = lasted_for - (core_slept_for - spread->core_slept_for);
    nsec_t busy_for = lasted_for * threads - (slept_for - spread->slept_for);
    bool is_calm = busy_for < lasted_for / 100 * SPREAD_CALM;
    bool is_busy = core_busy_for >= lasted_for / 100 * SPREAD_BUSY &&
                   core_busy_for >= (nsec_t)spread->turns * SPREAD_TURN_FOR;

    spread_count_windows(spread, spread->on ? is_calm : is_busy, lasted_for);
    if (spread->windows >= (spread->on ? SPREAD_CALM_WINDOWS : SPREAD_BUSY_WINDOWS) &&
        !spread->always) {
        spread->on = !spread->on;
        spread->windows = 0;
    }
    spread->began_at = now_at;
    spread->next_at = nsec_add(now_at, SPREAD_WINDOW);
    spread->core_slept_for = core_slept_for;
    spread->slept_for = slept_for;
    spread->turns = 0;
}
