/* SPDX-License-Identifier: MIT */

// Commands that beanstalkd does not have, except `reserve-batch`.

#include "tests/proto_beanstalk/wire_bean.h"

#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"

#include <stdio.h>
#include <string.h>

//
// put-unique
//

static void a_second_put_of_a_key_gets_the_first_id(void **state)
{
    struct bean *t = *state;

    says(t->a, "put-unique 5 0 9 5 mail-7\r\nfirst\r\n", "INSERTED 1\r\n");
    says(t->b, "put-unique 1 9 1 6 mail-7\r\nsecond\r\n", "INSERTED 1\r\n");
    says(t->b, "put-unique 5 0 9 5 mail-8\r\nother\r\n", "INSERTED 2\r\n");
    says(t->b, "peek 1\r\n", "FOUND 1 5\r\nfirst\r\n");
    stat_is(t->b, "stats-job 1\r\n", "pri", 5);
    stat_is(t->b, "stats\r\n", "cmd-put-unique", 3);
    stat_is(t->b, "stats\r\n", "cmd-put", 0);
    stat_is(t->b, "stats\r\n", "total-jobs", 2);
    stat_is(t->b, "stats\r\n", "current-producers", 2);
}

static void a_key_is_free_again_after_its_job_ends(void **state)
{
    struct bean *t = *state;

    says(t->a, "put-unique 0 0 9 0 k\r\n\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 0\r\n\r\n");
    says(t->b, "put-unique 0 0 9 0 k\r\n\r\n", "INSERTED 1\r\n");
    says(t->a, "delete 1\r\n", "DELETED\r\n");
    says(t->b, "put-unique 0 0 9 0 k\r\n\r\n", "INSERTED 2\r\n");
}

static void a_key_is_unique_within_its_tube(void **state)
{
    struct bean *t = *state;

    says(t->a, "put-unique 0 0 9 0 k\r\n\r\nuse x\r\nput-unique 0 0 9 0 k\r\n\r\n",
         "INSERTED 1\r\nUSING x\r\nINSERTED 2\r\n");
    says(t->a, "put 0 0 9 0\r\n\r\n", "INSERTED 3\r\n");
}

static void a_key_has_one_to_two_hundred_bytes_and_no_blank(void **state)
{
    struct bean *t = *state;
    char line[512];

    says(t->a, "put-unique 0 0 9 0 \xc3\xa4/:%\"'\xff\r\n\r\n", "INSERTED 1\r\n");
    (void)snprintf(line, sizeof line, "put-unique 4294967295 0 4294967295 0000065535 %0200d\r\n",
                   0);
    assert_int_equal(strlen(line), 257 - 9);
    says_text(t->a, line, "");
    peer_free(t->a);
    (void)snprintf(line, sizeof line,
                   "put-unique 4294967295 4294967295 4294967295 0000000001 "
                   "%0200d\r\n",
                   0);
    assert_int_equal(strlen(line), 257);
    says_text(t->b, line, "");
    says(t->b, "x\r\n", "INSERTED 2\r\n");
    (void)snprintf(line, sizeof line, "put-unique 0 0 0 10 %0201d\r\nlist-tubes\r\nquit\r\n", 0);
    says_text(t->b, line, "BAD_FORMAT\r\n");
    assert_true(peer_closed(t->b));
    says(t->c, "put-unique 0 0 0 1 a b\r\nx\r\nput-unique 0 0 0 1 a\tb\r\nx\r\n",
         "BAD_FORMAT\r\nBAD_FORMAT\r\n");
    says(t->c, "put-unique 0 0 0 1 \x7f\r\nx\r\nput-unique 0 0 0 1 \r\nx\r\n",
         "BAD_FORMAT\r\nBAD_FORMAT\r\n");
    says(t->c, "put-unique 0 0 0 1\r\nx\r\nput-unique 0 0 0 1  a\r\nx\r\n",
         "BAD_FORMAT\r\nBAD_FORMAT\r\n");
}

// A body comes from a user of the client. It must not be carried out as commands because the key,
// which comes from a user as well, is invalid.
static void the_body_after_an_invalid_key_is_not_a_command(void **state)
{
    struct bean *t = *state;

    says(t->a, "put-unique 0 0 9 17 two words\r\n\r\nput 0 0 9 0\r\n\r\n\r\nlist-tube-used\r\n",
         "BAD_FORMAT\r\nUSING default\r\n");
    says(t->a, "put-unique x 0 9 6 key\r\n", "BAD_FORMAT\r\n");
    stat_is(t->a, "stats\r\n", "total-jobs", 0);
}

static void only_the_line_of_a_put_unique_may_be_longer_than_224_bytes(void **state)
{
    struct bean *t = *state;
    char line[512];

    (void)snprintf(line, sizeof line, "put-unique 0 0 9 0 %0238d\r\nlist-tube-used\r\n", 0);
    says_text(t->a, line, "BAD_FORMAT\r\nUSING default\r\n");
    (void)snprintf(line, sizeof line, "put-unique 0 0 9 0 %0236d\r\n\r\n", 0);
    assert_int_equal(strlen(line), 257 + 2);
    says_text(t->a, line, "BAD_FORMAT\r\n");
    (void)snprintf(line, sizeof line, "put-uniqu 0 0 9 0 %0205d\r\nlist-tube-used\r\n", 0);
    says_text(t->a, line, "BAD_FORMAT\r\nUSING default\r\n");
    t->settings.extensions = BEAN_EXTENSIONS_OFF;
    (void)snprintf(line, sizeof line, "put-unique 0 0 9 0 %0204d\r\nlist-tube-used\r\n", 0);
    says_text(t->a, line, "BAD_FORMAT\r\nUSING default\r\n");
}

static void a_put_unique_is_refused_as_a_put_is(void **state)
{
    struct bean *t = *state;

    t->settings.max_job_size = 3;
    says(t->a, "put-unique 0 0 9 4 k\r\nabcd\r\n", "JOB_TOO_BIG\r\n");
    says(t->a, "put-unique 0 0 9 4 a b\r\nabcd\r\n", "JOB_TOO_BIG\r\n");
    says(t->a, "put-unique 0 0 9 1 k\r\nabc", "EXPECTED_CRLF\r\n");
    says(t->a, "\r\nput-unique 0 0 9 3 k\r\nab", "UNKNOWN_COMMAND\r\n");
    says(t->a, "c", "");
    says(t->a, "xy", "EXPECTED_CRLF\r\n");
    t->store_room = 0;
    says(t->a, "put-unique 0 0 9 1 k\r\na\r\n", "OUT_OF_MEMORY\r\n");
    t->store_room = RECORD_QUOTA_PLENTY;
    broker_drain(rig_broker(t->rig));
    says(t->a, "put-unique 0 0 9 1 k\r\na\r\n", "DRAINING\r\n");
    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    says(t->a, "put-unique 0 0 9 1 k\r\na\r\n", "FORBIDDEN\r\n");
    says(t->a, "put-unique 0 0 9 3 k\r\na", "");
    says(t->a, "bc\r\n", "FORBIDDEN\r\n");
}

static void a_key_is_stored_while_its_body_arrives(void **state)
{
    struct bean *t = *state;

    says(t->a, "put-unique 0 0 9 3 long-key\r\n", "");
    says(t->a, "a", "");
    assert_true(peer_holds(t->a) > 8);
    says(t->a, "bc\r\n", "INSERTED 1\r\n");
    says(t->b, "put-unique 0 0 9 0 long-key\r\n\r\n", "INSERTED 1\r\n");
    says(t->b, "put-unique 0 0 9 0 long-ke\r\n\r\n", "INSERTED 2\r\n");
}

static void a_put_that_joins_waits_until_the_first_job_is_stored(void **state)
{
    struct bean *t = *state;

    rig_hold_store(t->rig);
    says(t->a, "put-unique 0 0 9 0 k\r\n\r\n", "");
    says(t->b, "put-unique 0 0 9 0 k\r\n\r\n", "");
    rig_reach(t->rig);
    hears(t->a, "INSERTED 1\r\n");
    hears(t->b, "INSERTED 1\r\n");
}

//
// complete
//

static void only_the_holder_completes_a_job(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    says(t->b, "complete 1 4\r\ndone\r\n", "NOT_FOUND\r\n");
    says(t->a, "complete 2 4\r\ndone\r\n", "NOT_FOUND\r\n");
    says(t->a, "complete 1 4\r\ndone\r\n", "DELETED\r\n");
    says(t->a, "complete 1 0\r\n\r\n", "NOT_FOUND\r\n");
    stat_is(t->a, "stats\r\n", "cmd-complete", 4);
    stat_is(t->a, "stats\r\n", "cmd-delete", 0);
    stat_is(t->a, "stats-tube default\r\n", "cmd-delete", 1);
}

// A client cannot complete a job that no worker holds.
static void complete_does_not_delete_a_ready_job(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\n", "INSERTED 1\r\n");
    says(t->a, "complete 1 0\r\n\r\n", "NOT_FOUND\r\n");
    says(t->a, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(9));
    says(t->b, "complete 1 0\r\n\r\n", "NOT_FOUND\r\n");
    says(t->a, "complete 1 0\r\n\r\n",
         "DELETED\r\n"); // its ttr has ended, but no other worker has it
}

static void a_result_that_is_refused_leaves_the_job_as_it_was(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    t->settings.max_job_size = 3;
    says(t->a, "complete 1 4\r\ndone\r\n", "JOB_TOO_BIG\r\n");
    says(t->a, "complete 1 1\r\nxyz", "EXPECTED_CRLF\r\n");
    says(t->a, "\r\ncomplete 1 3\r\nxy", "UNKNOWN_COMMAND\r\n");
    says(t->a, "zzz", "EXPECTED_CRLF\r\n");
    says(t->a, "complete 1\r\ncomplete 1 1 \r\ncomplete x 1\r\ncomplete 1 4294967296\r\n",
         "BAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\n");
    says(t->a, "touch 1\r\n", "TOUCHED\r\n");
}

static void a_result_may_come_in_pieces(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    says(t->a, "complete 1 4\r\ndo", "");
    assert_true(peer_holds(t->a) > 0);
    says(t->a, "ne\r\n", "DELETED\r\n");
    assert_int_equal(peer_holds(t->a), 0);
}

static void complete_waits_for_its_record(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_hold_store(t->rig);
    t->store_room = 0;
    says(t->a, "complete 1 4\r\ndone\r\n", "");
    rig_reach(t->rig);
    hears(t->a, "DELETED\r\n");
}

//
// progress
//

static void progress_restarts_the_ttr(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    rig_advance(t->rig, SECONDS(8));
    says(t->b, "progress 1 1 2\r\n", "NOT_FOUND\r\n");
    says(t->a, "progress 1 1 2\r\nprogress 9 1 2\r\n", "REPORTED\r\nNOT_FOUND\r\n");
    stat_is(t->a, "stats-job 1\r\n", "time-left", 9);
    says(t->a, "progress 1 4294967295 0\r\nprogress 1 4294967296 0\r\n",
         "REPORTED\r\nBAD_FORMAT\r\n");
    says(t->a, "progress 1 1\r\nprogress 1 1 2 \r\nprogress 1 -1 2\r\nprogress 1 1 2x\r\n",
         "BAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\n");
    stat_is(t->a, "stats\r\n", "cmd-progress", 4);
}

//
// clear-tube
//

static void clear_tube_deletes_all_jobs_that_are_not_held(void **state)
{
    struct bean *t = *state;

    says(t->a, "use x\r\nput 0 0 9 1\r\na\r\nput 0 9 9 1\r\nb\r\nput 0 0 9 1\r\nc\r\n",
         "USING x\r\nINSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    says(t->a, "reserve-job 3\r\nbury 3 0\r\nput 0 0 9 1\r\nd\r\nreserve-job 4\r\n",
         "RESERVED 3 1\r\nc\r\nBURIED\r\nINSERTED 4\r\nRESERVED 4 1\r\nd\r\n");
    says(t->b, "put 0 0 9 1\r\ne\r\n", "INSERTED 5\r\n");
    says(t->b, "clear-tube x\r\n", "CLEARED 3\r\n");
    says(t->b, "clear-tube x\r\nclear-tube nowhere\r\n", "CLEARED 0\r\nNOT_FOUND\r\n");
    stat_is(t->b, "stats-tube x\r\n", "current-jobs-reserved", 1);
    stat_is(t->b, "stats-tube default\r\n", "current-jobs-ready", 1);
    stat_is(t->b, "stats\r\n", "cmd-clear-tube", 3);
    says(t->b, "clear-tube -x\r\nclear-tube  x\r\nclear-tube x \r\nclear-tube\r\n",
         "BAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\nUNKNOWN_COMMAND\r\n");
}

static void a_large_tube_is_cleared_in_slices(void **state)
{
    struct bean *t = *state;
    unsigned long before;

    for (int i = 0; i < 20 * BROKER_SLICE; i++) {
        (void)peer_ask(t->a, SLICE("put 0 0 9 0\r\n\r\n"));
    }
    before = rig_feeds(t->rig);
    says(t->b, "clear-tube default\r\nlist-tube-used\r\n", "CLEARED 1280\r\nUSING default\r\n");
    assert_true(rig_feeds(t->rig) - before >= 20);
}

static void a_client_that_disconnects_while_it_clears_leaves_the_rest(void **state)
{
    struct bean *t = *state;

    for (int i = 0; i < 4 * BROKER_SLICE; i++) {
        (void)peer_ask(t->a, SLICE("put 0 0 9 0\r\n\r\n"));
    }
    peer_send(t->b, SLICE("clear-tube default\r\n"));
    rig_feed(t->rig);
    assert_true(peer_holds(t->b) > 0);
    peer_free(t->b);
    assert_true(bean_stat(t->a, "stats\r\n", "current-jobs-ready") > BROKER_SLICE);
}

static void clear_tube_waits_for_its_records_and_needs_no_space(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 0\r\n\r\nput 0 9 9 0\r\n\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    t->store_room = 0;
    rig_hold_store(t->rig);
    says(t->a, "clear-tube default\r\n", "");
    rig_reach(t->rig);
    hears(t->a, "CLEARED 2\r\n");
}

static void clear_tube_needs_the_rights_to_operate_and_observe(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 9 0\r\n\r\n", "INSERTED 1\r\n");
    (void)peer_may(t->b, {MAY_SUBMIT | MAY_WORK | MAY_OBSERVE | MAY_CANCEL, "*"});
    says(t->b, "clear-tube default\r\nclear-tube nowhere\r\n", "FORBIDDEN\r\nFORBIDDEN\r\n");
    (void)peer_may(t->b, {MAY_OPERATE, "default"});
    says(t->b, "clear-tube default\r\nclear-tube nowhere\r\n", "CLEARED 0\r\nFORBIDDEN\r\n");
    (void)peer_may(t->b, {MAY_OPERATE | MAY_OBSERVE, "default"});
    says(t->b, "clear-tube default\r\n", "CLEARED 1\r\n");
}

//
// Off
//

static void without_extensions_they_are_unknown_commands(void **state)
{
    static const char *const lines[] = {
        "reserve-batch 1 0\r\n", "put-unique 0 0 0 0 k\r\n", "put-unique x\r\n", "complete 1 0\r\n",
        "progress 1 2 3\r\n",    "clear-tube default\r\n",   "clear-tube -\r\n",
    };
    struct bean *t = *state;

    t->settings.extensions = BEAN_EXTENSIONS_OFF;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        says_text(t->a, lines[i], "UNKNOWN_COMMAND\r\n");
    }
    says(t->a, "auth x\r\nreserve-with-timeout 0\r\n", "FORBIDDEN\r\nTIMED_OUT\r\n");
    t->settings.extensions = BEAN_EXTENSIONS_ON;
    says(t->a, "reserve-batch 1 0\r\n", "TIMED_OUT\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BEAN(a_second_put_of_a_key_gets_the_first_id),
        BEAN(a_key_is_free_again_after_its_job_ends),
        BEAN(a_key_is_unique_within_its_tube),
        BEAN(a_key_has_one_to_two_hundred_bytes_and_no_blank),
        BEAN(the_body_after_an_invalid_key_is_not_a_command),
        BEAN(only_the_line_of_a_put_unique_may_be_longer_than_224_bytes),
        BEAN(a_put_unique_is_refused_as_a_put_is),
        BEAN(a_key_is_stored_while_its_body_arrives),
        BEAN(a_put_that_joins_waits_until_the_first_job_is_stored),
        BEAN(only_the_holder_completes_a_job),
        BEAN(complete_does_not_delete_a_ready_job),
        BEAN(a_result_that_is_refused_leaves_the_job_as_it_was),
        BEAN(a_result_may_come_in_pieces),
        BEAN(complete_waits_for_its_record),
        BEAN(progress_restarts_the_ttr),
        BEAN(clear_tube_deletes_all_jobs_that_are_not_held),
        BEAN(a_large_tube_is_cleared_in_slices),
        BEAN(a_client_that_disconnects_while_it_clears_leaves_the_rest),
        BEAN(clear_tube_waits_for_its_records_and_needs_no_space),
        BEAN(clear_tube_needs_the_rights_to_operate_and_observe),
        BEAN(without_extensions_they_are_unknown_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
