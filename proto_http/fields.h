/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_FIELDS_H
#define TANDEM_PROTO_HTTP_FIELDS_H

// The headers that this front-end reads, besides those of HTTP/1.1 itself.

#include "http1/head.h"

// The name in the code, and in the header. The headers from UNIQUE on are about a job.
#define WEB_FIELDS(X)                                                                              \
    X(LAST_EVENT_ID, "Last-Event-ID")                                                              \
    X(UNIQUE, "X-Gearman-Unique")                                                                  \
    X(IDEMPOTENCY_KEY, "Idempotency-Key")                                                          \
    X(BACKGROUND, "X-Gearman-Background")                                                          \
    X(PRIORITY, "X-Gearman-Priority")                                                              \
    X(DELAY, "X-Gearman-Delay")                                                                    \
    X(EPOCH, "X-Gearman-Epoch")                                                                    \
    X(TTR, "X-Gearman-Ttr")                                                                        \
    X(TIMEOUT, "X-Gearman-Timeout")

// They follow the headers of HTTP/1.1 in the table of names.
enum web_field {
    WEB_FIELD_BEFORE = HTTP1_FIELD_COUNT - 1,
#define X(name, text) WEB_FIELD_##name,
    WEB_FIELDS(X)
#undef X
        WEB_FIELD_END
};

// The WEB_FIELD_COUNT names, for http1_shared_begin().
#define WEB_FIELD_COUNT (WEB_FIELD_END - HTTP1_FIELD_COUNT)
extern const char *const web_field_names[WEB_FIELD_COUNT];

// The name of a header as it is written in messages.
const char *web_field_name(enum web_field field);

#endif
