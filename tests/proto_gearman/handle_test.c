/* SPDX-License-Identifier: MIT */

// Handles: a prefix, a colon and the id of the job.

#include "tests/proto_gearman/wire_gear.h"

#include <string.h>

#define LONG_PREFIX "0123456789012345678901234567890123456789abcdef"
#define CUT_PREFIX "0123456789012345678901234567890123456789ab"

static int with_a_prefix(void **state)
{
    static char prefix[] = "my/jobs";
    struct gear_options settings = GEAR_DEFAULTS;

    settings.handle_prefix = prefix;
    return gear_setup_with(state, (struct rig_options){0}, settings);
}

static int with_a_long_prefix(void **state)
{
    static char prefix[] = LONG_PREFIX;
    struct gear_options settings = GEAR_DEFAULTS;

    settings.handle_prefix = prefix;
    return gear_setup_with(state, (struct rig_options){0}, settings);
}

static int with_large_ids(void **state)
{
    const struct rig_options options = {.broker = {.first_id = UINT64_C(10000000000000000000)}};

    return gear_setup_with(state, options, GEAR_DEFAULTS);
}

static void the_prefix_may_be_chosen(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, "my/jobs:1"));
    gear_says(t->a, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "0", "0", "0", "0"));
    gear_says(t->a, REQ(GET_STATUS, "my/jobs:1"), RES(STATUS_RES, "my/jobs:1", "1", "0", "0", "0"));
}

static void a_long_prefix_is_cut_to_the_limit_of_clients(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, CUT_PREFIX ":1"));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)),
              RES(JOB_ASSIGN, CUT_PREFIX ":1", "f", "x"));
    gear_says(t->b, REQ(WORK_COMPLETE, CUT_PREFIX ":1", "y"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, CUT_PREFIX ":1", "y"));
}

static void a_prefix_with_blanks_or_control_bytes_is_refused(void **state)
{
    static char prefixes[][8] = {"a b", " ", "a\n", "\ta", "a\x7f"};
    struct gear_options settings = GEAR_DEFAULTS;
    const struct rig_options options = {.frontend = &gearman_frontend, .settings = &settings};

    (void)state;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        settings.handle_prefix = prefixes[i];
        assert_null(rig_new(&options));
    }
}

static void ids_may_be_very_large(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(10000000000000000000)));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)),
              RES(JOB_ASSIGN, H(10000000000000000000), "f", "x"));
    gear_says(t->b, REQ(WORK_COMPLETE, H(10000000000000000000), "y"), NOTHING);
    gear_hears(t->a, RES(WORK_COMPLETE, H(10000000000000000000), "y"));
}

// Each of these could be a handle of job 1 of another server.
static const char *const strange[] = {
    "",
    "1",
    "H",
    "H:",
    "H:test.host",
    GEAR_PREFIX,
    H(01),
    H(+1),
    (GEAR_PREFIX "1 "),
    (" " GEAR_PREFIX "1"),
    H(1x),
    H(0x1),
    H(-1),
    H(0),
    H(2),
    H(4294967297),
    H(18446744073709551617),
    "h:test.host:1",
    "H:test.hosT:1",
    "H:test host:1",
    "H:other:1",
    "X:test.host:1",
    (GEAR_PREFIX "1:1"),
};

static void only_the_exact_handle_names_a_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "x"), RES(JOB_CREATED, H(1)));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        gear_says(t->a, REQ(GET_STATUS, strange[i]),
                  RES(STATUS_RES, strange[i], "0", "0", "0", "0"));
        gear_fails(t->b, REQ(WORK_COMPLETE, strange[i], "y"), "JOB_NOT_FOUND");
        gear_fails(t->b, REQ(WORK_FAIL, strange[i]), "JOB_NOT_FOUND");
    }
    gear_says(t->a, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "1", "1", "0", "0"));
}

static void a_handle_of_any_length_is_answered(void **state)
{
    struct gear *t = *state;
    const char *handle = gear_run('h', 8000);

    gear_says(t->a, REQ(GET_STATUS, handle), RES(STATUS_RES, handle, "0", "0", "0", "0"));
    gear_says(t->a, REQ(WORK_FAIL, handle),
              RES(ERROR, "JOB_NOT_FOUND", "Job given in work result not found"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_prefix_may_be_chosen, with_a_prefix, gear_teardown),
        cmocka_unit_test_setup_teardown(a_long_prefix_is_cut_to_the_limit_of_clients,
                                        with_a_long_prefix, gear_teardown),
        cmocka_unit_test(a_prefix_with_blanks_or_control_bytes_is_refused),
        cmocka_unit_test_setup_teardown(ids_may_be_very_large, with_large_ids, gear_teardown),
        GEAR(only_the_exact_handle_names_a_job),
        GEAR(a_handle_of_any_length_is_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
