/* SPDX-License-Identifier: MIT */

// The status of a job, by its handle or its unique.

#include "tests/proto_gearman/wire_gear.h"

static void by_handle_at(struct peer *peer, uint64_t id, const char *running, const char *numerator,
                         const char *denominator, const char *file, int line)
{
    const char *handle = gear_handle(id);

    gear_says_at(peer, REQ(GET_STATUS, handle),
                 RES(STATUS_RES, handle, "1", running, numerator, denominator), file, line);
}

#define by_handle(peer, id, ...) by_handle_at((peer), (id), __VA_ARGS__, __FILE__, __LINE__)

static void an_unknown_handle_has_no_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "0", "0", "0", "0"));
    gear_says(t->a, REQ(GET_STATUS, ""), RES(STATUS_RES, "", "0", "0", "0", "0"));
    gear_says(t->a, REQ(GET_STATUS), RES(STATUS_RES, "", "0", "0", "0", "0"));
}

static void a_job_is_running_while_a_worker_holds_it(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    by_handle(t->b, 1, "0", "0", "0");
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
    by_handle(t->b, 1, "1", "0", "0");
    gear_says(t->c, REQ(WORK_COMPLETE, H(1), ""), NOTHING);
    gear_says(t->b, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "0", "0", "0", "0"));
}

static void progress_is_shown_as_numbers(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
    gear_says(t->c, REQ(WORK_STATUS, H(1), "3", "10"), NOTHING);
    by_handle(t->b, 1, "1", "3", "10");
    gear_says(t->c, REQ(WORK_STATUS, H(1), "004", "4294967295"), NOTHING);
    by_handle(t->b, 1, "1", "4", "4294967295");
    gear_says(t->c, REQ(WORK_STATUS, H(1), "5 of", "ten"), NOTHING);
    by_handle(t->b, 1, "1", "5", "0");
}

static void progress_restarts_with_the_next_worker(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
    gear_says(t->c, REQ(WORK_STATUS, H(1), "3", "10"), NOTHING);
    gear_hears(t->a, RES(WORK_STATUS, H(1), "3", "10"));
    peer_free(t->c);
    by_handle(t->b, 1, "0", "0", "0");
}

static void a_delayed_job_is_known_and_not_running(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "u", "1800000000", "x"));
    by_handle(t->a, 1, "0", "0", "0");
    gear_says(t->a, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "0"));
}

static void a_buried_job_is_known_by_its_handle_only(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"));
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
    gear_says(t->c, REQ(WORK_FAIL, H(1)), NOTHING);
    by_handle(t->a, 1, "0", "0", "0");
    gear_says(t->a, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "0", "0", "0", "0", "0"));
}

static void a_unique_is_asked_for_in_the_same_way(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "1"));
    gear_says(t->c, REQ(CAN_DO, "f"), NOTHING);
    gear_grabs(t->c, "f", "x");
    gear_says(t->c, REQ(WORK_STATUS, H(1), "1", "2"), NOTHING);
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "1", "1", "2", "1"));
}

static void clients_that_wait_are_counted(void **state)
{
    struct gear *t = *state;
    struct peer *d = peer_new(t->rig);

    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"));
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "0"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_submits(d, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_submits(t->c, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "3"));
    peer_free(d);
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "2"));
}

static void an_unknown_unique_has_no_job(void **state)
{
    static const char *const uniques[] = {"", "-", "u", "x"};
    struct gear *t = *state;
    const char *longest = gear_run('u', 8000);

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "-", "x"));
    for (size_t i = 0; i < sizeof uniques / sizeof *uniques; i++) {
        gear_says(t->a, REQ(GET_STATUS_UNIQUE, uniques[i]),
                  RES(STATUS_RES_UNIQUE, uniques[i], "0", "0", "0", "0", "0"));
    }
    gear_says(t->a, REQ(GET_STATUS_UNIQUE, longest),
              RES(STATUS_RES_UNIQUE, longest, "0", "0", "0", "0", "0"));
}

static void of_several_jobs_with_one_unique_the_first_is_shown(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "u", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "g", "u", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "h", "u", "x"));
    gear_submits(t->b, REQ(SUBMIT_JOB, "h", "u", "x"));
    gear_says(t->c, MANY(REQ(CAN_DO, "g"), REQ(CAN_DO, "f")), NOTHING);
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "0"));
    gear_grabs(t->c, "f", "x");
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "1", "0", "0", "0"));
    gear_says(t->c, REQ(WORK_COMPLETE, H(1), ""), NOTHING);
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "1"));
    gear_grabs(t->c, "g", "x");
    gear_says(t->c, REQ(WORK_FAIL, H(2)), NOTHING);
    gear_says(t->b, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(an_unknown_handle_has_no_job),
        GEAR(a_job_is_running_while_a_worker_holds_it),
        GEAR(progress_is_shown_as_numbers),
        GEAR(progress_restarts_with_the_next_worker),
        GEAR(a_delayed_job_is_known_and_not_running),
        GEAR(a_buried_job_is_known_by_its_handle_only),
        GEAR(a_unique_is_asked_for_in_the_same_way),
        GEAR(clients_that_wait_are_counted),
        GEAR(an_unknown_unique_has_no_job),
        GEAR(of_several_jobs_with_one_unique_the_first_is_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
