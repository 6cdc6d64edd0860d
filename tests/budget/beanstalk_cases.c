/* SPDX-License-Identifier: MIT */
#include "tests/budget/cases.h"

#include "core/base/digits.h"
#include "core/base/macros.h"
#include "proto_beanstalk/beanstalk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The number of commands that a pipelining client sends at once.
#define DEPTH 16
#define LINE_ROOM 200

#define PUT "put 1024 0 60 64\r\n" BODY_64 "\r\n"
#define PUT_4 PUT PUT PUT PUT
#define PUT_16 PUT_4 PUT_4 PUT_4 PUT_4

static size_t count_lines(struct slice text)
{
    size_t lines = 0;

    for (size_t i = 0; i < text.len; i++) {
        lines += text.ptr[i] == '\n';
    }
    return lines;
}

// One connection, which waits for each reply.
static void put(struct host *host, unsigned long count)
{
    struct caller *caller = host_connect(host);

    for (unsigned long i = 0; i < count; i++) {
        (void)caller_ask(caller, SLICE(PUT), SLICE("INSERTED "));
    }
}

static void put_16(struct host *host, unsigned long count)
{
    struct caller *caller = host_connect(host);

    for (unsigned long i = 0; i < count; i += DEPTH) {
        ENSURE(count_lines(caller_ask(caller, SLICE(PUT_16), SLICE("INSERTED "))) == DEPTH);
    }
}

// Writes the command that deletes the job of a RESERVED reply.
static struct slice delete_command(struct slice reserved, char *room)
{
    const char *digits = reserved.ptr + strlen("RESERVED ");
    const char *end = memchr(digits, ' ', reserved.len - strlen("RESERVED "));
    int len;

    ENSURE(end);
    len = snprintf(room, LINE_ROOM, "delete %.*s\r\n", (int)(end - digits), digits);
    return slice_of(room, (size_t)len);
}

// Puts jobs of random priorities.
static void put_random(struct caller *caller, unsigned long count)
{
    uint32_t pri = 1;

    for (unsigned long i = 0; i < count; i++) {
        char line[LINE_ROOM];
        int len;

        pri = pri * UINT32_C(1664525) + UINT32_C(1013904223);
        len = snprintf(line, sizeof line, "put %" PRIu32 " 0 60 64\r\n" BODY_64 "\r\n", pri);
        (void)caller_ask_aside(caller, slice_of(line, (size_t)len), SLICE("INSERTED "));
    }
}

static void reserve_delete(struct host *host, unsigned long count)
{
    struct caller *caller = host_connect(host);
    char room[LINE_ROOM];

    put_random(caller, count);
    for (unsigned long i = 0; i < count; i++) {
        struct slice reserved = caller_ask(caller, SLICE("reserve\r\n"), SLICE("RESERVED "));

        (void)caller_ask(caller, delete_command(reserved, room), SLICE("DELETED\r\n"));
    }
}

// Each job goes to a worker that is blocked in reserve, deletes it and waits for the next one.
static void hand_over(struct host *host, unsigned long count)
{
    // Connections are read in this order, so the worker waits before the job arrives.
    struct caller *worker = host_connect(host);
    struct caller *producer = host_connect(host);
    char room[LINE_ROOM];

    for (unsigned long i = 0; i < count; i++) {
        struct slice reserved;

        caller_say(worker, SLICE("reserve\r\n"));
        (void)caller_ask(producer, SLICE(PUT), SLICE("INSERTED "));
        reserved = caller_hear(worker);
        ENSURE(reserved.len > strlen("RESERVED "));
        (void)caller_ask(worker, delete_command(reserved, room), SLICE("DELETED\r\n"));
    }
}

static const struct bean_options settings = {.max_job_size = 65535};

static const struct budget_case cases[] = {
    {.name = "beanstalk_put", .run = put},
    {.name = "beanstalk_put_pipelined", .run = put_16},
    {.name = "beanstalk_reserve_delete", .run = reserve_delete},
    {.name = "beanstalk_hand_over", .run = hand_over},
    {.name = "beanstalk_durable_put", .run = put, .durable = true},
    {.name = "beanstalk_durable_put_pipelined", .run = put_16, .durable = true},
    {.name = "beanstalk_durable_reserve_delete", .run = reserve_delete, .durable = true},
    {.name = NULL},
};

const struct budget_area beanstalk_area = {
    .frontend = &beanstalk_frontend, .settings = &settings, .cases = cases};
