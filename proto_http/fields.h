/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_FIELDS_H
#define TANDEM_PROTO_HTTP_FIELDS_H

// The headers that mean something here, besides those of HTTP/1.1 itself.

#include "proto_common/http1/fields.h"

// Our name, the header's. Those from UNIQUE on are about a job.
#define WEB_FIELDS(X)                                                                              \
    X(ORIGIN, "Origin")                                                                            \
    X(AUTHORIZATION, "Authorization")                                                              \
    X(SEC_FETCH_SITE, "Sec-Fetch-Site")                                                            \
    X(REFERER, "Referer")                                                                          \
    X(LAST_EVENT_ID, "Last-Event-ID")                                                              \
    X(UNIQUE, "X-Gearman-Unique")                                                                  \
    X(BACKGROUND, "X-Gearman-Background")                                                          \
    X(PRIORITY, "X-Gearman-Priority")                                                              \
    X(DELAY, "X-Gearman-Delay")                                                                    \
    X(EPOCH, "X-Gearman-Epoch")                                                                    \
    X(TTR, "X-Gearman-Ttr")                                                                        \
    X(TIMEOUT, "X-Gearman-Timeout")

// They follow HTTP/1.1's own in the table of names.
enum web_field {
    WEB_FIELD_BEFORE = HTTP1_FIELD_COUNT - 1,
#define X(name, text) WEB_FIELD_##name,
    WEB_FIELDS(X)
#undef X
        WEB_FIELD_END
};

// The table of names, for http1_fields_read().
void web_names_begin(struct http1_names *names);

// The name of a header, as it is written.
const char *web_field_name(enum web_field field);

#endif
