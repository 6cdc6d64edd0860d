/* SPDX-License-Identifier: MIT */

// Feeds the front-end of operators whatever there is, by two connections over one broker, in which
// a beanstalk client has jobs. Most bytes are sent as they are; a few do something else:
//   0xf0 the next connection speaks  0xf1 a minute passes        0xf2 a second passes
//   0xf3 a half-close                0xf4 breaks and reconnects
//   0xf5 the store is full, or no longer                         0xf6 stops to read, or goes on
//   0xf7 what every change must have: the rest of a request's line, and two headers
//   0xf8 the client puts a job, 0xf9 reserves one, 0xfa buries it, 0xfb gives it back
//   0xfc the process reads its journal, or has done so
// Everything is played twice, the second time byte by byte. The host checks the broker's books
// after each turn, and that nothing is read beyond the input.

#include "admin/admin.h"
#include "admin/request/admin_options.h"
#include "proto_beanstalk/beanstalk.h"

#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_host.h"
#include "tests/proto_common/wire_introspect.h"

#include "core/base/macros.h"

#include <stdint.h>
#include <string.h>

#define SPEAKERS 2
// While a moment is pending, each second is a turn of its own.
#define SECONDS_MAX 600

struct world {
    struct rig *rig;
    struct peer *speakers[SPEAKERS];
    struct peer *client;
    struct wire_introspect *introspect;
    size_t speaks;
    unsigned seconds;  // that may still pass
    size_t store_room; // how many more records the store has room for
    bool deaf;
};

static void reconnect(struct world *world)
{
    peer_free(world->speakers[world->speaks]);
    world->speakers[world->speaks] = peer_new(world->rig);
    ENSURE(world->speakers[world->speaks]);
}

static void let_pass(struct world *world, unsigned seconds)
{
    if (seconds <= world->seconds) {
        world->seconds -= seconds;
        rig_advance(world->rig, SECONDS(seconds));
    }
}

static void read_or_not(struct world *world)
{
    world->deaf = !world->deaf;
    if (world->deaf) {
        peer_stop_reading(world->speakers[0]);
    } else {
        peer_read_again(world->speakers[0]);
    }
}

static void say(struct world *world, struct peer *peer, struct slice bytes)
{
    peer_send(peer, bytes);
    rig_run(world->rig);
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
        peer_half_close(world->speakers[world->speaks]);
        break;
    case 0xf4:
        reconnect(world);
        break;
    case 0xf5:
        world->store_room = world->store_room ? 0 : RECORD_QUOTA_PLENTY;
        break;
    case 0xf6:
        read_or_not(world);
        break;
    case 0xf7:
        say(world, world->speakers[world->speaks],
            SLICE(" HTTP/1.1\r\nHost: localhost\r\nX-Tandem-Request: 1\r\n"));
        break;
    case 0xf8:
        say(world, world->client, SLICE("put 1 0 9 3\r\na\xff\"\r\n"));
        break;
    case 0xf9:
        say(world, world->client, SLICE("reserve-with-timeout 0\r\n"));
        break;
    case 0xfa:
        say(world, world->client, SLICE("bury 1 0\r\n"));
        break;
    case 0xfb:
        say(world, world->client, SLICE("release 1 0 5\r\n"));
        break;
    default:
        world->introspect->is_opening = !world->introspect->is_opening;
        break;
    }
}

static bool is_action(uint8_t byte)
{
    return byte >= 0xf0 && byte <= 0xfc;
}

// Bytes, in pieces of that length, up to the next action; returns where that is.
static size_t speak(struct world *world, const uint8_t *data, size_t size, size_t piece)
{
    struct peer *peer = world->speakers[world->speaks];
    size_t end = 0;
    size_t at = 0;

    while (end < size && !is_action(data[end])) {
        end++;
    }
    while (at < end) {
        size_t len = end - at < piece ? end - at : piece;

        say(world, peer, slice_of((const char *)data + at, len));
        at += len;
    }
    return end;
}

static void play(const struct rig_options *options, struct wire_introspect *introspect,
                 const uint8_t *data, size_t size, size_t piece)
{
    struct rig_options mine = *options;
    struct world world = {
        .introspect = introspect, .seconds = SECONDS_MAX, .store_room = RECORD_QUOTA_PLENTY};
    size_t at = 0;

    wire_introspect_init(introspect);
    mine.introspect = &introspect->introspect;
    mine.broker = (struct broker_options){.recorder = &record_quota, .store = &world.store_room};
    world.rig = rig_new(&mine);
    ENSURE(world.rig);
    introspect->broker = rig_broker(world.rig);
    for (size_t i = 0; i < SPEAKERS; i++) {
        world.speakers[i] = peer_new(world.rig);
        ENSURE(world.speakers[i]);
    }
    world.client = peer_new_other(world.rig);
    ENSURE(world.client);
    (void)wire_introspect_add_peer(introspect, world.client);
    while (at < size) {
        at += speak(&world, data + at, size - at, piece);
        if (at < size) {
            act(&world, data[at++]);
        }
    }
    rig_free(world.rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char nothing[] = "", names[] = "beanstalkd,gearman";
    static struct wire_introspect introspect;
    const struct admin_options settings = {
        .max_body = 400,
        .max_header_bytes = 1024,
        .header_timeout = 10,
        .body_timeout = 20,
        .idle_timeout = 75,
        .hosts = nothing,
        .max_series_queues = (int64_t)(size % 3),
        .metrics_names = size % 2 ? names : nothing,
    };
    const struct bean_options bean_settings = {.max_job_size = 65535};
    const struct rig_options options = {.frontend = &admin_frontend,
                                        .settings = &settings,
                                        .other = &beanstalk_frontend,
                                        .other_settings = &bean_settings,
                                        .budget = (unsigned)(size % 7) + 1};

    play(&options, &introspect, data, size, SIZE_MAX);
    play(&options, &introspect, data, size, 1);
    return 0;
}
