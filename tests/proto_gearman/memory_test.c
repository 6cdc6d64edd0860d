/* SPDX-License-Identifier: MIT */

// Each allocation of a session fails once: nothing crashes or leaks, the invariants hold, and a
// peer that is not served gets an error or sees the connection close.

#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"
#include "tests/proto_gearman/wire_gear.h"
#include "tests/proto_gearman/wire_gear_scripts.h"
#include "tests/support/nth_alloc.h"

#include "tests/support/broker_check.h"

#include <string.h>

#define HEARD_MAX 300000

struct outcome {
    char heard[HEARD_MAX];
    size_t len;
    bool refused; // the connection, or a request
};

static bool contains(struct slice bytes, struct slice part)
{
    for (; bytes.len >= part.len; bytes = slice_from(bytes, 1)) {
        if (memcmp(bytes.ptr, part.ptr, part.len) == 0) {
            return true;
        }
    }
    return false;
}

// Plays the script while the n-th allocation fails. False: there were fewer than n.
static bool play(const struct gear_script *script, size_t piece, size_t n, struct outcome *outcome)
{
    struct gear_options settings = GEAR_DEFAULTS;
    struct slice said = script->said;
    struct slice heard = NOTHING;
    struct peer *peer;
    struct gear *t;
    void *state;
    bool failed;

    settings.max_job_size = script->max_job_size;
    gear_setup_with(&state, (struct rig_options){0}, settings);
    t = state;
    nth_alloc_fail(n);
    peer = peer_new(t->rig);
    if (peer) {
        peer_send_pieces(peer, said, piece, piece);
    }
    failed = nth_alloc_count() >= n && n > 0;
    nth_alloc_fail(0);
    if (peer) {
        heard = peer_hear(peer);
    }
    assert_true(heard.len < sizeof outcome->heard);
    memcpy(outcome->heard, heard.ptr, heard.len);
    outcome->len = heard.len;
    outcome->refused = !peer || peer_failed(peer) || contains(heard, SLICE("Out of memory")) ||
                       contains(heard, SLICE("ERR OUT_OF_MEMORY")) ||
                       contains(heard, SLICE("ERR CREATE_FUNCTION"));
    gear_says(t->c, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
    broker_check(rig_broker(t->rig));
    gear_teardown(&state);
    return failed;
}

// Returns the number of allocations.
static size_t fail_each(const struct gear_script *script, size_t piece)
{
    static struct outcome whole, lacking;
    size_t n = 1;

    play(script, piece, 0, &whole);
    for (; play(script, piece, n, &lacking); n++) {
        bool same = lacking.len == whole.len && memcmp(lacking.heard, whole.heard, whole.len) == 0;

        if (!same && !lacking.refused) {
            fail_msg("%s: allocation %zu changed the answers in silence", script->what, n);
        }
    }
    return n - 1;
}

static void each_allocation_of_each_script_may_fail(void **state)
{
    size_t count;
    const struct gear_script *scripts = gear_scripts(&count);
    size_t failed = 0;

    (void)state;
    for (size_t s = 0; s < count; s++) {
        for (size_t piece = 70; piece < 100000; piece *= 10) {
            failed += fail_each(&scripts[s], piece);
        }
    }
    assert_true(failed > 50);
}

static void each_allocation_of_a_long_workload_may_fail(void **state)
{
    static char said[400000];
    struct gear_script script = {"long workloads", {said, 0}, 150000};
    struct slice packets;

    gear_setup(state);
    packets = MANY(REQ(SUBMIT_JOB_BG, "f", "-", gear_run('1', 150000)), REQ(ECHO_REQ, "1"),
                   REQ(SUBMIT_JOB_BG, "f", "", gear_run('2', 150000)), REQ(ECHO_REQ, "2"));
    assert_true(packets.len <= sizeof said);
    memcpy(said, packets.ptr, packets.len);
    script.said.len = packets.len;
    gear_teardown(state);
    for (size_t piece = 5000; piece < 400000; piece *= 4) {
        assert_true(fail_each(&script, piece) > 3);
    }
}

// Checks the packets that a client of job 1 has received when the job has ended: its end, unless
// the client was not served, and, if the job was completed, everything before.
static void knows_the_end(struct peer *client, const char *data, const char *result)
{
    struct slice heard = peer_hear(client);

    if (!peer_failed(client) && contains(heard, RES(JOB_CREATED, H(1)))) {
        if (contains(heard, RES(WORK_COMPLETE, H(1), result))) {
            assert_true(contains(heard, RES(WORK_DATA, H(1), data)));
        } else {
            assert_true(contains(heard, RES(WORK_FAIL, H(1))));
        }
    }
}

// Two clients wait and a worker reports, while the n-th allocation fails. False: there were fewer
// than n.
static bool work(size_t n)
{
    struct gear *t;
    void *state;
    bool failed;

    gear_setup(&state);
    t = state;
    nth_alloc_fail(n);
    peer_ask(t->b, MANY(REQ(CAN_DO_TIMEOUT, "f", "1000"), REQ(PRE_SLEEP)));
    peer_send(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    rig_run(t->rig);
    peer_ask(t->b, REQ(GRAB_JOB_ALL));
    peer_send(t->c, REQ(SUBMIT_JOB, "f", "u", "x"));
    rig_run(t->rig);
    peer_ask(t->b, MANY(REQ(WORK_STATUS, H(1), "1", "2"), REQ(WORK_DATA, H(1), gear_run('d', 5000)),
                        REQ(WORK_WARNING, H(1), "w")));
    peer_ask(t->b, REQ(WORK_COMPLETE, H(1), gear_run('r', 5000)));
    failed = nth_alloc_count() >= n;
    nth_alloc_fail(0);
    if (!broker_find(rig_broker(t->rig), 1)) {
        knows_the_end(t->a, gear_run('d', 5000), gear_run('r', 5000));
        knows_the_end(t->c, gear_run('d', 5000), gear_run('r', 5000));
    }
    gear_teardown(&state);
    return failed;
}

static void each_allocation_of_a_shared_job_may_fail(void **state)
{
    size_t n = 1;

    (void)state;
    while (work(n)) {
        n++;
    }
    assert_true(n > 5);
}

static void a_forbidden_workload_needs_no_memory(void **state)
{
    struct gear *t = *state;
    struct slice packet = REQ(SUBMIT_JOB, "f", "u", gear_run('b', 100000));
    struct slice forbidden = RES(ERROR, "FORBIDDEN", "Not allowed");

    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    gear_says(t->a, slice_of(packet.ptr, 20000), forbidden);
    nth_alloc_fail(1);
    gear_says(t->a, slice_from(packet, 20000), NOTHING);
    assert_int_equal(nth_alloc_count(), 0);
    nth_alloc_fail(0);
    gear_says(t->a, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
}

static void losing_a_worker_needs_no_memory(void **state)
{
    struct gear *t = *state;

    for (int i = 0; i < 100; i++) {
        gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    }
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    for (int i = 0; i < 100; i++) {
        gear_grabs(t->b, "f", "x");
    }
    nth_alloc_fail(1);
    peer_free(t->b);
    assert_int_equal(nth_alloc_count(), 0);
    nth_alloc_fail(0);
    jobs_are(t, "f", JOB_READY, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_each_script_may_fail),
        cmocka_unit_test(each_allocation_of_a_long_workload_may_fail),
        cmocka_unit_test(each_allocation_of_a_shared_job_may_fail),
        GEAR(a_forbidden_workload_needs_no_memory),
        GEAR(losing_a_worker_needs_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
