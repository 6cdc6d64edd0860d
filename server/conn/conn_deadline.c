/* SPDX-License-Identifier: MIT */
#include "server/conn/conn_private.h"

#include "core/base/memory.h"

static const struct deadline *deadline_of_node(const struct tree_node *node)
{
    return container_of((struct tree_node *)(uintptr_t)node, struct deadline, node);
}

static bool deadline_before(const struct tree_node *a, const struct tree_node *b)
{
    nsec_t a_at = deadline_of_node(a)->at;
    nsec_t b_at = deadline_of_node(b)->at;

    return a_at != b_at ? a_at < b_at : (uintptr_t)a < (uintptr_t)b;
}

static bool conn_make_deadline(struct conn *conn)
{
    struct conn_deadline *deadline = memory_zeroed_of(MEMORY_CONNECTIONS, sizeof *deadline);

    if (deadline) {
        deadline->due.at = NSEC_NEVER;
        deadline->due.conn = conn;
        deadline->unread_at = NSEC_NEVER;
        conn->deadline = deadline;
    }
    return deadline != NULL;
}

static void conn_move_deadline(struct conn *conn, nsec_t at)
{
    struct tree *deadlines = &conn_turn(conn)->deadlines;
    struct deadline *deadline = &conn->deadline->due;

    if (deadline->at == at) {
        return;
    }
    if (deadline->at != NSEC_NEVER) {
        tree_remove(deadlines, &deadline->node, deadline_before);
    }
    deadline->at = at;
    if (at != NSEC_NEVER) {
        tree_insert(deadlines, &deadline->node, deadline_before);
    }
}

static size_t conn_deadline_size(bool paced)
{
    return sizeof(struct conn_deadline) + (paced ? sizeof(struct pace_timer) : 0);
}

static bool conn_make_paced(struct conn *conn)
{
    struct conn_deadline *deadline;

    if (conn->deadline) {
        conn_move_deadline(conn, NSEC_NEVER);
    } else if (!conn_make_deadline(conn)) {
        return false;
    }
    deadline = memory_resize_of(MEMORY_CONNECTIONS, conn->deadline, conn_deadline_size(false),
                                conn_deadline_size(true));
    if (!deadline) {
        return false;
    }
    *deadline->timer = (struct pace_timer){.check_at = NSEC_NEVER, .part_at = NSEC_NEVER};
    conn->deadline = deadline;
    conn->paced = true;
    return true;
}

static nsec_t earliest(nsec_t a_at, nsec_t b_at)
{
    return a_at < b_at ? a_at : b_at;
}

void conn_arm_deadline(struct conn *conn)
{
    nsec_t check_at = conn->paced ? conn->deadline->timer->check_at : NSEC_NEVER;

    conn_move_deadline(
        conn, earliest(check_at, earliest(conn->wire.deadline_at, conn->deadline->unread_at)));
}

bool conn_set_deadline(struct conn *conn)
{
    const struct turn *turn = conn_turn(conn);
    bool unread = turn->unread_for > 0 && output_sendable(&conn->wire.out) > 0;

    if (!conn->deadline && !unread && conn->wire.deadline_at == NSEC_NEVER) {
        return true;
    }
    if (!conn->deadline && !conn_make_deadline(conn)) {
        return false;
    }
    if (!unread) {
        conn->deadline->unread_at = NSEC_NEVER;
    } else if (conn->deadline->unread_at == NSEC_NEVER) {
        conn->deadline->unread_at = nsec_add(broker_now(turn->broker).mono, turn->unread_for);
    }
    conn_arm_deadline(conn);
    return true;
}

bool conn_take_more_time(struct conn *conn)
{
    const struct turn *turn = conn_turn(conn);

    conn->deadline->unread_at = nsec_add(turn->woke_at, turn->unread_for);
    return conn->deadline->unread_at > broker_now(turn->broker).mono;
}

void conn_forget_deadline(struct conn *conn)
{
    conn_move_deadline(conn, NSEC_NEVER);
}

void conn_free_deadline(struct conn *conn)
{
    if (conn->deadline) {
        conn_move_deadline(conn, NSEC_NEVER);
        memory_free_of(MEMORY_CONNECTIONS, conn->deadline, conn_deadline_size(conn->paced));
    }
}

static const struct pace_limits no_limits;

// A connection may still be paced after its service has lost its limits.
static const struct pace_limits *conn_pace_limits(const struct conn *conn)
{
    return conn->service->limits ? conn->service->limits : &no_limits;
}

static struct pace_view conn_pace_view(struct conn *conn, bool reads)
{
    return (struct pace_view){
        .now_at = broker_now(conn_turn(conn)->broker).mono,
        .pace = conn->service->frontend->pace(conn->frontend_state),
        .reads = reads && conn->state == FEED_MORE,
        .unread =
            output_pending(&conn->wire.out) > 0 || (conn->remote && link_has_unread(conn->link)),
        .kept = backlog_len(&conn->input),
        .received = conn->received,
    };
}

bool conn_note_pace(struct conn *conn, bool reads)
{
    const struct pace_limits *limits = conn_pace_limits(conn);
    struct pace_view view = conn_pace_view(conn, reads);

    if (!conn->paced) {
        if (limits->idle_for == 0 && !pace_in_part(&view)) {
            return true;
        }
        if (!conn_make_paced(conn)) {
            return false;
        }
    }
    pace_timer_note(conn->deadline->timer, limits, &view);
    return true;
}

bool conn_check_pace(struct conn *conn, bool reads)
{
    struct pace_view view = conn_pace_view(conn, reads);
    struct pace_timer *timer = conn->deadline->timer;
    enum pace_result result;

    pace_timer_resumed(timer, conn_turn(conn)->woke_at);
    result = pace_timer_check(timer, conn_pace_limits(conn), &view);
    if (result != PACE_IN_TIME) {
        service_count_refusal(conn->service->counters, REFUSAL_IDLE);
        conn->service->frontend->overdue(conn->frontend_state, result, backlog_slice(&conn->input));
    }
    return result != PACE_IN_TIME;
}
