/* SPDX-License-Identifier: MIT */

// The replies are the same to the byte, however the input is split into pieces and however small
// the budget of a turn is.

#include "tests/proto_common/wire_host.h"
#include "tests/proto_gearman/wire_gear.h"
#include "tests/proto_gearman/wire_gear_scripts.h"

#include <string.h>

#define HEARD_MAX 300000

struct outcome {
    char heard[HEARD_MAX];
    size_t len;
    bool closed;
};

static int setup(void **state, const struct gear_script *script, unsigned budget)
{
    struct gear_options settings = GEAR_DEFAULTS;

    settings.max_job_size = script->max_job_size;
    return gear_setup_with(state, (struct rig_options){.budget = budget}, settings);
}

// Does the jobs that the script has submitted.
static void work(struct peer *worker)
{
    peer_ask(worker, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "g")));
    for (uint64_t id = 1; id < 20; id++) {
        const char *handle = gear_handle(id);

        peer_ask(worker, MANY(REQ(GRAB_JOB), REQ(WORK_STATUS, handle, "1", "2")));
        peer_ask(worker, REQ(WORK_DATA, handle, "d"));
        peer_ask(worker, REQ(id % 2 ? WORK_COMPLETE : WORK_EXCEPTION, handle, "r"));
    }
}

// Plays the script in pieces with a new broker: the first has `first` bytes, the others have
// `piece`.
static void play(const struct gear_script *script, size_t first, size_t piece, unsigned budget,
                 struct outcome *outcome)
{
    void *state;
    struct gear *t;
    struct slice heard;

    setup(&state, script, budget);
    t = state;
    peer_send_pieces(t->a, script->said, first, piece);
    work(t->b);
    heard = peer_hear(t->a);
    assert_true(heard.len < sizeof outcome->heard);
    memcpy(outcome->heard, heard.ptr, heard.len);
    outcome->len = heard.len;
    outcome->closed = peer_closed(t->a);
    gear_teardown(&state);
}

static void check(const struct gear_script *script, size_t first, size_t piece, unsigned budget)
{
    static const struct gear_script *played;
    static struct outcome whole, cut;

    if (played != script) {
        played = script;
        play(script, script->said.len, 1, 0, &whole);
    }
    play(script, first, piece, budget, &cut);
    if (cut.len != whole.len || memcmp(cut.heard, whole.heard, whole.len) != 0) {
        print_error("%s, first %zu, then %zu, budget %u: heard %zu bytes, expected %zu\n",
                    script->what, first, piece, budget, cut.len, whole.len);
        fail();
    }
    assert_int_equal(cut.closed, whole.closed);
}

// A body is not split at each of its bytes: splits around it, and some within, are enough.
static size_t step_at(const struct gear_script *script, size_t at)
{
    char same[64];
    struct slice said = script->said;

    if (at < sizeof same || said.len - at < sizeof same) {
        return 1;
    }
    memset(same, said.ptr[at], sizeof same);
    return memcmp(said.ptr + at - sizeof same / 2, same, sizeof same) == 0 ? 97 : 1;
}

static void every_split_in_two_gives_the_same_replies(void **state)
{
    size_t count;
    const struct gear_script *scripts = gear_scripts(&count);

    (void)state;
    for (size_t s = 0; s < count; s++) {
        for (size_t first = 1; first < scripts[s].said.len; first += step_at(&scripts[s], first)) {
            check(&scripts[s], first, scripts[s].said.len, 0);
        }
    }
}

static void pieces_of_every_size_give_the_same_replies(void **state)
{
    size_t count;
    const struct gear_script *scripts = gear_scripts(&count);

    (void)state;
    for (size_t s = 0; s < count; s++) {
        // A long packet is fed from its beginning again while an argument is incomplete.
        size_t least = scripts[s].said.len < 10000 ? 1 : 37;

        for (size_t piece = least; piece < least + 40; piece++) {
            check(&scripts[s], piece, piece, 0);
        }
        for (size_t piece = 1000; piece < 20000; piece += 1371) {
            check(&scripts[s], piece, piece, 0);
        }
    }
}

static void every_budget_gives_the_same_replies(void **state)
{
    size_t count;
    const struct gear_script *scripts = gear_scripts(&count);

    (void)state;
    for (size_t s = 0; s < count; s++) {
        for (unsigned budget = 1; budget < 10; budget++) {
            check(&scripts[s], scripts[s].said.len, 1, budget);
            check(&scripts[s], 50, 50, budget);
        }
    }
}

static void a_connection_may_break_anywhere(void **state)
{
    size_t count;
    const struct gear_script *scripts = gear_scripts(&count);

    (void)state;
    for (size_t s = 0; s < count; s++) {
        for (size_t len = 0; len < scripts[s].said.len; len += step_at(&scripts[s], len)) {
            struct broker_info info;
            void *world;
            struct gear *t;

            setup(&world, &scripts[s], 0);
            t = world;
            peer_ask(t->a, slice_of(scripts[s].said.ptr, len));
            peer_free(t->a);
            broker_info(rig_broker(t->rig), &info);
            assert_int_equal(info.jobs[JOB_RESERVED], 0);
            assert_int_equal(info.sessions, 2);
            assert_int_equal(info.waiting, 0);
            gear_says(t->b, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
            gear_teardown(&world);
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
