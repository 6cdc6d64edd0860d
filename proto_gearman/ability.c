/* SPDX-License-Identifier: MIT */
#include "proto_gearman/ability.h"

#include "proto_gearman/reply.h"

// For how long a job of the function may be held; 0: without limit. The time-out of CAN_DO_TIMEOUT
// is in milliseconds; what is no number, or not above 0, is none. There is a least one because some
// libraries send the seconds that their users mean as they are.
static nsec_t limit_of(const struct gear_conn *conn, const struct gear_packet *packet)
{
    const int64_t most = NSEC_NEVER / NSEC_PER_MSEC;
    const int64_t least = conn->shared->options->min_timeout;
    int64_t limit = packet->type == GEAR_CAN_DO_TIMEOUT ? gear_number_read(packet->args[1]) : 0;

    if (limit <= 0) {
        return 0;
    }
    if (limit < least) {
        limit = least;
    }
    return (limit < most ? limit : most) * NSEC_PER_MSEC;
}

void gear_can_do(struct gear_conn *conn, const struct gear_packet *packet)
{
    bool fails = conn->shared->options->on_timeout == GEAR_TIMEOUT_FAILS;
    const struct terms terms = {
        .limit_for = limit_of(conn, packet),
        .on_limit = fails ? ON_LIMIT_FAIL : ON_LIMIT_RETRY,
    };
    enum status status = broker_subscribe(conn->session, packet->args[0], &terms);

    if (status != STATUS_OK) {
        gear_refuse_status(conn, status, GEAR_REFUSE_RESULT);
    }
}

void gear_cant_do(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)broker_unsubscribe(conn->session, packet->args[0], false);
}

void gear_reset_abilities(struct gear_conn *conn, const struct gear_packet *packet)
{
    (void)packet;
    conn->state = GEAR_UNSUBSCRIBING;
}

enum step gear_unsubscribe_step(struct gear_conn *conn)
{
    if (broker_unsubscribe_all(conn->session) == STATUS_MORE) {
        return STEP_AGAIN;
    }
    conn->state = GEAR_MESSAGE;
    return STEP_ON;
}
