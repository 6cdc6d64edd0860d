/* SPDX-License-Identifier: MIT */

// How long clients and workers may take: idle_timeout and body_timeout.

#include "tests/proto_gearman/wire_gear.h"

static void idle_peer_is_disconnected_without_a_reply(void **state)
{
    struct gear *t = *state;

    t->settings.idle_timeout = 60;
    gear_says(t->a, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
    rig_advance(t->rig, SECONDS(60) - 1);
    assert_false(peer_closed(t->a));
    rig_advance(t->rig, 1);
    gear_hears(t->a, NOTHING);
    assert_true(peer_closed(t->a));
}

static void sleeping_worker_is_not_idle_but_one_that_is_awake_is(void **state)
{
    struct gear *t = *state;

    t->settings.idle_timeout = 60;
    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    rig_advance(t->rig, SECONDS(1000));
    assert_false(peer_closed(t->a));
    assert_true(peer_closed(t->b));
}

static void client_that_waits_and_worker_that_works_are_not_idle(void **state)
{
    struct gear *t = *state;

    t->settings.idle_timeout = 60;
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->c, REQ(SUBMIT_JOB_BG, "g", "", "x"), RES(JOB_CREATED, H(2)));
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, H(1), "f", "x"));
    rig_advance(t->rig, SECONDS(1000));
    assert_true(peer_closed(t->c));
    gear_says(t->b, REQ(WORK_COMPLETE, H(1), "r"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "r"));
    rig_advance(t->rig, SECONDS(60));
    assert_true(peer_closed(t->a));
    assert_true(peer_closed(t->b));
}

// The first `len` bytes of a packet.
static struct slice beginning(struct slice packet, size_t len)
{
    return slice_of(packet.ptr, len);
}

static void slow_packet_gets_an_error_and_a_disconnect(void **state)
{
    struct gear *t = *state;
    // A packet that the host stores until it is complete, one whose data is received in pieces, and
    // one whose header is incomplete.
    struct slice packets[] = {
        beginning(REQ(SUBMIT_JOB, "f", "u", "some data"), 16),
        beginning(REQ(SUBMIT_JOB, "f", "u", gear_run('x', 100000)), 20000),
        beginning(REQ(SUBMIT_JOB, "f", "u", gear_run('x', 100000)), 3),
    };

    t->settings.body_timeout = 10;
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        struct peer *peer = peer_new(t->rig);

        gear_says(peer, packets[i], NOTHING);
        rig_advance(t->rig, SECONDS(10) - 1);
        gear_hears(peer, NOTHING);
        rig_advance(t->rig, 1);
        gear_hears(peer, RES(ERROR, "TIMEOUT", "The packet took too long to arrive"));
        assert_true(peer_closed(peer));
        peer_free(peer);
    }
    assert_null(broker_find(rig_broker(t->rig), 1));
}

static void data_that_advances_by_a_kib_is_not_slow(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB_BG, "f", "u", gear_run('x', 100000));

    t->settings.body_timeout = 10;
    gear_says(t->a, beginning(packet, 20000), NOTHING);
    for (size_t at = 20000; packet.len - at > 2000; at += 2000) {
        rig_advance(t->rig, SECONDS(9));
        gear_says(t->a, slice_of(packet.ptr + at, 2000), NOTHING);
    }
    assert_false(peer_closed(t->a));
}

static void slow_line_of_text_is_disconnected_without_a_reply(void **state)
{
    struct gear *t = *state;

    t->settings.body_timeout = 10;
    gear_says(t->a, SLICE("stat"), NOTHING);
    rig_advance(t->rig, SECONDS(10));
    gear_hears(t->a, NOTHING);
    assert_true(peer_closed(t->a));
    assert_false(peer_closed(t->b));
}

static void worker_whose_report_is_too_slow_gives_its_job_back(void **state)
{
    struct gear *t = *state;

    t->settings.body_timeout = 10;
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, REQ(GRAB_JOB), RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->b, beginning(REQ(WORK_DATA, H(1), gear_run('x', 100000)), 30000), NOTHING);
    rig_advance(t->rig, SECONDS(10));
    assert_true(peer_closed(t->b));
    gear_says(t->c, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(idle_peer_is_disconnected_without_a_reply),
        GEAR(sleeping_worker_is_not_idle_but_one_that_is_awake_is),
        GEAR(client_that_waits_and_worker_that_works_are_not_idle),
        GEAR(slow_packet_gets_an_error_and_a_disconnect),
        GEAR(data_that_advances_by_a_kib_is_not_slow),
        GEAR(slow_line_of_text_is_disconnected_without_a_reply),
        GEAR(worker_whose_report_is_too_slow_gives_its_job_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
