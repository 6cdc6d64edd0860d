/* SPDX-License-Identifier: MIT */

// How a connection is shed where others need the memory.

#include "server/conn_private.h"

#include "core/base/log.h"

void conn_shed(struct conn *conn, size_t held)
{
    if (conn->broken) {
        return;
    }
    tally_refusal(conn->service->tally, SIGHT_MEMORY);
    log_warn("shed", log_number("conn", (int64_t)conn->wire.number),
             log_string("protocol", conn->service->frontend->name),
             log_number("bytes", (int64_t)held),
             log_string("why", "it holds most of what is beyond server.max_memory"));
    conn_break(conn, "more memory is in use than server.max_memory");
}
