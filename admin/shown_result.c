/* SPDX-License-Identifier: MIT */
#include "admin/shown_result.h"

#include "core/grants.h"
#include "proto_common/wire.h"

#include "admin/context.h"
#include "admin/shown.h"

static json_t *shown_end(const struct result *result)
{
    static const char *const ends[] = {
        [RESULT_COMPLETE] = "complete",
        [RESULT_FAILED] = "failed",
        [RESULT_EXCEPTION] = "exception",
    };
    static const char *const kept[] = {
        [RESULT_WHOLE] = "whole",
        [RESULT_TOO_LARGE] = "too_large",
        [RESULT_LOST] = "lost",
    };

    return json_pack("{s:s, s:o, s:o, s:s, s:I}", "end", ends[result->end], "ended_at",
                     shown_seconds((nsec_t)result->ended_ms * NSEC_PER_MSEC), "until",
                     shown_seconds(result->until_at), "kept", kept[result->kept], "bytes",
                     (json_int_t)result->data.len);
}

bool shown_result_find(const struct http1_conn *conn, uint64_t id, struct result *result)
{
    const struct broker *broker = admin_broker(conn);

    if (!broker_result(broker, id, result) ||
        !session_may_by_name(conn->session, MAY_OBSERVE, result->queue)) {
        return false;
    }
    wire_hold(conn->wire, broker_results_position(broker));
    return true;
}

json_t *shown_result(const struct http1_conn *conn, uint64_t id)
{
    struct result result;

    return shown_result_find(conn, id, &result) ? shown_end(&result) : json_null();
}

json_t *shown_ended(const struct result *result)
{
    return json_pack("{s:I, s:o, s:o, s:s, s:o}", "id", (json_int_t)result->id, "queue",
                     shown_text(result->queue), "queue_path", shown_path(result->queue), "state",
                     "ended", "result", shown_end(result));
}
