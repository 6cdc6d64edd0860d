/* SPDX-License-Identifier: MIT */

// maxqueue: the limits for the jobs of a function, one for each priority.

#include "tests/proto_gearman/admin_gear.h"
#include "tests/support/policies.h"

#include "core/policy.h"

#include <string.h>

// Submits one job of each priority, high first; a letter for each says whether it was accepted.
static const char *admitted(struct gear *t)
{
    static const char *const types[] = {SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_BG, SUBMIT_JOB_LOW_BG};
    static char letters[BAND_COUNT + 1];

    memcpy(letters, "hnl", sizeof letters);
    for (size_t band = 0; band < BAND_COUNT; band++) {
        struct slice heard = peer_ask(t->a, REQ(types[band], "f", "", ""));

        assert_true(heard.len > 12);
        if (heard.ptr[7] == *ERROR) {
            assert_memory_equal(heard.ptr + 12, "QUEUE_ERROR\0Job queue is full", 29);
            letters[band] = '-';
        }
    }
    return letters;
}

static void one_limit_is_for_all_priorities(void **state)
{
    struct gear *t = *state;

    types(t->c, "create function f", DONE);
    types(t->c, "maxqueue f 2", DONE);
    assert_string_equal(admitted(t), "hn-");
    types(t->c, "maxqueue f 4", DONE);
    assert_string_equal(admitted(t), "hn-");
    types(t->c, "maxqueue f", DONE);
    assert_string_equal(admitted(t), "hnl");
}

static void three_limits_are_for_high_normal_and_low(void **state)
{
    struct gear *t = *state;

    types(t->c, "create function f", DONE);
    types(t->c, "maxqueue f 1 0 2", DONE);
    assert_string_equal(admitted(t), "hn-");
    assert_string_equal(admitted(t), "-n-");
    types(t->c, "maxqueue f 0 1 9", DONE);
    assert_string_equal(admitted(t), "h-l");
}

static void of_two_limits_low_has_none(void **state)
{
    struct gear *t = *state;

    types(t->c, "create function f", DONE);
    types(t->c, "maxqueue f 1 1", DONE);
    assert_string_equal(admitted(t), "h-l");
    assert_string_equal(admitted(t), "--l");
}

static void an_invalid_limit_means_no_limit(void **state)
{
    static const char *const lines[] = {"maxqueue f 0\n", "maxqueue f -1\n", "maxqueue f x\n",
                                        "maxqueue f 18446744073709551617\n",
                                        "maxqueue f 4294967297\n"};
    struct gear *t = *state;

    types(t->c, "create function f", DONE);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        types(t->c, "maxqueue f 1", DONE);
        gear_says(t->c, slice_str(lines[i]), SLICE(DONE));
        assert_string_equal(admitted(t), "hnl");
    }
    types(t->c, "maxqueue f +1x", DONE);
    assert_string_equal(admitted(t), "---");
}

static void a_limit_counts_running_and_delayed_jobs_but_no_buried_ones(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", ""), RES(JOB_CREATED, "T:1"));
    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000060", ""), RES(JOB_CREATED, "T:2"));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:1", "f", ""));
    types(t->c, "maxqueue f 2", DONE);
    assert_string_equal(admitted(t), "---");
    gear_says(t->b, REQ(WORK_FAIL, "T:1"), NOTHING);
    assert_string_equal(admitted(t), "h--");
}

static void a_submission_that_joins_a_job_needs_no_room(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", ""), RES(JOB_CREATED, "T:1"));
    types(t->c, "maxqueue f 1", DONE);
    gear_fails(t->a, REQ(SUBMIT_JOB, "f", "v", ""), "QUEUE_ERROR");
    gear_says(t->b, REQ(SUBMIT_JOB, "f", "u", ""), RES(JOB_CREATED, "T:1"));
}

static void a_policy_limits_functions_too(void **state)
{
    const struct policy_rule rule = {.glob = SLICE("f"),
                                     .spec = {.max_jobs = 1, .max_job_size = 2}};
    struct gear *t = *state;

    assert_int_equal(STATUS_OK, set_policies(rig_broker(t->rig), &rule, 1));
    gear_fails(t->a, REQ(SUBMIT_JOB_BG, "f", "", "abc"), "ARGUMENT_TOO_LARGE");
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "ab"), RES(JOB_CREATED, "T:1"));
    gear_fails(t->a, REQ(SUBMIT_JOB_BG, "f", "", "ab"), "QUEUE_ERROR");
}

static void a_limit_of_an_unknown_function_has_no_effect(void **state)
{
    struct gear *t = *state;

    types(t->c, "maxqueue f 1", DONE);
    types(t->c, "status", ".\n");
    assert_string_equal(admitted(t), "hnl");
}

static void a_limit_holds_after_the_last_job_has_ended(void **state)
{
    struct gear *t = *state;
    struct peer *producer = peer_new_other(t->rig);

    gear_says(producer, SLICE("use f\r\nput 0 0 9 0\r\n\r\n"), SLICE("USING f\r\nINSERTED 1\r\n"));
    types(t->c, "maxqueue f 1", DONE);
    gear_says(producer, SLICE("put 0 0 9 0\r\n\r\n"), SLICE("OUT_OF_MEMORY\r\n"));
    peer_free(producer);
    types(t->c, "cancel job T:1", DONE);
    assert_string_equal(admitted(t), "h--");
}

static void a_function_that_is_dropped_loses_its_limit(void **state)
{
    struct gear *t = *state;
    struct peer *producer = peer_new_other(t->rig);

    gear_says(producer, SLICE("use f\r\n"), SLICE("USING f\r\n"));
    types(t->c, "maxqueue f 1", DONE);
    types(t->c, "drop function f", DONE);
    assert_string_equal(admitted(t), "hnl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(one_limit_is_for_all_priorities),
        ADMIN(three_limits_are_for_high_normal_and_low),
        ADMIN(of_two_limits_low_has_none),
        ADMIN(an_invalid_limit_means_no_limit),
        ADMIN(a_limit_counts_running_and_delayed_jobs_but_no_buried_ones),
        ADMIN(a_submission_that_joins_a_job_needs_no_room),
        ADMIN(a_policy_limits_functions_too),
        ADMIN(a_limit_of_an_unknown_function_has_no_effect),
        ADMIN(a_limit_holds_after_the_last_job_has_ended),
        ADMIN(a_function_that_is_dropped_loses_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
