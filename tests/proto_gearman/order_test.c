/* SPDX-License-Identifier: MIT */

// Which job a worker gets: the one with the lowest priority number of all its functions; among
// equals, its functions in turn, and within a function the oldest job.

#include "tests/proto_gearman/wire_gear.h"

#define FUNCTIONS_MAX 4

static void can_do(struct peer *worker, const char *const functions[FUNCTIONS_MAX])
{
    for (size_t i = 0; functions[i]; i++) {
        gear_says(worker, REQ(CAN_DO, functions[i]), NOTHING);
    }
}

#define FUNCTIONS(...) ((const char *const[FUNCTIONS_MAX]){__VA_ARGS__})

static void submit(struct peer *client, const char *function, const char *body)
{
    gear_submits(client, REQ(SUBMIT_JOB_BG, function, "", body));
}

static void jobs_of_a_function_come_in_their_order(void **state)
{
    struct gear *t = *state;

    submit(t->a, "f", "1");
    submit(t->b, "f", "2");
    submit(t->a, "f", "3");
    can_do(t->c, FUNCTIONS("f"));
    gear_grabs(t->c, "f", "1");
    gear_grabs(t->c, "f", "2");
    gear_grabs(t->c, "f", "3");
}

static void priority_comes_before_age(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_LOW_BG, "f", "", "low 1"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "normal 1"));
    gear_submits(t->a, REQ(SUBMIT_JOB_HIGH, "f", "", "high 1"));
    gear_submits(t->a, REQ(SUBMIT_JOB_LOW, "f", "", "low 2"));
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "normal 2"));
    gear_submits(t->a, REQ(SUBMIT_JOB_HIGH_BG, "f", "", "high 2"));
    can_do(t->c, FUNCTIONS("f"));
    gear_grabs(t->c, "f", "high 1");
    gear_grabs(t->c, "f", "high 2");
    gear_grabs(t->c, "f", "normal 1");
    gear_grabs(t->c, "f", "normal 2");
    gear_grabs(t->c, "f", "low 1");
    gear_grabs(t->c, "f", "low 2");
}

static void priority_counts_over_all_functions_of_a_worker(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_LOW, "f", "", "low"));
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "normal"));
    gear_submits(t->a, REQ(SUBMIT_JOB_HIGH, "g", "", "high"));
    gear_submits(t->a, REQ(SUBMIT_JOB_LOW, "g", "", "low"));
    can_do(t->c, FUNCTIONS("f", "g"));
    gear_grabs(t->c, "g", "high");
    gear_grabs(t->c, "f", "normal");
    gear_grabs(t->c, "g", "low");
    gear_grabs(t->c, "f", "low");
}

static void functions_are_served_in_turn_the_one_offered_last_first(void **state)
{
    struct gear *t = *state;
    static const char *const functions[] = {"a", "b", "c", "d"};
    static const char *const bodies[] = {"0", "1", "2"};
    static const char turns[][3] = {"c0", "b0", "a0", "c1", "d0", "b1",
                                    "a1", "c2", "d1", "b2", "a2", "d2"};

    for (size_t i = 0; i < 12; i++) {
        submit(t->a, functions[i / 3], bodies[i % 3]);
    }
    can_do(t->c, FUNCTIONS("a", "b", "c"));
    for (size_t i = 0; i < 12; i++) {
        if (i == 4) {
            can_do(t->c, FUNCTIONS("d"));
        }
        gear_grabs(t->c, functions[turns[i][0] - 'a'], bodies[turns[i][1] - '0']);
    }
}

static void the_turn_goes_to_the_function_served_least_recently(void **state)
{
    struct gear *t = *state;

    can_do(t->c, FUNCTIONS("f", "g", "h"));
    submit(t->a, "h", "1");
    gear_grabs(t->c, "h", "1");
    submit(t->a, "f", "2");
    gear_grabs(t->c, "f", "2");
    submit(t->a, "f", "3");
    submit(t->a, "h", "4");
    submit(t->a, "g", "5");
    gear_grabs(t->c, "g", "5");
    gear_grabs(t->c, "h", "4");
    gear_grabs(t->c, "f", "3");
}

static void each_worker_has_its_own_turn(void **state)
{
    struct gear *t = *state;

    for (int i = 0; i < 4; i++) {
        submit(t->a, "f", "x");
        submit(t->a, "g", "x");
    }
    can_do(t->b, FUNCTIONS("g", "f"));
    can_do(t->c, FUNCTIONS("f", "g"));
    gear_grabs(t->b, "f", "x");
    gear_grabs(t->c, "g", "x");
    gear_grabs(t->b, "g", "x");
    gear_grabs(t->c, "f", "x");
}

static void a_function_that_is_given_up_and_offered_again_comes_first(void **state)
{
    struct gear *t = *state;

    can_do(t->c, FUNCTIONS("f", "g"));
    submit(t->a, "f", "1");
    gear_grabs(t->c, "f", "1");
    gear_says(t->c, MANY(REQ(WORK_COMPLETE, H(1), ""), REQ(CANT_DO, "f")), NOTHING);
    can_do(t->c, FUNCTIONS("f"));
    submit(t->a, "g", "2");
    submit(t->a, "f", "3");
    gear_grabs(t->c, "f", "3");
    gear_grabs(t->c, "g", "2");
}

static void a_flood_of_one_function_does_not_starve_another(void **state)
{
    struct gear *t = *state;

    for (int i = 0; i < 100; i++) {
        submit(t->a, "flood", "x");
    }
    submit(t->a, "f", "y");
    can_do(t->c, FUNCTIONS("f", "flood"));
    gear_grabs(t->c, "flood", "x");
    gear_grabs(t->c, "f", "y");
    gear_grabs(t->c, "flood", "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GEAR(jobs_of_a_function_come_in_their_order),
        GEAR(priority_comes_before_age),
        GEAR(priority_counts_over_all_functions_of_a_worker),
        GEAR(functions_are_served_in_turn_the_one_offered_last_first),
        GEAR(the_turn_goes_to_the_function_served_least_recently),
        GEAR(each_worker_has_its_own_turn),
        GEAR(a_function_that_is_given_up_and_offered_again_comes_first),
        GEAR(a_flood_of_one_function_does_not_starve_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
