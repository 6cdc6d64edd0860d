/* SPDX-License-Identifier: MIT */
#include "tests/bench/args.h"
#include "tests/bench/buffer.h"
#include "tests/bench/protocol.h"

#include <assert.h>
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HEADER_LEN 12
// A server that announces a longer packet is not understood.
#define PACKET_MAX (UINT32_C(1) << 30)
// Room for a function name or a unique, with its NUL.
#define NAME_ROOM 40

enum packet_type {
    CAN_DO = 1,
    PRE_SLEEP = 4,
    NOOP = 6,
    SUBMIT_JOB = 7,
    JOB_CREATED = 8,
    GRAB_JOB = 9,
    NO_JOB = 10,
    JOB_ASSIGN = 11,
    WORK_COMPLETE = 13,
    ECHO_REQ = 16,
    ECHO_RES = 17,
    SUBMIT_JOB_BG = 18,
    ERROR = 19
};

//
// Requests
//

static void gearman_check(const struct args *args)
{
    if (args->random_pri)
        errx(2, "gearman has three priorities: --priorities equal");
}

static void add_header(struct buffer *out, enum packet_type type, size_t body_len)
{
    uint32_t number = (uint32_t)type;
    uint32_t len = (uint32_t)body_len;
    const unsigned char header[HEADER_LEN] = {
        0,
        'R',
        'E',
        'Q',
        (unsigned char)(number >> 24),
        (unsigned char)(number >> 16),
        (unsigned char)(number >> 8),
        (unsigned char)number,
        (unsigned char)(len >> 24),
        (unsigned char)(len >> 16),
        (unsigned char)(len >> 8),
        (unsigned char)len,
    };
    buffer_add(out, header, sizeof header);
}

// How long the name is, without its NUL.
static size_t function_name(char *name, uint32_t queue)
{
    return (size_t)snprintf(name, NAME_ROOM, "bench-%" PRIu32, queue);
}

static void gearman_subscribe(struct buffer *out, uint32_t queue)
{
    char name[NAME_ROOM];
    size_t len = function_name(name, queue);
    add_header(out, CAN_DO, len);
    buffer_add(out, name, len);
}

static void gearman_put(struct buffer *out, const struct submission *submission)
{
    char name[NAME_ROOM];
    char unique[NAME_ROOM] = "";
    size_t name_len = function_name(name, submission->queue);
    size_t unique_len = 0;
    if (submission->key)
        unique_len = (size_t)snprintf(unique, sizeof unique, "unique-%016" PRIx64, submission->key);
    add_header(out, submission->awaited ? SUBMIT_JOB : SUBMIT_JOB_BG,
               name_len + 1 + unique_len + 1 + submission->len);
    buffer_add(out, name, name_len + 1);
    buffer_add(out, unique, unique_len + 1);
    buffer_add(out, submission->body, submission->len);
}

static void gearman_take(struct buffer *out)
{
    add_header(out, GRAB_JOB, 0);
}

static void gearman_sleep(struct buffer *out)
{
    add_header(out, PRE_SLEEP, 0);
}

static void gearman_done(struct buffer *out, const struct reply *job, struct span result)
{
    add_header(out, WORK_COMPLETE, job->name.len + 1 + result.len);
    buffer_add(out, job->name.ptr, job->name.len);
    buffer_add(out, "", 1);
    buffer_add(out, result.ptr, result.len);
}

static void gearman_ping(struct buffer *out)
{
    add_header(out, ECHO_REQ, 0);
}

//
// Replies
//

// The digits at the end of `text`; false where it has none.
static bool trailing_number(struct span text, uint64_t *number)
{
    size_t start = text.len;
    while (start > 0 && text.ptr[start - 1] >= '0' && text.ptr[start - 1] <= '9')
        start--;
    *number = 0;
    for (size_t i = start; i < text.len; i++)
        *number = *number * 10 + (uint64_t)(text.ptr[i] - '0');
    return start < text.len;
}

// Splits off what stands before the next NUL; false where there is none.
static bool cut_argument(struct span *rest, struct span *argument)
{
    const char *end = memchr(rest->ptr, '\0', rest->len);
    if (!end)
        return false;
    *argument = (struct span){rest->ptr, (size_t)(end - rest->ptr)};
    *rest = (struct span){end + 1, rest->len - argument->len - 1};
    return true;
}

static bool parse_assign(struct span rest, struct reply *reply)
{
    struct span function;
    uint64_t queue;
    if (!cut_argument(&rest, &reply->name) || !trailing_number(reply->name, &reply->id) ||
        !cut_argument(&rest, &function) || !trailing_number(function, &queue))
        return false;
    reply->queue = (uint32_t)queue;
    reply->body = rest;
    return true;
}

static bool parse_complete(struct span rest, struct reply *reply)
{
    if (!cut_argument(&rest, &reply->name))
        return false;
    reply->body = rest;
    return trailing_number(reply->name, &reply->id);
}

static bool parse_error(struct span rest, struct reply *reply)
{
    reply->kind = REPLY_ERROR;
    reply->text = rest;
    return memchr(rest.ptr, '\0', rest.len) != NULL;
}

static bool parse_body(uint32_t type, struct span body, enum op asked, struct reply *reply)
{
    *reply = (struct reply){.kind = REPLY_OK};
    if (type == ERROR)
        return parse_error(body, reply);
    switch (asked) {
    case OP_PUT:
        reply->name = body;
        return type == JOB_CREATED && trailing_number(body, &reply->id);
    case OP_RESULT:
        return type == WORK_COMPLETE && parse_complete(body, reply);
    case OP_TAKE:
        if (type != NO_JOB)
            return type == JOB_ASSIGN && parse_assign(body, reply);
        reply->kind = REPLY_EMPTY;
        return body.len == 0;
    case OP_SLEEP:
        return type == NOOP && body.len == 0;
    case OP_PING:
        return type == ECHO_RES && body.len == 0;
    case OP_NONE:
    case OP_DONE:
        return false;
    }
    return false;
}

static uint32_t read_u32(const char *bytes)
{
    uint32_t number = 0;
    for (size_t i = 0; i < 4; i++)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

static ssize_t gearman_parse(const char *bytes, size_t len, enum op asked, struct reply *reply)
{
    static const char magic[] = {'\0', 'R', 'E', 'S'};
    if (memcmp(bytes, magic, len < sizeof magic ? len : sizeof magic) != 0)
        return -1;
    if (len < HEADER_LEN)
        return 0;
    uint32_t body_len = read_u32(bytes + 8);
    if (body_len > PACKET_MAX)
        return -1;
    if (len < HEADER_LEN + body_len)
        return 0;
    struct span body = {bytes + HEADER_LEN, body_len};
    if (!parse_body(read_u32(bytes + 4), body, asked, reply))
        return -1;
    return (ssize_t)(HEADER_LEN + body_len);
}

const struct protocol protocol_gearman = {
    .name = "gearman",
    .results = true,
    .check = gearman_check,
    .subscribe = gearman_subscribe,
    .put = gearman_put,
    .take = gearman_take,
    .sleep = gearman_sleep,
    .done = gearman_done,
    .ping = gearman_ping,
    .parse = gearman_parse,
};
