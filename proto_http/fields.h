/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_HTTP_FIELDS_H
#define TANDEM_PROTO_HTTP_FIELDS_H

// What a head says, as slices of its bytes. Headers that mean nothing here are passed over.

#include "core/slice.h"

#include <stdbool.h>
#include <stdint.h>

enum web_method {
    WEB_GET,
    WEB_POST,
    WEB_PUT,
    WEB_DELETE,
    WEB_HEAD_METHOD,
    WEB_OPTIONS,
    WEB_OTHER_METHOD
};

// Headers that mean something: our name, the header's, whether it may stand there only once.
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
    X(LAST_EVENT_ID, "Last-Event-ID")                                                              \
    X(REQUEST_METHOD, "Access-Control-Request-Method")                                             \
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

struct web_fields {
    enum web_method method;
    bool version_1_0;
    bool keep_alive; // what version and Connection say of it
    bool stream;     // Accept names server-sent events
    struct slice target;
    struct slice values[WEB_FIELD_COUNT]; // without white space around; `ptr` NULL: not there
    uint8_t counts[WEB_FIELD_COUNT];      // how often it is there, 255 for more
};

// Reads a head that web_head_check() found complete. The slices are valid as long as its bytes.
// False where the parser finds something wrong with it all the same.
bool web_fields_read(struct slice head, struct web_fields *fields);

// The name of a header, as it is written.
const char *web_field_name(enum web_field field);

static inline bool web_has(const struct web_fields *fields, enum web_field field)
{
    return fields->counts[field] > 0;
}

// Whether two texts are the same but for the case of their letters.
bool web_same_word(struct slice a, struct slice b);

// Whether a list divided by commas has the word in it, in any case.
bool web_list_has(struct slice list, struct slice word);

#endif
