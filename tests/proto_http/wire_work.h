/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_HTTP_WIRE_WORK_H
#define TANDEM_TESTS_PROTO_HTTP_WIRE_WORK_H

// Workers over HTTP, in memory: what they ask for, and what they say of what they get.

#include "tests/proto_http/wire_http.h"

#define BACKGROUND "X-Gearman-Background: 1\r\n"

// POST without a body.
struct slice work_post(const char *target, const char *headers);
#define ASK(target) work_post((target), "")

// The token of an answer that has one: good until the 16th from now.
const char *work_token(const struct http_answer *answer);

// The peer asks at that target and gets one job with that body: its token.
#define gets(peer, target, body) work_gets((peer), (target), (body), __FILE__, __LINE__)
const char *work_gets(struct peer *peer, const char *target, const char *body, const char *file,
                      int line);

// The request by which a worker says that word (with its query) of a lease.
struct slice work_word(const char *token, const char *word, const char *headers, const char *body);

// The peer says that of the lease, and is answered with that status.
#define tells(peer, token, word, body, status)                                                     \
    asks((peer), work_word((token), (word), "", (body)), (status))

// A number that a header says.
uint64_t work_number(const struct http_answer *answer, const char *name);

#endif
