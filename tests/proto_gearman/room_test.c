/* SPDX-License-Identifier: MIT */

// The memory for a client that does not read: little more than its unread bytes.

#include "tests/proto_gearman/wire_gear.h"
#include "tests/support/live_bytes.h"

// The growth of other memory: arrays that double, blocks of slabs.
#define BESIDE ((size_t)1024 * 1024)

static int unchecked(void **state)
{
    return gear_setup_with(state, (struct rig_options){.unchecked = true}, GEAR_DEFAULTS);
}

// Sends events of a job, of `bytes` each, which its client does not read.
static void unread_events_take(struct gear *t, size_t count, size_t len)
{
    struct slice event = REQ(WORK_DATA, H(1), gear_run('d', len));
    size_t before;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->b, "f", "x");
    peer_stop_reading(t->a);
    before = live_bytes();
    for (size_t i = 0; i < count; i++) {
        gear_says(t->b, event, NOTHING);
    }
    assert_true(peer_unread(t->a) >= count * len);
    assert_in_range(live_bytes() - before, 0, peer_unread(t->a) * 21 / 20 + BESIDE);
    peer_read_again(t->a);
    assert_in_range(live_bytes() - before, 0, BESIDE + BESIDE / 2);
}

static void unread_events_need_little_more_memory_than_their_bytes(void **state)
{
    static const size_t lengths[] = {1, 10, 500, 2048, 2049, 5000};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        gear_teardown(state);
        unchecked(state);
        unread_events_take(*state, lengths[i] < 500 ? 200000 : 2000, lengths[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(unread_events_need_little_more_memory_than_their_bytes,
                                        unchecked, gear_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
