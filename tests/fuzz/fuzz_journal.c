/* SPDX-License-Identifier: MIT */

// Makes a journal of whatever there is, and replays it, with and without repair. Checksums would
// stop anything made up, so most is sealed here. The input is a row of actions, a byte each, with
// what they need behind them:
//   0x01 to 0x0e, n, n bytes   a record of that type with these data, sealed
//   0x11 to 0x1e, n, n bytes   the same, longer by a kilobyte for each n above 128
//   0x20 skip off              the next segment; its number skips some; where the one before it
//                              ends is wrong, by 8 bytes for each `off`
//   0x21 n, 0x22 n n bytes     zeros; bytes as they are
//   0x23 n                     the end is cut off
//   0x24 a b c                 byte a + 256 b of the segment is flipped by c
//   0x25 a b                   ... cannot be read
//   0x26                       all the rest is one file, as it is
// The restored jobs must balance and be the same twice, and a repair must not change intact
// records.

#include "tests/journal/file/forge.h"
#include "tests/journal/file/revive.h"

#include "core/broker.h"
#include "tests/support/broker_check.h"
#include "core/durable_lease.h"
#include "journal/segment.h"

#include <stdint.h>
#include <string.h>

#define SEGMENTS_MAX 6

struct input {
    const uint8_t *at;
    const uint8_t *end;
};

struct world {
    struct fake_disk *disk;
    struct forge forge; // the youngest segment
    unsigned segments;
    uint64_t broken_at;
    bool drops; // a record says that a segment is not needed, which may be wrong
};

static uint8_t next(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

static struct slice next_bytes(struct input *input, size_t len)
{
    size_t left = (size_t)(input->end - input->at);
    struct slice bytes = slice_of((const char *)input->at, len < left ? len : left);

    input->at += bytes.len;
    return bytes;
}

static void put_segment(struct world *world)
{
    char name[SEGMENT_NAME_MAX];

    forge_put(&world->forge, world->disk);
    segment_name(world->forge.number, name);
    fake_disk_break(world->disk, name, world->broken_at);
    world->broken_at = UINT64_MAX;
}

static void begin_segment(struct world *world, struct input *input)
{
    uint64_t number = world->forge.number + 1 + next(input) % 8;
    uint64_t end = world->forge.len - 8 * (uint64_t)next(input);

    if (world->segments < SEGMENTS_MAX) {
        put_segment(world);
        forge_begin(&world->forge, number, end);
        world->segments++;
    }
}

static void add_record(struct world *world, uint8_t type, size_t more, struct input *input)
{
    struct slice data = next_bytes(input, next(input));
    size_t len = data.len + (data.len > 128 ? (data.len - 128) * more : 0);
    size_t at = world->forge.len;
    char head[CODEC_NUMBER_SIZE];

    world->drops |= type == CODEC_DROPPED;
    codec_put_number(head, CODEC_END, 0);
    for (int i = 0; i < 4; i++) {
        head[8 + i] = (char)(len >> (8 * i));
    }
    head[12] = (char)type;
    forge_bytes(&world->forge, slice_of(head, CODEC_HEAD));
    forge_bytes(&world->forge, data);
    forge_zeros(&world->forge, codec_padded(CODEC_HEAD + len) - CODEC_HEAD - data.len);
    codec_seal(world->forge.bytes + at, world->forge.len - at, slice_of(NULL, 0), world->forge.salt,
               at);
}

static size_t next_place(struct world *world, struct input *input)
{
    size_t place = next(input);

    return (place + 256u * next(input)) % (world->forge.len ? world->forge.len : 1);
}

static void flip(struct world *world, struct input *input)
{
    size_t place = next_place(world, input);

    if (world->forge.len > 0) {
        world->forge.bytes[place] = (char)((uint8_t)world->forge.bytes[place] ^ next(input));
    }
}

static void cut(struct world *world, struct input *input)
{
    size_t len = next(input);

    world->forge.len -= len < world->forge.len ? len : world->forge.len;
}

static void take_rest(struct world *world, struct input *input)
{
    world->forge.len = 0;
    forge_bytes(&world->forge, next_bytes(input, SIZE_MAX));
}

static void act(struct world *world, uint8_t action, struct input *input)
{
    if (action >= CODEC_JOB && action <= CODEC_LAST) {
        add_record(world, action, 0, input);
    } else if (action >= 0x11 && action <= 0x10 + CODEC_LAST) {
        add_record(world, action & 15, 1024, input);
    } else if (action == 0x20) {
        begin_segment(world, input);
    } else if (action == 0x21) {
        forge_zeros(&world->forge, next(input));
    } else if (action == 0x22) {
        forge_bytes(&world->forge, next_bytes(input, next(input)));
    } else if (action == 0x23) {
        cut(world, input);
    } else if (action == 0x24) {
        flip(world, input);
    } else if (action == 0x25) {
        world->broken_at = next_place(world, input);
    } else if (action == 0x26) {
        take_rest(world, input);
    }
}

// A summary of the restored jobs.
struct sum {
    bool good;
    bool clean; // there was nothing to warn of
    bool damaged;
    uint64_t jobs;
    uint64_t ids_end;
};

// Leases are resumed, whatever their records say, or else discarded.
static void resume_leases(struct broker *broker)
{
    static const struct session_ops ops = {0};
    struct session *session;
    struct durable_lease lease;
    uint64_t cursor = 0;

    ENSURE(broker_session_open(broker, &ops, NULL, CHOICE_OLDEST, &session) == STATUS_OK);
    while (broker_durable_lease_next(broker, &cursor, &lease)) {
        if (broker_lease_resume(session, &lease) != STATUS_OK) {
            broker_lease_discard(broker, lease.job_id);
        }
    }
    broker_check(broker);
    broker_session_close(session);
}

static struct sum replay(const struct fake_disk *original, bool repair)
{
    struct fake_disk *disk = fake_disk_copy(original);
    struct revived revived;
    struct broker_info info;
    struct sum sum;

    revive(&revived, disk, repair);
    ENSURE(revived.good || revived.why.text[0]);
    broker_info(revived.broker, &info);
    sum = (struct sum){.good = revived.good,
                       .clean = revived.log[0] == 0,
                       .damaged = revived.damaged,
                       .ids_end = revived.ids_end};
    for (int state = 0; state < JOB_STATES; state++) {
        sum.jobs += info.jobs[state];
    }
    if (revived.good) {
        resume_leases(revived.broker);
    }
    revived_free(&revived);
    fake_disk_free(disk);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = {.disk = fake_disk_new(), .broken_at = UINT64_MAX};
    struct input input = {.at = data, .end = data + size};
    struct sum plain, again, repaired;

    forge_begin(&world.forge, 1 + next(&input) % 3, 0);
    while (input.at < input.end) {
        act(&world, next(&input), &input);
    }
    put_segment(&world);
    plain = replay(world.disk, false);
    again = replay(world.disk, false);
    repaired = replay(world.disk, true);
    ENSURE(plain.good == again.good && plain.jobs == again.jobs && plain.ids_end == again.ids_end);
    if (plain.good && plain.clean && !world.drops) {
        ENSURE(repaired.good && !repaired.damaged && repaired.jobs == plain.jobs);
        ENSURE(repaired.ids_end == plain.ids_end);
    }
    ENSURE(!plain.good || repaired.good);
    forge_free(&world.forge);
    fake_disk_free(world.disk);
    return 0;
}
