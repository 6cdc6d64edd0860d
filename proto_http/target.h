/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_TARGET_H
#define TANDEM_PROTO_HTTP_TARGET_H

// The target of a request: a function to submit to, or a path of the broker itself.

#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/handle.h"

#include <stdbool.h>
#include <stddef.h>

enum web_place {
    WEB_PLACE_NONE,     // the target is invalid
    WEB_PLACE_SERVER,   // `*`
    WEB_PLACE_ROOT,     // no function is named
    WEB_PLACE_FUNCTION, // a function
    WEB_PLACE_JOB,      // /-/jobs/<handle>
    WEB_PLACE_WORK,     // /-/work
    WEB_PLACE_LEASE,    // /-/leases/<token>/<verb>
    WEB_PLACE_UNKNOWN   // a path under /-/ that does not exist
};

struct web_target {
    enum web_place place;
    bool has_query;
    struct slice query;        // not decoded
    size_t name_len;           // of the function, of the handle, or of <token>/<verb>
    char name[QUEUE_NAME_MAX]; // decoded; last, because it is not cleared
};

static inline struct slice web_target_name(const struct web_target *target)
{
    return slice_of(target->name, target->name_len);
}

// Parses the target of a head that has passed the check; `name` is decoded once.
void web_target_read(struct slice text, struct web_target *target);

#endif
