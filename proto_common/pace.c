/* SPDX-License-Identifier: MIT */
#include "proto_common/pace.h"

// Restarts the time of an incomplete command if it is another one than at the last check, or has
// received PACE_STEP bytes. If the host stores the beginning of a line or packet, all bytes that
// arrived since come after it.
static void follow_part(struct pace_timer *timer, const struct pace_view *view)
{
    bool in_body = view->pace.kind == PACE_BODY;
    bool grown = view->kept == timer->kept + (view->received - timer->received);
    bool same = timer->part_at != NSEC_NEVER && timer->in_body == in_body &&
                (in_body ? !view->pace.begun : grown);

    if (!pace_in_part(view)) {
        timer->part_at = NSEC_NEVER;
    } else if (!same || view->received - timer->part_from >= PACE_STEP) {
        timer->part_at = view->now_at;
        timer->part_from = view->received;
    }
    timer->received = view->received;
    timer->kept = view->kept;
    timer->in_body = in_body;
}

static nsec_t part_over_at(const struct pace_timer *timer, const struct pace_limits *limits)
{
    return limits->body_for > 0 && timer->part_at != NSEC_NEVER
               ? nsec_add(timer->part_at, limits->body_for)
               : NSEC_NEVER;
}

// Also if the connection is not idle: for example, the time to run of a job may end without an
// event on the connection that holds it.
static nsec_t idle_over_at(const struct pace_timer *timer, const struct pace_limits *limits)
{
    return limits->idle_for > 0 ? nsec_add(timer->active_at, limits->idle_for) : NSEC_NEVER;
}

static nsec_t next_check_at(const struct pace_timer *timer, const struct pace_limits *limits)
{
    nsec_t part_at = part_over_at(timer, limits);
    nsec_t idle_at = idle_over_at(timer, limits);

    return part_at < idle_at ? part_at : idle_at;
}

void pace_timer_note(struct pace_timer *timer, const struct pace_limits *limits,
                     const struct pace_view *view)
{
    nsec_t check_at;

    timer->active_at = view->now_at;
    follow_part(timer, view);
    check_at = next_check_at(timer, limits);
    if (check_at < timer->check_at) {
        timer->check_at = check_at;
    }
}

void pace_timer_resumed(struct pace_timer *timer, nsec_t woke_at)
{
    timer->active_at = timer->active_at > woke_at ? timer->active_at : woke_at;
    timer->part_at = timer->part_at > woke_at ? timer->part_at : woke_at;
}

enum pace_result pace_timer_check(struct pace_timer *timer, const struct pace_limits *limits,
                                  const struct pace_view *view)
{
    bool idle = view->reads && view->pace.kind == PACE_NEXT && !view->unread;

    timer->check_at = NSEC_NEVER;
    follow_part(timer, view);
    if (part_over_at(timer, limits) <= view->now_at) {
        return PACE_BODY_OVER;
    }
    if (!idle) {
        timer->active_at = view->now_at;
    } else if (idle_over_at(timer, limits) <= view->now_at) {
        return PACE_IDLE_OVER;
    }
    timer->check_at = next_check_at(timer, limits);
    return PACE_IN_TIME;
}
