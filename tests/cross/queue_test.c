/* SPDX-License-Identifier: MIT */

// The same queues in both protocols: tubes in beanstalk, functions in Gearman.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_gearman/wire_gear.h"

static void functions_are_tubes(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(CAN_DO, "by_worker"), NOTHING);
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "by_client", "", "x"));
    gear_says(t->b, SLICE("create function by_admin\n"), SLICE("OK\r\n"));
    says_yaml(t->m, "list-tubes\r\n", "---\n- default\n- by_worker\n- by_client\n- by_admin\n");
}

static void tubes_are_functions(void **state)
{
    struct gear *t = *state;

    says(t->m, "use f\r\nput 0 0 1 1\r\nx\r\nwatch g\r\n",
         "USING f\r\nINSERTED 1\r\nWATCHING 2\r\n");
    gear_says(t->a, SLICE("status\n"), SLICE("default\t0\t0\t2\nf\t1\t0\t0\ng\t0\t0\t1\n.\n"));
}

static void a_function_without_workers_is_removed(void **state)
{
    struct gear *t = *state;

    says(t->m, "use f\r\nuse g\r\nuse h\r\nuse default\r\n",
         "USING f\r\nUSING g\r\nUSING h\r\nUSING default\r\n");
    gear_says(t->a, MANY(REQ(CAN_DO, "g"), REQ(CANT_DO, "g")), NOTHING);
    gear_submits(t->a, REQ(SUBMIT_JOB, "h", "", "x"));
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    gear_hears(t->a, RES(WORK_FAIL, H(1)));
    says_yaml(t->m, "list-tubes\r\n", "---\n- default\n");
}

static void a_tube_is_removed_with_its_last_worker(void **state)
{
    struct gear *t = *state;

    says(t->m, "use f\r\n", "USING f\r\n");
    gear_says(t->a, REQ(CAN_DO, "f"), NOTHING);
    says(t->m, "use default\r\n", "USING default\r\n");
    says_yaml(t->m, "list-tubes\r\n", "---\n- default\n- f\n");
    peer_free(t->a);
    says_yaml(t->m, "list-tubes\r\n", "---\n- default\n");
}

static void a_dropped_function_is_removed_when_its_tube_is_no_longer_used(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, SLICE("create function f\n"), SLICE("OK\r\n"));
    says(t->m, "use f\r\n", "USING f\r\n");
    gear_says(t->a, SLICE("drop function f\n"), SLICE("OK\r\n"));
    says_yaml(t->m, "list-tubes\r\n", "---\n- default\n- f\n");
    says(t->m, "use default\r\n", "USING default\r\n");
    says_yaml(t->m, "list-tubes\r\n", "---\n- default\n");
}

static void names_that_are_not_valid_tube_names_are_not_in_beanstalk_lists(void **state)
{
    static const char *const names[] = {"with space", "tab\tand\nmore", "-dash", "\xc3\xa4", "a*b"};
    struct gear *t = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        gear_submits(t->a, REQ(SUBMIT_JOB_BG, names[i], "", "x"));
    }
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, gear_run('n', 201), "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "plain", "", "x"));
    says_yaml(t->m, "list-tubes\r\n", "---\n- default\n- plain\n");
    stat_is(t->m, "stats\r\n", "current-jobs-ready", 7);
}

static void such_a_name_is_escaped_in_statistics(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "a b\t\"\\\n\xc3\xa4", "", "x"));
    says(t->m, "reserve-job 1\r\n", "RESERVED 1 1\r\nx\r\n");
    says_yaml(t->m, "stats-job 1\r\n",
              "---\nid: 1\ntube: \"a b\\x09\\x22\\x5c\\x0a\\xc3\\xa4\"\nstate: reserved\n"
              "pri: 65536\nage: 0\ndelay: 0\nttr: 0\ntime-left: 0\nfile: 0\nreserves: 1\n"
              "timeouts: 0\nreleases: 0\nburies: 0\nkicks: 0\n");
    says(t->m, "delete 1\r\n", "DELETED\r\n");
}

static void the_counts_of_a_queue_include_both_protocols(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    says(t->m, "watch f\r\nreserve\r\n", "WATCHING 2\r\n");
    stat_is(t->n, "stats-tube f\r\n", "current-watching", 2);
    stat_is(t->n, "stats-tube f\r\n", "current-waiting", 2);
    gear_submits(t->b, REQ(SUBMIT_JOB, "f", "", "x"));
    hears(t->m, "RESERVED 1 1\r\nx\r\n");
    gear_submits(t->b, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_submits(t->b, REQ(SUBMIT_JOB_EPOCH, "f", "", "1800000000", "x"));
    says(t->n, "use f\r\nput 0 100 1 1\r\nx\r\n", "USING f\r\nINSERTED 4\r\n");
    stat_is(t->n, "stats-tube f\r\n", "current-jobs-reserved", 1);
    stat_is(t->n, "stats-tube f\r\n", "current-jobs-ready", 1);
    stat_is(t->n, "stats-tube f\r\n", "current-jobs-delayed", 2);
    stat_is(t->n, "stats-tube f\r\n", "total-jobs", 4);
    gear_says(t->b, SLICE("status\n"), SLICE("default\t0\t0\t2\nf\t4\t1\t2\n.\n"));
}

static void each_protocol_counts_its_own_connections(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(CAN_DO, "f"), NOTHING);
    stat_is(t->m, "stats\r\n", "current-connections", 2);
    stat_is(t->m, "stats\r\n", "current-workers", 0);
    gear_says(t->b, SLICE("workers\n"),
              SLICE("3 127.0.0.1 - :\n2 127.0.0.1 - :\n1 127.0.0.1 - : f\n.\n"));
}

static void a_limit_applies_to_both_protocols(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, SLICE("create function f\nmaxqueue f 1\n"), SLICE("OK\r\nOK\r\n"));
    says(t->m, "use f\r\nput 0 9 1 1\r\nx\r\nput 0 0 1 1\r\ny\r\n",
         "USING f\r\nINSERTED 1\r\nOUT_OF_MEMORY\r\n");
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "z"), RES(ERROR, "QUEUE_ERROR", "Job queue is full"));
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "z"));
    says(t->m, "put 0 0 1 1\r\ny\r\n", "OUT_OF_MEMORY\r\n");
}

static void a_limit_of_queues_applies_to_both_protocols(void **state)
{
    struct gear *t = *state;

    // One of them is `default`.
    broker_set_max_queues(rig_broker(t->rig), 2);
    gear_says(t->a, REQ(CAN_DO, "f"), NOTHING);
    says(t->m, "use g\r\nwatch g\r\nuse f\r\n", "OUT_OF_MEMORY\r\nOUT_OF_MEMORY\r\nUSING f\r\n");
    gear_says(t->a, MANY(REQ(SUBMIT_JOB_BG, "g", "", "x"), REQ(CAN_DO, "g")),
              MANY(RES(ERROR, "QUEUE_ERROR", "There are too many functions"),
                   RES(ERROR, "QUEUE_ERROR", "There are too many functions")));
    gear_says(t->a, SLICE("create function g\n"), SLICE("ERR CREATE_FUNCTION g\r\n"));
}

static void draining_applies_to_both_protocols(void **state)
{
    struct gear *t = *state;

    broker_drain(rig_broker(t->rig));
    says(t->m, "put 0 0 1 1\r\ny\r\n", "DRAINING\r\n");
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", "z"), RES(ERROR, "QUEUE_ERROR", "Server is draining"));
}

static void a_watch_that_is_ignored_leaves_leases_alone(void **state)
{
    struct gear *t = *state;

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    says(t->m, "watch f\r\nreserve\r\nignore f\r\n",
         "WATCHING 2\r\nRESERVED 1 1\r\nx\r\nWATCHING 1\r\n");
    jobs_are(t, "f", JOB_RESERVED, 1);
    says(t->m, "delete 1\r\n", "DELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEETING(functions_are_tubes),
        MEETING(tubes_are_functions),
        MEETING(a_function_without_workers_is_removed),
        MEETING(a_tube_is_removed_with_its_last_worker),
        MEETING(a_dropped_function_is_removed_when_its_tube_is_no_longer_used),
        MEETING(names_that_are_not_valid_tube_names_are_not_in_beanstalk_lists),
        MEETING(such_a_name_is_escaped_in_statistics),
        MEETING(the_counts_of_a_queue_include_both_protocols),
        MEETING(each_protocol_counts_its_own_connections),
        MEETING(a_limit_applies_to_both_protocols),
        MEETING(a_limit_of_queues_applies_to_both_protocols),
        MEETING(draining_applies_to_both_protocols),
        MEETING(a_watch_that_is_ignored_leaves_leases_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
