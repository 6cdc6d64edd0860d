/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_HTTP1_ECHO_H
#define TANDEM_TESTS_HTTP1_ECHO_H

// The smallest front-end of requests that uses all that http1 offers, and peers that
// talk to it. What it answers is compared to the byte.
//
// Its targets: POST /echo gives its body back, as POST /small does, where that has 10 bytes at
// most; GET /blob has a body that is not copied, GET /slices one that is made in slices, and GET
// /events never ends; GET /wait waits, for 3 seconds at most, until echo_answer(); GET /none has
// nothing to say; OPTIONS is open to everybody.

#include "http1/http1_conn.h"
#include "http1/user.h"

#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

struct echo_options {
    struct http1_options http1;
    bool has_pages; // it serves pages itself
    bool is_bare;   // its table has nothing that may be left out
};

struct echo {
    struct rig *rig;
    struct echo_options settings;
    struct peer *peer; // connected from the start
};

#define ECHO(test) cmocka_unit_test_setup_teardown(test, echo_setup, echo_teardown)
int echo_setup(void **state);
int echo_teardown(void **state);
// With those settings, of which the setup of a test changes some.
#define ECHO_DEFAULTS                                                                              \
    ((struct echo_options){.http1 = {.max_body = 64 << 10,                                         \
                                     .max_header_bytes = 4096,                                     \
                                     .header_timeout = 10,                                         \
                                     .body_timeout = 60,                                           \
                                     .idle_timeout = 75,                                           \
                                     .cors_origins = echo_nothing,                                 \
                                     .hosts = echo_nothing}})
extern char echo_nothing[];
int echo_setup_with(void **state, struct echo_options settings, unsigned budget);

// GET /slices answers with ECHO_SLICES slices of ECHO_SLICE bytes, in chunks.
#define ECHO_SLICES 5
#define ECHO_SLICE 3000
#define ECHO_BLOB 5000

// How many requests' parts were freed since the test began, and how many requests wait.
unsigned echo_forgotten(void);
unsigned echo_waiting(void);

// The request that began to wait last is answered: 200 and that text.
void echo_answer(const char *text);

// The fields that all heads have.
#define ECHO_COMMON "Server: Tandem/0.1.0\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
// A request with that head line, a Host, and what follows that.
#define ECHO_ASK(line, rest) line " HTTP/1.1\r\nHost: localhost\r\n" rest

// Sends and asserts what is heard: all of it, or how it begins.
#define hears(peer, said, heard) echo_hears((peer), SLICE(said), SLICE(heard), __FILE__, __LINE__)
#define begins(peer, said, heard) echo_begins((peer), SLICE(said), (heard), __FILE__, __LINE__)
void echo_hears(struct peer *peer, struct slice said, struct slice heard, const char *file,
                int line);
void echo_begins(struct peer *peer, struct slice said, const char *heard, const char *file,
                 int line);

// Sends, and asserts that an error is answered: with that status, these headers in front of
// Content-Length and behind it, and that text as what was wrong.
#define refuses(peer, said, status, extra, rest, why)                                              \
    echo_refuses((peer), SLICE(said), (status), (extra), (rest), (why), __FILE__, __LINE__)
void echo_refuses(struct peer *peer, struct slice said, const char *status, const char *extra,
                  const char *rest, const char *why, const char *file, int line);

// Of an error behind which the connection is closed.
#define ECHO_CLOSES "Connection: close\r\n"

#endif
