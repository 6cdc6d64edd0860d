/* SPDX-License-Identifier: MIT */
#include "admin/request/query.h"

#include <string.h>

static bool is_name(struct slice text, const char *name)
{
    return slice_equal(text, slice_str(name));
}

static enum query_found decode(struct slice text, struct query_value *value)
{
    if (!http1_query_decode(text, value->text, &value->len)) {
        return QUERY_BAD;
    }
    value->text[value->len] = '\0';
    return QUERY_FOUND;
}

enum query_found query_get(struct slice query, const char *name, struct query_value *value)
{
    struct slice found, text;

    while (http1_query_next(&query, &found, &text)) {
        if (is_name(found, name)) {
            return decode(text, value);
        }
    }
    return QUERY_ABSENT;
}

static bool is_known(struct slice name, const char *const *names)
{
    for (; *names; names++) {
        if (is_name(name, *names)) {
            return true;
        }
    }
    return false;
}

bool query_known(struct slice query, const char *const *names, struct slice *unknown)
{
    struct slice text;

    while (http1_query_next(&query, unknown, &text)) {
        if (!is_known(*unknown, names)) {
            return false;
        }
    }
    return true;
}
