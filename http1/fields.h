/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_FIELDS_H
#define TANDEM_HTTP1_FIELDS_H

// What a request's head says, as http-parser reads it: method, version, target, how the body comes,
// and the headers that mean something, to HTTP/1.1 itself or to the user of this library, who hands
// in a table of names. All other headers are ignored.
//
// Nothing is allocated or copied: the slices are in the head's bytes and valid as long as those.

#include "core/base/slice.h"

#include "http1/head.h"

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

// The headers of HTTP/1.1 itself, and those by which callers are told apart. The user's follow:
// HTTP1_FIELD_COUNT is the first one.
#define HTTP1_FIELDS(X)                                                                            \
    X(HOST, "Host")                                                                                \
    X(CONNECTION, "Connection")                                                                    \
    X(CONTENT_LENGTH, "Content-Length")                                                            \
    X(TRANSFER_ENCODING, "Transfer-Encoding")                                                      \
    X(EXPECT, "Expect")                                                                            \
    X(ACCEPT, "Accept")                                                                            \
    X(ORIGIN, "Origin")                                                                            \
    X(AUTHORIZATION, "Authorization")                                                              \
    X(SEC_FETCH_SITE, "Sec-Fetch-Site")                                                            \
    X(REFERER, "Referer")

enum http1_field {
#define X(name, text) HTTP1_FIELD_##name,
    HTTP1_FIELDS(X)
#undef X
        HTTP1_FIELD_COUNT,
    HTTP1_FIELD_MAX = 32, // of both kinds: a set of fields is 32 bits
    HTTP1_FIELD_NONE = HTTP1_FIELD_MAX
};

// The bit of a field in a set of them.
#define HTTP1_BIT(field) (UINT32_C(1) << (field))

// No header that means something has a longer name.
#define HTTP1_NAME_MAX 31

// The names of headers that mean something.
struct http1_names {
    unsigned count;
    struct slice names[HTTP1_FIELD_MAX];
    uint32_t of_length[HTTP1_NAME_MAX + 1]; /* private: the set of those with that many bytes */
    bool note_proxies;                      // http1_fields.proxied is wanted; false at first
};

// HTTP/1.1's own names and these behind them, `count` of them: strings that stay valid, different
// from one another, each of 1 to HTTP1_NAME_MAX bytes.
void http1_names_begin(struct http1_names *names, const char *const *own, unsigned count);

struct http1_fields {
    enum http1_method method;
    bool version_1_0;
    bool keep_alive; // what version and Connection say of it
    bool events;     // Accept names server-sent events
    bool proxied;    // a proxy says whom it speaks for: Forwarded, Via, X-Forwarded-*, X-Real-IP
    uint64_t length; // Content-Length; 0 where there is none
    struct slice target;
    uint32_t present, repeated; // sets: those that are there, and more than once
    // Without white space around; of one that is repeated, the last. Valid where present; of the
    // names in the table, empty otherwise.
    struct slice values[HTTP1_FIELD_MAX];
};

// Reads a head that has passed http1_head_check(). False where http-parser finds something wrong
// with it all the same: then method and version are valid, and nothing else is. Of a method that is
// none of ours, only method, version and target are read, whatever else the head says.
bool http1_fields_read(const struct http1_head *head, const struct http1_names *names,
                       struct http1_fields *fields);

static inline bool http1_has(const struct http1_fields *fields, unsigned field)
{
    return (fields->present & HTTP1_BIT(field)) != 0;
}

// Whether it is there more than once.
static inline bool http1_repeats(const struct http1_fields *fields, unsigned field)
{
    return (fields->repeated & HTTP1_BIT(field)) != 0;
}

// Whether two texts are the same but for the case of their letters.
bool http1_same_word(struct slice a, struct slice b);

// Whether the value of an Accept names that type, with parameters or without.
bool http1_accept_names(struct slice accept, struct slice wanted);

#endif
