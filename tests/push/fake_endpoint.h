/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PUSH_FAKE_ENDPOINT_H
#define TANDEM_TESTS_PUSH_FAKE_ENDPOINT_H

// An HTTP server in the loop of a test, which notes what it is sent and answers byte by byte what
// it was told to, be it HTTP or not. Each request has an answer: the next that was scripted, or the
// last one again.

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

#define FAKE_REQUESTS 64
#define FAKE_CONNS 64
#define FAKE_ANSWERS 16

struct fake_answer {
    const char *text; // NULL: no answer
    bool closes;      // the connection, afterwards
};

struct fake_conn {
    struct fake_endpoint *fake;
    struct event *event; // NULL: there is none
    char *input;
    size_t len;
};

struct fake_endpoint {
    struct event_base *base;
    struct event *listener;
    int port;
    struct fake_conn conns[FAKE_CONNS];
    unsigned accepted;
    struct fake_answer answers[FAKE_ANSWERS];
    size_t answers_count;
    char *requests[FAKE_REQUESTS]; // heads and bodies, in their order
    size_t bodies[FAKE_REQUESTS];  // where the body begins
    size_t lens[FAKE_REQUESTS];
    size_t count;
};

// Listens at a port of its own of 127.0.0.1.
void fake_open(struct fake_endpoint *fake, struct event_base *base);
void fake_close(struct fake_endpoint *fake);

// The next answer, which is borrowed.
void fake_script(struct fake_endpoint *fake, const char *text, bool closes);

// "HTTP/1.1 <status>" with that body.
#define FAKE_ANSWER(status, length, body)                                                          \
    "HTTP/1.1 " status "\r\nContent-Length: " length "\r\n\r\n" body

// The value of a header field of a request, in a buffer of the callee's; NULL: it has none.
const char *fake_field(const struct fake_endpoint *fake, size_t index, const char *name);

const char *fake_body(const struct fake_endpoint *fake, size_t index);

#endif
