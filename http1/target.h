/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_TARGET_H
#define TANDEM_HTTP1_TARGET_H

// The target of a request, split into path and query. The user interprets them.
//
// Nothing is allocated or copied: the slices are in the text, and valid as long as it.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

enum http1_target_kind {
    HTTP1_TARGET_BAD,    // not a valid target, or one with a fragment
    HTTP1_TARGET_SERVER, // `*`
    HTTP1_TARGET_PATH
};

struct http1_target {
    enum http1_target_kind kind;
    bool has_query;     // it may be empty
    struct slice path;  // not decoded; empty if the target is only a server
    struct slice query; // not decoded, without the question mark
};

// Splits a target that has passed http1_head_check(). An absolute target, as sent to a proxy, means
// the same as its path.
void http1_target_read(struct slice text, struct http1_target *target);

// Decodes %XX into `to`, which has as much room as the text. False if an escape is incomplete.
bool http1_decode(struct slice text, char *to, size_t *len) MUST_USE;

#endif
