/* SPDX-License-Identifier: MIT */

// Feeds the beanstalk front-end whatever there is, by three connections over one broker. Most bytes
// are sent as they are; a few, which no client needs, do something else:
//   0xf0 the next connection speaks  0xf1 a turn passes          0xf2 a second passes
//   0xf3 a half-close                0xf4 breaks and reconnects  0xf5 an hour passes
//   0xf6 the store is full, or no longer                         0xf7 the broker is drained
//   0xf8 the next rules hold for the speaker
// The host checks the broker's books after each turn, and that nothing is read beyond the input.

#include "proto_beanstalk/beanstalk.h"

#include "tests/fuzz/fuzz_rules.h"
#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_host.h"

#include "core/base/macros.h"

#include <stdint.h>

#define PEERS 3

struct world {
    struct rig *rig;
    struct peer *peers[PEERS];
    size_t speaker;
    size_t store_room; // how many more records the store has room for
    unsigned rules;    // how often they have changed
};

static void reconnect(struct world *world)
{
    peer_free(world->peers[world->speaker]);
    world->peers[world->speaker] = peer_new(world->rig);
    ENSURE(world->peers[world->speaker]);
}

static void act(struct world *world, uint8_t action)
{
    switch (action) {
    case 0xf0:
        world->speaker = (world->speaker + 1) % PEERS;
        break;
    case 0xf1:
        rig_run(world->rig);
        break;
    case 0xf2:
        rig_advance(world->rig, SECONDS(1));
        break;
    case 0xf3:
        peer_half_close(world->peers[world->speaker]);
        break;
    case 0xf4:
        reconnect(world);
        break;
    case 0xf5:
        rig_advance(world->rig, SECONDS(3600));
        break;
    case 0xf6:
        world->store_room = world->store_room ? 0 : RECORD_QUOTA_PLENTY;
        break;
    case 0xf7:
        broker_drain(rig_broker(world->rig));
        break;
    default:
        fuzz_change_rules(world->peers[world->speaker], &world->rules);
        break;
    }
}

static bool is_action(uint8_t byte)
{
    return byte >= 0xf0 && byte <= 0xf8;
}

static void play(struct world *world, const uint8_t *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        size_t end = at;

        while (end < size && !is_action(data[end])) {
            end++;
        }
        peer_send(world->peers[world->speaker], slice_of((const char *)data + at, end - at));
        if (end < size) {
            act(world, data[end++]);
        }
        at = end;
    }
    rig_run(world->rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bean_options settings = {.max_job_size = 20000};
    struct world world = {.store_room = RECORD_QUOTA_PLENTY};
    struct rig_options options = {.frontend = &beanstalk_frontend,
                                  .settings = &settings,
                                  .broker = {.recorder = &record_quota, .store = &world.store_room},
                                  .budget = (unsigned)(size % 7) + 1};

    world.rig = rig_new(&options);
    ENSURE(world.rig);
    for (size_t i = 0; i < PEERS; i++) {
        world.peers[i] = peer_new(world.rig);
        ENSURE(world.peers[i]);
    }
    fuzz_set_tokens(world.rig);
    play(&world, data, size);
    rig_free(world.rig);
    return 0;
}
