/* SPDX-License-Identifier: MIT */
#include "tests/proto_http/wire_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS 16
#define TOKEN_LEN 22

struct slice work_post(const char *target, const char *headers)
{
    return http_bare("POST", target, headers);
}

const char *work_token(const struct http_answer *answer)
{
    static char tokens[TOKENS][TOKEN_LEN + 1];
    static size_t next;
    struct slice token = http_field(answer, "X-Tandem-Lease");
    char *text = tokens[next++ % TOKENS];

    assert_int_equal(token.len, TOKEN_LEN);
    memcpy(text, token.ptr, TOKEN_LEN);
    return text;
}

const char *work_gets(struct peer *peer, const char *target, const char *body, const char *file,
                      int line)
{
    const struct http_answer *answer = http_asks(peer, ASK(target), 200, file, line);

    http_body_is(answer, slice_str(body), file, line);
    return work_token(answer);
}

struct slice work_word(const char *token, const char *word, const char *headers, const char *body)
{
    char target[200];

    (void)snprintf(target, sizeof target, "/-/leases/%s/%s", token, word);
    return *body ? http_post(target, headers, slice_str(body)) : work_post(target, headers);
}

uint64_t work_number(const struct http_answer *answer, const char *name)
{
    struct slice value = http_field(answer, name);

    assert_non_null(value.ptr);
    return strtoull(value.ptr, NULL, 10);
}
