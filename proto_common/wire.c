/* SPDX-License-Identifier: MIT */
#include "proto_common/wire.h"

#include "core/base/macros.h"

void wire_refused_status(struct wire *wire, enum status status)
{
    switch (status) {
    case STATUS_NO_MEMORY:
        wire_refused(wire, REFUSAL_MEMORY);
        return;
    case STATUS_NO_SPACE:
        wire_refused(wire, REFUSAL_STORE);
        return;
    case STATUS_FORBIDDEN:
        wire_refused(wire, REFUSAL_FORBIDDEN);
        return;
    case STATUS_DRAINING:
        wire_refused(wire, REFUSAL_DRAINING);
        return;
    case STATUS_QUEUE_FULL:
    case STATUS_TOO_MANY_QUEUES:
        wire_refused(wire, REFUSAL_LIMIT);
        return;
    case STATUS_JOB_TOO_LARGE:
        wire_log_too_large(wire, "a job", 0, WIRE_QUEUE_JOB_SIZE);
        wire_refused(wire, REFUSAL_TOO_LARGE);
        return;
    case STATUS_TOO_LARGE:
        wire_refused(wire, REFUSAL_TOO_LARGE);
        return;
    case STATUS_BAD_NAME:
        wire_refused(wire, REFUSAL_BAD);
        return;
    case STATUS_OK:
    case STATUS_NOT_FOUND:
    case STATUS_HELD:
    case STATUS_EMPTY:
    case STATUS_LEASE_SOON:
    case STATUS_TIMED_OUT:
    case STATUS_LAST_ONE:
    case STATUS_IN_USE:
    case STATUS_WRONG_STATE:
    case STATUS_MORE:
        return;
    }
    UNREACHABLE();
}
