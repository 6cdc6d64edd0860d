/* SPDX-License-Identifier: MIT */
#include "proto_common/pace.h"

static bool is_idle(const struct pace_view *view)
{
    return view->reads && view->pace.kind == PACE_NEXT && !view->unread;
}

// Whether the incomplete command is the same as at the last check. If the host stores the beginning
// of a line or packet, all bytes that arrived since come after it.
static bool is_same_part(const struct patience *patience, const struct pace_view *view)
{
    bool in_body = view->pace.kind == PACE_BODY;

    if (patience->part_at == NSEC_NEVER || patience->in_body != in_body) {
        return false;
    }
    return in_body ? !view->pace.begun
                   : view->kept == patience->kept + (view->received - patience->received);
}

static void follow_part(struct patience *patience, const struct pace_view *view)
{
    if (!pace_in_part(view)) {
        patience->part_at = NSEC_NEVER;
    } else if (!is_same_part(patience, view) || view->received - patience->part_from >= PACE_STEP) {
        patience->part_at = view->now_at;
        patience->part_from = view->received;
    }
    patience->received = view->received;
    patience->kept = view->kept;
    patience->in_body = view->pace.kind == PACE_BODY;
}

static nsec_t part_over_at(const struct patience *patience, const struct pace_limits *limits)
{
    return limits->body_for > 0 && patience->part_at != NSEC_NEVER
               ? nsec_add(patience->part_at, limits->body_for)
               : NSEC_NEVER;
}

// Also if the connection is not idle: for example, the time to run of a job may end without an
// event on the connection that holds it.
static nsec_t idle_over_at(const struct patience *patience, const struct pace_limits *limits)
{
    return limits->idle_for > 0 ? nsec_add(patience->active_at, limits->idle_for) : NSEC_NEVER;
}

static nsec_t next_look_at(const struct patience *patience, const struct pace_limits *limits)
{
    nsec_t part_at = part_over_at(patience, limits);
    nsec_t idle_at = idle_over_at(patience, limits);

    return part_at < idle_at ? part_at : idle_at;
}

void patience_note(struct patience *patience, const struct pace_limits *limits,
                   const struct pace_view *view)
{
    nsec_t look_at;

    patience->active_at = view->now_at;
    follow_part(patience, view);
    look_at = next_look_at(patience, limits);
    if (look_at < patience->look_at) {
        patience->look_at = look_at;
    }
}

void patience_resumed(struct patience *patience, nsec_t woke_at)
{
    patience->active_at = patience->active_at > woke_at ? patience->active_at : woke_at;
    patience->part_at = patience->part_at > woke_at ? patience->part_at : woke_at;
}

enum pace_verdict patience_look(struct patience *patience, const struct pace_limits *limits,
                                const struct pace_view *view)
{
    patience->look_at = NSEC_NEVER;
    follow_part(patience, view);
    if (part_over_at(patience, limits) <= view->now_at) {
        return PACE_BODY_OVER;
    }
    if (!is_idle(view)) {
        patience->active_at = view->now_at;
    } else if (idle_over_at(patience, limits) <= view->now_at) {
        return PACE_IDLE_OVER;
    }
    patience->look_at = next_look_at(patience, limits);
    return PACE_KEPT;
}
