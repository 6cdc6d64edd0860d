/* SPDX-License-Identifier: MIT */
#include "server/conn_pace.h"

#include "server/conn_private.h"

static const struct pace_limits no_limits;

// Of the limits that were there, those may be left over that a connection is paced by.
static const struct pace_limits *limits_of(const struct conn *conn)
{
    return conn->service->limits ? conn->service->limits : &no_limits;
}

static bool has_unread(const struct conn *conn)
{
    return output_pending(&conn->wire.out) > 0 || (conn->remote && link_has_unread(conn->link));
}

static struct pace_view view_of(struct conn *conn, bool reads)
{
    return (struct pace_view){
        .now_at = broker_now(conn_turn(conn)->broker).mono,
        .pace = conn->service->frontend->pace(conn->frontend_state),
        .reads = reads && conn->state == FEED_MORE,
        .unread = has_unread(conn),
        .kept = backlog_len(&conn->input),
        .received = conn->received,
    };
}

bool conn_note_pace(struct conn *conn, bool reads)
{
    const struct pace_limits *limits = limits_of(conn);
    struct pace_view view = view_of(conn, reads);

    if (!conn->paced) {
        if (limits->idle_for == 0 && !pace_in_part(&view)) {
            return true;
        }
        if (!conn_make_paced(conn)) {
            return false;
        }
    }
    patience_note(&conn->deadline->pace->patience, limits, &view);
    return true;
}

bool conn_check_pace(struct conn *conn, bool reads)
{
    struct pace_view view = view_of(conn, reads);
    struct patience *patience = &conn->deadline->pace->patience;
    enum pace_verdict verdict;

    patience_resumed(patience, conn_turn(conn)->woke_at);
    verdict = patience_look(patience, limits_of(conn), &view);
    if (verdict != PACE_KEPT) {
        tally_refusal(conn->service->tally, SIGHT_IDLE);
        conn->service->frontend->overdue(conn->frontend_state, verdict,
                                         backlog_slice(&conn->input));
    }
    return verdict != PACE_KEPT;
}
