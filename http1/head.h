/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HEAD_H
#define TANDEM_HTTP1_HEAD_H

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Checks a request's head strictly, byte by byte, before http-parser reads it (fields.h). A head
// that passes means the same to every parser. Input that parsers interpret differently is refused,
// because it allows request smuggling: a line without CRLF, a folded line, a blank before a colon,
// control bytes, more than one blank in the request line, a version other than 1.0 and 1.1.
//
// Nothing is allocated or copied; the slices are in the caller's input.

// The most lines after the request line.
#define HTTP1_HEADERS_MAX 100

enum http1_head_verdict {
    HTTP1_HEAD_MORE, // valid so far
    HTTP1_HEAD_DONE, // complete
    HTTP1_HEAD_BAD,
    HTTP1_HEAD_VERSION, // neither HTTP/1.0 nor HTTP/1.1
    HTTP1_HEAD_LONG     // more bytes or lines than are allowed
};

// The progress of a check. Initialized to zero.
struct http1_head_scan {
    size_t checked; // bytes of complete lines, which are not checked again
    unsigned lines; // the number of those lines
    bool odd;       // some of them are odd lines
};

// A head that passed the check.
struct http1_head {
    struct slice bytes; // including the empty line at its end
    bool odd;           // has lines whose name is not a token; they are ignored
};

// Checks the input, which begins at the same byte as in the last call; a head may have at most
// `max` bytes. DONE: sets `*head`, in the input. The result does not depend on how the bytes were
// split.
enum http1_head_verdict http1_head_check(struct http1_head_scan *scan, struct slice input,
                                         size_t max, struct http1_head *head);

// Finds the next odd line after `*line`, or the first one if that is empty. False: there is no
// other. The line includes its CRLF.
bool http1_head_next_odd(const struct http1_head *head, struct slice *line);

// The parsed head of a request, by http-parser: method, version, target, body framing, and the
// headers that HTTP/1.1 or the user of this library needs, given by a table of names. All other
// headers are ignored.
//
// Nothing is allocated or copied: the slices are in the head's bytes, and valid as long as these.

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

// Reads the framing. False: `*refusal` has the reason. Requires one Host (optional on HTTP/1.0), at
// most one Content-Length or one Transfer-Encoding, which must be `chunked`, and no expectation but
// `100-continue`. http-parser has checked that a length is a number; the caller limits it. Upgrade
// is ignored: the answer is HTTP/1.1 (RFC 9110, section 7.8).
bool http1_framing_read(const struct http1_fields *fields, struct http1_framing *framing,
                        struct http1_refusal *refusal) MUST_USE;

static inline bool http1_has_body(const struct http1_framing *framing)
{
    return framing->chunked || framing->len > 0;
}

#endif
