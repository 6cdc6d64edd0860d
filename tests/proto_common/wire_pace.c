/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_pace.h"

#include "tests/proto_common/wire_host_private.h"

void wire_pace_begin(struct wire_pace *pace)
{
    *pace = (struct wire_pace){.timer = {.check_at = NSEC_NEVER, .part_at = NSEC_NEVER}};
}

// False: the front-end sets no limits.
static bool limits_of(const struct peer *peer, struct pace_limits *limits)
{
    if (!peer->frontend->limits || !peer->settings) {
        return false;
    }
    peer->frontend->limits(peer->settings, limits);
    return true;
}

static struct pace_view view_of(struct peer *peer)
{
    return (struct pace_view){
        .now_at = peer->rig->now.mono,
        .pace = peer->frontend->pace(peer->conn),
        .reads = !peer->runnable && !peer->blocked && !peer->finished && !peer->half_closed,
        .unread = output_pending(&peer->wire.out) > 0,
        .kept = peer->kept,
        .received = peer->pace.received,
    };
}

void wire_pace_note(struct peer *peer, bool ran)
{
    struct wire_pace *pace = &peer->pace;
    bool happened =
        ran || pace->received != pace->received_before || peer->heard != pace->heard_before;
    struct pace_limits limits;

    if (!peer->closed && happened && limits_of(peer, &limits)) {
        struct pace_view view = view_of(peer);

        pace->received_before = pace->received;
        pace->heard_before = peer->heard;
        pace_timer_note(&pace->timer, &limits, &view);
    }
}

bool wire_pace_check(struct peer *peer)
{
    struct pace_timer *timer = &peer->pace.timer;
    struct pace_limits limits;
    enum pace_result result = PACE_IN_TIME;

    if (!peer->closed && timer->check_at <= peer->rig->now.mono && limits_of(peer, &limits)) {
        struct pace_view view = view_of(peer);

        result = pace_timer_check(timer, &limits, &view);
    }
    if (result != PACE_IN_TIME) {
        peer->frontend->overdue(peer->conn, result, slice_of(peer->kept_pages.start, peer->kept));
    }
    return result != PACE_IN_TIME;
}
