/* SPDX-License-Identifier: MIT */

// The targets of requests: functions, and paths of the broker itself.

#include "proto_http/web_request.h"

#include "core/base/glob.h"
#include "http1/head.h"
#include "http1/request_target.h"

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

bool web_function_offered(const struct web_shared *shared, struct slice function)
{
    struct slice globs = slice_str(shared->options->functions);
    bool all = globs.len == 0;
    struct slice glob;

    while (http1_list_next(&globs, &glob)) {
        if (glob_matches(glob, function)) {
            return true;
        }
    }
    return all;
}
