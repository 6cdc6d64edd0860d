/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_TARGET_H
#define TANDEM_HTTP1_TARGET_H

// The target of a request, divided into path and query. What they mean is the user's business.
//
// Nothing is allocated or copied: the slices are in the text, and valid as long as it.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>

enum http1_target_kind {
    HTTP1_TARGET_BAD,    // none that a request may have here: no form of it, or with a fragment
    HTTP1_TARGET_SERVER, // `*`
    HTTP1_TARGET_PATH
};

struct http1_target {
    enum http1_target_kind kind;
    bool has_query;     // though it may be empty
    struct slice path;  // as it came, not decoded; empty where a server alone is named
    struct slice query; // as it came, without the question mark
};

// Takes a target apart that has passed http1_head_check(). One that names a server, as a proxy is
// asked, means the same as its path alone.
void http1_target_read(struct slice text, struct http1_target *target);

// Decodes %XX into `to`, which has room for as many bytes as the text has; false where an escape is
// incomplete.
bool http1_decode(struct slice text, char *to, size_t *len) MUST_USE;

#endif
