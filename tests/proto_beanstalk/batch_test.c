/* SPDX-License-Identifier: MIT */

// `reserve-batch`: the jobs of a batch, its wait, and its limits.

#include "tests/proto_beanstalk/wire_bean.h"

#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUT_A "put 0 0 9 1\r\na\r\n"
#define PUT_B "put 0 0 9 1\r\nb\r\n"
#define PUT_C "put 0 0 9 1\r\nc\r\n"
#define A "RESERVED 1 1\r\na\r\n"
#define B "RESERVED 2 1\r\nb\r\n"
#define C "RESERVED 3 1\r\nc\r\n"

// Puts `count` jobs of `bytes` bytes, and drops the replies.
static void put_many(struct peer *peer, unsigned count, size_t len)
{
    size_t room = len + 64;
    char *put = malloc(room);
    int put_len;

    assert_non_null(put);
    for (unsigned i = 0; i < count; i++) {
        // The width pads the body.
        put_len = len > 0 ? snprintf(put, room, "put 0 0 9 %zu\r\n%0*d\r\n", len, (int)len, 0)
                          : snprintf(put, room, "put 0 0 9 0\r\n\r\n");
        (void)peer_ask(peer, slice_of(put, (size_t)put_len));
    }
    free(put);
}

static size_t count_of(struct slice heard, const char *word)
{
    size_t found = 0;

    for (const char *at = heard.ptr; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        found++;
    }
    return found;
}

//
// The jobs of a batch
//

static void a_batch_has_the_ready_jobs_up_to_its_limit(void **state)
{
    struct bean *t = *state;

    says(t->a, PUT_A PUT_B PUT_C, "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    says(t->b, "reserve-batch 2 0\r\n", "RESERVED-BATCH 2\r\n" A B);
    says(t->b, "reserve-batch 1000 0\r\n", "RESERVED-BATCH 1\r\n" C);
    says(t->b, "delete 1\r\nrelease 2 0 0\r\nbury 3 0\r\n", "DELETED\r\nRELEASED\r\nBURIED\r\n");
}

static void its_jobs_come_in_the_order_of_single_reserves(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 7 0 9 1\r\na\r\nput 3 0 9 1\r\nb\r\nuse x\r\nput 5 0 9 1\r\nc\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nUSING x\r\nINSERTED 3\r\n");
    says(t->b, "watch x\r\nreserve-batch 9 0\r\n", "WATCHING 2\r\nRESERVED-BATCH 3\r\n" B C A);
}

static void each_job_of_a_batch_has_a_lease_of_its_own(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 5 1\r\na\r\nput 0 0 9 1\r\nb\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->b, "reserve-batch 2 0\r\n", "RESERVED-BATCH 2\r\n" A B);
    rig_advance(t->rig, SECONDS(5));
    says(t->b, "touch 2\r\ntouch 1\r\n", "TOUCHED\r\nNOT_FOUND\r\n");
    peer_free(t->b);
    stat_is(t->a, "stats\r\n", "current-jobs-ready", 2);
}

static void a_batch_may_have_empty_and_large_bodies(void **state)
{
    struct bean *t = *state;
    struct slice heard;

    put_many(t->a, 1, 0);
    put_many(t->a, 1, 5000);
    put_many(t->a, 1, 0);
    heard = peer_ask(t->b, SLICE("reserve-batch 3 0\r\n"));
    assert_memory_equal(heard.ptr, "RESERVED-BATCH 3\r\nRESERVED 1 0\r\n\r\nRESERVED 2 5000\r\n0",
                        50);
    assert_string_equal(slice_end(heard) - 19, "0\r\nRESERVED 3 0\r\n\r\n");
}

// The batch is larger than the budget of a turn: it takes several turns and has one reply.
static void a_long_batch_is_made_in_several_turns(void **state)
{
    struct bean *t = *state;
    unsigned long before;
    struct slice heard;

    put_many(t->a, 100, 1);
    before = rig_feeds(t->rig);
    heard = peer_ask(t->b, SLICE("reserve-batch 90 0\r\nlist-tube-used\r\n"));
    assert_true(rig_feeds(t->rig) - before >= 10);
    assert_int_equal(strncmp(heard.ptr, "RESERVED-BATCH 90\r\nRESERVED 1 1\r\n", 33), 0);
    assert_int_equal(count_of(heard, "RESERVED "), 90);
    assert_int_equal(count_of(heard, "USING default\r\n"), 1);
    stat_is(t->a, "stats\r\n", "current-jobs-ready", 10);
}

static void a_batch_ends_at_the_output_limit_of_a_feed(void **state)
{
    struct bean *t = *state;
    struct slice heard;

    put_many(t->a, 20, 20000);
    heard = peer_ask(t->b, SLICE("reserve-batch 20 0\r\n"));
    assert_int_equal(strncmp(heard.ptr, "RESERVED-BATCH 14\r\n", 19), 0);
    assert_int_equal(count_of(heard, "RESERVED "), 14);
    assert_in_range(heard.len, FEED_STAGED_MAX, FEED_STAGED_MAX + 21000);
    stat_is(t->a, "stats\r\n", "current-jobs-ready", 6);
}

static void a_client_that_disconnects_in_a_batch_gives_its_jobs_back(void **state)
{
    struct bean *t = *state;

    put_many(t->a, 100, 1);
    peer_send(t->b, SLICE("reserve-batch 90 0\r\n"));
    rig_feed(t->rig);
    assert_true(peer_holds(t->b) > 0);
    peer_free(t->b);
    stat_is(t->a, "stats\r\n", "current-jobs-ready", 100);
}

//
// The wait
//

static void a_batch_waits_only_for_its_first_job(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve-batch 3 9\r\nlist-tube-used\r\n", "");
    assert_true(peer_blocked(t->b));
    assert_true(peer_holds(t->b) > 0);
    says(t->a, PUT_A, "INSERTED 1\r\n");
    hears(t->b, "RESERVED-BATCH 1\r\n" A "USING default\r\n");
    assert_int_equal(peer_holds(t->b), 0);
}

static void jobs_that_come_with_the_first_one_are_taken_too(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve-batch 2 9\r\n", "");
    says(t->a, PUT_A PUT_B PUT_C, "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    hears(t->b, "RESERVED-BATCH 2\r\n" A B);
}

static void a_wait_ends_with_its_time(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve-batch 3 0\r\n", "TIMED_OUT\r\n");
    says(t->b, "reserve-batch 3 2\r\nreserve-batch 1 0\r\n", "");
    rig_advance(t->rig, SECONDS(2) - 1);
    hears(t->b, "");
    rig_advance(t->rig, 1);
    hears(t->b, "TIMED_OUT\r\nTIMED_OUT\r\n");
}

static void a_lease_about_to_end_ends_the_wait(void **state)
{
    struct bean *t = *state;

    says(t->b, "put 0 0 3 1\r\na\r\nreserve-batch 2 0\r\n", "INSERTED 1\r\nRESERVED-BATCH 1\r\n" A);
    says(t->b, "reserve-batch 2 9\r\n", "");
    rig_advance(t->rig, SECONDS(2));
    hears(t->b, "DEADLINE_SOON\r\n");
    says(t->b, "reserve-batch 2 0\r\n", "DEADLINE_SOON\r\n");
    says(t->a, PUT_B, "INSERTED 2\r\n");
    says(t->b, "reserve-batch 2 0\r\n", "RESERVED-BATCH 1\r\n" B);
}

static void half_closing_ends_a_wait(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve-batch 3 9\r\nlist-tube-used\r\n", "");
    peer_half_close(t->b);
    hears(t->b, "TIMED_OUT\r\nUSING default\r\n");
    assert_true(peer_closed(t->b));
    peer_send(t->c, SLICE("reserve-batch 3 9\r\nlist-tube-used\r\n"));
    peer_half_close(t->c);
    hears(t->c, "TIMED_OUT\r\nUSING default\r\n");
}

static void half_closing_does_not_lose_a_batch(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve-batch 3 9\r\n", "");
    peer_send(t->a, SLICE(PUT_A PUT_B));
    rig_feed(t->rig);
    peer_half_close(t->b);
    hears(t->b, "RESERVED-BATCH 2\r\n" A B);
    assert_true(peer_closed(t->b));
}

static void a_client_that_disconnects_while_it_waits_gets_no_job(void **state)
{
    struct bean *t = *state;

    says(t->b, "reserve-batch 3 9\r\n", "");
    stat_is(t->a, "stats\r\n", "current-waiting", 1);
    peer_free(t->b);
    says(t->a, PUT_A, "INSERTED 1\r\n");
    stat_is(t->a, "stats\r\n", "current-jobs-ready", 1);
}

static void a_client_that_is_too_slow_behind_a_wait_is_disconnected(void **state)
{
    struct bean *t = *state;

    t->settings.body_timeout = 1;
    says(t->b, "reserve-batch 3 99\r\nlist-tu", "");
    rig_advance(t->rig, SECONDS(9));
    says(t->a, PUT_A, "INSERTED 1\r\n");
}

//
// Refusals
//

static void invalid_numbers_are_refused(void **state)
{
    static const char *const lines[] = {
        "reserve-batch 0 0\r\n",  "reserve-batch 1001 0\r\n", "reserve-batch 1\r\n",
        "reserve-batch 1 \r\n",   "reserve-batch -1 0\r\n",   "reserve-batch 1 2147483648\r\n",
        "reserve-batch 1 0 \r\n", "reserve-batch 1 0 x\r\n",  "reserve-batch\r\n",
        "reserve-batch \r\n",     "reserve-batch 1 x\r\n",
    };
    struct bean *t = *state;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        says_text(t->a, lines[i], "BAD_FORMAT\r\n");
    }
    stat_is(t->a, "stats\r\n", "cmd-reserve-batch", 0);
    says(t->a, "reserve-batch  1000  2147483647\r\n", "");
    stat_is(t->b, "stats\r\n", "cmd-reserve-batch", 1);
    stat_is(t->b, "stats\r\n", "current-workers", 1);
    stat_is(t->b, "stats\r\n", "current-waiting", 1);
}

static void a_client_without_the_right_to_work_is_refused(void **state)
{
    struct bean *t = *state;

    says(t->a, PUT_A, "INSERTED 1\r\n");
    (void)peer_may(t->b, {MAY_SUBMIT, "*"});
    says(t->b, "reserve-batch 3 9\r\nlist-tube-used\r\n", "FORBIDDEN\r\nUSING default\r\n");
}

static void a_batch_waits_until_all_its_jobs_are_stored(void **state)
{
    struct bean *t = *state;

    says(t->a, PUT_A, "INSERTED 1\r\n");
    rig_hold_store(t->rig);
    says(t->a, PUT_B, "");
    says(t->b, "reserve-batch 3 0\r\n", "");
    says(t->c, "reserve-batch 3 5\r\n", "");
    says(t->a, PUT_C, "");
    hears(t->b, "");
    rig_reach(t->rig);
    hears(t->b, "RESERVED-BATCH 2\r\n" A B);
    hears(t->c, "RESERVED-BATCH 1\r\n" C);
}

static int setup_few_commands_a_turn(void **state)
{
    return bean_setup_with(state, (struct rig_options){.budget = 8});
}

#define FEW(test) cmocka_unit_test_setup_teardown(test, setup_few_commands_a_turn, bean_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(a_batch_has_the_ready_jobs_up_to_its_limit),
        BEAN(its_jobs_come_in_the_order_of_single_reserves),
        BEAN(each_job_of_a_batch_has_a_lease_of_its_own),
        BEAN(a_batch_may_have_empty_and_large_bodies),
        FEW(a_long_batch_is_made_in_several_turns),
        BEAN(a_batch_ends_at_the_output_limit_of_a_feed),
        FEW(a_client_that_disconnects_in_a_batch_gives_its_jobs_back),
        BEAN(a_batch_waits_only_for_its_first_job),
        BEAN(jobs_that_come_with_the_first_one_are_taken_too),
        BEAN(a_wait_ends_with_its_time),
        BEAN(a_lease_about_to_end_ends_the_wait),
        BEAN(half_closing_ends_a_wait),
        BEAN(half_closing_does_not_lose_a_batch),
        BEAN(a_client_that_disconnects_while_it_waits_gets_no_job),
        BEAN(a_client_that_is_too_slow_behind_a_wait_is_disconnected),
        BEAN(invalid_numbers_are_refused),
        BEAN(a_client_without_the_right_to_work_is_refused),
        BEAN(a_batch_waits_until_all_its_jobs_are_stored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
