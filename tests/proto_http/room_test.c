/* SPDX-License-Identifier: MIT */

// The memory of results while they are gathered and while they are sent: little more than
// their bytes, however small the parts are that they came in.

#include "tests/proto_http/wire_http.h"
#include "tests/support/live_bytes.h"
#include "tests/support/policies.h"

#include "core/policy.h"

#include <stdlib.h>
#include <string.h>

#define STREAM "Accept: text/event-stream\r\n"
// Of a world's memory beside the result: what grows by doubling, blocks of slabs.
#define BESIDE ((size_t)1024 * 1024)

struct parts {
    size_t count, len; // how many, and how long each
};

// The worker sends these parts of the job's result.
static void say(struct peer *worker, const char *job, struct parts parts)
{
    struct slice part = REQ(WORK_DATA, job, gear_run('d', parts.len));

    for (size_t i = 0; i < parts.count; i++) {
        gear_says(worker, part, NOTHING);
    }
}

static int unchecked(void **state)
{
    return http_setup_with(state, (struct rig_options){.unchecked = true}, HTTP_DEFAULTS);
}

// The memory that the first part has freed may exceed that of the others.
static void grown_at_most(size_t before, size_t most)
{
    size_t after = live_bytes();

    assert_in_range(after - (after < before ? after : before), 0, most);
}

// Checks the memory in use for the parts, and for the answer that no client reads.
static void takes(struct web *t, const char *headers, struct parts parts, size_t most)
{
    size_t before;
    const char *job;

    peer_stop_reading(t->a);
    peer_send(t->a, http_post("/f", headers, SLICE("x")));
    rig_run(t->rig);
    http_can_do(t->w, "f");
    job = grabs(t->w, "f", "x");
    before = live_bytes();
    say(t->w, job, parts);
    grown_at_most(before, most);
    gear_says(t->w, REQ(WORK_COMPLETE, job, ""), NOTHING);
    // Data that waits until the client reads is kept as it came.
    assert_true(peer_unread(t->a) + peer_holds(t->a) > parts.count * parts.len);
    grown_at_most(before, most);
}

static void a_result_of_many_small_parts_takes_little_more_than_its_bytes(void **state)
{
    static const struct parts parts[] = {{500000, 1}, {100000, 10}, {20000, 100}, {2000, 2000}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        http_teardown(state);
        unchecked(state);
        takes(*state, "", parts[i], 2 * parts[i].count * parts[i].len + BESIDE);
    }
}

static void a_result_of_many_larger_parts_takes_little_more_than_its_bytes(void **state)
{
    static const struct parts parts[] = {{2000, 2049}, {500, 10000}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        http_teardown(state);
        unchecked(state);
        takes(*state, "", parts[i], parts[i].count * (parts[i].len + 200) + BESIDE);
    }
}

static void a_stream_that_is_not_read_takes_little_more_than_its_bytes(void **state)
{
    // The text around the data of each event.
    static const size_t around = 120;
    static const struct parts parts[] = {{20000, 10}, {1000, 5000}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        http_teardown(state);
        unchecked(state);
        takes(*state, STREAM, parts[i], 2 * parts[i].count * (parts[i].len + around) + BESIDE);
    }
}

static void a_request_tells_how_much_it_keeps_of_body_and_result(void **state)
{
    struct web *t = *state;
    struct slice post = http_post("/f", "", slice_of(gear_run('b', 30000), 30000));
    const char *job;

    assert_int_equal(peer_holds(t->a), 0);
    peer_send(t->a, slice_of(post.ptr, 20000));
    rig_run(t->rig);
    assert_in_range(peer_holds(t->a), 15000, 50000);
    peer_send(t->a, slice_from(post, 20000));
    rig_run(t->rig);
    assert_in_range(peer_holds(t->a), 1, 9999);
    http_can_do(t->w, "f");
    job = grabs(t->w, "f", gear_run('b', 30000));
    say(t->w, job, (struct parts){10, 1000});
    assert_in_range(peer_holds(t->a), 10000, 19999);
    gear_says(t->w, REQ(WORK_COMPLETE, job, ""), NOTHING);
    assert_int_equal(peer_holds(t->a), 0);
}

// The hash of a body that is coming takes memory, too. Only the head of the request has come.
static size_t held_of_a_long_post(struct web *t, const char *headers, size_t len)
{
    struct slice post = http_post("/f", headers, slice_of(gear_run('x', len), len));
    struct peer *peer = peer_new(t->rig);
    size_t held;

    peer_send(peer, slice_of(post.ptr, post.len - len));
    rig_run(t->rig);
    held = peer_holds(peer);
    peer_free(peer);
    return held;
}

static void a_long_body_is_hashed_as_it_comes_where_it_is_a_key(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("f"), .spec = {.unique_body = true}};
    struct web *t = *state;
    size_t plain = held_of_a_long_post(t, "", 65537);

    assert_true(held_of_a_long_post(t, "X-Gearman-Unique: -\r\n", 65537) > plain);
    assert_int_equal(held_of_a_long_post(t, "X-Gearman-Unique: -\r\n", 65536), plain);
    assert_int_equal(set_policies(rig_broker(t->rig), &rule, 1), STATUS_OK);
    assert_true(held_of_a_long_post(t, "", 65537) > plain);
    assert_int_equal(held_of_a_long_post(t, "X-Gearman-Unique: u\r\n", 65537), plain);
}

#define ROOM(test) cmocka_unit_test_setup_teardown(test, unchecked, http_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOM(a_result_of_many_small_parts_takes_little_more_than_its_bytes),
        ROOM(a_result_of_many_larger_parts_takes_little_more_than_its_bytes),
        ROOM(a_stream_that_is_not_read_takes_little_more_than_its_bytes),
        ROOM(a_request_tells_how_much_it_keeps_of_body_and_result),
        ROOM(a_long_body_is_hashed_as_it_comes_where_it_is_a_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
