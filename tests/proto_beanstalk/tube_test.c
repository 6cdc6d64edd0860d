/* SPDX-License-Identifier: MIT */

// Tubes: used, watched, ignored, listed, paused.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/support/broker_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_connection_uses_and_watches_default_at_first(void **state)
{
    struct bean *t = *state;

    says(t->a, "list-tube-used\r\n", "USING default\r\n");
    says_yaml(t->a, "list-tubes-watched\r\n", "---\n- default\n");
    says_yaml(t->a, "list-tubes\r\n", "---\n- default\n");
}

static void default_stays_without_clients(void **state)
{
    struct bean *t = *state;

    peer_free(t->a);
    peer_free(t->b);
    says(t->c, "use x\r\nwatch x\r\nignore default\r\n", "USING x\r\nWATCHING 2\r\nWATCHING 1\r\n");
    stat_is(t->c, "stats-tube default\r\n", "current-using", 0);
    stat_is(t->c, "stats-tube default\r\n", "current-watching", 0);
}

static void watching_twice_counts_once(void **state)
{
    struct bean *t = *state;

    says(t->a, "watch x\r\nwatch x\r\nwatch default\r\nwatch y\r\n",
         "WATCHING 2\r\nWATCHING 2\r\nWATCHING 2\r\nWATCHING 3\r\n");
    says_yaml(t->a, "list-tubes-watched\r\n", "---\n- default\n- x\n- y\n");
}

static void the_last_watched_tube_is_not_ignored(void **state)
{
    struct bean *t = *state;

    says(t->a, "ignore default\r\nignore nosuch\r\nwatch x\r\nignore default\r\nignore default\r\n",
         "NOT_IGNORED\r\nWATCHING 1\r\nWATCHING 2\r\nWATCHING 1\r\nWATCHING 1\r\n");
    says(t->a, "ignore x\r\nignore -x\r\n", "NOT_IGNORED\r\nBAD_FORMAT\r\n");
}

static void ignoring_does_not_touch_leases(void **state)
{
    struct bean *t = *state;

    says(t->a, "watch x\r\nuse x\r\nput 0 0 9 1\r\na\r\nreserve\r\nignore x\r\n",
         "WATCHING 2\r\nUSING x\r\nINSERTED 1\r\nRESERVED 1 1\r\na\r\nWATCHING 1\r\n");
    says(t->b, "reserve-job 1\r\n", "NOT_FOUND\r\n");
    says(t->a, "delete 1\r\n", "DELETED\r\n");
}

static void a_tube_exists_while_something_refers_to_it(void **state)
{
    struct bean *t = *state;

    says(t->a, "use x\r\n", "USING x\r\n");
    stat_is(t->b, "stats-tube x\r\n", "current-using", 1);
    says(t->a, "put 0 0 9 1\r\na\r\nuse default\r\n", "INSERTED 1\r\nUSING default\r\n");
    stat_is(t->b, "stats-tube x\r\n", "current-jobs-ready", 1);
    says(t->a, "delete 1\r\n", "DELETED\r\n");
    says(t->b, "stats-tube x\r\n", "NOT_FOUND\r\n");
    says(t->a, "watch x\r\n", "WATCHING 2\r\n");
    stat_is(t->b, "stats-tube x\r\n", "current-watching", 1);
    stat_is(t->b, "stats-tube x\r\n", "total-jobs", 0); // a new tube with new counters
    peer_free(t->a);
    says(t->b, "stats-tube x\r\n", "NOT_FOUND\r\n");
}

static void using_the_used_tube_keeps_it(void **state)
{
    struct bean *t = *state;

    says(t->a, "use x\r\nuse x\r\nlist-tube-used\r\n", "USING x\r\nUSING x\r\nUSING x\r\n");
    stat_is(t->a, "stats-tube x\r\n", "current-using", 1);
}

static void a_long_name_is_echoed(void **state)
{
    struct bean *t = *state;
    char name[202] = "";
    char said[256];
    char heard[256];

    memset(name, 'n', 200);
    (void)snprintf(said, sizeof said, "use %s\r\n", name);
    (void)snprintf(heard, sizeof heard, "USING %s\r\n", name);
    says_text(t->a, said, heard);
    (void)snprintf(said, sizeof said, "use %sn\r\n", name);
    says_text(t->a, said, "BAD_FORMAT\r\n");
}

static void names_that_are_not_valid_tube_names_are_not_listed(void **state)
{
    static const struct slice names[] = {{"a b", 3}, {"-x", 2}, {"\xc3\xa4", 2}, {"fine", 4}};
    struct bean *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct queue *queues[4];

    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(broker_queue_hold(broker, names[i], &queues[i]), STATUS_OK);
    }
    says_yaml(t->a, "list-tubes\r\n", "---\n- default\n- fine\n");
    for (size_t i = 0; i < 4; i++) {
        broker_queue_drop(broker, queues[i]);
    }
}

static void watch_many(struct peer *peer, int first, int end)
{
    char line[64];

    for (int i = first; i < end; i++) {
        int len = snprintf(line, sizeof line, "watch tube-%04d\r\n", i);

        peer_send(peer, slice_of(line, (size_t)len));
    }
    rig_run(peer_rig(peer));
    peer_hear(peer);
}

// Checks that the body has the announced length and that number of items.
static void check_list(struct slice list, size_t items)
{
    char *body;
    size_t len = strtoul(list.ptr + 3, &body, 10);
    size_t seen = 0;

    assert_memory_equal(list.ptr, "OK ", 3);
    assert_int_equal(list.len, (size_t)(body - list.ptr) + 2 + len + 2);
    for (const char *at = body; (at = strstr(at, "\n- ")) != NULL; at++) {
        seen++;
    }
    assert_int_equal(seen, items);
    assert_memory_equal(list.ptr + list.len - 3, "\n\r\n", 3);
}

static void a_long_list_is_made_in_slices(void **state)
{
    struct bean *t = *state;
    unsigned long before;

    watch_many(t->a, 0, 2000);
    before = rig_feeds(t->rig);
    check_list(peer_ask(t->a, SLICE("list-tubes-watched\r\n")), 2001);
    assert_true(rig_feeds(t->rig) - before >= 2001 / BROKER_SLICE);
    before = rig_feeds(t->rig);
    check_list(peer_ask(t->b, SLICE("list-tubes\r\n")), 2001);
    assert_true(rig_feeds(t->rig) - before >= 2001 / BROKER_SLICE);
}

static void a_list_skips_many_removed_tubes_in_slices(void **state)
{
    enum { TUBES = 8000 };
    struct bean *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct queue_snapshot slow; // of a list that no client reads
    unsigned long before;

    watch_many(t->a, 0, TUBES);
    queue_snapshot_begin(broker, &slow);
    peer_free(t->a);
    rig_run(t->rig);
    assert_int_equal(check_retained_queues(broker), TUBES);
    says(t->b, "use behind\r\n", "USING behind\r\n");
    before = rig_feeds(t->rig);
    says_yaml(t->c, "list-tubes\r\n", "---\n- default\n- behind\n");
    assert_true(rig_feeds(t->rig) - before >= TUBES / (8 * BROKER_SLICE));
    queue_snapshot_end(broker, &slow);
}

static void commands_after_a_long_list_wait_for_it(void **state)
{
    struct bean *t = *state;
    struct slice heard;

    watch_many(t->a, 0, 1000);
    heard = peer_ask(t->b, SLICE("list-tubes\r\nlist-tube-used\r\n"));
    assert_non_null(strstr(heard.ptr, "\n\r\nUSING default\r\n"));
}

static void a_client_may_disconnect_during_a_list(void **state)
{
    struct bean *t = *state;

    watch_many(t->a, 0, 1000);
    peer_send(t->b, SLICE("list-tubes\r\n"));
    peer_send(t->a, SLICE("list-tubes-watched\r\n"));
    rig_feed(t->rig);
    peer_free(t->a);
    peer_free(t->b);
    says_yaml(t->c, "list-tubes\r\n", "---\n- default\n");
}

static void a_paused_tube_gives_no_job_until_the_pause_ends(void **state)
{
    struct bean *t = *state;

    says(t->a, "pause-tube default 5\r\nput 0 0 9 1\r\na\r\n", "PAUSED\r\nINSERTED 1\r\n");
    says(t->b, "reserve-with-timeout 0\r\nreserve\r\n", "TIMED_OUT\r\n");
    stat_is(t->a, "stats-tube default\r\n", "pause", 5);
    rig_advance(t->rig, SECONDS(2) + 1);
    stat_is(t->a, "stats-tube default\r\n", "pause-time-left", 2);
    stat_is(t->a, "stats-tube default\r\n", "pause", 5);
    rig_advance(t->rig, SECONDS(3) - 2);
    hears(t->b, "");
    rig_advance(t->rig, 1);
    hears(t->b, "RESERVED 1 1\r\na\r\n");
    stat_is(t->a, "stats-tube default\r\n", "pause", 0);
}

static void a_pause_leaves_other_tubes_and_leases_alone(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\nreserve\r\npause-tube default 100\r\n",
         "INSERTED 1\r\nRESERVED 1 1\r\na\r\nPAUSED\r\n");
    says(t->b, "watch x\r\nuse x\r\nput 0 0 9 1\r\nb\r\nreserve\r\n",
         "WATCHING 2\r\nUSING x\r\nINSERTED 2\r\nRESERVED 2 1\r\nb\r\n");
    says(t->a, "touch 1\r\nrelease 1 0 0\r\nreserve-job 1\r\ndelete 1\r\n",
         "TOUCHED\r\nRELEASED\r\nRESERVED 1 1\r\na\r\nDELETED\r\n");
    says(t->a, "put 0 5 9 1\r\nc\r\nkick 1\r\npeek-ready\r\n",
         "INSERTED 3\r\nKICKED 1\r\nFOUND 3 1\r\nc\r\n");
}

static void a_pause_is_replaced_and_ended_by_the_next(void **state)
{
    struct bean *t = *state;

    says(t->a, "pause-tube default 5\r\npause-tube default 50\r\nput 0 0 9 1\r\na\r\n",
         "PAUSED\r\nPAUSED\r\nINSERTED 1\r\n");
    says(t->b, "reserve\r\n", "");
    rig_advance(t->rig, SECONDS(6));
    hears(t->b, "");
    says(t->a, "pause-tube default 0\r\n", "PAUSED\r\n");
    hears(t->b, "RESERVED 1 1\r\na\r\n");
    stat_is(t->a, "stats-tube default\r\n", "cmd-pause-tube", 3);
    stat_is(t->a, "stats-tube default\r\n", "pause-time-left", 0);
}

static void pausing_needs_a_tube(void **state)
{
    struct bean *t = *state;

    says(t->a, "pause-tube nosuch 1\r\npause-tube -x 1\r\npause-tube default x\r\n",
         "NOT_FOUND\r\nBAD_FORMAT\r\nBAD_FORMAT\r\n");
    says(t->a, "pause-tubedefault 0\r\n", "PAUSED\r\n");
    stat_is(t->a, "stats\r\n", "cmd-pause-tube", 3); // an invalid name counts
}

static void a_wait_on_a_paused_tube_times_out(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\npause-tube default 9\r\n", "INSERTED 1\r\nPAUSED\r\n");
    says(t->b, "reserve-with-timeout 3\r\n", "");
    rig_advance(t->rig, SECONDS(3));
    hears(t->b, "TIMED_OUT\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(a_connection_uses_and_watches_default_at_first),
        BEAN(default_stays_without_clients),
        BEAN(watching_twice_counts_once),
        BEAN(the_last_watched_tube_is_not_ignored),
        BEAN(ignoring_does_not_touch_leases),
        BEAN(a_tube_exists_while_something_refers_to_it),
        BEAN(using_the_used_tube_keeps_it),
        BEAN(a_long_name_is_echoed),
        BEAN(names_that_are_not_valid_tube_names_are_not_listed),
        BEAN(a_long_list_is_made_in_slices),
        BEAN(a_list_skips_many_removed_tubes_in_slices),
        BEAN(commands_after_a_long_list_wait_for_it),
        BEAN(a_client_may_disconnect_during_a_list),
        BEAN(a_paused_tube_gives_no_job_until_the_pause_ends),
        BEAN(a_pause_leaves_other_tubes_and_leases_alone),
        BEAN(a_pause_is_replaced_and_ended_by_the_next),
        BEAN(pausing_needs_a_tube),
        BEAN(a_wait_on_a_paused_tube_times_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
