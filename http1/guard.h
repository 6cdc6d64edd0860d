/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_GUARD_H
#define TANDEM_HTTP1_GUARD_H

// Protection against web pages that call the server. A loopback address does not protect it: any
// page in a browser on the machine can send requests to it. Nor does a client certificate, which a
// browser sends for any page. A request with a token is not checked, because such a page has no
// token.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include "http1/context.h"
#include "http1/fields.h"

#include <stdbool.h>

// Whether the value of Host is an IP address, localhost, or one of options->hosts: under another
// name, a foreign page might pretend to be of the same origin (DNS rebinding). Caches the last
// address or localhost, since most requests have the same Host.
bool http1_host_allowed(struct http1_shared *shared, struct slice host);

// Whether options->cors_origins contains the origin or `*`.
bool http1_origin_allowed(const struct http1_shared *shared, struct slice origin);

enum http1_page {
    HTTP1_PAGE_NONE,    // no page calls, or an allowed one
    HTTP1_PAGE_ORIGIN,  // a page whose origin is not in the list
    HTTP1_PAGE_SITE,    // a page of another site, without an Origin
    HTTP1_PAGE_REFERER, // a link or an image of such a page, in a browser without Sec-Fetch-Site
};

// Whether a page calls that may not. If the user serves pages, a page of the same Host may call;
// http1_host_allowed() checks that Host.
enum http1_page http1_guard_check(const struct http1_shared *shared,
                                  const struct http1_fields *fields) MUST_USE;

#endif
