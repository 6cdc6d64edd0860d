/* SPDX-License-Identifier: MIT */

// Feeds the HTTP front-end whatever there is, by two connections over one broker, whose jobs a
// Gearman worker does. Most bytes are sent as they are; a few do something else:
//   0xf0 the next connection speaks  0xf1 a minute passes        0xf2 a second passes
//   0xf3 a half-close                0xf4 breaks and reconnects
//   0xf5 the store is full, or no longer                         0xf6 the broker is drained
//   0xf7 the clock is set forward by an hour, and next time back
//   0xf8 the worker is lost, and a new one comes
//   0xf9 the worker grabs a job of function f                    0xfa ... sends a part of a result
//   0xfb ... sends its progress      0xfc ... completes it       0xfd ... fails
// Everything is played twice, the second time byte by byte: who has heard anything else then has
// found a gap between requests. The host checks the broker's books after each turn, and that
// nothing is read beyond the input. The tokens of leases are the same in each play: the first one
// is AQAAAAAAAAAAAAAAAAAAAQ, the next AQAAAAAAAAAAAAAAAAAAAg.

#include "proto_gearman/gearman.h"
#include "proto_http/http.h"

#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_host.h"

#include "core/base/macros.h"

#include <openssl/rand.h>
#include <stdint.h>
#include <string.h>

#define SPEAKERS 2
#define HEADER 12
#define HANDLE_ROOM 64
// While a moment is pending, each second is a turn of its own.
#define SECONDS_MAX 600
#define HASH_START UINT64_C(14695981039346656037)
#define HASH_PRIME UINT64_C(1099511628211)

struct speaker {
    struct peer *peer;
    uint64_t heard; // a hash of all that this and those before it have heard
};

struct world {
    struct rig *rig;
    struct speaker speakers[SPEAKERS];
    struct peer *worker;
    char handle[HANDLE_ROOM]; // of the job that the worker has grabbed last, with its NUL
    size_t handle_len;
    size_t speaks;
    unsigned seconds;  // that may still pass
    size_t store_room; // how many more records the store has room for
    bool clock_ahead;
};

//
// Tokens
//

#define RANDOM_SIZE 16

static unsigned char random_calls;

// In the place of the system's: numbers that differ, and those of a call fall, since tokens are
// given from the last one on.
int RAND_bytes(unsigned char *bytes, int count)
{
    memset(bytes, 0, (size_t)count);
    for (int i = 0; i < count; i += RANDOM_SIZE) {
        bytes[i] = random_calls;
        bytes[i + RANDOM_SIZE - 1] = (unsigned char)((count - i) / RANDOM_SIZE);
    }
    random_calls++;
    return 1;
}

//
// Speakers
//

static void connect_speaker(struct world *world, size_t place)
{
    world->speakers[place].peer = peer_new(world->rig);
    ENSURE(world->speakers[place].peer);
}

// Takes what it has heard meanwhile into account.
static void listen_to(struct speaker *speaker)
{
    struct slice heard = peer_hear(speaker->peer);

    for (size_t i = 0; i < heard.len; i++) {
        speaker->heard = (speaker->heard ^ (unsigned char)heard.ptr[i]) * HASH_PRIME;
    }
}

static void reconnect(struct world *world)
{
    struct speaker *speaker = &world->speakers[world->speaks];

    listen_to(speaker);
    speaker->heard = (speaker->heard ^ 1) * HASH_PRIME;
    peer_free(speaker->peer);
    connect_speaker(world, world->speaks);
}

//
// The worker
//

static void send_packet(struct world *world, char type, struct slice first, struct slice second)
{
    char header[HEADER] = "\0REQ";

    header[7] = type;
    header[11] = (char)(first.len + second.len);
    peer_send(world->worker, slice_of(header, sizeof header));
    peer_send(world->worker, first);
    peer_send(world->worker, second);
    rig_run(world->rig);
}

static void connect_worker(struct world *world)
{
    world->worker = peer_new_other(world->rig);
    ENSURE(world->worker);
    send_packet(world, 1, SLICE("f"), SLICE("")); // CAN_DO
}

static void grab(struct world *world)
{
    struct slice heard;

    (void)peer_hear(world->worker);
    send_packet(world, 9, SLICE(""), SLICE("")); // GRAB_JOB
    heard = peer_hear(world->worker);
    if (heard.len > HEADER && heard.ptr[7] == 11) { // JOB_ASSIGN
        heard = slice_from(heard, HEADER);
        world->handle_len = strlen(heard.ptr) + 1;
        ENSURE(world->handle_len <= sizeof world->handle);
        memcpy(world->handle, heard.ptr, world->handle_len);
    }
}

static void report(struct world *world, uint8_t action)
{
    struct slice handle = slice_of(world->handle, world->handle_len);

    switch (action) {
    case 0xfa:
        send_packet(world, 28, handle, SLICE("a part of it")); // WORK_DATA
        break;
    case 0xfb:
        send_packet(world, 12, handle, SLICE("1\0002")); // WORK_STATUS
        break;
    case 0xfc:
        send_packet(world, 13, handle, SLICE("\xff")); // WORK_COMPLETE
        break;
    default:
        handle.len = handle.len ? handle.len - 1 : 0;
        send_packet(world, 14, handle, SLICE("")); // WORK_FAIL
        break;
    }
}

//
// The play
//

static void let_pass(struct world *world, unsigned seconds)
{
    if (seconds <= world->seconds) {
        world->seconds -= seconds;
        rig_advance(world->rig, SECONDS(seconds));
    }
}

static void set_clock(struct world *world)
{
    rig_set_clock(world->rig, world->clock_ahead ? SECONDS(-3600) : SECONDS(3600));
    world->clock_ahead = !world->clock_ahead;
}

static void act(struct world *world, uint8_t action)
{
    switch (action) {
    case 0xf0:
        world->speaks = (world->speaks + 1) % SPEAKERS;
        break;
    case 0xf1:
        let_pass(world, 60);
        break;
    case 0xf2:
        let_pass(world, 1);
        break;
    case 0xf3:
        peer_half_close(world->speakers[world->speaks].peer);
        break;
    case 0xf4:
        reconnect(world);
        break;
    case 0xf5:
        world->store_room = world->store_room ? 0 : RECORD_QUOTA_PLENTY;
        break;
    case 0xf6:
        broker_drain(rig_broker(world->rig));
        break;
    case 0xf7:
        set_clock(world);
        break;
    case 0xf8:
        peer_free(world->worker);
        connect_worker(world);
        break;
    case 0xf9:
        grab(world);
        break;
    default:
        report(world, action);
        break;
    }
}

static bool is_action(uint8_t byte)
{
    return byte >= 0xf0 && byte <= 0xfd;
}

// Bytes, in pieces of that length, up to the next action; returns where that is.
static size_t speak(struct world *world, const uint8_t *data, size_t size, size_t piece)
{
    struct peer *peer = world->speakers[world->speaks].peer;
    size_t end = 0;
    size_t at = 0;

    while (end < size && !is_action(data[end])) {
        end++;
    }
    while (at < end) {
        size_t len = end - at < piece ? end - at : piece;

        peer_send(peer, slice_of((const char *)data + at, len));
        rig_run(world->rig);
        at += len;
    }
    return end;
}

static void play(const struct rig_options *options, const uint8_t *data, size_t size, size_t piece,
                 struct world *world)
{
    struct rig_options mine = *options;
    size_t at = 0;

    random_calls = 0;
    *world = (struct world){.seconds = SECONDS_MAX, .store_room = RECORD_QUOTA_PLENTY};
    mine.broker = (struct broker_options){.recorder = &record_quota, .store = &world->store_room};
    world->rig = rig_new(&mine);
    ENSURE(world->rig);
    for (size_t i = 0; i < SPEAKERS; i++) {
        world->speakers[i].heard = HASH_START;
        connect_speaker(world, i);
    }
    connect_worker(world);
    while (at < size) {
        at += speak(world, data + at, size - at, piece);
        if (at < size) {
            act(world, data[at++]);
        }
    }
    for (size_t i = 0; i < SPEAKERS; i++) {
        listen_to(&world->speakers[i]);
    }
    rig_free(world->rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char nothing[] = "", origins[] = "http://app.example", functions[] = "f,g*";
    const struct web_options settings = {
        .max_body = 300,
        .max_result = 30,
        .max_header_bytes = 1024,
        .header_timeout = 10,
        .body_timeout = 20,
        .idle_timeout = 75,
        .wait_timeout = (int64_t)(size % 3) * 30,
        .lease = 5,
        .idempotency_for = SECONDS(60),
        .max_kept_answers = 2000,
        .max_leases = (int64_t)(size % 4) + 2,
        .status_codes = size % 4 == 3 ? WEB_CODES_GEARMAND : WEB_CODES_HONEST,
        .cors_origins = size % 5 == 4 ? origins : nothing,
        .hosts = nothing,
        .functions = size % 6 == 5 ? functions : nothing,
        .tokens = nothing,
        .job_retries = (int64_t)(size % 4) - 1,
        .on_fail = size % 5 < 2 ? CONTRACT_FAIL_BURIES : CONTRACT_FAIL_DROPS,
        .handle_prefix = nothing,
    };
    const struct gear_options gear_settings = {
        .max_job_size = 20000, .max_unread = 3000, .job_retries = -1, .handle_prefix = nothing};
    const struct rig_options options = {.frontend = &http_frontend,
                                        .settings = &settings,
                                        .other = &gearman_frontend,
                                        .other_settings = &gear_settings,
                                        .budget = (unsigned)(size % 7) + 1};
    struct world whole, cut;

    play(&options, data, size, SIZE_MAX, &whole);
    play(&options, data, size, 1, &cut);
    for (size_t i = 0; i < SPEAKERS; i++) {
        ENSURE(whole.speakers[i].heard == cut.speakers[i].heard);
    }
    return 0;
}
