/* SPDX-License-Identifier: MIT */
#include "admin/request/route.h"

#include <string.h>

// Takes the next segment and the slash before it off the text; false if there is none.
static bool next_segment(struct slice *text, struct slice *segment)
{
    size_t len = 1;

    if (text->len == 0 || *text->ptr != '/') {
        return false;
    }
    while (len < text->len && text->ptr[len] != '/') {
        len++;
    }
    *segment = slice_of(text->ptr + 1, len - 1);
    *text = slice_from(*text, len);
    return true;
}

bool path_matches(struct slice path, const char *pattern, struct slice args[ROUTE_ARGS_MAX])
{
    struct slice wanted = slice_str(pattern);
    struct slice want, have;
    size_t count = 0;

    while (next_segment(&wanted, &want)) {
        bool is_arg = want.len > 0 && *want.ptr == '{';

        if (!next_segment(&path, &have)) {
            return false;
        }
        if (is_arg && have.len > 0 && count < ROUTE_ARGS_MAX) {
            args[count++] = have;
        } else if (!slice_equal(want, have)) {
            return false;
        }
    }
    return path.len == 0;
}

void admin_route_find(const struct admin_route *const *tables, struct slice path,
                      enum http1_method method, struct admin_route_match *match)
{
    struct slice args[ROUTE_ARGS_MAX] = {SLICE(""), SLICE("")};

    memset(match, 0, sizeof *match);
    for (; *tables; tables++) {
        for (const struct admin_route *route = *tables; route->path; route++) {
            if (!path_matches(path, route->path, args)) {
                continue;
            }
            match->path_known = true;
            match->methods |= 1u << route->method;
            if (route->method == method) {
                match->route = route;
                memcpy(match->args, args, sizeof args);
            }
        }
    }
}
