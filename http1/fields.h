/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_FIELDS_H
#define TANDEM_HTTP1_FIELDS_H

// The parsed head of a request, by http-parser: method, version, target, body framing, and the
// headers that HTTP/1.1 or the user of this library needs, given by a table of names. All other
// headers are ignored.
//
// Nothing is allocated or copied: the slices are in the head's bytes, and valid as long as these.

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

// The headers of HTTP/1.1, and those that identify callers. The user's headers are numbered from
// HTTP1_FIELD_COUNT.
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

// The bit of a field in a set of fields.
#define HTTP1_BIT(field) (UINT32_C(1) << (field))

// The longest name of a header that is read.
#define HTTP1_NAME_MAX 31

// The names of the headers that are read.
struct http1_names {
    unsigned count;
    struct slice names[HTTP1_FIELD_MAX];
    uint32_t of_length[HTTP1_NAME_MAX + 1]; /* private: the set of names with that many bytes */
    bool note_proxies;                      // http1_fields.proxied is needed; false at first
};

// Initializes the table with the names of HTTP/1.1 and the user's `count` own names: strings that
// stay valid, all different, each of 1 to HTTP1_NAME_MAX bytes.
void http1_names_begin(struct http1_names *names, const char *const *own, unsigned count);

struct http1_fields {
    enum http1_method method;
    bool version_1_0;
    bool keep_alive; // according to the version and Connection
    bool events;     // Accept names server-sent events
    bool proxied;    // sent by a proxy: has Forwarded, Via, X-Forwarded-* or X-Real-IP
    uint64_t length; // Content-Length; 0 if it is missing
    struct slice target;
    uint32_t present, repeated; // sets: the fields present, and those present more than once
    // Without surrounding white space; the last value of a repeated header. Valid if present; empty
    // for other names in the table.
    struct slice values[HTTP1_FIELD_MAX];
};

// Parses a head that has passed http1_head_check(). False if http-parser refuses it: then only
// method and version are valid. For HTTP1_OTHER_METHOD only method, version and target are parsed.
bool http1_fields_read(const struct http1_head *head, const struct http1_names *names,
                       struct http1_fields *fields);

static inline bool http1_has(const struct http1_fields *fields, unsigned field)
{
    return (fields->present & HTTP1_BIT(field)) != 0;
}

// Whether the field is present more than once.
static inline bool http1_repeats(const struct http1_fields *fields, unsigned field)
{
    return (fields->repeated & HTTP1_BIT(field)) != 0;
}

// Whether two texts are equal, ignoring case.
bool http1_same_word(struct slice a, struct slice b);

// Whether the value of an Accept contains that type, with or without parameters.
bool http1_accept_names(struct slice accept, struct slice wanted);

#endif
