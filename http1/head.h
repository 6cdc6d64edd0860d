/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HEAD_H
#define TANDEM_HTTP1_HEAD_H

// Reads the head of a request with http-parser: method, version, target, body framing, and the
// headers that HTTP/1.1 or the user of this library needs, given by a table of names. All other
// headers are ignored.
//
// http-parser alone accepts heads that other parsers read differently, which allows request
// smuggling. head.c lists the checks that it does not make. A head that is accepted here means the
// same to every parser.
//
// Nothing is allocated or copied: the slices are in the caller's input.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most lines after the request line.
#define HTTP1_HEADERS_MAX 100

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

// A parsed head.
struct http1_fields {
    size_t head_len; // bytes, including the empty line
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

enum http1_head_result {
    HTTP1_HEAD_MORE,    // valid so far
    HTTP1_HEAD_DONE,    // complete
    HTTP1_HEAD_BAD,     // a line is malformed
    HTTP1_HEAD_VERSION, // neither HTTP/1.0 nor HTTP/1.1
    HTTP1_HEAD_LONG,    // more bytes or lines than are allowed
    HTTP1_HEAD_REFUSED  // complete, but the target or a length is invalid
};

// The progress of a head that arrives in pieces. Initialized to zero.
struct http1_head_scan {
    size_t checked; // bytes of complete lines, which are not checked again
    unsigned lines; // the number of those lines
};

// Reads a head from the input, which begins at the same byte as in the last call; a head may have
// at most `max` bytes. DONE: sets `*fields`; of HTTP1_OTHER_METHOD, only `head_len`, method,
// version and target are valid. REFUSED: only `head_len`, method and version are valid. A malformed
// line is refused as soon as it has arrived. The result does not depend on how the bytes were
// split.
enum http1_head_result http1_head_read(struct http1_head_scan *scan, struct slice input, size_t max,
                                       const struct http1_names *names,
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

// The framing of a request's body, as its head gives it. If it is invalid, the end of the request
// is unknown, and the connection must be closed after the answer.
struct http1_framing {
    bool chunked;
    bool expects; // the client waits for 100 Continue before it sends the body
    uint64_t len; // if not chunked; 0: there is no body
};

// The answer to a request that is refused.
struct http1_refusal {
    unsigned status;
    const char *why; // static; contains nothing that JSON would escape
};

// Reads the framing. False: `*refusal` has the reason. http-parser has checked that a length is a
// number; the caller limits it. Upgrade is ignored: the answer is HTTP/1.1 (RFC 9110, 7.8).
bool http1_framing_read(const struct http1_fields *fields, struct http1_framing *framing,
                        struct http1_refusal *refusal) MUST_USE;

static inline bool http1_has_body(const struct http1_framing *framing)
{
    return framing->chunked || framing->len > 0;
}

#endif
