/* SPDX-License-Identifier: MIT */

// Reports of a beanstalk worker, by the commands that beanstalkd does not have, to Gearman clients
// that wait for its job; and keys of both protocols.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_gearman/wire_gear.h"

#include <stdio.h>
#include <string.h>

// `a` waits for job 1, which the worker `m` holds.
static void begin(struct gear *t)
{
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    says(t->m, "watch f\r\nreserve-batch 1 0\r\n",
         "WATCHING 2\r\nRESERVED-BATCH 1\r\nRESERVED 1 1\r\nx\r\n");
}

static void a_waiting_client_gets_the_result(void **state)
{
    struct gear *t = *state;

    begin(t);
    says(t->m, "complete 1 4\r\nd\0ne\r\n", "DELETED\r\n");
    gear_hears(t->a, gear_raw("RES", 13, 18, SLICE("H:test.host:1\0d\0ne")));
}

static void a_result_that_came_in_pieces_is_whole(void **state)
{
    struct gear *t = *state;

    begin(t);
    says(t->m, "complete 1 4\r\ndo", "");
    gear_hears(t->a, NOTHING);
    says(t->m, "ne\r\n", "DELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "done"));
}

static void an_empty_result_is_a_result(void **state)
{
    struct gear *t = *state;

    begin(t);
    says(t->m, "complete 1 0\r\n\r\n", "DELETED\r\n");
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), ""));
}

static void a_waiting_client_gets_progress(void **state)
{
    struct gear *t = *state;

    begin(t);
    says(t->m, "progress 1 3 10\r\nprogress 1 4294967295 0\r\n", "REPORTED\r\nREPORTED\r\n");
    gear_hears(t->a,
               MANY(RES(WORK_STATUS, H(1), "3", "10"), RES(WORK_STATUS, H(1), "4294967295", "0")));
    gear_says(t->b, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "1", "1", "4294967295", "0"));
}

#define REST_OF_REPORTS "progress 1 2 3\r\nprogress 1 3 3\r\nlist-tube-used\r\n"

// As with reports of Gearman workers: until all clients have received it, the next report waits,
// and so does the input after it.
static void progress_waits_until_many_clients_have_received_the_last_one(void **state)
{
    struct gear *t = *state;
    struct slice heard;

    for (int i = 0; i < 4 * BROKER_SLICE; i++) {
        gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    }
    says(t->m, "watch f\r\nreserve\r\n", "WATCHING 2\r\nRESERVED 1 1\r\nx\r\n");
    peer_send(t->m, SLICE("progress 1 1 3\r\n" REST_OF_REPORTS));
    rig_feed(t->rig);
    assert_int_equal(peer_kept(t->m), sizeof REST_OF_REPORTS - 1);
    rig_run(t->rig);
    hears(t->m, "REPORTED\r\nREPORTED\r\nREPORTED\r\nUSING default\r\n");
    stat_is(t->m, "stats\r\n", "cmd-progress", 3);
    heard = peer_hear(t->a);
    assert_int_equal(heard.len, 3 * 4 * BROKER_SLICE *
                                    (12 + sizeof H(1) +
                                     sizeof "1\0"
                                            "3" -
                                     1));
}

static void a_unique_of_gearman_is_a_key_of_its_tube(void **state)
{
    struct gear *t = *state;

    begin(t);
    says(t->n, "use f\r\nput-unique 0 0 9 1 u\r\ny\r\n", "USING f\r\nINSERTED 1\r\n");
    says(t->n, "put-unique 0 0 9 1 v\r\ny\r\n", "INSERTED 2\r\n");
    assert_int_equal(gear_submits(t->b, REQ(SUBMIT_JOB, "f", "v", "z")), 2);
    says(t->m, "reserve\r\ncomplete 2 2\r\nok\r\n", "RESERVED 2 1\r\ny\r\nDELETED\r\n");
    gear_hears(t->b, RES(WORK_COMPLETE, H(2), "ok"));
}

static void a_client_of_a_job_in_a_cleared_tube_gets_its_failure(void **state)
{
    struct gear *t = *state;

    begin(t);
    gear_submits(t->b, REQ(SUBMIT_JOB, "f", "w", "x"));
    says(t->n, "clear-tube f\r\n", "CLEARED 1\r\n");
    gear_hears(t->b, RES(WORK_FAIL, H(2)));
    gear_hears(t->a, NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEETING(a_waiting_client_gets_the_result),
        MEETING(a_result_that_came_in_pieces_is_whole),
        MEETING(an_empty_result_is_a_result),
        MEETING(a_waiting_client_gets_progress),
        MEETING(progress_waits_until_many_clients_have_received_the_last_one),
        MEETING(a_unique_of_gearman_is_a_key_of_its_tube),
        MEETING(a_client_of_a_job_in_a_cleared_tube_gets_its_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
