/* SPDX-License-Identifier: MIT */

// The right that each command needs, and the reply to a caller that does not have it.

#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

//
// Every command, with every set of rights
//

enum scope {
    BY_NAME, // FORBIDDEN, whether the tube exists or not
    BY_ID    // NOT_FOUND if the caller may not observe the job
};

struct row {
    const char *said;
    const char *heard; // the beginning of the reply if the caller has one of these rights
    unsigned rights;   // 0: none is needed
    enum scope scope;
};

#define ANY_USE (MAY_SUBMIT | MAY_OBSERVE | MAY_OPERATE)
#define TAKE_BACK (MAY_CANCEL | MAY_OPERATE)

// The tube `mail` has job 1 ready, 2 delayed, 3 buried, and 4, which the connection holds.
static const struct row rows[] = {
    {"put 0 0 1 1\r\na\r\n", "INSERTED 5\r\n", MAY_SUBMIT, BY_NAME},
    {"use mail\r\n", "USING mail\r\n", ANY_USE, BY_NAME},
    {"use nothing\r\n", "USING nothing\r\n", 0, BY_NAME},
    {"watch mail\r\n", "WATCHING 1\r\n", MAY_WORK, BY_NAME},
    {"watch new\r\n", "FORBIDDEN\r\n", MAY_EVERYTHING, BY_NAME},
    {"reserve\r\n", "RESERVED 1 1\r\na\r\n", MAY_WORK, BY_NAME},
    {"reserve-with-timeout 0\r\n", "RESERVED 1 1\r\na\r\n", MAY_WORK, BY_NAME},
    {"reserve-job 1\r\n", "RESERVED 1 1\r\na\r\n", MAY_WORK, BY_ID},
    {"peek 1\r\n", "FOUND 1 1\r\na\r\n", MAY_OBSERVE, BY_ID},
    {"peek 4\r\n", "FOUND 4 1\r\nd\r\n", 0, BY_ID},
    {"peek-ready\r\n", "FOUND 1 1\r\na\r\n", MAY_OBSERVE, BY_NAME},
    {"peek-delayed\r\n", "FOUND 2 1\r\nb\r\n", MAY_OBSERVE, BY_NAME},
    {"peek-buried\r\n", "FOUND 3 1\r\nc\r\n", MAY_OBSERVE, BY_NAME},
    {"stats-job 1\r\n", "OK ", MAY_OBSERVE, BY_ID},
    {"stats-job 4\r\n", "OK ", 0, BY_ID},
    {"stats-tube mail\r\n", "OK ", MAY_OBSERVE, BY_NAME},
    {"stats\r\n", "OK ", MAY_OBSERVE, BY_NAME},
    {"list-tubes\r\n", "OK ", 0, BY_NAME},
    {"list-tubes-watched\r\n", "OK 11\r\n---\n- mail\n\r\n", 0, BY_NAME},
    {"list-tube-used\r\n", "USING mail\r\n", 0, BY_NAME},
    {"kick 1\r\n", "KICKED 1\r\n", MAY_OPERATE, BY_NAME},
    {"kick-job 3\r\n", "KICKED\r\n", MAY_OPERATE, BY_ID},
    {"pause-tube mail 1\r\n", "PAUSED\r\n", MAY_OPERATE, BY_NAME},
    {"delete 1\r\n", "DELETED\r\n", TAKE_BACK, BY_ID},
    {"delete 3\r\n", "DELETED\r\n", TAKE_BACK, BY_ID},
    {"delete 4\r\n", "DELETED\r\n", 0, BY_ID},
    {"release 4 0 0\r\n", "RELEASED\r\n", 0, BY_ID},
    {"bury 4 0\r\n", "BURIED\r\n", 0, BY_ID},
    {"touch 4\r\n", "TOUCHED\r\n", 0, BY_ID},
    {"reserve-batch 1 0\r\n", "RESERVED-BATCH 1\r\nRESERVED 1 1\r\na\r\n", MAY_WORK, BY_NAME},
    {"put-unique 0 0 1 1 k\r\na\r\n", "INSERTED 5\r\n", MAY_SUBMIT, BY_NAME},
    {"complete 4 1\r\nx\r\n", "DELETED\r\n", 0, BY_ID},
    {"progress 4 1 2\r\n", "REPORTED\r\n", 0, BY_ID},
    {"clear-tube mail\r\n", "CLEARED ", MAY_OPERATE, BY_NAME},
    {"ignore other\r\n", "WATCHING 1\r\n", 0, BY_NAME},
    {"quit\r\n", "", 0, BY_NAME},
};

// Sets up the test so that the connection `a` uses and watches only `mail`.
static struct bean *set_scene(void **state)
{
    struct bean *t;

    bean_setup(state);
    t = *state;
    says(t->a, "use mail\r\nwatch mail\r\nignore default\r\n",
         "USING mail\r\nWATCHING 2\r\nWATCHING 1\r\n");
    says(t->a, "put 1 0 9 1\r\na\r\nput 0 9 9 1\r\nb\r\nput 0 0 9 1\r\nc\r\n",
         "INSERTED 1\r\nINSERTED 2\r\nINSERTED 3\r\n");
    says(t->a, "reserve-job 3\r\nbury 3 0\r\nput 0 0 9 1\r\nd\r\nreserve-job 4\r\n",
         "RESERVED 3 1\r\nc\r\nBURIED\r\nINSERTED 4\r\nRESERVED 4 1\r\nd\r\n");
    return t;
}

static const char *expected(const struct row *row, unsigned rights)
{
    if (row->rights == 0 || (rights & row->rights)) {
        return row->heard;
    }
    return row->scope == BY_ID && !(rights & MAY_OBSERVE) ? "NOT_FOUND\r\n" : "FORBIDDEN\r\n";
}

static void check_row(const struct row *row, unsigned rights)
{
    const char *wanted = expected(row, rights);
    struct slice heard;
    struct bean *t;
    void *state;

    t = set_scene(&state);
    knows_token(t->rig, "s3cret", {rights, "mail"}, {MAY_SUBMIT, "nothing"});
    says(t->a, "auth s3cret\r\n", "OK\r\n");
    heard = peer_ask(t->a, slice_str(row->said));
    if (strncmp(heard.ptr, wanted, strlen(wanted)) != 0) {
        fail_msg("rights %u, %s heard %s expected %s", rights, row->said, heard.ptr, wanted);
    }
    bean_teardown(&state);
}

static void each_command_needs_exactly_its_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (unsigned rights = 0; rights <= MAY_EVERYTHING; rights++) {
            check_row(&rows[i], rights);
        }
    }
}

//
// Names and ids
//

static void a_name_is_forbidden_whether_the_tube_exists_or_not(void **state)
{
    struct bean *t = *state;

    says(t->b, "use there\r\n", "USING there\r\n");
    (void)peer_may(t->a, {MAY_EVERYTHING, "mine"});
    says(t->a, "use there\r\nuse nowhere\r\n", "FORBIDDEN\r\nFORBIDDEN\r\n");
    says(t->a, "stats-tube there\r\nstats-tube nowhere\r\n", "FORBIDDEN\r\nFORBIDDEN\r\n");
    says(t->a, "pause-tube there 1\r\npause-tube nowhere 1\r\n", "FORBIDDEN\r\nFORBIDDEN\r\n");
    says(t->a, "stats-tube mine\r\npause-tube mine 1\r\n", "NOT_FOUND\r\nNOT_FOUND\r\n");
    says_yaml(t->b, "list-tubes\r\n", "---\n- default\n- there\n");
}

static void a_tube_that_was_refused_leaves_the_one_in_use(void **state)
{
    struct bean *t = *state;

    says(t->a, "use mine\r\n", "USING mine\r\n");
    (void)peer_may(t->a, {MAY_SUBMIT, "mine"});
    says(t->a, "use other\r\nlist-tube-used\r\n", "FORBIDDEN\r\nUSING mine\r\n");
    says(t->a, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
}

static void a_job_that_may_not_be_observed_is_not_found(void **state)
{
    struct bean *t = *state;

    says(t->b, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
    (void)peer_may(t->a, {MAY_EVERYTHING, "mine"});
    says(t->a, "peek 1\r\nstats-job 1\r\ndelete 1\r\nkick-job 1\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->a, "peek 9\r\nstats-job 9\r\ndelete 9\r\nkick-job 9\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    says(t->b, "peek 1\r\n", "FOUND 1 1\r\na\r\n");
}

static void a_held_job_is_not_deleted_by_a_client_that_may_cancel(void **state)
{
    struct bean *t = *state;

    says(t->b, "put 0 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    (void)peer_may(t->a, {MAY_CANCEL | MAY_OBSERVE, "default"});
    says(t->a, "delete 1\r\n", "NOT_FOUND\r\n");
    says(t->b, "delete 1\r\n", "DELETED\r\n");
}

static void lists_show_only_names_that_may_be_observed(void **state)
{
    struct bean *t = *state;

    says(t->b, "use web.1\r\n", "USING web.1\r\n");
    says(t->c, "use web.2\r\n", "USING web.2\r\n");
    (void)peer_may(t->a, {MAY_OBSERVE, "web.*"}, {MAY_SUBMIT | MAY_WORK, "default"});
    says_yaml(t->a, "list-tubes\r\n", "---\n- web.1\n- web.2\n");
    (void)peer_may(t->a, {MAY_OBSERVE, "web.2"});
    says_yaml(t->a, "list-tubes\r\n", "---\n- web.2\n");
    (void)peer_may(t->a, {MAY_SUBMIT, "*"});
    says_yaml(t->a, "list-tubes\r\n", "---\n");
    says_yaml(t->a, "list-tubes-watched\r\n", "---\n- default\n");
}

//
// Bodies
//

static void the_body_of_a_forbidden_put_is_not_a_command(void **state)
{
    struct bean *t = *state;

    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    says(t->a, "put 0 0 1 10\r\ndelete 1\r\n\r\nlist-tube-used\r\n",
         "FORBIDDEN\r\nUSING default\r\n");
    says(t->a, "put 0 0 1 4\r\nabcdefg\r\n", "FORBIDDEN\r\nUNKNOWN_COMMAND\r\n");
    says(t->a, "put 0 0 1 4\r\n", "");
    says(t->a, "abcdefg\r\n", "FORBIDDEN\r\nUNKNOWN_COMMAND\r\n");
    stat_is(t->b, "stats\r\n", "cmd-put", 3);
}

static void the_body_of_a_forbidden_put_is_not_stored(void **state)
{
    struct bean *t = *state;

    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    says(t->a, "put 0 0 1 60000\r\n", "");
    for (int i = 0; i < 60; i++) {
        static const char thousand[1000];

        peer_send(t->a, slice_of(thousand, sizeof thousand));
        rig_run(t->rig);
        assert_int_equal(peer_kept(t->a), 0);
    }
    says(t->a, "\r", "");
    says(t->a, "\n", "FORBIDDEN\r\n");
}

static void the_right_to_put_is_checked_again_when_the_body_is_complete(void **state)
{
    struct bean *t = *state;

    says(t->a, "put 0 0 1 5\r\nab", "");
    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    says(t->a, "cde\r\nlist-tube-used\r\n", "FORBIDDEN\r\nUSING default\r\n");
    stat_is(t->b, "stats\r\n", "total-jobs", 0);
}

static void a_put_that_is_too_big_gets_the_same_reply_without_the_right(void **state)
{
    struct bean *t = *state;

    t->settings.max_job_size = 5;
    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    says(t->a, "put 0 0 1 6\r\nabcdef\r\n", "JOB_TOO_BIG\r\n");
}

//
// auth
//

static void a_token_gives_the_connection_the_rights_of_its_owner(void **state)
{
    struct bean *t = *state;

    knows_token(t->rig, "s3cret", {MAY_SUBMIT, "mail"});
    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    says(t->a, "use mail\r\nput 0 0 1 1\r\na\r\n", "USING mail\r\nFORBIDDEN\r\n");
    says(t->a, "auth s3cret\r\nput 0 0 1 1\r\na\r\n", "OK\r\nINSERTED 1\r\n");
    // The token replaces the rights that the connection had before.
    says(t->a, "peek-ready\r\nstats\r\n", "FORBIDDEN\r\nFORBIDDEN\r\n");
    says(t->b, "put 0 0 1 1\r\nb\r\n", "INSERTED 2\r\n");
}

static void a_wrong_token_changes_nothing(void **state)
{
    struct bean *t = *state;

    knows_token(t->rig, "s3cret", {MAY_EVERYTHING, "*"});
    (void)peer_may(t->a, {MAY_SUBMIT, "default"});
    says(t->a, "auth s3cre\r\nauth s3crets\r\nauth S3CRET\r\n",
         "FORBIDDEN\r\nFORBIDDEN\r\nFORBIDDEN\r\n");
    says(t->a, "put 0 0 1 1\r\na\r\npeek 1\r\n", "INSERTED 1\r\nNOT_FOUND\r\n");
    assert_int_equal(rig_callers(t->rig)->wrong, 3);
}

static void without_rules_every_token_is_wrong(void **state)
{
    struct bean *t = *state;

    says(t->a, "auth anything\r\nput 0 0 1 1\r\na\r\n", "FORBIDDEN\r\nINSERTED 1\r\n");
}

static void an_invalid_token_is_a_bad_format(void **state)
{
    static const char line[] = "auth ";
    char said[BUFSIZ];
    struct bean *t = *state;

    says(t->a, "auth \r\nauth  x\r\nauth x \r\nauth x y\r\nauth x\ty\r\nauth \xc3\xa9\r\n",
         "BAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\nBAD_FORMAT\r\n");
    says(t->a, "auth x\0y\r\nauth x\177\r\n", "BAD_FORMAT\r\nBAD_FORMAT\r\n");
    says(t->a, "auth\r\nauthx y\r\nAUTH x\r\n",
         "UNKNOWN_COMMAND\r\nUNKNOWN_COMMAND\r\nUNKNOWN_COMMAND\r\n");
    assert_int_equal(rig_callers(t->rig)->wrong, 0);
    // The longest token, and one that is longer than the line allows.
    memset(said, 'x', sizeof said);
    memcpy(said, line, sizeof line - 1);
    memcpy(said + 222, "\r\n", 3);
    says_text(t->a, said, "FORBIDDEN\r\n");
    memcpy(said + 222, "x\r\n", 4);
    says_text(t->a, said, "BAD_FORMAT\r\n");
}

static void statistics_have_no_key_for_auth(void **state)
{
    struct bean *t = *state;

    knows_token(t->rig, "s3cret", {MAY_OBSERVE, "*"});
    says(t->a, "auth s3cret\r\n", "OK\r\n");
    assert_null(strstr(peer_ask(t->a, SLICE("stats\r\n")).ptr, "auth"));
}

static void a_connection_may_finish_its_jobs_after_another_token(void **state)
{
    struct bean *t = *state;

    knows_token(t->rig, "s3cret", {MAY_SUBMIT, "other"});
    says(t->a, "put 0 0 9 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    says(t->a, "auth s3cret\r\ntouch 1\r\nstats-tube default\r\ndelete 1\r\n",
         "OK\r\nTOUCHED\r\nFORBIDDEN\r\nDELETED\r\n");
}

// Enough tubes for several slices.
enum { VERY_MANY = 5000 };

static void watch_very_many(struct bean *t)
{
    char line[32];

    for (int i = 0; i < VERY_MANY; i++) {
        int len = snprintf(line, sizeof line, "watch w%d\r\n", i);

        peer_send(t->a, slice_of(line, (size_t)len));
        if (i % 100 == 99) {
            rig_run(t->rig);
            (void)peer_hear(t->a);
        }
    }
}

static void many_watched_tubes_are_checked_in_several_turns(void **state)
{
    struct bean *t = *state;
    unsigned long feeds;

    knows_token(t->rig, "s3cret", {MAY_WORK, "w1*"}, {MAY_OBSERVE, "*"});
    watch_very_many(t);
    says(t->b, "use w0\r\nput 0 0 9 1\r\na\r\n", "USING w0\r\nINSERTED 1\r\n");
    says(t->b, "use w1\r\nput 5 0 9 1\r\nb\r\n", "USING w1\r\nINSERTED 2\r\n");
    feeds = rig_feeds(t->rig);
    // The commands after it wait, and have the rights of the token.
    says(t->a, "auth s3cret\r\nreserve-with-timeout 0\r\nlist-tube-used\r\n",
         "OK\r\nRESERVED 2 1\r\nb\r\nUSING default\r\n");
    assert_in_range(rig_feeds(t->rig) - feeds, 3, VERY_MANY / 10);
}

static void a_client_may_disconnect_while_its_tubes_are_checked(void **state)
{
    struct bean *t = *state;

    knows_token(t->rig, "s3cret", {MAY_WORK, "w1*"});
    watch_very_many(t);
    peer_send(t->a, SLICE("auth s3cret\r\nquit\r\n"));
    peer_free(t->a);
    t->a = peer_new(t->rig);
    says(t->b, "use w1\r\nput 5 0 9 1\r\nb\r\n", "USING w1\r\nINSERTED 1\r\n");
    says(t->a, "watch w1\r\nreserve\r\n", "WATCHING 2\r\nRESERVED 1 1\r\nb\r\n");
}

static void a_token_grants_all_tubes_before_its_reply(void **state)
{
    struct bean *t = *state;

    knows_token(t->rig, "s3cret", {MAY_WORK, "*"});
    watch_very_many(t);
    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    says(t->b, "use w0\r\nput 0 0 9 1\r\na\r\n", "USING w0\r\nINSERTED 1\r\n");
    says(t->a, "reserve-with-timeout 0\r\n", "FORBIDDEN\r\n");
    says(t->a, "auth s3cret\r\nreserve-with-timeout 0\r\n", "OK\r\nRESERVED 1 1\r\na\r\n");
}

//
// Too many wrong tokens
//

// Makes the next wrong token of `a` wait for ten seconds.
static struct bean *use_up_wrong_tokens(void **state)
{
    struct bean *t = *state;
    struct wire_callers *callers = rig_callers(t->rig);

    knows_token(t->rig, "s3cret", {MAY_SUBMIT, "*"});
    callers->wrong_max = 1;
    callers->again_at = SECONDS(1010);
    says(t->a, "auth wrong\r\n", "FORBIDDEN\r\n");
    return t;
}

static void a_wrong_token_waits_after_too_many_wrong_ones(void **state)
{
    struct bean *t = use_up_wrong_tokens(state);

    says(t->a, "auth wrong\r\nlist-tube-used\r\n", "");
    assert_true(peer_blocked(t->a));
    rig_advance(t->rig, SECONDS(9));
    hears(t->a, "");
    says(t->a, "put 0 0 1 1\r\na\r\n", "");
    rig_advance(t->rig, SECONDS(1));
    hears(t->a, "FORBIDDEN\r\nUSING default\r\nINSERTED 1\r\n");
    assert_false(peer_blocked(t->a));
}

// Because other clients may use the same address.
static void a_right_token_does_not_wait_after_too_many_wrong_ones(void **state)
{
    struct bean *t = use_up_wrong_tokens(state);

    says(t->b, "auth wrong\r\n", "");
    says(t->a, "auth s3cret\r\nlist-tube-used\r\n", "OK\r\nUSING default\r\n");
}

static void other_clients_continue_while_a_token_waits(void **state)
{
    struct bean *t = use_up_wrong_tokens(state);
    unsigned long feeds;

    says(t->a, "auth wrong\r\n", "");
    says(t->b, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
    feeds = rig_feeds(t->rig);
    rig_advance(t->rig, SECONDS(5));
    assert_int_equal(rig_feeds(t->rig), feeds);
}

static void a_waiting_token_is_checked_after_a_half_close(void **state)
{
    struct bean *t = use_up_wrong_tokens(state);

    says(t->a, "auth wrong\r\nreserve\r\n", "");
    peer_half_close(t->a);
    hears(t->a, "");
    assert_false(peer_closed(t->a));
    rig_callers(t->rig)->again_at = SECONDS(1020);
    rig_advance(t->rig, SECONDS(10));
    hears(t->a, "");
    rig_advance(t->rig, SECONDS(10));
    assert_non_null(strstr(peer_hear(t->a).ptr, "FORBIDDEN\r\n"));
    assert_true(peer_closed(t->a));
}

static void a_connection_may_break_while_its_token_waits(void **state)
{
    struct bean *t = use_up_wrong_tokens(state);

    says(t->a, "auth wrong\r\n", "");
    peer_free(t->a);
    rig_advance(t->rig, SECONDS(20));
    says(t->b, "list-tube-used\r\n", "USING default\r\n");
}

static void rules_that_change_meanwhile_do_not_end_the_wait(void **state)
{
    struct bean *t = use_up_wrong_tokens(state);

    says(t->a, "auth wrong\r\n", "");
    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    hears(t->a, "");
    rig_advance(t->rig, SECONDS(10));
    hears(t->a, "FORBIDDEN\r\n");
}

static void replies_are_the_same_however_the_input_is_split(void **state)
{
    const struct slice said =
        SLICE("auth wrong\r\nput 0 0 1 12\r\nauth s3cret\n\r\npeek-ready\r\nauth s3cret\r\n"
              "put 0 0 1 1\r\na\r\nauth wrong\r\nauth \r\npeek-ready\r\n");

    (void)state;
    for (size_t first = 1; first <= said.len; first++) {
        void *world;
        struct bean *t;

        bean_setup(&world);
        t = use_up_wrong_tokens(&world);
        rig_callers(t->rig)->wrong_max = 2;
        (void)peer_may(t->a, {MAY_OBSERVE, "*"});
        peer_send_pieces(t->a, said, first, said.len);
        hears(t->a, "FORBIDDEN\r\nFORBIDDEN\r\nNOT_FOUND\r\nOK\r\nINSERTED 1\r\n");
        rig_advance(t->rig, SECONDS(10));
        hears(t->a, "FORBIDDEN\r\nBAD_FORMAT\r\nFORBIDDEN\r\n");
        bean_teardown(&world);
    }
}

//
// Rules that are read again
//

static void a_worker_that_loses_its_tube_loses_its_connection(void **state)
{
    struct bean *t = *state;

    says(t->a, "watch mail\r\nreserve\r\n", "WATCHING 2\r\n");
    assert_false(peer_may(t->a, {MAY_WORK, "*"}, {MAY_OBSERVE, "*"}));
    assert_true(peer_may(t->a, {MAY_WORK, "default"}));
    rig_run(t->rig);
    assert_true(peer_closed(t->a));
}

static void a_reserve_of_forbidden_tubes_does_not_wait(void **state)
{
    struct bean *t = *state;

    (void)peer_may(t->a, {MAY_WORK, "mail"});
    says(t->a, "reserve\r\nreserve-with-timeout 9\r\nwatch default\r\n",
         "FORBIDDEN\r\nFORBIDDEN\r\nFORBIDDEN\r\n");
    says(t->a, "watch mail\r\nreserve\r\n", "WATCHING 2\r\n");
    says(t->b, "put 0 0 9 1\r\na\r\nuse mail\r\nput 0 0 9 1\r\nb\r\n",
         "INSERTED 1\r\nUSING mail\r\nINSERTED 2\r\n");
    hears(t->a, "RESERVED 2 1\r\nb\r\n");
}

static void a_client_that_never_reserves_is_not_dropped_without_the_right_to_default(void **state)
{
    struct bean *t = *state;

    assert_false(peer_may(t->a, {MAY_SUBMIT, "*"}));
    says(t->a, "put 0 0 1 1\r\na\r\n", "INSERTED 1\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_needs_exactly_its_right),
        BEAN(a_name_is_forbidden_whether_the_tube_exists_or_not),
        BEAN(a_tube_that_was_refused_leaves_the_one_in_use),
        BEAN(a_job_that_may_not_be_observed_is_not_found),
        BEAN(a_held_job_is_not_deleted_by_a_client_that_may_cancel),
        BEAN(lists_show_only_names_that_may_be_observed),
        BEAN(the_body_of_a_forbidden_put_is_not_a_command),
        BEAN(the_body_of_a_forbidden_put_is_not_stored),
        BEAN(the_right_to_put_is_checked_again_when_the_body_is_complete),
        BEAN(a_put_that_is_too_big_gets_the_same_reply_without_the_right),
        BEAN(a_token_gives_the_connection_the_rights_of_its_owner),
        BEAN(a_wrong_token_changes_nothing),
        BEAN(without_rules_every_token_is_wrong),
        BEAN(an_invalid_token_is_a_bad_format),
        BEAN(statistics_have_no_key_for_auth),
        BEAN(a_connection_may_finish_its_jobs_after_another_token),
        BEAN(many_watched_tubes_are_checked_in_several_turns),
        BEAN(a_client_may_disconnect_while_its_tubes_are_checked),
        BEAN(a_token_grants_all_tubes_before_its_reply),
        BEAN(a_wrong_token_waits_after_too_many_wrong_ones),
        BEAN(a_right_token_does_not_wait_after_too_many_wrong_ones),
        BEAN(other_clients_continue_while_a_token_waits),
        BEAN(a_waiting_token_is_checked_after_a_half_close),
        BEAN(a_connection_may_break_while_its_token_waits),
        BEAN(rules_that_change_meanwhile_do_not_end_the_wait),
        cmocka_unit_test(replies_are_the_same_however_the_input_is_split),
        BEAN(a_worker_that_loses_its_tube_loses_its_connection),
        BEAN(a_reserve_of_forbidden_tubes_does_not_wait),
        BEAN(a_client_that_never_reserves_is_not_dropped_without_the_right_to_default),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
