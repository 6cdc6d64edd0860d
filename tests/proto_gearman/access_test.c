/* SPDX-License-Identifier: MIT */

// The right that each packet needs, and the reply to a caller that does not have it.

#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host.h"
#include "tests/proto_gearman/wire_gear.h"

#include <string.h>

#define FORBIDDEN RES(ERROR, "FORBIDDEN", "Not allowed")
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

//
// Every packet, with every set of rights
//

// The reply is `good` if the peer has one of these rights, otherwise `bad`.
struct row {
    unsigned rights;
    struct slice said, good, bad;
};

// The function `f` has job 1, which the peer `b` holds, and job 2, which waits.
static void set_scene(struct gear *t)
{
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(SUBMIT_JOB_BG, "f", "u", "x"), REQ(GRAB_JOB)),
              MANY(RES(JOB_CREATED, H(1)), RES(JOB_ASSIGN, H(1), "f", "x")));
    gear_says(t->b, REQ(SUBMIT_JOB_BG, "f", "v", "y"), RES(JOB_CREATED, H(2)));
}

// Each test allocates its packets, so the row is made for each.
static bool make_row(size_t i, struct row *row)
{
    const struct slice created = RES(JOB_CREATED, H(3));
    const struct row rows[] = {
        {MAY_SUBMIT, REQ(SUBMIT_JOB, "f", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_BG, "f", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_HIGH, "f", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_HIGH_BG, "f", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_LOW, "f", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_LOW_BG, "f", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000100", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_SCHED, "f", "", "*", "*", "*", "*", "*", "z"), created,
         FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_REDUCE_JOB, "f", "", "r", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "", "r", "", "z"), created, FORBIDDEN},
        {MAY_SUBMIT, REQ(SUBMIT_JOB_BG, "f", "u", "z"), RES(JOB_CREATED, H(1)), FORBIDDEN},
        {MAY_WORK, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(2), "f", "y"),
         MANY(FORBIDDEN, RES(NO_JOB))},
        {MAY_WORK, MANY(REQ(CAN_DO_TIMEOUT, "f", "1000"), REQ(GRAB_JOB_UNIQ)),
         RES(JOB_ASSIGN_UNIQ, H(2), "f", "v", "y"), MANY(FORBIDDEN, RES(NO_JOB))},
        {MAY_OBSERVE | MAY_SUBMIT, REQ(GET_STATUS, H(1)), RES(STATUS_RES, H(1), "1", "1", "0", "0"),
         RES(STATUS_RES, H(1), "0", "0", "0", "0")},
        {MAY_OBSERVE | MAY_SUBMIT, REQ(GET_STATUS_UNIQUE, "u"),
         RES(STATUS_RES_UNIQUE, "u", "1", "1", "0", "0", "0"),
         RES(STATUS_RES_UNIQUE, "u", "0", "0", "0", "0", "0")},
        {MAY_EVERYTHING, REQ(ECHO_REQ, "e"), RES(ECHO_RES, "e"), RES(ECHO_RES, "e")},
        {MAY_EVERYTHING, REQ(OPTION_REQ, "exceptions"), RES(OPTION_RES, "exceptions"),
         RES(OPTION_RES, "exceptions")},
        {MAY_EVERYTHING, MANY(REQ(CANT_DO, "f"), REQ(RESET_ABILITIES), REQ(SET_CLIENT_ID, "i")),
         NOTHING, NOTHING},
    };

    if (i < COUNT_OF(rows)) {
        *row = rows[i];
    }
    return i < COUNT_OF(rows);
}

// False: there is no such row.
static bool check_row(size_t i, unsigned rights)
{
    void *state;
    struct gear *t;
    struct row row;
    bool there;

    gear_setup(&state);
    t = state;
    there = make_row(i, &row);
    if (there) {
        set_scene(t);
        assert_false(peer_may(t->a, {rights, "f"}));
        gear_says(t->a, row.said, row.rights & rights ? row.good : row.bad);
    }
    gear_teardown(&state);
    return there;
}

static void each_packet_needs_exactly_its_right(void **state)
{
    (void)state;
    for (unsigned rights = 0; rights <= MAY_EVERYTHING; rights++) {
        size_t i = 0;

        while (check_row(i, rights)) {
            i++;
        }
    }
}

static void functions_are_distinguished_by_every_byte(void **state)
{
    struct gear *t = *state;

    (void)peer_may(t->a, {MAY_SUBMIT, "mail.*"}, {MAY_SUBMIT, "web"});
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "mail.", "", "x"));
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "web", "", "x"));
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "mail", "", "x"), FORBIDDEN);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "Mail.x", "", "x"), FORBIDDEN);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "web\n", "", "x"), FORBIDDEN);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "", "", "x"), FORBIDDEN);
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("mail")));
}

//
// Workloads
//

static void the_workload_of_a_forbidden_job_is_not_stored(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('b', 100000);
    struct slice packet = REQ(SUBMIT_JOB, "f", "u", body);

    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    gear_says(t->a, slice_of(packet.ptr, 20000), FORBIDDEN);
    for (size_t at = 20000; at < packet.len; at += 10000) {
        size_t len = packet.len - at < 10000 ? packet.len - at : 10000;

        gear_says(t->a, slice_of(packet.ptr + at, len), NOTHING);
        assert_int_equal(peer_kept(t->a), 0);
    }
    gear_says(t->a, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
}

static void the_right_to_submit_is_checked_again_when_the_workload_is_complete(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('b', 100000);
    struct slice packet = REQ(SUBMIT_JOB, "f", "u", body);

    gear_says(t->a, slice_of(packet.ptr, 50000), NOTHING);
    (void)peer_may(t->a, {MAY_OBSERVE, "*"});
    gear_says(t->a, slice_from(packet, 50000), FORBIDDEN);
}

static void a_result_needs_no_right(void **state)
{
    struct gear *t = *state;
    const char *body = gear_run('b', 100000);

    knows_token(t->rig, "s3cret", {MAY_SUBMIT, "other"});
    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "u", "x"));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_says(t->b, REQ(OPTION_REQ, "auth:s3cret"), RES(OPTION_RES, "auth"));
    gear_says(t->b, MANY(REQ(WORK_DATA, H(1), body), REQ(WORK_COMPLETE, H(1), "r")), NOTHING);
    gear_hears(t->a, MANY(RES(WORK_DATA, H(1), body), RES(WORK_COMPLETE, H(1), "r")));
}

//
// Statuses
//

static void a_unique_is_found_after_jobs_that_may_not_be_seen(void **state)
{
    struct gear *t = *state;

    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "secret", "u", "x"));
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "hidden", "u", "x"));
    gear_submits(t->b, REQ(SUBMIT_JOB, "mine", "u", "x"));
    (void)peer_may(t->a, {MAY_SUBMIT, "mine"});
    gear_says(t->a, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "1", "0", "0", "0", "1"));
    (void)peer_may(t->a, {MAY_OBSERVE, "yours"});
    gear_says(t->a, REQ(GET_STATUS_UNIQUE, "u"),
              RES(STATUS_RES_UNIQUE, "u", "0", "0", "0", "0", "0"));
}

//
// Tokens
//

static void a_token_gives_the_connection_the_rights_of_its_owner(void **state)
{
    struct gear *t = *state;

    knows_token(t->rig, "s3cret", {MAY_SUBMIT, "f"});
    (void)peer_may(t->a, {MAY_SUBMIT, "g"});
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), FORBIDDEN);
    gear_says(t->a, REQ(OPTION_REQ, "auth:s3cret"), RES(OPTION_RES, "auth"));
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    // The token replaces the rights that the connection had before.
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "g", "", "x"), FORBIDDEN);
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "g", "", "x"));
}

static void the_option_ignores_case_but_the_token_does_not(void **state)
{
    struct gear *t = *state;

    knows_token(t->rig, "s3cret", {MAY_SUBMIT, "f"});
    (void)peer_may(t->a, {MAY_OBSERVE, "f"});
    gear_says(t->a, REQ(OPTION_REQ, "auth:S3CRET"), FORBIDDEN);
    gear_says(t->a, REQ(OPTION_REQ, "auth:s3cre"), FORBIDDEN);
    gear_says(t->a, REQ(OPTION_REQ, "auth:s3crets"), FORBIDDEN);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), FORBIDDEN);
    gear_says(t->a, REQ(OPTION_REQ, "AUTH:s3cret"), RES(OPTION_RES, "auth"));
    // Some clients send their last argument with the NUL of a C string.
    gear_says(t->b, gear_raw("REQ", 26, 12, SLICE("auth:s3cret\0")), RES(OPTION_RES, "auth"));
    assert_int_equal(rig_callers(t->rig)->wrong, 3);
}

static void an_invalid_token_is_an_invalid_argument(void **state)
{
    struct gear *t = *state;

    gear_fails(t->a, REQ(OPTION_REQ, "auth:"), "INVALID_ARGUMENT");
    gear_fails(t->a, REQ(OPTION_REQ, "auth: x"), "INVALID_ARGUMENT");
    gear_fails(t->a, REQ(OPTION_REQ, "auth:x y"), "INVALID_ARGUMENT");
    gear_fails(t->a, REQ(OPTION_REQ, "auth:x\n"), "INVALID_ARGUMENT");
    gear_fails(t->a, REQ(OPTION_REQ, "auth:\xc3\xa9"), "INVALID_ARGUMENT");
    gear_fails(t->a, REQ(OPTION_REQ, "auth"), "UNKNOWN_OPTION");
    gear_fails(t->a, REQ(OPTION_REQ, "author:x"), "UNKNOWN_OPTION");
    assert_int_equal(rig_callers(t->rig)->wrong, 0);
    gear_fails(t->a,
               MANY(gear_raw("REQ", 26, 8005, SLICE("auth:")), slice_of(gear_run('x', 8000), 8000)),
               "FORBIDDEN");
    assert_int_equal(rig_callers(t->rig)->wrong, 1);
}

static void without_rules_every_token_is_wrong(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(OPTION_REQ, "auth:anything"), FORBIDDEN);
    gear_submits(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"));
}

static void a_worker_that_may_no_longer_work_is_refused(void **state)
{
    struct gear *t = *state;

    knows_token(t->rig, "s3cret", {MAY_WORK, "g"});
    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(OPTION_REQ, "auth:s3cret")),
              RES(OPTION_RES, "auth"));
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    gear_says(t->a, REQ(GRAB_JOB), FORBIDDEN);
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "g", "", "y"));
    gear_says(t->a, MANY(REQ(CAN_DO, "g"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, H(2), "g", "y"));
}

static void a_worker_that_loses_its_function_loses_its_connection(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(CAN_DO, "f"), REQ(PRE_SLEEP)), NOTHING);
    assert_false(peer_may(t->a, {MAY_WORK, "*"}));
    assert_true(peer_may(t->a, {MAY_WORK, "g"}));
    assert_false(peer_may(t->b, {MAY_WORK, "g"}));
    rig_run(t->rig);
    assert_true(peer_closed(t->a));
}

static void many_functions_are_checked_in_several_turns(void **state)
{
    enum { VERY_MANY = 5000 };
    struct gear *t = *state;
    unsigned long feeds;
    char name[16];

    knows_token(t->rig, "s3cret", {MAY_WORK, "f1*"}, {MAY_OBSERVE, "*"});
    for (int i = 0; i < VERY_MANY; i++) {
        (void)snprintf(name, sizeof name, "f%d", i);
        gear_says(t->a, REQ(CAN_DO, name), NOTHING);
    }
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "f0", "", "x"));
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "f1", "", "y"));
    feeds = rig_feeds(t->rig);
    // The packets after it wait, and have the rights of the token.
    gear_says(t->a, MANY(REQ(OPTION_REQ, "auth:s3cret"), REQ(GRAB_JOB), REQ(GRAB_JOB)),
              MANY(RES(OPTION_RES, "auth"), RES(JOB_ASSIGN, H(2), "f1", "y"), RES(NO_JOB)));
    assert_in_range(rig_feeds(t->rig) - feeds, 3, VERY_MANY / 10);
}

//
// Too many wrong tokens
//

// Makes the next wrong token of `a` wait for ten seconds.
static struct gear *use_up_wrong_tokens(struct gear *t)
{
    struct wire_callers *callers = rig_callers(t->rig);

    knows_token(t->rig, "s3cret", {MAY_SUBMIT, "*"}, {MAY_OBSERVE, "g"});
    callers->wrong_max = 1;
    callers->again_at = SECONDS(1010);
    gear_says(t->a, REQ(OPTION_REQ, "auth:wrong"), FORBIDDEN);
    return t;
}

static void a_wrong_token_waits_after_too_many_wrong_ones(void **state)
{
    struct gear *t = use_up_wrong_tokens(*state);
    unsigned long feeds;

    gear_says(t->a, MANY(REQ(OPTION_REQ, "auth:wrong"), REQ(ECHO_REQ, "x")), NOTHING);
    assert_true(peer_blocked(t->a));
    gear_submits(t->b, REQ(SUBMIT_JOB_BG, "f", "", "x"));
    feeds = rig_feeds(t->rig);
    rig_advance(t->rig, SECONDS(9));
    assert_int_equal(rig_feeds(t->rig), feeds);
    gear_says(t->a, SLICE("getpid\n"), NOTHING);
    rig_advance(t->rig, SECONDS(1));
    gear_hears(t->a, MANY(FORBIDDEN, RES(ECHO_RES, "x"), SLICE("OK 4242\n")));
}

// Because other clients may use the same address.
static void a_right_token_does_not_wait_after_too_many_wrong_ones(void **state)
{
    struct gear *t = use_up_wrong_tokens(*state);

    gear_says(t->b, REQ(OPTION_REQ, "auth:wrong"), NOTHING);
    gear_says(t->a, MANY(REQ(OPTION_REQ, "auth:s3cret"), REQ(ECHO_REQ, "x")),
              MANY(RES(OPTION_RES, "auth"), RES(ECHO_RES, "x")));
}

static void a_client_gets_reports_while_its_token_waits(void **state)
{
    struct gear *t = use_up_wrong_tokens(*state);

    gear_submits(t->a, REQ(SUBMIT_JOB, "f", "", "x"));
    gear_says(t->a, REQ(OPTION_REQ, "auth:wrong"), NOTHING);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB), REQ(WORK_COMPLETE, H(1), "r")),
              RES(JOB_ASSIGN, H(1), "f", "x"));
    gear_hears(t->a, RES(WORK_COMPLETE, H(1), "r"));
    rig_advance(t->rig, SECONDS(10));
    gear_hears(t->a, FORBIDDEN);
}

static void a_connection_may_end_while_its_token_waits(void **state)
{
    struct gear *t = use_up_wrong_tokens(*state);

    gear_says(t->a, REQ(OPTION_REQ, "auth:wrong"), NOTHING);
    peer_half_close(t->a);
    assert_true(peer_closed(t->a));
    rig_advance(t->rig, SECONDS(20));
    gear_says(t->b, REQ(ECHO_REQ, "x"), RES(ECHO_RES, "x"));
}

static void replies_are_the_same_however_the_input_is_split(void **state)
{
    size_t len = 1000;

    (void)state;
    for (size_t first = 1; first <= len; first++) {
        void *world;
        struct gear *t;
        struct slice said;

        gear_setup(&world);
        t = use_up_wrong_tokens(world);
        rig_callers(t->rig)->wrong_max = 2;
        (void)peer_may(t->a, {MAY_OBSERVE, "*"});
        said = MANY(REQ(OPTION_REQ, "auth:wrong"), REQ(SUBMIT_JOB, "f", "", "auth:s3cret"),
                    REQ(OPTION_REQ, "auth:s3cret"), SLICE("version\n"),
                    REQ(SUBMIT_JOB_BG, "f", "", "x"), REQ(OPTION_REQ, "auth:wrong"));
        len = said.len;
        peer_send_pieces(t->a, said, first, said.len);
        gear_hears(t->a, MANY(FORBIDDEN, FORBIDDEN, RES(OPTION_RES, "auth"), SLICE("OK 0.1.0\n"),
                              RES(JOB_CREATED, H(1))));
        rig_advance(t->rig, SECONDS(10));
        gear_hears(t->a, FORBIDDEN);
        gear_teardown(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_needs_exactly_its_right),
        GEAR(functions_are_distinguished_by_every_byte),
        GEAR(the_workload_of_a_forbidden_job_is_not_stored),
        GEAR(the_right_to_submit_is_checked_again_when_the_workload_is_complete),
        GEAR(a_result_needs_no_right),
        GEAR(a_unique_is_found_after_jobs_that_may_not_be_seen),
        GEAR(a_token_gives_the_connection_the_rights_of_its_owner),
        GEAR(the_option_ignores_case_but_the_token_does_not),
        GEAR(an_invalid_token_is_an_invalid_argument),
        GEAR(without_rules_every_token_is_wrong),
        GEAR(a_worker_that_may_no_longer_work_is_refused),
        GEAR(a_worker_that_loses_its_function_loses_its_connection),
        GEAR(many_functions_are_checked_in_several_turns),
        GEAR(a_wrong_token_waits_after_too_many_wrong_ones),
        GEAR(a_right_token_does_not_wait_after_too_many_wrong_ones),
        GEAR(a_client_gets_reports_while_its_token_waits),
        GEAR(a_connection_may_end_while_its_token_waits),
        cmocka_unit_test(replies_are_the_same_however_the_input_is_split),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
