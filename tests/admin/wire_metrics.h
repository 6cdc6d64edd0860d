/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_ADMIN_WIRE_METRICS_H
#define TANDEM_TESTS_ADMIN_WIRE_METRICS_H

// Replies to GET /metrics, in memory.

#include "admin/metrics/metrics_sample.h"

#include "tests/admin/wire_admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The beanstalk peer sends these bytes and receives a reply.
static inline void says(struct peer *peer, const char *words)
{
    peer_ask(peer, slice_str(words));
}

// The first occurrence of the text, or NULL.
static inline const char *metrics_find(struct slice in, const char *text)
{
    size_t len = strlen(text);

    for (; in.len >= len; in = slice_from(in, 1)) {
        const char *first = memchr(in.ptr, text[0], in.len - len + 1);

        if (!first) {
            return NULL;
        }
        in = slice_from(in, (size_t)(first - in.ptr));
        if (memcmp(first, text, len) == 0) {
            return first;
        }
    }
    return NULL;
}

static inline bool metrics_say(const struct http_answer *answer, const char *text)
{
    return metrics_find(answer->body, text) != NULL;
}

// The value of the series, as text; fails unless it occurs exactly once.
static inline const char *sample_text(const struct http_answer *answer, const char *series)
{
    char line[1024];
    const char *found;
    struct slice behind;

    assert_true(snprintf(line, sizeof line, "\n%s ", series) < (int)sizeof line);
    found = metrics_find(answer->body, line);
    if (!found) {
        fail_msg("there is no %s", series);
        return "";
    }
    found += strlen(line);
    behind = slice_of(found, (size_t)(answer->body.ptr + answer->body.len - found));
    if (metrics_find(behind, line)) {
        fail_msg("%s is there twice", series);
    }
    return found;
}

// A whole number.
static inline uint64_t sample_of(const struct http_answer *answer, const char *series)
{
    return strtoull(sample_text(answer, series), NULL, 10);
}

static inline void sample_is(const struct http_answer *answer, const char *series, uint64_t value)
{
    uint64_t found = sample_of(answer, series);

    if (found != value) {
        fail_msg("%s is %llu and not %llu", series, (unsigned long long)found,
                 (unsigned long long)value);
    }
}

// Compares a duration with a tolerance of 10 ms.
static inline void sample_is_about(const struct http_answer *answer, const char *series,
                                   double value)
{
    double found = strtod(sample_text(answer, series), NULL);

    if (found < value - 0.01 || found > value + 0.01) {
        fail_msg("%s is %f and not %f", series, found, value);
    }
}

#endif
