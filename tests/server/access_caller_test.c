/* SPDX-License-Identifier: MIT */
// The client that a connection acts for, and its rights as its front-end is told: without a token
// and with one.
#include "core/grants.h"
#include "server/conn/conn_caller.h"
#include "tests/server/access_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORK_FOR_ALL "any work jobs\n"

static void without_rules_every_client_may_do_everything(void **state)
{
    struct access_bed *bed = *state;
    int client = bed_connect(&bed->bed);

    access_bed_ask(bed, client, "may", "may all");
    access_bed_ask(bed, client, "itself", "address all");
    access_bed_ask(bed, client, "claim " HORSE, "unknown");
    assert_null(bed_latest(&bed->bed)->caller);
    assert_int_equal(bed->bed.front.granted, 0);
    (void)close(client);
}

static void a_connection_has_its_rights_before_its_first_byte(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, WORK_FOR_ALL);
    client = bed_connect(&bed->bed);
    assert_int_equal(bed->bed.front.granted, 1);
    assert_int_equal(bed->bed.front.feeds, 0);
    access_bed_ask(bed, client, "may", "may 2");
    (void)close(client);
}

static void expect_caller(struct access_bed *bed, const char *expected)
{
    char text[64];

    conn_caller_text(bed_latest(&bed->bed), text, sizeof text);
    assert_string_equal(text, expected);
}

static void a_caller_is_called_by_its_role_its_token_or_its_user(void **state)
{
    struct access_bed *bed = *state;
    char user[64];
    int client = bed_connect(&bed->bed);

    expect_caller(bed, "");
    access_bed_rule(bed,
                    "any work jobs\n" TOKEN_HORSE "work jobs clerk\n" TOKEN_STAPLE "work jobs\n");
    bed_turns(&bed->bed, 2);
    (void)snprintf(user, sizeof user, "user:%u", geteuid());
    expect_caller(bed, user);
    access_bed_ask(bed, client, "claim " HORSE, "known 2");
    expect_caller(bed, "clerk");
    access_bed_ask(bed, client, "claim " STAPLE, "known 2");
    expect_caller(bed, "staple");
    access_bed_ask(bed, client, "itself", "known 2");
    expect_caller(bed, user);
    (void)close(client);
}

static void rights_without_a_rule_are_not_granted(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, "user:%u work others\nuser:%u work jobs\nnet:0.0.0.0/0 work jobs\n",
                    geteuid(), geteuid() + 1);
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "may", "may 0");
    (void)close(client);
}

static void rules_of_user_and_group_and_any_add_up(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed,
                    "user:%u work jobs\ngroup:%u observe jobs\nany operate jobs\n"
                    "net:0.0.0.0/0 submit jobs\n",
                    geteuid(), getegid());
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "may", "may 30");
    access_bed_ask(bed, client, "itself", "known 30");
    (void)close(client);
}

static void a_peer_over_ip_is_its_address(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed,
                    "net:127.0.0.0/8 work jobs\nnet:10.0.0.0/8 observe jobs\nuser:%u admin *\n",
                    geteuid());
    client = bed_connect_tcp(&bed->bed);
    access_bed_ask(bed, client, "itself", "address 2");
    access_bed_expect_log(bed, " caller conn=1 who=127.0.0.1 ");
    (void)close(client);
}

static void peers_at_the_loopback_and_at_unix_sockets_are_local(void **state)
{
    struct access_bed *bed = *state;
    int over_unix = bed_connect(&bed->bed);
    int over_tcp = bed_connect_tcp(&bed->bed);

    access_bed_ask(bed, over_unix, "local", "yes");
    access_bed_ask(bed, over_tcp, "local", "yes");
    (void)close(over_unix);
    (void)close(over_tcp);
}

static void a_token_replaces_the_identity_of_the_peer(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs\nuser:%u work jobs\nany operate jobs\n",
                    geteuid());
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "may", "may 26");
    access_bed_ask(bed, client, "claim " HORSE, "known 28");
    access_bed_expect_log(bed, " caller conn=1 token=horse ");
    access_bed_ask(bed, client, "itself", "known 26");
    (void)close(client);
}

static void the_log_calls_a_caller_by_its_role(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs rider\nuser:%u work jobs\nany work jobs guest\n",
                    geteuid());
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 6");
    access_bed_expect_log(bed, " role=guest \n");
    access_bed_expect_log(bed, " caller conn=1 token=horse role=rider \n");
    (void)close(client);
}

static void a_token_may_follow_another_in_mid_connection(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n" TOKEN_STAPLE "work jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 4");
    access_bed_ask(bed, client, "claim " STAPLE, "known 2");
    access_bed_ask(bed, client, "claim " HORSE, "known 4");
    (void)close(client);
}

static void a_token_is_charged_for_all_comparisons(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n" TOKEN_STAPLE "work jobs\nany work x\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 4");
    assert_int_equal(bed->bed.front.looked_at, 2 + 3);
    access_bed_ask(bed, client, "claim wrong", "unknown");
    assert_int_equal(bed->bed.front.looked_at, 2 + 3);
    access_bed_ask(bed, client, "itself", "known 0");
    assert_int_equal(bed->bed.front.looked_at, 0);
    (void)close(client);
}

// The token, and one byte more.
#define LONGER_CLAIM ("claim " HORSE "x")

static void a_wrong_token_changes_nothing(void **state)
{
    static const char *const wrong[] = {
        LONGER_CLAIM, "claim horse", "claim ", "claim horse-horse-horse-hors",
        "claim 09b290fcfe9ca2392daa808648238d98fa4424b124573646559868013ce35054"};
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 4");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        access_bed_ask(bed, client, wrong[i], "unknown");
        access_bed_ask(bed, client, "may", "may 4");
    }
    (void)close(client);
}

static void wrong_tokens_are_logged_once_a_second_and_not_shown(void **state)
{
    struct access_bed *bed = *state;
    char *second;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n");
    client = bed_connect_tcp(&bed->bed);
    access_bed_ask(bed, client, "claim secret-secret-secret", "unknown");
    access_bed_ask(bed, client, "claim secret-secret-secret", "unknown");
    access_bed_expect_log(bed, " wrong_token conn=1 peer=127.0.0.1 protocol=stub ");
    second = strstr(strstr(bed->log, " wrong_token ") + 1, " wrong_token ");
    assert_null(second);
    access_bed_expect_no_log(bed, "secret");
    (void)close(client);
}

// A hundred are answered at once; then each wrong one waits.
static void wrong_tokens_slow_wrong_ones_of_their_address(void **state)
{
    struct access_bed *bed = *state;
    int client;
    int elsewhere;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n");
    client = bed_connect_tcp(&bed->bed);
    elsewhere = bed_connect(&bed->bed);
    for (int i = 0; i < 100; i++) {
        access_bed_ask(bed, client, "claim wrong", "unknown");
    }
    access_bed_expect_no_log(bed, " token_delayed ");
    access_bed_ask(bed, client, "claim wrong", "later 1");
    bed_clock.mono += NSEC_PER_SEC;
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "claim wrong", "unknown");
    access_bed_ask(bed, client, "claim wrong", "later 1");
    access_bed_expect_log(bed, " token_delayed conn=1 peer=127.0.0.1 protocol=stub ");
    access_bed_ask(bed, elsewhere, "claim wrong", "unknown");
    (void)close(client);
    (void)close(elsewhere);
}

static void a_right_token_is_not_slowed_by_wrong_ones_of_its_address(void **state)
{
    struct access_bed *bed = *state;
    struct error_text why;
    struct access *also = access_parse(SLICE(TOKEN_STAPLE "submit jobs\n"), "also", &why);
    int guesser;
    int client;

    bed->bed.front.also = also;
    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n");
    guesser = bed_connect_tcp(&bed->bed);
    for (int i = 0; i < 100; i++) {
        access_bed_ask(bed, guesser, "claim wrong", "unknown");
    }
    client = bed_connect_tcp(&bed->bed);
    for (int i = 0; i < 20; i++) {
        access_bed_ask(bed, guesser, "claim wrong", "later 1");
        access_bed_ask(bed, client, "claim " HORSE, "known 4");
        access_bed_ask(bed, client, "claim " STAPLE, "known 1");
    }
    access_bed_ask(bed, guesser, "claim " HORSE, "known 4");
    (void)close(guesser);
    (void)close(client);
    bed_turns(&bed->bed, 3);
    access_free(also);
}

static void without_tokens_no_client_is_slowed_down(void **state)
{
    struct access_bed *bed = *state;
    int client = bed_connect_tcp(&bed->bed);

    for (int i = 0; i < 200; i++) {
        access_bed_ask(bed, client, "claim wrong", "unknown");
    }
    assert_null(bed->bed.loop.turn.throttle);
    (void)close(client);
}

static void a_wrong_token_that_cannot_be_counted_ends_the_connection(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n");
    client = bed_connect_tcp(&bed->bed);
    bed_turns(&bed->bed, 3);
    nth_alloc_fail_from(1);
    (void)send(client, "claim wrong\n", strlen("claim wrong\n"), MSG_NOSIGNAL);
    bed_turns(&bed->bed, 3);
    nth_alloc_fail(0);
    assert_int_equal(bed->bed.front.open, 0);
    (void)close(client);
}

static void a_front_end_may_have_tokens_of_its_own(void **state)
{
    struct access_bed *bed = *state;
    struct error_text why;
    struct access *also = access_parse(SLICE(TOKEN_STAPLE "submit jobs\n"), "also", &why);
    int client = bed_connect(&bed->bed);

    bed->bed.front.also = also;
    access_bed_ask(bed, client, "claim " STAPLE, "known 1");
    access_bed_ask(bed, client, "claim " HORSE, "unknown");
    access_bed_ask(bed, client, "may", "may 1");
    access_bed_ask(bed, client, "itself", "address all");
    // Its rights stay when the rules are read again, or there are rules now.
    access_bed_ask(bed, client, "claim " STAPLE, "known 1");
    access_bed_rule(bed, TOKEN_HORSE "observe jobs\nany work jobs\n");
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "may", "may 1");
    access_bed_ask(bed, client, "claim " HORSE, "known 6");
    access_bed_ask(bed, client, "itself", "known 2");
    (void)close(client);
    bed_turns(&bed->bed, 3);
    access_free(also);
}

static void without_rules_a_front_end_ignores_its_own_token(void **state)
{
    struct access_bed *bed = *state;
    struct error_text why;
    struct access *also = access_parse(SLICE(TOKEN_STAPLE "submit jobs\n"), "also", &why);
    int client = bed_connect(&bed->bed);

    bed->bed.front.also = also;
    access_bed_ask(bed, client, "claim " STAPLE, "known 1");
    access_bed_unrule(bed);
    bed_turns(&bed->bed, 1);
    assert_int_equal(bed->bed.front.granted, 0);
    access_bed_rule(bed, "any work jobs\n");
    bed_turns(&bed->bed, 1);
    assert_int_equal(bed->bed.front.granted, 1);
    access_bed_ask(bed, client, "may", "may 1");
    access_bed_unrule(bed);
    bed_turns(&bed->bed, 1);
    assert_int_equal(bed->bed.front.granted, 2);
    access_bed_ask(bed, client, "may", "may all");
    access_bed_ask(bed, client, "itself", "address all");
    (void)close(client);
    bed_turns(&bed->bed, 3);
    access_free(also);
}

static void a_token_in_both_is_that_of_the_rules(void **state)
{
    struct access_bed *bed = *state;
    struct error_text why;
    struct access *also = access_parse(SLICE(TOKEN_HORSE "submit jobs\n"), "also", &why);
    int client;

    bed->bed.front.also = also;
    access_bed_rule(bed, TOKEN_HORSE "observe jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 4");
    (void)close(client);
    bed_turns(&bed->bed, 3);
    access_free(also);
}

static void asking_again_without_a_token_needs_no_memory(void **state)
{
    struct access_bed *bed = *state;
    size_t before;
    int client;

    access_bed_rule(bed, WORK_FOR_ALL);
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "itself", "known 2");
    nth_alloc_fail(0);
    access_bed_ask(bed, client, "some line", "some line");
    before = nth_alloc_count();
    nth_alloc_fail(0);
    access_bed_ask(bed, client, "itself", "known 2");
    assert_int_equal(nth_alloc_count(), before);
    (void)close(client);
}

// If any allocation fails, the connection never gets more rights than it has.
static void without_memory_nothing_is_granted(void **state)
{
    struct access_bed *bed = *state;
    char line[64];
    bool failed = true;

    for (size_t n = 1; failed; n++) {
        ssize_t len;
        int client;

        access_bed_rule(bed, WORK_FOR_ALL TOKEN_HORSE "observe jobs\n");
        nth_alloc_fail(n);
        client = bed_connect(&bed->bed);
        (void)send(client, "may\nclaim " HORSE "\n", strlen("may\nclaim " HORSE "\n"),
                   MSG_NOSIGNAL);
        bed_turns(&bed->bed, 5);
        failed = nth_alloc_count() >= n;
        nth_alloc_fail(0);
        memset(line, 0, sizeof line);
        len = recv(client, line, sizeof line - 1, 0);
        if (len > 0) {
            assert_memory_equal(line, "may 2\n", strlen("may 2\n"));
            assert_null(strstr(line, "all"));
        }
        assert_true(failed || strcmp(line, "may 2\nknown 6\n") == 0);
        (void)close(client);
        bed_turns(&bed->bed, 3);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, access_bed_setup, access_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_rules_every_client_may_do_everything),
        TEST(a_connection_has_its_rights_before_its_first_byte),
        TEST(a_caller_is_called_by_its_role_its_token_or_its_user),
        TEST(rights_without_a_rule_are_not_granted),
        TEST(rules_of_user_and_group_and_any_add_up),
        TEST(a_peer_over_ip_is_its_address),
        TEST(peers_at_the_loopback_and_at_unix_sockets_are_local),
        TEST(a_token_replaces_the_identity_of_the_peer),
        TEST(the_log_calls_a_caller_by_its_role),
        TEST(a_token_may_follow_another_in_mid_connection),
        TEST(a_token_is_charged_for_all_comparisons),
        TEST(a_wrong_token_changes_nothing),
        TEST(wrong_tokens_are_logged_once_a_second_and_not_shown),
        TEST(wrong_tokens_slow_wrong_ones_of_their_address),
        TEST(a_right_token_is_not_slowed_by_wrong_ones_of_its_address),
        TEST(without_tokens_no_client_is_slowed_down),
        TEST(a_wrong_token_that_cannot_be_counted_ends_the_connection),
        TEST(a_front_end_may_have_tokens_of_its_own),
        TEST(without_rules_a_front_end_ignores_its_own_token),
        TEST(a_token_in_both_is_that_of_the_rules),
        TEST(asking_again_without_a_token_needs_no_memory),
        TEST(without_memory_nothing_is_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
