/* SPDX-License-Identifier: MIT */
#include "tests/bench/args.h"
#include "tests/bench/buffer.h"
#include "tests/bench/protocol.h"

#include <assert.h>
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// No reply line of the commands below is longer.
#define LINE_MAX_BYTES 300
// Long enough that no lease ends during a run.
#define TTR_SECONDS 3600

static void beanstalk_check(const struct args *args)
{
    if (args->queues > 1 || args->first_key)
        errx(2, "beanstalk is measured with one tube, and has no keys");
}

static void beanstalk_put(struct buffer *out, const struct submission *submission)
{
    assert(!submission->awaited);
    buffer_printf(out, "put %" PRIu32 " 0 %d %zu\r\n", submission->pri, TTR_SECONDS,
                  submission->len);
    buffer_add(out, submission->body, submission->len);
    buffer_add(out, "\r\n", 2);
}

static void beanstalk_take(struct buffer *out)
{
    buffer_printf(out, "reserve\r\n");
}

static void beanstalk_take_many(struct buffer *out, uint32_t count)
{
    buffer_printf(out, "reserve-batch %" PRIu32 " 0\r\n", count);
}

static void beanstalk_done(struct buffer *out, const struct reply *job, struct span result)
{
    (void)result;
    buffer_printf(out, "delete %" PRIu64 "\r\n", job->id);
}

static void beanstalk_ping(struct buffer *out)
{
    buffer_printf(out, "list-tube-used\r\n");
}

static void beanstalk_quit(struct buffer *out)
{
    buffer_printf(out, "quit\r\n");
}

static bool starts_with(const char *line, size_t len, const char *word)
{
    size_t word_len = strlen(word);
    return len >= word_len && memcmp(line, word, word_len) == 0;
}

// Digits up to `end`, or up to the space before it; moves `*at` behind them.
static bool parse_u64(const char **at, const char *end, uint64_t *value)
{
    const char *digit = *at;
    *value = 0;
    while (digit < end && *digit >= '0' && *digit <= '9')
        *value = *value * 10 + (uint64_t)(*digit++ - '0');
    bool any = digit > *at;
    if (digit < end && *digit == ' ')
        digit++;
    *at = digit;
    return any;
}

static ssize_t parse_inserted(const char *line, size_t len, struct reply *reply)
{
    const char *at = line + strlen("INSERTED ");
    if (!parse_u64(&at, line + len, &reply->id) || at != line + len)
        return -1;
    reply->kind = REPLY_OK;
    return (ssize_t)len + 2;
}

// `len` is the length of the line, `all` that of everything that has arrived.
static ssize_t parse_reserved(const char *line, size_t len, size_t all, struct reply *reply)
{
    const char *at = line + strlen("RESERVED ");
    uint64_t body_len = 0;
    if (!parse_u64(&at, line + len, &reply->id) || !parse_u64(&at, line + len, &body_len) ||
        at != line + len)
        return -1;
    size_t whole = len + 2 + (size_t)body_len + 2;
    if (all < whole)
        return 0;
    if (memcmp(line + whole - 2, "\r\n", 2) != 0)
        return -1;
    reply->kind = REPLY_OK;
    reply->body = (struct span){line + len + 2, (size_t)body_len};
    return (ssize_t)whole;
}

static bool is_error(const char *line, size_t len)
{
    static const char *const errors[] = {
        "OUT_OF_MEMORY", "INTERNAL_ERROR", "BAD_FORMAT",    "UNKNOWN_COMMAND",
        "BURIED",        "EXPECTED_CRLF",  "JOB_TOO_BIG",   "DRAINING",
        "NOT_FOUND",     "TIMED_OUT",      "DEADLINE_SOON",
    };
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (starts_with(line, len, errors[i]))
            return true;
    }
    return false;
}

static ssize_t beanstalk_parse(const char *bytes, size_t len, enum op asked, struct reply *reply);

// The head of a batch is read with the first of its jobs.
static ssize_t skip_head(const char *bytes, size_t head, size_t len, struct reply *reply)
{
    ssize_t used = beanstalk_parse(bytes + head, len - head, OP_TAKE, reply);
    return used > 0 ? (ssize_t)head + used : used;
}

static ssize_t beanstalk_parse(const char *bytes, size_t len, enum op asked, struct reply *reply)
{
    static const char *const expected[OP_COUNT] = {
        [OP_PUT] = "INSERTED ",
        [OP_TAKE] = "RESERVED",
        [OP_DONE] = "DELETED",
        [OP_PING] = "USING ",
    };
    assert(expected[asked]);
    const char *end = memchr(bytes, '\r', len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES);
    if (!end)
        return len < LINE_MAX_BYTES ? 0 : -1;
    size_t line_len = (size_t)(end - bytes);
    if (len < line_len + 2)
        return 0;
    if (end[1] != '\n')
        return -1;
    *reply = (struct reply){.kind = REPLY_OK};
    if (!starts_with(bytes, line_len, expected[asked])) {
        reply->kind = REPLY_ERROR;
        reply->text = (struct span){bytes, line_len};
        return is_error(bytes, line_len) ? (ssize_t)line_len + 2 : -1;
    }
    if (asked == OP_PUT)
        return parse_inserted(bytes, line_len, reply);
    if (asked == OP_TAKE && starts_with(bytes, line_len, "RESERVED-BATCH "))
        return skip_head(bytes, line_len + 2, len, reply);
    if (asked == OP_TAKE)
        return parse_reserved(bytes, line_len, len, reply);
    return (ssize_t)line_len + 2;
}

const struct protocol protocol_beanstalk = {
    .name = "beanstalk",
    .check = beanstalk_check,
    .put = beanstalk_put,
    .take = beanstalk_take,
    .take_many = beanstalk_take_many,
    .done = beanstalk_done,
    .done_answered = true,
    .ping = beanstalk_ping,
    .quit = beanstalk_quit,
    .parse = beanstalk_parse,
};
