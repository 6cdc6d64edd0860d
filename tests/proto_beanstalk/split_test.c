/* SPDX-License-Identifier: MIT */

// The replies are the same to the byte, however the input is split into pieces and however small
// the budget of a turn is.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_beanstalk/wire_scripts.h"
#include "tests/proto_common/wire_host.h"

#include <stdlib.h>
#include <string.h>

struct outcome {
    char heard[8192];
    size_t len;
    bool closed, blocked;
};

// Plays the script in pieces with a new broker: the first has `first` bytes, the others have
// `piece`.
static void play(const struct bean_script *script, size_t first, size_t piece, unsigned budget,
                 struct outcome *outcome)
{
    void *state;
    struct bean *t;
    struct slice heard;

    bean_setup_with(&state, (struct rig_options){.budget = budget});
    t = state;
    t->settings.max_job_size = BEAN_SCRIPT_MAX_JOB_SIZE;
    peer_send_pieces(t->a, script->said, first, piece);
    peer_ask(t->b, SLICE("use x\r\nput 0 0 60 6\r\nfrom b\r\n"));
    heard = peer_hear(t->a);
    assert_true(heard.len < sizeof outcome->heard);
    memcpy(outcome->heard, heard.ptr, heard.len);
    outcome->len = heard.len;
    outcome->closed = peer_closed(t->a);
    outcome->blocked = peer_blocked(t->a);
    bean_teardown(&state);
}

static void check(const struct bean_script *script, size_t first, size_t piece, unsigned budget)
{
    static struct outcome whole, cut;

    play(script, script->said.len, 1, 0, &whole);
    play(script, first, piece, budget, &cut);
    if (cut.len != whole.len || memcmp(cut.heard, whole.heard, whole.len) != 0) {
        print_error("%s, first %zu, then %zu, budget %u\nheard    %.*s\nexpected %.*s\n",
                    script->what, first, piece, budget, (int)cut.len, cut.heard, (int)whole.len,
                    whole.heard);
        fail();
    }
    assert_int_equal(cut.closed, whole.closed);
    assert_int_equal(cut.blocked, whole.blocked);
}

static void every_split_in_two_gives_the_same_replies(void **state)
{
    (void)state;
    for (size_t s = 0; s < bean_script_count; s++) {
        for (size_t first = 1; first < bean_scripts[s].said.len; first++) {
            check(&bean_scripts[s], first, bean_scripts[s].said.len, 0);
        }
    }
}

static void pieces_of_every_size_give_the_same_replies(void **state)
{
    (void)state;
    for (size_t s = 0; s < bean_script_count; s++) {
        for (size_t piece = 1; piece < 40; piece++) {
            check(&bean_scripts[s], piece, piece, 0);
        }
    }
}

static void every_budget_gives_the_same_replies(void **state)
{
    (void)state;
    for (size_t s = 0; s < bean_script_count; s++) {
        for (unsigned budget = 1; budget < 10; budget++) {
            check(&bean_scripts[s], bean_scripts[s].said.len, 1, budget);
        }
    }
}

static void a_connection_may_break_anywhere(void **state)
{
    (void)state;
    for (size_t s = 0; s < bean_script_count; s++) {
        for (size_t len = 0; len < bean_scripts[s].said.len; len++) {
            void *world;
            struct bean *t;

            bean_setup(&world);
            t = world;
            peer_ask(t->a, slice_of(bean_scripts[s].said.ptr, len));
            peer_free(t->a);
            stat_is(t->b, "stats\r\n", "current-connections", 2);
            stat_is(t->b, "stats\r\n", "current-jobs-reserved", 0);
            stat_is(t->b, "stats\r\n", "current-waiting", 0);
            bean_teardown(&world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_split_in_two_gives_the_same_replies),
        cmocka_unit_test(pieces_of_every_size_give_the_same_replies),
        cmocka_unit_test(every_budget_gives_the_same_replies),
        cmocka_unit_test(a_connection_may_break_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
