/* SPDX-License-Identifier: MIT */
#include "proto_gearman/ability.h"

#include "proto_gearman/reply.h"

#include <string.h>

// The time-out of CAN_DO_TIMEOUT is in milliseconds; what is no number, or not above 0, is none.
static nsec_t limit_of(const struct gear_packet *packet)
{
    const int64_t most = NSEC_NEVER / NSEC_PER_MSEC;
    int64_t limit = packet->type == GEAR_CAN_DO_TIMEOUT ? gear_number_read(packet->args[1]) : 0;

    if (limit <= 0) {
        return 0;
    }
    return (limit < most ? limit : most) * NSEC_PER_MSEC;
}

void gear_can_do(struct gear_conn *conn, const struct gear_packet *packet)
{
    bool fails = conn->shared->options->on_timeout == GEAR_TIMEOUT_FAILS;
    const struct terms terms = {
        .limit_for = limit_of(packet),
        .on_limit = fails ? ON_LIMIT_FAIL : ON_LIMIT_RETRY,
    };
    struct broker *broker = conn->shared->broker;
    struct slice function = packet->args[0];
    enum status status = broker_subscribe(conn->session, function, &terms);

    if (status == STATUS_OK) {
        broker_queue_keep(broker, broker_queue_find(broker, function), true);
    } else {
        gear_refuse_status(conn, status, GEAR_REFUSE_RESULT);
    }
}

void gear_cant_do(struct gear_conn *conn, const struct gear_packet *packet)
{
    struct broker *broker = conn->shared->broker;
    struct slice function = packet->args[0];

    if (session_subscribed(conn->session, function) &&
        broker_queue_hold(broker, function, &conn->doing.giving) == STATUS_OK) {
        conn->state = GEAR_GIVING;
    }
}

void gear_reset_abilities(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)packet;
    conn->doing.giving = NULL;
    conn->state = GEAR_GIVING;
}

// STATUS_MORE: the jobs held under it are not all back yet.
static enum status give_up(struct gear_conn *conn, const struct queue *queue)
{
    char name[QUEUE_NAME_MAX];
    struct slice text = queue_name(queue);

    // The queue may vanish with the last who was subscribed to it, and its name with it.
    memcpy(name, text.ptr, text.len);
    return broker_unsubscribe(conn->session, slice_of(name, text.len), true);
}

// Some of all functions. STATUS_OK: there are none left.
static enum status give_up_some(struct gear_conn *conn)
{
    for (int i = 0; i < BROKER_SLICE; i++) {
        const struct subscription *cursor = NULL;
        const struct queue *queue = session_queue_next(conn->session, &cursor);

        if (!queue) {
            return STATUS_OK;
        }
        if (give_up(conn, queue) == STATUS_MORE) {
            break;
        }
    }
    return STATUS_MORE;
}

enum gear_step gear_giving_step(struct gear_conn *conn)
{
    struct queue *one = conn->doing.giving;

    if ((one ? give_up(conn, one) : give_up_some(conn)) == STATUS_MORE) {
        return GEAR_STEP_AGAIN;
    }
    gear_giving_discard(conn);
    conn->state = GEAR_MESSAGE;
    return GEAR_STEP_ON;
}

void gear_giving_discard(struct gear_conn *conn)
{
    if (conn->doing.giving) {
        broker_queue_drop(conn->shared->broker, conn->doing.giving);
    }
}
