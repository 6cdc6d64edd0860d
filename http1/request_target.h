/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_REQUEST_TARGET_H
#define TANDEM_HTTP1_REQUEST_TARGET_H

// The target of a request, split into path and query, and the parameters of a query. The user
// interprets them.
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

// Splits a target that has passed http1_head_read(). An absolute target, as sent to a proxy, means
// the same as its path.
void http1_target_read(struct slice text, struct http1_target *target);

// Decodes %XX into `to`, which has as much room as the text. False if an escape is incomplete.
bool http1_decode(struct slice text, char *to, size_t *len) MUST_USE;

// Removes the next parameter from a query as forms send it, `name=value` separated by `&`, without
// decoding it. False: the end. Empty parameters are skipped; one without `=` has an empty value.
bool http1_query_next(struct slice *query, struct slice *name, struct slice *value);

// The most bytes of a decoded value: more than the longest queue name needs.
#define HTTP1_QUERY_VALUE_MAX 1024

// Decodes %XX and + into `to`, which has room for HTTP1_QUERY_VALUE_MAX bytes. False if an escape
// is malformed, or the value is too long.
bool http1_query_decode(struct slice value, char *to, size_t *len) MUST_USE;

// The value of a hexadecimal digit, -1 for any other byte.
static inline int http1_hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
