/* SPDX-License-Identifier: MIT */

// How long a client may take: idle_timeout and body_timeout.

#include "tests/proto_beanstalk/wire_bean.h"

#include "core/base/macros.h"

static void there_is_no_time_limit_by_default(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 60 5\r\nhe", "");
    says(t->b, "lis", "");
    rig_advance(t->rig, SECONDS(10000000));
    says(t->a, "llo\r\n", "INSERTED 1\r\n");
    says(t->b, "t-tube-used\r\n", "USING default\r\n");
    assert_false(peer_closed(t->c));
}

static void idle_client_is_disconnected(void **state)
{
    struct bean *t = *state;

    t->settings.idle_timeout = 60;
    says(t->a, "list-tube-used\r\n", "USING default\r\n");
    rig_advance(t->rig, SECONDS(50));
    says(t->a, "list-tube-used\r\n", "USING default\r\n");
    rig_advance(t->rig, SECONDS(60) - 1);
    assert_false(peer_closed(t->a));
    rig_advance(t->rig, 1);
    hears(t->a, "");
    assert_true(peer_closed(t->a));
}

static void client_that_waits_or_holds_a_job_is_not_idle(void **state)
{
    struct bean *t = *state;

    t->settings.idle_timeout = 60;
    says(t->a, "put 0 0 1000 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    says(t->b, "reserve\r\n", "");
    rig_advance(t->rig, SECONDS(990));
    hears(t->b, "");
    says(t->a, "release 1 0 0\r\n", "RELEASED\r\n");
    hears(t->b, "RESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(60));
    assert_true(peer_closed(t->a));
    assert_false(peer_closed(t->b));
}

// The client is not told that it no longer holds the job.
static void client_whose_ttr_has_ended_is_idle_again(void **state)
{
    struct bean *t = *state;

    t->settings.idle_timeout = 60;
    says(t->a, "put 0 0 100 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(100));
    assert_false(peer_closed(t->a));
    rig_advance(t->rig, SECONDS(120));
    assert_true(peer_closed(t->a));
}

static void client_that_does_not_read_is_not_idle(void **state)
{
    struct bean *t = *state;

    t->settings.idle_timeout = 60;
    peer_stop_reading(t->a);
    says(t->a, "stats\r\n", "");
    rig_advance(t->rig, SECONDS(1000));
    assert_false(peer_closed(t->a));
    peer_read_again(t->a);
    rig_advance(t->rig, SECONDS(60));
    assert_true(peer_closed(t->a));
}

static void body_must_advance_by_a_kib_in_time(void **state)
{
    struct bean *t = *state;
    char kib[1024];

    memset(kib, 'x', sizeof kib);
    t->settings.body_timeout = 10;
    says(t->a, "put 0 0 60 5000\r\nhe", "");
    assert_true(peer_holds(t->a) > 0);
    rig_advance(t->rig, SECONDS(9));
    peer_send(t->a, slice_of(kib, sizeof kib));
    rig_run(t->rig);
    for (int i = 0; i < 9; i++) {
        rig_advance(t->rig, SECONDS(1));
        says(t->a, "x", "");
    }
    assert_false(peer_closed(t->a));
    rig_advance(t->rig, SECONDS(1));
    assert_true(peer_closed(t->a));
    hears(t->a, "");
    stat_is(t->b, "stats\r\n", "total-jobs", 0);
}

static void each_body_has_its_own_time(void **state)
{
    struct bean *t = *state;

    t->settings.body_timeout = 10;
    says(t->a, "put 0 0 60 5\r\nhe", "");
    rig_advance(t->rig, SECONDS(9));
    says(t->a, "llo\r\nput 0 0 60 5\r\nwo", "INSERTED 1\r\n");
    rig_advance(t->rig, SECONDS(9));
    says(t->a, "rld\r\n", "INSERTED 2\r\n");
    rig_advance(t->rig, SECONDS(1000));
    assert_false(peer_closed(t->a));
}

static void refused_body_and_long_line_have_no_more_time(void **state)
{
    struct bean *t = *state;
    char line[300];

    memset(line, 'x', sizeof line);
    t->settings.body_timeout = 10;
    t->settings.max_job_size = 4;
    says(t->a, "put 0 0 60 5\r\nhe", "");
    peer_send(t->b, slice_of(line, sizeof line));
    rig_advance(t->rig, SECONDS(10));
    assert_true(peer_closed(t->a));
    assert_true(peer_closed(t->b));
    hears(t->a, "");
}

static void unfinished_line_is_limited_for_a_worker_that_holds_a_job(void **state)
{
    struct bean *t = *state;

    t->settings.body_timeout = 10;
    says(t->a, "put 0 0 1000 1\r\na\r\nreserve\r\ndel", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(5));
    says(t->a, "e", "");
    rig_advance(t->rig, SECONDS(5) - 1);
    assert_false(peer_closed(t->a));
    rig_advance(t->rig, 1);
    assert_true(peer_closed(t->a));
    stat_is(t->b, "stats-job 1\r\n", "reserves", 1);
}

static void input_after_a_blocked_reserve_has_no_limit(void **state)
{
    struct bean *t = *state;

    t->settings.body_timeout = 10;
    says(t->a, "reserve\r\ndel", "");
    rig_advance(t->rig, SECONDS(100));
    assert_false(peer_closed(t->a));
    says(t->b, "put 0 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    hears(t->a, "RESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(9));
    says(t->a, "ete 1\r\n", "DELETED\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(there_is_no_time_limit_by_default),
        BEAN(idle_client_is_disconnected),
        BEAN(client_that_waits_or_holds_a_job_is_not_idle),
        BEAN(client_whose_ttr_has_ended_is_idle_again),
        BEAN(client_that_does_not_read_is_not_idle),
        BEAN(body_must_advance_by_a_kib_in_time),
        BEAN(each_body_has_its_own_time),
        BEAN(refused_body_and_long_line_have_no_more_time),
        BEAN(unfinished_line_is_limited_for_a_worker_that_holds_a_job),
        BEAN(input_after_a_blocked_reserve_has_no_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
