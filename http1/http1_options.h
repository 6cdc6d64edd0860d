/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_HTTP1_OPTIONS_H
#define TANDEM_HTTP1_HTTP1_OPTIONS_H

// The settings of every HTTP/1.1 front-end. Its own struct has them in a union, as members and as a
// whole:
//
//     struct my_options {
//         union {
//             struct { HTTP1_OPTION_FIELDS };
//             struct http1_options http1;
//         };
//         ...
//     };
//
// The host may change them between turns, so they are not cached.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "proto_common/frontend.h"
#include "proto_common/pace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In this order: bytes of a request's body; bytes of its head; seconds from its first byte to the
// end of its head; seconds for each PACE_STEP bytes of a body; seconds between requests (0: no
// limit); the origins whose pages may call (`*`: all), and the allowed names of Host besides
// addresses and localhost (`*.suffix`: all that end so; `*`: Host is not checked), both as lists
// (http1_list_next). The origins may be NULL: then no foreign page may call.
#define HTTP1_OPTION_FIELDS                                                                        \
    uint64_t max_body;                                                                             \
    uint64_t max_header_bytes;                                                                     \
    int64_t header_timeout;                                                                        \
    int64_t body_timeout;                                                                          \
    int64_t idle_timeout;                                                                          \
    char *cors_origins;                                                                            \
    char *hosts;

struct http1_options {
    HTTP1_OPTION_FIELDS
};

// The rows of a front-end's option table that all share, in the order of the manual; `type` is its
// own struct.
#define HTTP1_OPTION_ROWS(type)                                                                    \
    {.name = "max_header_bytes",                                                                   \
     .kind = OPTION_SIZE,                                                                          \
     .offset = offsetof(type, max_header_bytes),                                                   \
     .default_value = "16k",                                                                       \
     .min = 1024,                                                                                  \
     .max = 32 << 10,                                                                              \
     .live = true,                                                                                 \
     .effect = "Maximum size of the head of a request; a larger one is answered 431."},            \
        HTTP1_SECONDS_ROW(type, header_timeout, "10",                                              \
                          "Seconds in which the head of a request must arrive; 0: no limit."),     \
        HTTP1_SECONDS_ROW(                                                                         \
            type, body_timeout, "60",                                                              \
            "Seconds in which each KiB of a body, or its rest, must arrive; 0: no limit."),        \
        HTTP1_SECONDS_ROW(                                                                         \
            type, idle_timeout, "75",                                                              \
            "Seconds after which a connection without a request is closed; 0: never.")

#define HTTP1_SECONDS_ROW(type, field, seconds, what)                                              \
    {                                                                                              \
        .name = #field, .kind = OPTION_NUMBER, .offset = offsetof(type, field),                    \
        .default_value = (seconds), .max = 86400, .live = true, .effect = (what)                   \
    }

// Checks the lists of origins and hosts. False: `*why` has the reason, which begins with the key.
// For frontend->check.
bool http1_options_check(const struct http1_options *options, struct error_text *why) MUST_USE;

// Implements frontend->limits for a front-end whose options begin with these.
void http1_limits(const void *options, struct pace_limits *limits);

// Removes the next word from a list of the configuration, words separated by commas or blanks.
// False: the end.
bool http1_list_next(struct slice *list, struct slice *word);

// Whether the list contains that text, ignoring case.
bool http1_list_names(const char *list, struct slice text);

// Whether a list of hosts contains the name, ignoring case, or `*.suffix` with its end: the suffix
// itself does not match, and what is before it may have dots.
bool http1_hosts_have(const char *hosts, struct slice name);

#endif
