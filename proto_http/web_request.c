/* SPDX-License-Identifier: MIT */
#include "proto_http/web_request.h"

#include "http1/request_target.h"

#include "proto_http/lease_actions.h"
#include "proto_http/once.h"
#include "proto_http/submission.h"
#include "proto_http/wait.h"
#include "proto_http/web_job.h"
#include "proto_http/web_work.h"

#include <string.h>

#define OWN_PATH "-/"
#define WORK_PATH "-/work"

static bool starts_with(struct slice text, struct slice start)
{
    return text.len >= start.len && memcmp(text.ptr, start.ptr, start.len) == 0;
}

// A path that is followed by a name.
struct folder {
    struct slice path;
    enum web_place place;
};

static const struct folder folders[] = {
    {{"-/jobs/", 7}, WEB_PLACE_JOB},
    {{"-/leases/", 9}, WEB_PLACE_LEASE},
};

// The place of a path whose decoded name is in the target. Under /-/, only the name in a folder may
// contain escapes.
static enum web_place path_place(struct slice raw, struct web_target *target)
{
    struct slice name = slice_of(target->name, target->name_len);

    if (!starts_with(name, SLICE(OWN_PATH))) {
        // Only an escape, which makes the name shorter, can produce a NUL.
        return name.len < raw.len && memchr(name.ptr, 0, name.len) ? WEB_PLACE_NONE
                                                                   : WEB_PLACE_FUNCTION;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t len = folders[i].path.len;

        if (starts_with(raw, folders[i].path) && target->name_len > len) {
            target->name_len -= len;
            memmove(target->name, target->name + len, target->name_len);
            return folders[i].place;
        }
    }
    return slice_equal(raw, SLICE(WORK_PATH)) ? WEB_PLACE_WORK : WEB_PLACE_UNKNOWN;
}

// False if the name is invalid: an escape is incomplete, or the name is too long.
static bool decode_name(struct slice raw, struct web_target *target)
{
    char decoded[3 * sizeof target->name];

    if (raw.len <= sizeof target->name) {
        return http1_decode(raw, target->name, &target->name_len);
    }
    if (raw.len > sizeof decoded || !http1_decode(raw, decoded, &target->name_len) ||
        target->name_len > sizeof target->name) {
        return false;
    }
    memcpy(target->name, decoded, target->name_len);
    return true;
}

void web_target_read(struct slice text, struct web_target *target)
{
    struct http1_target parts;

    http1_target_read(text, &parts);
    target->place = parts.kind == HTTP1_TARGET_SERVER ? WEB_PLACE_SERVER : WEB_PLACE_NONE;
    target->has_query = parts.has_query;
    target->query = parts.query;
    target->name_len = 0;
    if (parts.kind == HTTP1_TARGET_PATH) {
        struct slice raw = parts.path;

        while (raw.len > 0 && *raw.ptr == '/') {
            raw = slice_from(raw, 1);
        }
        if (raw.len == 0) {
            target->place = WEB_PLACE_ROOT;
        } else if (decode_name(raw, target)) {
            target->place = path_place(raw, target);
        }
    }
}

static enum web_place request_place(const struct http1_conn *conn)
{
    return web_request(conn)->target.place;
}

enum http1_next web_complete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    switch (request_place(conn)) {
    case WEB_PLACE_WORK:
        return web_work_begin(conn);
    case WEB_PLACE_LEASE:
        return web_action_begin(conn, body, blob);
    case WEB_PLACE_JOB:
        return web_job_begin(conn);
    case WEB_PLACE_NONE:
    case WEB_PLACE_SERVER:
    case WEB_PLACE_ROOT:
    case WEB_PLACE_FUNCTION:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    return web_submit(conn, body, blob);
}

enum http1_progress web_step(struct http1_conn *conn, struct feed_turn *turn)
{
    switch (request_place(conn)) {
    case WEB_PLACE_WORK:
        return web_work_step(conn, turn);
    case WEB_PLACE_LEASE:
        return web_action_step(conn);
    case WEB_PLACE_NONE:
    case WEB_PLACE_SERVER:
    case WEB_PLACE_ROOT:
    case WEB_PLACE_FUNCTION:
    case WEB_PLACE_JOB:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    return web_request(conn)->once ? web_once_step(conn, turn) : web_wait_step(conn, turn);
}

void web_stopping(struct http1_conn *conn)
{
    switch (request_place(conn)) {
    case WEB_PLACE_WORK:
        web_work_stopped(conn);
        return;
    case WEB_PLACE_LEASE:
        web_action_stopped(conn);
        return;
    case WEB_PLACE_NONE:
    case WEB_PLACE_SERVER:
    case WEB_PLACE_ROOT:
    case WEB_PLACE_FUNCTION:
    case WEB_PLACE_JOB:
    case WEB_PLACE_UNKNOWN:
        break;
    }
    web_wait_stopped(conn);
}

void web_forget(struct http1_request *base)
{
    struct web_request *request = container_of(base, struct web_request, http1);

    if (request->target.place == WEB_PLACE_WORK) {
        web_work_forget(&request->work);
    } else if (request->target.place == WEB_PLACE_LEASE) {
        web_action_forget(&request->action);
    }
    web_once_free(request->once);
    output_clear(&request->parts);
    web_events_clear(&request->events);
}

size_t web_holds(const struct http1_request *base)
{
    const struct web_request *request = (const void *)base; // base is its first member
    size_t holds =
        output_pending(&request->parts) + request->events.waiting + web_once_holds(request->once);

    if (request->target.place == WEB_PLACE_WORK) {
        holds += web_work_holds(&request->work);
    } else if (request->target.place == WEB_PLACE_LEASE) {
        holds += web_action_holds(&request->action);
    }
    return holds;
}
