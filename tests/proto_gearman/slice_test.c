/* SPDX-License-Identifier: MIT */

// Long lists are made in steps: other peers are served in between, and listed objects may come and
// go. Objects that exist all the time are listed once.

#include "tests/proto_gearman/admin_gear.h"
#include "tests/support/nth_alloc.h"

#include <string.h>

#define MANY_THINGS 3000
#define LONG_NAME 500
// A list of this many lines is longer than the part that is collected before it is sent.
#define LONG_NAMES 12000
#define COLLECTED_MAX ((size_t)4 << 20)

// f0. and so on; because of the dot, no name is the beginning of another.
static void create_functions(struct peer *peer, int count)
{
    struct slice answer;

    for (int i = 0; i < count; i++) {
        admin_type(peer, admin_text("create function f%d.\n", i));
    }
    answer = peer_ask(peer, NOTHING);
    assert_int_equal(answer.len, strlen(DONE) * (size_t)count);
    assert_null(strstr(answer.ptr, "ERR"));
}

static void submit_jobs(struct peer *peer, int from, int to)
{
    for (int i = from; i < to; i++) {
        peer_send(peer, REQ(SUBMIT_JOB_BG, "f", admin_text("unique-%d.", i), ""));
    }
    peer_ask(peer, NOTHING);
}

//
// Slices
//

static void other_peers_are_served_while_a_list_is_made(void **state)
{
    struct gear *t = *state;
    int turns = 0;

    create_functions(t->b, MANY_THINGS);
    admin_ask(t->a, "status\n");
    while (admin_step(t, t->a)) {
        assert_int_equal(admin_lines(), 0);
        peer_send(t->b, SLICE("version\n"));
        turns++;
        if (turns > 1) {
            gear_hears(t->b, SLICE("OK 0.1.0\n"));
        }
    }
    assert_true(turns >= MANY_THINGS / BROKER_SLICE);
    assert_int_equal(admin_lines(), MANY_THINGS + 1);
    for (int i = 0; i < MANY_THINGS; i++) {
        assert_int_equal(admin_lines_like(admin_text("f%d.\t0\t0\t0\n", i)), 1);
    }
}

// Tools take for the whole list what one read returns, or what comes without a pause.
static void a_list_is_sent_at_once(void **state)
{
    static const char *const lists[] = {"status\n", "prioritystatus\n", "show jobs\n",
                                        "show unique jobs\n"};
    struct gear *t = *state;

    create_functions(t->b, MANY_THINGS);
    submit_jobs(t->b, 0, MANY_THINGS);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        admin_ask(t->a, lists[i]);
        while (admin_step(t, t->a)) {
            assert_int_equal(strlen(admin_heard), 0);
        }
        assert_in_range(admin_lines(), MANY_THINGS + 1, MANY_THINGS + 2);
    }
}

static void a_pipeline_of_lists_makes_one_step_in_a_turn(void **state)
{
    struct gear *t = *state;
    int turns = 0;

    create_functions(t->b, 200);
    admin_ask(t->a, "status\nprioritystatus\nshow jobs\nworkers\nversion\n");
    while (!strstr(admin_heard, "OK 0.1.0\n")) {
        rig_feed(t->rig);
        admin_collect(t->a);
        assert_true(admin_lines() <= 201 * ++turns);
    }
    assert_int_equal(admin_lines(), 201 + 201 + 1 + 4 + 1);
}

static void functions_may_come_and_go_while_they_are_listed(void **state)
{
    struct gear *t = *state;
    int gone = 0;

    create_functions(t->b, MANY_THINGS);
    admin_ask(t->a, "prioritystatus\n");
    while (admin_step(t, t->a)) {
        // From both ends: some that were listed, and some that were not.
        for (int i = 0; i < 5; i++, gone++) {
            admin_type(t->b, admin_text("drop function f%d.\n", gone));
            admin_type(t->b, admin_text("drop function f%d.\n", MANY_THINGS - 1 - gone));
            admin_type(t->b, admin_text("create function g%d.\n", gone));
        }
    }
    assert_true(gone > 100 && gone < MANY_THINGS / 4);
    for (int i = 0; i < MANY_THINGS; i++) {
        int shown = admin_lines_like(admin_text("f%d.\t", i));

        assert_true(shown <= 1);
        if (i >= gone && i < MANY_THINGS - gone) {
            assert_int_equal(shown, 1);
        }
        assert_true(admin_lines_like(admin_text("g%d.\t", i)) <= 1);
    }
}

static void jobs_may_come_and_go_while_they_are_listed(void **state)
{
    static const char *const lists[] = {"show jobs\n", "show unique jobs\n"};
    struct gear *t = *state;
    int first = 1, next = 1;

    for (int list = 0; list < 2; list++) {
        int kept_from, kept_to;

        submit_jobs(t->c, next, next + MANY_THINGS);
        next += MANY_THINGS;
        kept_to = next;
        admin_ask(t->a, lists[list]);
        while (admin_step(t, t->a) && first < kept_to - MANY_THINGS / 4) {
            for (int i = 0; i < 20; i++, first++, next++) {
                admin_type(t->b, admin_text("cancel job T:%d\n", first));
                peer_send(t->c, REQ(SUBMIT_JOB_BG, "f", admin_text("unique-%d.", next), ""));
            }
        }
        admin_finish(t, t->a);
        kept_from = first;
        for (int i = 1; i < next; i++) {
            int shown =
                admin_lines_like(list == 0 ? admin_text("T:%d\t", i) : admin_text("unique-%d.", i));

            assert_true(shown <= 1);
            if (i >= kept_from && i < kept_to) {
                assert_int_equal(shown, 1);
            }
        }
    }
}

static void a_peer_may_disconnect_before_its_list_is_complete(void **state)
{
    static const char *const lists[] = {"status\n", "prioritystatus\n", "show jobs\n",
                                        "show unique jobs\n"};
    struct gear *t = *state;

    create_functions(t->b, MANY_THINGS);
    submit_jobs(t->b, 0, MANY_THINGS);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct peer *peer = peer_new(t->rig);

        admin_ask(peer, lists[i]);
        assert_true(admin_step(t, peer));
        peer_free(peer);
        types(t->a, "version", "OK 0.1.0\n");
    }
}

//
// Room
//

static void a_list_waits_for_a_peer_that_does_not_read(void **state)
{
    struct gear *t = *state;

    for (int i = 0; i < LONG_NAMES; i++) {
        admin_type(t->b, admin_text("create function %0*d\n", LONG_NAME, i));
        if (i % 1000 == 0) {
            rig_run(t->rig);
        }
    }
    rig_run(t->rig);
    peer_stop_reading(t->a);
    admin_ask(t->a, "status\nversion\n");
    rig_run(t->rig);
    assert_in_range(peer_unread(t->a), COLLECTED_MAX, COLLECTED_MAX + ADMIN_STEP_MAX);
    types(t->c, "version", "OK 0.1.0\n");
    peer_read_again(t->a);
    admin_collect(t->a);
    assert_int_equal(admin_lines(), LONG_NAMES + 2);
    assert_string_equal(strstr(admin_heard, "\n.\n"), "\n.\nOK 0.1.0\n");
}

// True: the reply needed fewer allocations than `n`, so none failed.
static bool survives_failure(const char *line, size_t n)
{
    void *state;
    struct gear *t;
    struct slice answer;
    size_t made;

    admin_setup(&state);
    t = state;
    admin_type(t->a, line);
    nth_alloc_fail(n);
    rig_run(t->rig);
    made = nth_alloc_count();
    nth_alloc_fail(0);
    answer = peer_hear(t->a);
    if (made < n) {
        assert_true(answer.len > 0 && !peer_closed(t->a));
    } else if (!peer_failed(t->a)) {
        assert_memory_equal(answer.ptr, "ERR ", 4);
        types(t->a, "version", "OK 0.1.0\n");
    }
    types(t->b, "version", "OK 0.1.0\n");
    gear_teardown(&state);
    return made < n;
}

static void a_reply_without_memory_is_an_error_or_a_disconnect(void **state)
{
    static const char *const said[] = {
        "status\n",           "prioritystatus\n",    "workers\n", "show jobs\n",
        "show unique jobs\n", "create function f\n", "version\n", "what\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        size_t n = 1;

        while (!survives_failure(said[i], n)) {
            n++;
        }
#ifdef __SANITIZE_ADDRESS__
        assert_true(n > 1); // without slabs; a block of a slab may have room for all
#endif
    }
}

static void a_list_without_memory_is_refused(void **state)
{
    struct gear *t = *state;

    nth_alloc_fail(1);
    types(t->a, "workers", "ERR OUT_OF_MEMORY\r\n");
    nth_alloc_fail(0);
    types(t->a, "workers", "3 127.0.0.1 - :\n2 127.0.0.1 - :\n1 127.0.0.1 - :\n.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CROWD(other_peers_are_served_while_a_list_is_made),
        CROWD(a_list_is_sent_at_once),
        CROWD(a_pipeline_of_lists_makes_one_step_in_a_turn),
        CROWD(functions_may_come_and_go_while_they_are_listed),
        CROWD(jobs_may_come_and_go_while_they_are_listed),
        CROWD(a_peer_may_disconnect_before_its_list_is_complete),
        CROWD(a_list_waits_for_a_peer_that_does_not_read),
        CROWD(a_list_without_memory_is_refused),
        cmocka_unit_test(a_reply_without_memory_is_an_error_or_a_disconnect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
