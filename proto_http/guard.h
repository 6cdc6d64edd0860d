/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_GUARD_H
#define TANDEM_PROTO_HTTP_GUARD_H

// Access: which clients may call, and which web pages may see the answer. A port at the loopback is
// no protection by itself: every page that a browser on the machine has open can send requests to
// it.

#include "core/base/slice.h"
#include "proto_common/http1/fields.h"

#include "proto_http/context.h"

#include <stdbool.h>

// Whether the value of Host is an IP address, localhost, or one of http.hosts: under any other name
// a page of somebody else's might pretend to be of the same origin. With tokens in force every name
// is allowed: such a page has no token. The last one that was an address or localhost is kept: most
// requests have the same.
bool web_host_allowed(struct web_shared *shared, struct slice host);

// Whether http.cors_origins names the origin, or everybody (`*`).
bool web_origin_allowed(const struct web_shared *shared, struct slice origin);

enum web_access {
    WEB_ACCESS_GRANTED,
    WEB_ACCESS_NO_TOKEN,      // one is needed, and there is no Authorization
    WEB_ACCESS_NO_BEARER,     // Authorization is something else
    WEB_ACCESS_UNKNOWN_TOKEN, // the file does not have its hash
    WEB_ACCESS_ORIGIN,        // a page of an origin that is not named
    WEB_ACCESS_SITE,          // a page of another site, which sent no Origin
    WEB_ACCESS_REFERER, // a link or an image of such a page, in a browser without Sec-Fetch-Site
};

// Whether the caller may do anything at all. With tokens in force, `*globs` says to which
// functions; NULL means all.
enum web_access web_guard_check(const struct web_shared *shared, const struct http1_fields *fields,
                                const char **globs);

// Whether those globs have the function in them, and whether http.functions has.
bool web_function_granted(const char *globs, struct slice function);
bool web_function_offered(const struct web_shared *shared, struct slice function);

// Whether browsers, crawlers and monitors ask for a path of that name on their own: unless somebody
// does such jobs, they would only pile up.
bool web_function_is_probe(struct slice function);

#endif
