/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_REQUEST_QUERY_H
#define TANDEM_ADMIN_REQUEST_QUERY_H

// The parameters of a request's query, `name=value` with `&` between them. A value is decoded when
// it is asked for, %XX and + alike; of a name that is there more than once, the first counts. One
// that nobody asks for is a mistake of the client's, which is told rather than ignored.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "http1/query.h"

#include <stdbool.h>
#include <stdint.h>

#define QUERY_VALUE_MAX HTTP1_QUERY_VALUE_MAX

// A value, decoded.
struct query_value {
    char text[QUERY_VALUE_MAX + 1]; // with a NUL behind it
    size_t len;
};

enum query_found {
    QUERY_ABSENT,
    QUERY_FOUND,
    QUERY_BAD // its escapes are malformed, or it is longer than QUERY_VALUE_MAX
};

// The value of that parameter.
enum query_found query_get(struct slice query, const char *name,
                           struct query_value *value) MUST_USE;

// Whether each parameter has a name of that list, which ends with NULL; otherwise the first that
// has not is in `*unknown`, as it came.
bool query_known(struct slice query, const char *const *names, struct slice *unknown);

static inline struct slice query_slice(const struct query_value *value)
{
    return slice_of(value->text, value->len);
}

#endif
