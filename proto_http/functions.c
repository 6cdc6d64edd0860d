/* SPDX-License-Identifier: MIT */
#include "proto_http/functions.h"

#include "core/base/glob.h"
#include "http1/caller.h"
#include "http1/http1_options.h"
#include "http1/reply.h"

#include "proto_http/request.h"

#include <string.h>
#include <strings.h>

static bool matches(const char *globs, struct slice function)
{
    struct slice rest = slice_str(globs);
    struct slice glob;

    while (http1_list_next(&rest, &glob)) {
        if (glob_matches(glob, function)) {
            return true;
        }
    }
    return false;
}

bool web_function_offered(const struct web_shared *shared, struct slice function)
{
    const char *offered = shared->options->functions;

    return !*offered || matches(offered, function);
}

static bool is_probe(struct slice function)
{
    static const struct slice probes[] = {
        {"favicon.ico", 11},
        {"robots.txt", 10},
        {"metrics", 7},
        {"healthz", 7},
        {"livez", 5},
        {"readyz", 6},
        {"apple-touch-icon.png", 20},
        {"apple-touch-icon-precomposed.png", 32},
    };
    const struct slice well_known = SLICE(".well-known/");

    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (slice_equal(function, probes[i])) {
            return true;
        }
    }
    return function.len >= well_known.len &&
           strncasecmp(function.ptr, well_known.ptr, well_known.len) == 0;
}

// Answers an error; always false.
static bool refuse(struct http1_conn *conn, unsigned status, struct slice function, const char *why)
{
    http1_refuse(conn, &(struct http1_reply){.status = status, .shown = function}, why);
    return false;
}

bool web_function_check(struct http1_conn *conn)
{
    struct slice name = web_target_name(&web_request(conn)->target);

    if (!session_may_by_name(conn->session, MAY_SUBMIT, name)) {
        http1_caller_refuse(conn, name);
        return false;
    }
    if (!web_function_offered(web_shared(conn), name)) {
        return refuse(conn, 403, name, "http.functions does not have this function");
    }
    return !is_probe(name) || *web_shared(conn)->options->functions ||
           broker_queue_find(conn->shared->broker, name) ||
           refuse(conn, 404, name,
                  "no worker has announced this function, and http.functions does not have it");
}
