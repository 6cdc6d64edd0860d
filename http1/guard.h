/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_GUARD_H
#define TANDEM_HTTP1_GUARD_H

// What is guarded against web pages. A port at the loopback is no protection by itself: every page
// that a browser on the machine has open can send requests to it. Nor is a client certificate,
// which a browser shows for whatever page it has open. Whoever shows a token is no such page: it
// has none.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/context.h"
#include "http1/fields.h"

#include <stdbool.h>

// Whether the value of Host is an IP address, localhost, or one of options->hosts: under any other
// name a page of somebody else's might pretend to be of the same origin. The last one that was an
// address or localhost is kept: most requests have the same.
bool http1_host_allowed(struct http1_shared *shared, struct slice host);

// Whether options->cors_origins names the origin, or everybody (`*`).
bool http1_origin_allowed(const struct http1_shared *shared, struct slice origin);

enum http1_page {
    HTTP1_PAGE_NONE,    // no page calls, or one that may
    HTTP1_PAGE_ORIGIN,  // one of an origin that is not named
    HTTP1_PAGE_SITE,    // one of another site, which sent no Origin
    HTTP1_PAGE_REFERER, // a link or an image of such a page, in a browser without Sec-Fetch-Site
};

// Whether a page calls that may not. Where the user serves pages, one of the same Host may; whether
// that is one of the server's is http1_host_allowed()'s to say.
enum http1_page http1_guard_check(const struct http1_shared *shared,
                                  const struct http1_fields *fields) MUST_USE;

#endif
