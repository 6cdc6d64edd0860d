/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PUSH_FAKE_ENDPOINT_H
#define TANDEM_TESTS_PUSH_FAKE_ENDPOINT_H

// An HTTP server in the loop of a test. It records the requests, and sends scripted answers byte by
// byte, which need not be HTTP. Each request gets the next answer of the script, or the last one
// again.

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

#define FAKE_REQUESTS 64
#define FAKE_CONNS 64
#define FAKE_ANSWERS 16

struct fake_answer {
    const char *text; // NULL: no answer
    bool closes;      // closes the connection afterwards
};

struct fake_conn {
    struct fake_endpoint *fake;
    struct event *event; // NULL: none
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
    char *requests[FAKE_REQUESTS]; // heads and bodies, in the order of arrival
    size_t bodies[FAKE_REQUESTS];  // the beginning of the body
    size_t lens[FAKE_REQUESTS];
    size_t count;
};

// Listens at a free port of 127.0.0.1.
void fake_open(struct fake_endpoint *fake, struct event_base *base);
void fake_close(struct fake_endpoint *fake);

// Adds an answer to the script; borrows the text.
void fake_script(struct fake_endpoint *fake, const char *text, bool closes);

// "HTTP/1.1 <status>" with that body.
#define FAKE_ANSWER(status, length, body)                                                          \
    "HTTP/1.1 " status "\r\nContent-Length: " length "\r\n\r\n" body

// The value of a header field of a request, in a static buffer; NULL: none.
const char *fake_field(const struct fake_endpoint *fake, size_t index, const char *name);

const char *fake_body(const struct fake_endpoint *fake, size_t index);

#endif
