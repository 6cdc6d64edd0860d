/* SPDX-License-Identifier: MIT */

// Feeds the Gearman front-end whatever there is, by three connections over one broker, which a
// beanstalk client shares. Most bytes are sent as they are; a few do something else:
//   0xf0 the next connection speaks  0xf1 a turn passes          0xf2 a second passes
//   0xf3 a half-close                0xf4 breaks and reconnects  0xf5 a minute passes
//   0xf6 the store is full, or no longer                         0xf7 the broker is drained
//   0xf8 the clock is set forward by an hour, and next time back
//   0xf9 the speaker stops to read, and next time reads again
//   0xfc the next rules hold for the speaker
//   0xfa begins a packet: its type, then its body as far as 0xfb; its length is counted for it
// The host checks the broker's books after each turn, and that nothing is read beyond the input.

#include "proto_beanstalk/beanstalk.h"
#include "proto_gearman/gearman.h"

#include "tests/fuzz/fuzz_rules.h"
#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_host.h"

#include "core/base/macros.h"

#include <stdint.h>

#define GEARMAN_PEERS 3
#define PEERS 4
#define HEADER 12
// While a moment is pending, each second is a turn of its own.
#define SECONDS_MAX 600

struct speaker {
    struct peer *peer;
    bool deaf;
};

struct world {
    struct rig *rig;
    struct speaker speakers[PEERS];
    size_t speaks;
    unsigned seconds;  // that may still pass
    size_t store_room; // how many more records the store has room for
    bool clock_ahead;
    unsigned rules; // how often they have changed
};

static void connect_speaker(struct world *world, size_t place)
{
    struct peer *peer = place < GEARMAN_PEERS ? peer_new(world->rig) : peer_new_other(world->rig);

    ENSURE(peer);
    world->speakers[place] = (struct speaker){.peer = peer};
}

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

static void turn_ears(struct speaker *speaker)
{
    speaker->deaf = !speaker->deaf;
    if (speaker->deaf) {
        peer_stop_reading(speaker->peer);
    } else {
        peer_read_again(speaker->peer);
    }
}

static void act(struct world *world, uint8_t action)
{
    struct speaker *speaker = &world->speakers[world->speaks];

    switch (action) {
    case 0xf0:
        world->speaks = (world->speaks + 1) % PEERS;
        break;
    case 0xf1:
        rig_run(world->rig);
        break;
    case 0xf2:
        let_pass(world, 1);
        break;
    case 0xf3:
        peer_half_close(speaker->peer);
        break;
    case 0xf4:
        peer_free(speaker->peer);
        connect_speaker(world, world->speaks);
        break;
    case 0xf5:
        let_pass(world, 60);
        break;
    case 0xf6:
        world->store_room = world->store_room ? 0 : RECORD_QUOTA_PLENTY;
        break;
    case 0xf7:
        broker_drain(rig_broker(world->rig));
        break;
    case 0xf8:
        set_clock(world);
        break;
    case 0xf9:
        turn_ears(speaker);
        break;
    default:
        fuzz_change_rules(speaker->peer, &world->rules);
        break;
    }
}

static bool is_action(uint8_t byte)
{
    return (byte >= 0xf0 && byte <= 0xf9) || byte == 0xfc;
}

// Sends a packet whose type is at `at` and whose body follows; returns where it ends.
static size_t send_packet(struct world *world, const uint8_t *data, size_t size, size_t at)
{
    struct peer *peer = world->speakers[world->speaks].peer;
    char header[HEADER] = "\0REQ";
    size_t start = at < size ? at + 1 : at;
    size_t end = start;

    while (end < size && data[end] != 0xfb) {
        end++;
    }
    header[7] = (char)(at < size ? data[at] : 0);
    header[10] = (char)((end - start) >> 8 & 0xff);
    header[11] = (char)((end - start) & 0xff);
    peer_send(peer, slice_of(header, sizeof header));
    peer_send(peer, slice_of((const char *)data + start, end - start));
    return end < size ? end + 1 : end;
}

static void play(struct world *world, const uint8_t *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        size_t end = at;

        while (end < size && !is_action(data[end]) && data[end] != 0xfa) {
            end++;
        }
        peer_send(world->speakers[world->speaks].peer, slice_of((const char *)data + at, end - at));
        if (end < size && data[end] == 0xfa) {
            end = send_packet(world, data, size, end + 1);
        } else if (end < size) {
            act(world, data[end++]);
        }
        at = end;
    }
    rig_run(world->rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char no_prefix[] = "";
    const struct gear_options settings = {
        .max_job_size = 20000,
        .max_unread = 3000,
        .job_retries = (int64_t)(size % 4) - 1,
        .worker_wakeup = (int64_t)(size % 3),
        .on_timeout = size % 2 ? GEAR_TIMEOUT_FAILS : GEAR_TIMEOUT_RETRIES,
        .on_fail = size % 5 < 2 ? CONTRACT_FAIL_BURIES : CONTRACT_FAIL_DROPS,
        .handle_prefix = no_prefix,
    };
    static const struct bean_options bean_settings = {.max_job_size = 20000};
    struct world world = {.seconds = SECONDS_MAX, .store_room = RECORD_QUOTA_PLENTY};
    struct rig_options options = {.frontend = &gearman_frontend,
                                  .settings = &settings,
                                  .other = &beanstalk_frontend,
                                  .other_settings = &bean_settings,
                                  .broker = {.recorder = &record_quota, .store = &world.store_room},
                                  .budget = (unsigned)(size % 7) + 1};

    world.rig = rig_new(&options);
    ENSURE(world.rig);
    for (size_t i = 0; i < PEERS; i++) {
        connect_speaker(&world, i);
    }
    fuzz_set_tokens(world.rig);
    play(&world, data, size);
    rig_free(world.rig);
    return 0;
}
