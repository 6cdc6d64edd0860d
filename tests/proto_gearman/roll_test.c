/* SPDX-License-Identifier: MIT */

// The list of connections, made in steps while connections come and go.

#include "tests/proto_gearman/admin_gear.h"

#include <string.h>

#define PEERS 600

// The first of these is connection number FIRST_NUMBER.
static struct peer *peers[PEERS];
#define FIRST_NUMBER 4

static void connect_all(struct gear *t)
{
    for (int i = 0; i < PEERS; i++) {
        peers[i] = peer_new(t->rig);
        assert_non_null(peers[i]);
    }
}

// Its input is not a packet: the connection is closed within the turn.
static void leave(struct peer *peer)
{
    peer_send(peer, SLICE("\0..."));
}

static void connections_may_come_and_go_while_they_are_listed(void **state)
{
    struct gear *t = *state;
    int gone = 0;

    connect_all(t);
    admin_ask(t->a, "workers\n");
    while (admin_step(t, t->a)) {
        // The newest are listed first: some of those that close were listed, some were not, some
        // are next.
        for (int i = 0; i < 20; i++, gone++) {
            leave(peers[gone]);
            leave(peers[PEERS - 1 - gone]);
            leave(peers[PEERS / 2 - gone]);
            assert_non_null(peer_new(t->rig));
        }
    }
    assert_true(gone >= 40 && gone < PEERS / 4);
    for (int i = 0; i < PEERS; i++) {
        int shown = admin_lines_like(admin_text("%d 127.0.0.1 - :\n", FIRST_NUMBER + i));

        assert_true(shown <= 1);
        if (i >= gone && i < PEERS - gone && (i <= PEERS / 2 - gone || i > PEERS / 2)) {
            assert_int_equal(shown, 1);
        }
    }
    assert_int_equal(admin_lines_like("1 127.0.0.1 - :\n"), 1);
}

static void the_connection_at_the_position_of_a_list_may_close(void **state)
{
    struct gear *t = *state;

    connect_all(t);
    admin_ask(t->a, "workers\n");
    assert_true(admin_step(t, t->a)); // BROKER_SLICE lines
    peer_free(peers[PEERS - 1 - BROKER_SLICE]);
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), PEERS + 3 - 1 + 1);
}

static void lists_of_connections_do_not_disturb_each_other(void **state)
{
    struct gear *t = *state;

    connect_all(t);
    peer_send(t->b, SLICE("workers\n"));
    peer_send(t->c, SLICE("workers\n"));
    admin_ask(t->a, "workers\n");
    assert_true(admin_step(t, t->a));
    peer_free(t->b);
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), PEERS + 3);
    assert_string_equal(peer_hear(t->c).ptr, admin_heard);
}

// Functions with long names: their line takes several steps.
#define LONG_NAMES 400
#define LONG_NAME 500

static void offer_long_names(struct peer *peer, int count)
{
    for (int i = 0; i < count; i++) {
        peer_send(peer, REQ(CAN_DO, admin_text("%0*d", LONG_NAME, i)));
    }
    peer_ask(peer, NOTHING);
}

// How often the list has the function.
static int names_like(int number)
{
    const char *name = admin_text(" %0*d", LONG_NAME, number);
    int count = 0;

    for (const char *at = admin_heard; (at = strstr(at, name)) != NULL; at++) {
        count++;
    }
    return count;
}

static void a_long_line_takes_several_steps(void **state)
{
    struct gear *t = *state;

    offer_long_names(t->b, LONG_NAMES);
    admin_ask(t->a, "workers\n");
    assert_true(admin_step(t, t->a));
    assert_true(admin_step(t, t->a));
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), 4);
    assert_int_equal(strlen(admin_heard),
                     strlen("3 127.0.0.1 - :\n2 127.0.0.1 - :\n1 127.0.0.1 - :\n.\n") +
                         (size_t)LONG_NAMES * (LONG_NAME + 1));
    for (int i = 0; i < LONG_NAMES; i++) {
        assert_int_equal(names_like(i), 1);
    }
}

static int functions_heard(void)
{
    int count = 0;

    for (const char *at = admin_heard; (at = strstr(at, " f")) != NULL; at++) {
        count++;
    }
    return count;
}

static void a_step_writes_a_slice_of_functions_however_short_their_names(void **state)
{
    struct gear *t = *state;
    int steps = 1;

    for (int i = 0; i < 3 * BROKER_SLICE; i++) {
        peer_send(t->b, REQ(CAN_DO, admin_text("f%d", i)));
    }
    peer_ask(t->b, NOTHING);
    admin_ask(t->a, "workers\n");
    for (; admin_step(t, t->a); steps++) {
        int now = steps * BROKER_SLICE;

        now = now < 3 * BROKER_SLICE ? now : 3 * BROKER_SLICE - 1;
        // A function that is given up and offered again is no longer part of the line; its
        // neighbours are.
        peer_send(t->b, REQ(CANT_DO, admin_text("f%d", 3 * BROKER_SLICE - 1 - now)));
        peer_send(t->b, REQ(CAN_DO, admin_text("f%d", 3 * BROKER_SLICE - 1 - now)));
    }
    assert_true(steps >= 3);
    assert_in_range(functions_heard(), 3 * BROKER_SLICE - steps, 3 * BROKER_SLICE);
}

static void a_worker_may_give_functions_up_during_its_line(void **state)
{
    struct gear *t = *state;

    offer_long_names(t->b, LONG_NAMES);
    admin_ask(t->a, "workers\n");
    assert_true(admin_step(t, t->a));
    for (int i = 0; i < LONG_NAMES; i += 3) {
        peer_send(t->b, REQ(CANT_DO, admin_text("%0*d", LONG_NAME, i)));
    }
    assert_true(admin_step(t, t->a));
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), 4);
    assert_int_equal(names_like(0), 0);
    assert_int_equal(names_like(1), 1);
    for (int i = 0; i < LONG_NAMES; i++) {
        // The first step listed the newest.
        bool kept = i % 3 != 0;

        assert_true(kept ? names_like(i) == 1 : names_like(i) <= 1);
    }
    admin_ask(t->a, "workers\n");
    assert_true(admin_step(t, t->a));
    peer_send(t->b, REQ(RESET_ABILITIES));
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), 4);
    assert_int_equal(admin_lines_like("1 127.0.0.1 - :\n"), 1);
}

static void a_connection_may_close_during_its_line(void **state)
{
    struct gear *t = *state;

    offer_long_names(t->b, LONG_NAMES);
    admin_ask(t->a, "workers\n");
    assert_true(admin_step(t, t->a));
    peer_free(t->b);
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), 4);
    assert_int_equal(admin_lines_like("3 127.0.0.1 - :\n"), 1);
    assert_int_equal(admin_lines_like("2 127.0.0.1 - : 0000"), 1);
    assert_int_equal(admin_lines_like("1 127.0.0.1 - :\n"), 1);
}

static void the_last_connection_of_a_list_may_close_during_its_line(void **state)
{
    struct gear *t = *state;

    offer_long_names(t->a, LONG_NAMES);
    admin_ask(t->b, "workers\n");
    assert_true(admin_step(t, t->b));
    peer_free(t->a);
    admin_finish(t, t->b);
    assert_int_equal(admin_lines(), 4);
    assert_int_equal(admin_lines_like("1 127.0.0.1 - : 0000"), 1);
}

static void a_list_that_waits_for_its_reader_does_not_hold_up_another(void **state)
{
    struct gear *t = *state;
    int count = (2 << 20) / LONG_NAME;

    offer_long_names(t->b, count);
    peer_stop_reading(t->a);
    peer_send(t->a, SLICE("workers\n"));
    rig_run(t->rig);
    assert_true(peer_unread(t->a) > (size_t)1 << 20);
    admin_ask(t->c, "workers\n");
    admin_finish(t, t->c);
    assert_int_equal(admin_lines(), 4);
    assert_int_equal(names_like(count - 1), 1);
    peer_read_again(t->a);
    assert_string_equal(peer_hear(t->a).ptr, admin_heard);
}

static void reports_during_a_list_come_after_it(void **state)
{
    struct gear *t = *state;
    struct slice told = RES(WORK_COMPLETE, "T:1", "done");
    struct slice heard;

    offer_long_names(t->b, LONG_NAMES);
    gear_says(t->a, REQ(SUBMIT_JOB, "w", "", "x"), RES(JOB_CREATED, "T:1"));
    gear_says(t->b, MANY(REQ(CAN_DO, "w"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:1", "w", "x"));
    peer_send(t->b, REQ(WORK_COMPLETE, "T:1", "done"));
    heard = peer_ask(t->a, SLICE("workers\n"));
    assert_true(heard.len > told.len + 2);
    heard.len -= told.len;
    assert_true(slice_equal(slice_from(heard, heard.len - 2), SLICE(".\n")));
    assert_null(memchr(heard.ptr, 0, heard.len));
    assert_true(slice_equal(slice_of(heard.ptr + heard.len, told.len), told));
}

static void an_administrator_may_disconnect_during_a_list(void **state)
{
    struct gear *t = *state;

    connect_all(t);
    for (int i = 0; i < 3; i++) {
        admin_ask(t->c, "workers\n");
        assert_true(admin_step(t, t->c));
        peer_free(t->c);
        t->c = peer_new(t->rig);
    }
    admin_ask(t->a, "workers\n");
    admin_finish(t, t->a);
    assert_int_equal(admin_lines(), PEERS + 3 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CROWD(connections_may_come_and_go_while_they_are_listed),
        CROWD(the_connection_at_the_position_of_a_list_may_close),
        CROWD(lists_of_connections_do_not_disturb_each_other),
        CROWD(a_long_line_takes_several_steps),
        CROWD(a_step_writes_a_slice_of_functions_however_short_their_names),
        CROWD(a_worker_may_give_functions_up_during_its_line),
        CROWD(a_connection_may_close_during_its_line),
        CROWD(the_last_connection_of_a_list_may_close_during_its_line),
        CROWD(a_list_that_waits_for_its_reader_does_not_hold_up_another),
        CROWD(reports_during_a_list_come_after_it),
        CROWD(an_administrator_may_disconnect_during_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
