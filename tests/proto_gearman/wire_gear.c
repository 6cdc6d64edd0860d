/* SPDX-License-Identifier: MIT */
#include "tests/proto_gearman/wire_gear.h"

#include "tests/proto_common/record_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 12
#define TEXT_MAX 8192
#define SHOWN_MAX 60
// All packets and strings of one test.
#define ARENA_MAX ((size_t)64 << 20)

#define X(name, number) const char name[2] = {(number), '\0'};
GEAR_TYPES(X)
#undef X

static char arena[ARENA_MAX];
static size_t arena_used;

static char *arena_take(size_t len)
{
    char *start = arena + arena_used;

    assert_true(len <= ARENA_MAX - arena_used);
    arena_used += len;
    return start;
}

//
// Setup
//

char gear_no_prefix[] = "";

int gear_setup_with(void **state, struct rig_options options, struct gear_options settings)
{
    struct gear *gear = calloc(1, sizeof *gear);

    assert_non_null(gear);
    arena_used = 0;
    gear->settings = settings;
    gear->bean_settings.max_job_size = 65535;
    gear->store_room = RECORD_QUOTA_PLENTY;
    options.frontend = &gearman_frontend;
    options.settings = &gear->settings;
    options.other = &beanstalk_frontend;
    options.other_settings = &gear->bean_settings;
    options.broker.recorder = &record_quota;
    options.broker.store = &gear->store_room;
    gear->rig = rig_new(&options);
    assert_non_null(gear->rig);
    gear->a = peer_new(gear->rig);
    gear->b = peer_new(gear->rig);
    gear->c = peer_new(gear->rig);
    assert_true(gear->a && gear->b && gear->c);
    *state = gear;
    return 0;
}

int gear_setup(void **state)
{
    return gear_setup_with(state, (struct rig_options){0}, GEAR_DEFAULTS);
}

int gear_setup_meeting(void **state)
{
    struct gear *gear;

    gear_setup(state);
    gear = *state;
    gear->m = peer_new_other(gear->rig);
    gear->n = peer_new_other(gear->rig);
    assert_true(gear->m && gear->n);
    return 0;
}

int gear_teardown(void **state)
{
    struct gear *gear = *state;

    rig_free(gear->rig);
    free(gear);
    return 0;
}

//
// Packets
//

static void put_number(char *at, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (char)(number >> (24 - 8 * i) & 0xff);
    }
}

static uint32_t get_number(const char *at)
{
    uint32_t number = 0;

    for (int i = 0; i < 4; i++) {
        number = number << 8 | (unsigned char)at[i];
    }
    return number;
}

struct slice gear_raw(const char *magic, uint32_t type, uint32_t announced, struct slice body)
{
    char *start = arena_take(HEADER + body.len);

    start[0] = '\0';
    memcpy(start + 1, magic, 3);
    put_number(start + 4, type);
    put_number(start + 8, announced);
    memcpy(start + HEADER, body.ptr, body.len);
    return slice_of(start, HEADER + body.len);
}

struct slice gear_packet(const char *magic, const char *const words[GEAR_WORDS_MAX])
{
    size_t len = 0;
    char *body;

    for (size_t i = 1; words[i]; i++) {
        len += strlen(words[i]) + (i > 1);
    }
    body = arena_take(len + 1);
    len = 0;
    for (size_t i = 1; words[i]; i++) {
        if (i > 1) {
            body[len++] = '\0';
        }
        memcpy(body + len, words[i], strlen(words[i]));
        len += strlen(words[i]);
    }
    return gear_raw(magic, (unsigned char)words[0][0], (uint32_t)len, slice_of(body, len));
}

struct slice gear_many(const struct slice *packets, size_t count)
{
    size_t len = 0;
    char *start;

    for (size_t i = 0; i < count; i++) {
        len += packets[i].len;
    }
    start = arena_take(len);
    len = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(start + len, packets[i].ptr, packets[i].len);
        len += packets[i].len;
    }
    return slice_of(start, len);
}

const char *gear_handle(uint64_t id)
{
    static char handles[16][64];
    static size_t next;
    char *handle = handles[next++ % 16];

    (void)snprintf(handle, sizeof *handles, GEAR_PREFIX "%llu", (unsigned long long)id);
    return handle;
}

const char *gear_run(char byte, size_t len)
{
    char *start = arena_take(len + 1);

    memset(start, byte, len);
    start[len] = '\0';
    return start;
}

//
// Bytes as readable text
//

struct text {
    char chars[TEXT_MAX];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list args;

    if (text->len + SHOWN_MAX < TEXT_MAX) {
        va_start(args, format);
        text->len += (size_t)vsnprintf(text->chars + text->len, SHOWN_MAX, format, args);
        va_end(args);
    }
}

// Arguments are separated by bars.
static void add_bytes(struct text *text, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len && i < SHOWN_MAX; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];

        if (c == '\0') {
            add(text, "|");
        } else {
            add(text, c >= ' ' && c < 127 ? "%c" : "\\x%02x", c);
        }
    }
    if (bytes.len > SHOWN_MAX) {
        add(text, "... (%zu bytes)", bytes.len);
    }
}

static const char *type_name(uint32_t type)
{
#define X(name, number) [number] = #name,
    static const char *const names[] = {GEAR_TYPES(X)};
#undef X

    return type < sizeof names / sizeof *names && names[type] ? names[type] : "?";
}

static bool is_packet(struct slice bytes)
{
    return bytes.len >= HEADER && bytes.ptr[0] == '\0' &&
           get_number(bytes.ptr + 8) <= bytes.len - HEADER;
}

static const char *readable(struct slice bytes, struct text *text)
{
    text->len = 0;
    text->chars[0] = '\0';
    while (is_packet(bytes)) {
        size_t len = get_number(bytes.ptr + 8);

        add(text, "\n    %.3s %s (%u) ", bytes.ptr + 1, type_name(get_number(bytes.ptr + 4)),
            get_number(bytes.ptr + 4));
        add_bytes(text, slice_of(bytes.ptr + HEADER, len));
        bytes = slice_from(bytes, HEADER + len);
    }
    if (bytes.len) {
        add(text, "\n    bytes: ");
        add_bytes(text, bytes);
    }
    return text->chars;
}

//
// Sessions
//

static void must_be(struct slice got, struct slice expected, const char *file, int line)
{
    static struct text is, should;

    if (!slice_equal(got, expected)) {
        print_error("heard:%s\nexpected:%s\n", readable(got, &is), readable(expected, &should));
        _fail(file, line);
    }
}

void gear_hears_at(struct peer *peer, struct slice heard, const char *file, int line)
{
    must_be(peer_hear(peer), heard, file, line);
}

void gear_says_at(struct peer *peer, struct slice said, struct slice heard, const char *file,
                  int line)
{
    static struct text text;
    struct slice before = peer_hear(peer);

    if (before.len) {
        print_error("heard before it said anything:%s\n", readable(before, &text));
        _fail(file, line);
    }
    peer_send(peer, said);
    rig_run(peer_rig(peer));
    gear_hears_at(peer, heard, file, line);
}

void gear_fails_at(struct peer *peer, struct slice said, const char *code, const char *file,
                   int line)
{
    static struct text text;
    struct slice got = peer_ask(peer, said);
    size_t len = strlen(code);

    if (!is_packet(got) || get_number(got.ptr + 4) != (unsigned char)ERROR[0] ||
        get_number(got.ptr + 8) != got.len - HEADER || got.len < HEADER + len + 1 ||
        memcmp(got.ptr + HEADER, code, len + 1) != 0) {
        print_error("heard:%s\nexpected:\n    ERROR %s\n", readable(got, &text), code);
        _fail(file, line);
    }
}

// The id in the handle at the beginning of a packet of that type; 0: it is another packet.
static uint64_t id_in(struct slice packet, const char *type)
{
    struct slice prefix = SLICE(GEAR_PREFIX);

    if (!is_packet(packet) || get_number(packet.ptr + 4) != (unsigned char)type[0] ||
        packet.len <= HEADER + prefix.len ||
        memcmp(packet.ptr + HEADER, prefix.ptr, prefix.len) != 0) {
        return 0;
    }
    return strtoull(packet.ptr + HEADER + prefix.len, NULL, 10);
}

uint64_t gear_submits_at(struct peer *peer, struct slice said, const char *file, int line)
{
    struct slice got = peer_ask(peer, said);
    uint64_t id = id_in(got, JOB_CREATED);

    must_be(got, RES(JOB_CREATED, gear_handle(id)), file, line);
    return id;
}

uint64_t gear_grabs_at(struct peer *peer, const char *function, const char *body, const char *file,
                       int line)
{
    struct slice got = peer_ask(peer, REQ(GRAB_JOB));
    uint64_t id = id_in(got, JOB_ASSIGN);

    must_be(got, RES(JOB_ASSIGN, gear_handle(id), function, body), file, line);
    return id;
}

uint64_t gear_jobs(const struct gear *t, const char *queue, enum job_state state)
{
    struct broker *broker = rig_broker(t->rig);
    const struct queue *found = broker_queue_find(broker, slice_str(queue));
    struct queue_info info;

    if (!found) {
        return 0;
    }
    broker_queue_info(broker, found, &info);
    return info.jobs[state];
}

struct job_info gear_job(const struct gear *t, uint64_t id)
{
    struct broker *broker = rig_broker(t->rig);
    const struct job *job = broker_find(broker, id);
    struct job_info info;

    assert_non_null(job);
    broker_job_info(broker, job, &info);
    return info;
}
