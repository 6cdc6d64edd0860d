/* SPDX-License-Identifier: MIT */
// For memmem() and memrchr().
#define _GNU_SOURCE
#include "tests/bench/args.h"
#include "tests/bench/buffer.h"
#include "tests/bench/protocol.h"

#include <assert.h>
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Jobs are submitted in the background, and taken by workers over HTTP, one by one, or several in
// an answer of multipart/mixed.

// No head of an answer, or of a part of one, is longer.
#define HEAD_MAX_BYTES 2000
// Seconds that a worker waits.
#define WAIT_SECONDS 60
#define HOST "Host: 127.0.0.1\r\n"

static void http_check(const struct args *args)
{
    if (args->queues > 1 || args->first_key || args->random_pri)
        errx(2, "workers over HTTP are measured with one queue and equal priorities");
}

static void http_put(struct buffer *out, const struct submission *submission)
{
    assert(!submission->awaited);
    buffer_printf(out,
                  "POST /q HTTP/1.1\r\n" HOST "X-Gearman-Background: 1\r\nX-Gearman-Ttr: 3600\r\n"
                  "Content-Length: %zu\r\n\r\n",
                  submission->len);
    buffer_add(out, submission->body, submission->len);
}

static void http_take(struct buffer *out)
{
    buffer_printf(out, "POST /-/work?queue=q&wait=%d HTTP/1.1\r\n" HOST "\r\n", WAIT_SECONDS);
}

static void http_take_many(struct buffer *out, uint32_t count)
{
    buffer_printf(out,
                  "POST /-/work?queue=q&wait=%d&max=%" PRIu32 " HTTP/1.1\r\n" HOST
                  "Accept: multipart/mixed\r\n\r\n",
                  WAIT_SECONDS, count);
}

static void http_done(struct buffer *out, const struct reply *job, struct span result)
{
    (void)result;
    buffer_printf(out, "POST /-/leases/%.*s/complete HTTP/1.1\r\n" HOST "\r\n", (int)job->name.len,
                  job->name.ptr);
}

static void http_ping(struct buffer *out)
{
    buffer_printf(out, "HEAD / HTTP/1.1\r\n" HOST "\r\n");
}

//
// Answers
//

// The head, with the empty line at its end; 0 bytes while it is incomplete.
static struct span head_of(const char *bytes, size_t len)
{
    const char *end = memmem(bytes, len < HEAD_MAX_BYTES ? len : HEAD_MAX_BYTES, "\r\n\r\n", 4);

    return (struct span){bytes, end ? (size_t)(end - bytes) + 4 : 0};
}

// The value of a header, whose name comes with the colon and the blank behind it.
static bool find(struct span head, const char *name, struct span *value)
{
    const char *at = memmem(head.ptr, head.len, name, strlen(name));
    if (!at)
        return false;
    at += strlen(name);
    const char *end = memchr(at, '\r', head.len - (size_t)(at - head.ptr));
    *value = (struct span){at, (size_t)(end - at)};
    return true;
}

static bool find_number(struct span head, const char *name, uint64_t *number)
{
    struct span value;
    if (!find(head, name, &value))
        return false;
    *number = strtoull(value.ptr, NULL, 10);
    return true;
}

// The id stands at the end of a handle.
static bool find_id(struct span head, uint64_t *id)
{
    struct span handle;
    if (!find(head, "X-Gearman-Job-Handle: ", &handle))
        return false;
    const char *colon = memrchr(handle.ptr, ':', handle.len);
    if (!colon)
        return false;
    *id = strtoull(colon + 1, NULL, 10);
    return true;
}

// A job stands behind its head, in an answer or in a part of one: how many bytes both have.
static ssize_t parse_job(struct span head, size_t len, struct reply *reply)
{
    uint64_t body_len;
    if (!find_number(head, "Content-Length: ", &body_len) ||
        !find(head, "X-Tandem-Lease: ", &reply->name) || !find_id(head, &reply->id))
        return -1;
    if (len < head.len + body_len)
        return 0;
    reply->body = (struct span){head.ptr + head.len, (size_t)body_len};
    return (ssize_t)(head.len + body_len);
}

// A part begins with its delimiter, and ends before the next one; behind the last stands another
// delimiter.
static ssize_t parse_part(const char *bytes, size_t len, struct reply *reply)
{
    struct span head = head_of(bytes, len);
    if (head.len == 0)
        return len < HEAD_MAX_BYTES ? 0 : -1;
    ssize_t used = parse_job(head, len, reply);
    if (used <= 0)
        return used;
    const char *line = memchr(bytes, '\r', head.len);
    size_t delimiter = (size_t)(line - bytes);
    size_t whole = (size_t)used + 2 + delimiter + 2;
    if (len < whole)
        return 0;
    return memcmp(bytes + whole - 2, "--", 2) == 0 ? (ssize_t)whole + 2 : used + 2;
}

static ssize_t parse_taken(struct span head, size_t len, struct reply *reply)
{
    struct span type;
    if (!find(head, "Content-Type: ", &type) || memcmp(type.ptr, "multipart", 9) != 0)
        return parse_job(head, len, reply);
    // The head of a batch is read with the first of its jobs.
    ssize_t used = parse_part(head.ptr + head.len, len - head.len, reply);
    return used > 0 ? (ssize_t)head.len + used : used;
}

// An answer whose body is of no interest.
static ssize_t parse_other(struct span head, size_t len, enum op asked)
{
    uint64_t body_len = 0;
    (void)find_number(head, "Content-Length: ", &body_len);
    if (asked == OP_PING)
        body_len = 0; // what a HEAD is told is the length of another answer
    return len < head.len + body_len ? 0 : (ssize_t)(head.len + body_len);
}

static ssize_t http_parse(const char *bytes, size_t len, enum op asked, struct reply *reply)
{
    *reply = (struct reply){.kind = REPLY_OK};
    if (asked == OP_TAKE && len >= 2 && memcmp(bytes, "--", 2) == 0)
        return parse_part(bytes, len, reply);
    struct span head = head_of(bytes, len);
    if (head.len == 0)
        return len < HEAD_MAX_BYTES ? 0 : -1;
    if (memcmp(bytes, "HTTP/1.1 ", 9) != 0)
        return -1;
    unsigned long status = strtoul(bytes + 9, NULL, 10);
    if (status != (asked == OP_DONE ? 204 : 200)) {
        reply->kind = REPLY_ERROR;
        reply->text =
            (struct span){bytes, (size_t)((const char *)memchr(bytes, '\r', len) - bytes)};
        return parse_other(head, len, asked);
    }
    if (asked == OP_TAKE)
        return parse_taken(head, len, reply);
    if (asked == OP_PUT && !find_id(head, &reply->id))
        return -1;
    return parse_other(head, len, asked);
}

const struct protocol protocol_http = {
    .name = "http",
    .check = http_check,
    .put = http_put,
    .take = http_take,
    .take_many = http_take_many,
    .done = http_done,
    .done_answered = true,
    .ping = http_ping,
    .parse = http_parse,
};
