/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_HTTP1_FIELDS_H
#define TANDEM_PROTO_COMMON_HTTP1_FIELDS_H

// What a head says, as slices of its bytes. Headers that mean nothing here are passed over.

#include "core/base/slice.h"

#include "proto_common/http1/head.h"

#include <stdbool.h>
#include <stdint.h>

enum http1_method {
    HTTP1_GET,
    HTTP1_POST,
    HTTP1_PUT,
    HTTP1_DELETE,
    HTTP1_HEAD_METHOD,
    HTTP1_OPTIONS,
    HTTP1_OTHER_METHOD
};

// Headers that mean something: our name, the header's. Those from UNIQUE on are about a job.
#define WEB_FIELDS(X)                                                                              \
    X(HOST, "Host")                                                                                \
    X(CONNECTION, "Connection")                                                                    \
    X(CONTENT_LENGTH, "Content-Length")                                                            \
    X(TRANSFER_ENCODING, "Transfer-Encoding")                                                      \
    X(EXPECT, "Expect")                                                                            \
    X(UPGRADE, "Upgrade")                                                                          \
    X(ACCEPT, "Accept")                                                                            \
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

enum web_field {
#define X(name, text) WEB_FIELD_##name,
    WEB_FIELDS(X)
#undef X
        WEB_FIELD_COUNT
};

// The bit of a field in a set of them.
#define WEB_BIT(field) (UINT32_C(1) << (field))
_Static_assert(WEB_FIELD_COUNT <= 32, "a set of fields is 32 bits");

struct http1_fields {
    enum http1_method method;
    bool version_1_0;
    bool keep_alive; // what version and Connection say of it
    bool stream;     // Accept names server-sent events
    struct slice target;
    struct slice values[WEB_FIELD_COUNT]; // without white space around; `ptr` NULL: not there
    uint32_t present, repeated;           // sets: those that are there, and more than once
};

// Reads a head that http1_head_check() found complete. The slices are valid as long as its bytes.
// False where http-parser finds something wrong with it all the same.
bool http1_fields_read(const struct http1_head *head, struct http1_fields *fields);

// The name of a header, as it is written.
const char *web_field_name(enum web_field field);

static inline bool http1_has(const struct http1_fields *fields, enum web_field field)
{
    return (fields->present & WEB_BIT(field)) != 0;
}

// Whether it is there more than once.
static inline bool http1_repeats(const struct http1_fields *fields, enum web_field field)
{
    return (fields->repeated & WEB_BIT(field)) != 0;
}

// Whether two texts are the same but for the case of their letters.
bool http1_same_word(struct slice a, struct slice b);

// Whether a list divided by commas has the word in it, in any case.
bool http1_list_has(struct slice list, struct slice word);

#endif
