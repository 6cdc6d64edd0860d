/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_BEARER_H
#define TANDEM_HTTP1_BEARER_H

// The token that a request shows: `Authorization: Bearer <token>`.

#include "core/base/slice.h"

#include "http1/fields.h"

enum http1_bearer {
    HTTP1_BEARER_NONE,  // there is no Authorization
    HTTP1_BEARER_OTHER, // it is of another scheme, which says nothing here
    HTTP1_BEARER_TOKEN,
    HTTP1_BEARER_EMPTY, // a token is announced, and is not there
    HTTP1_BEARER_TWICE  // more than one Authorization: a proxy may have looked at the other one
};

// `*token` is in the head's bytes; set for HTTP1_BEARER_TOKEN only, and not empty then.
enum http1_bearer http1_bearer_read(const struct http1_fields *fields, struct slice *token);

#endif
