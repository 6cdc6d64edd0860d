/* SPDX-License-Identifier: MIT */
#include "tests/budget/cases.h"

#include "core/base/macros.h"
#include "proto_gearman/gearman.h"

#include <stdio.h>
#include <string.h>

#define FUNCTION "jobs"
#define HEADER_LEN 12
#define HANDLE_MAX 64
#define PACKET_MAX 300
#define DEPTH 16

// A packet whose length fits a byte: `type` and `len` are string literals of one byte each.
#define REQUEST(type, len) "\0REQ\0\0\0" type "\0\0\0" len
#define ANSWER(type) SLICE("\0RES\0\0\0" type)

#define CAN_DO SLICE(REQUEST("\001", "\004") FUNCTION)
#define PRE_SLEEP SLICE(REQUEST("\004", "\000"))
#define GRAB_JOB SLICE(REQUEST("\011", "\000"))
// The length covers the function, a NUL, the unique id, a NUL, and 64 bytes.
#define SUBMIT_JOB SLICE(REQUEST("\007", "\106") FUNCTION "\0\0" BODY_64)
#define SUBMIT_JOB_BG SLICE(REQUEST("\022", "\106") FUNCTION "\0\0" BODY_64)
#define UNIQUE_LEN 20
#define SUBMIT_UNIQUE_BG "\0REQ\0\0\0\022\0\0\0\132" FUNCTION

#define NOOP ANSWER("\006")
#define JOB_CREATED ANSWER("\010")
#define NO_JOB ANSWER("\012")
#define JOB_ASSIGN ANSWER("\013")
#define WORK_COMPLETE ANSWER("\015")

static bool begins_with(struct slice text, struct slice start)
{
    return text.len >= start.len && memcmp(text.ptr, start.ptr, start.len) == 0;
}

static struct caller *connect_worker(struct host *host)
{
    struct caller *worker = host_connect(host);

    caller_say(worker, CAN_DO);
    host_turn_aside(host);
    return worker;
}

// Writes WORK_COMPLETE for the job of a JOB_ASSIGN packet, followed by the packet `next`.
static struct slice complete(struct slice assigned, struct slice next, char *room)
{
    static const char header[HEADER_LEN] = "\0REQ\0\0\0\015";
    static const char result[] = {'d', 'o', 'n', 'e'};
    size_t handle_len = strlen(assigned.ptr + HEADER_LEN) + 1;
    char *at = room + HEADER_LEN;

    ENSURE(handle_len < HANDLE_MAX);
    memcpy(room, header, HEADER_LEN);
    memcpy(at, assigned.ptr + HEADER_LEN, handle_len);
    at += handle_len;
    memcpy(at, result, sizeof result);
    at += sizeof result;
    room[HEADER_LEN - 1] = (char)(handle_len + sizeof result);
    memcpy(at, next.ptr, next.len);
    return slice_of(room, (size_t)(at - room) + next.len);
}

// No client waits for the job; the worker sends each result together with the next GRAB_JOB.
static void background(struct host *host, unsigned long count)
{
    struct caller *client = host_connect(host);
    struct caller *worker = connect_worker(host);
    char room[PACKET_MAX];

    for (unsigned long i = 0; i < count; i++) {
        struct slice assigned;

        (void)caller_ask(client, SUBMIT_JOB_BG, JOB_CREATED);
        assigned = caller_ask(worker, GRAB_JOB, JOB_ASSIGN);
        (void)caller_ask(worker, complete(assigned, GRAB_JOB, room), NO_JOB);
    }
}

static void submit_pipelined(struct host *host, unsigned long count)
{
    struct caller *client = host_connect(host);
    char packets[DEPTH * PACKET_MAX];
    char *end = packets;

    for (int i = 0; i < DEPTH; i++) {
        memcpy(end, SUBMIT_JOB_BG.ptr, SUBMIT_JOB_BG.len);
        end += SUBMIT_JOB_BG.len;
    }
    for (unsigned long i = 0; i < count; i += DEPTH) {
        (void)caller_ask(client, slice_of(packets, (size_t)(end - packets)), JOB_CREATED);
    }
}

static void submit_unique(struct host *host, unsigned long count)
{
    struct caller *client = host_connect(host);
    char packet[PACKET_MAX];

    for (unsigned long i = 0; i < count; i++) {
        char *at = packet + sizeof SUBMIT_UNIQUE_BG;

        memcpy(packet, SUBMIT_UNIQUE_BG, sizeof SUBMIT_UNIQUE_BG);
        (void)snprintf(at, UNIQUE_LEN + 1, "%0*lu", UNIQUE_LEN, i);
        at += UNIQUE_LEN + 1;
        memcpy(at, BODY_64, sizeof BODY_64);
        at += sizeof BODY_64 - 1;
        (void)caller_ask(client, slice_of(packet, (size_t)(at - packet)), JOB_CREATED);
    }
}

// A client waits for each result; the worker sleeps between jobs.
static void foreground(struct host *host, unsigned long count)
{
    struct caller *client = host_connect(host);
    struct caller *worker = connect_worker(host);
    char room[PACKET_MAX];

    for (unsigned long i = 0; i < count; i++) {
        struct slice assigned;

        caller_say(worker, PRE_SLEEP);
        host_turn(host);
        (void)caller_ask(client, SUBMIT_JOB, JOB_CREATED);
        ENSURE(begins_with(caller_hear(worker), NOOP));
        assigned = caller_ask(worker, GRAB_JOB, JOB_ASSIGN);
        (void)caller_ask(worker, complete(assigned, GRAB_JOB, room), NO_JOB);
        ENSURE(begins_with(caller_hear(client), WORK_COMPLETE));
    }
}

static char handle_prefix[] = "H:host";

static const struct gear_options settings = {.max_job_size = 64 << 20,
                                             .max_unread = 64 << 20,
                                             .job_retries = -1,
                                             .handle_prefix = handle_prefix};

static const struct budget_case cases[] = {
    {.name = "gearman_background", .run = background},
    {.name = "gearman_submit_pipelined", .run = submit_pipelined},
    {.name = "gearman_submit_unique", .run = submit_unique},
    {.name = "gearman_foreground", .run = foreground},
    {.name = "gearman_durable_background", .run = background, .durable = true},
    {.name = NULL},
};

const struct budget_area gearman_area = {
    .frontend = &gearman_frontend, .settings = &settings, .cases = cases};
