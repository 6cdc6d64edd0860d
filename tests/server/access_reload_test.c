/* SPDX-License-Identifier: MIT */
// The rules change while clients are connected.
#include "tests/server/access_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void open_connections_are_authorized_by_the_new_rules(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, "any work,observe jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "may", "may 6");
    access_bed_rule(bed, "any observe jobs\n");
    bed_turns(&bed->bed, 1);
    assert_int_equal(bed->bed.front.granted, 2);
    access_bed_ask(bed, client, "may", "may 4");
    access_bed_ask(bed, client, "itself", "known 4");
    (void)close(client);
}

static void connections_from_before_the_rules_are_authorized(void **state)
{
    struct access_bed *bed = *state;
    int client = bed_connect(&bed->bed);

    access_bed_ask(bed, client, "may", "may all");
    access_bed_rule(bed, "any observe jobs\n");
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "may", "may 4");
    (void)close(client);
}

static void when_no_rules_are_left_every_client_may_do_everything(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "work jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 2");
    access_bed_unrule(bed);
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "may", "may all");
    assert_null(bed_latest(&bed->bed)->caller);
    (void)close(client);
}

static void a_token_is_known_again(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "work jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 2");
    access_bed_rule(bed, TOKEN_STAPLE "operate jobs\n" TOKEN_HORSE "observe jobs\n");
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "may", "may 4");
    (void)close(client);
}

// The name stays, for another token.
static void caller_of_a_replaced_token_has_the_rights_of_its_peer(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "work jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 2");
    access_bed_rule(bed, "token:horse:" HASH_STAPLE " work jobs\nany observe jobs\n");
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "may", "may 4");
    (void)close(client);
}

static void caller_of_a_removed_token_has_the_rights_of_its_peer(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "work jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 2");
    access_bed_rule(bed, TOKEN_STAPLE "operate jobs\nuser:%u observe jobs\n", geteuid());
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "may", "may 4");
    access_bed_ask(bed, client, "claim " HORSE, "unknown");
    (void)close(client);
}

// The token was added and removed between two turns: its number belongs to another.
static void of_rules_in_quick_succession_the_last_count(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, TOKEN_HORSE "work jobs\n");
    client = bed_connect(&bed->bed);
    access_bed_ask(bed, client, "claim " HORSE, "known 2");
    access_bed_rule(bed, TOKEN_STAPLE "operate jobs\n" TOKEN_HORSE "observe jobs\n");
    access_bed_rule(bed, TOKEN_STAPLE "operate jobs\nany submit jobs\n");
    bed_turns(&bed->bed, 1);
    access_bed_ask(bed, client, "may", "may 1");
    (void)close(client);
}

static void connection_that_waits_for_a_lost_right_is_dropped(void **state)
{
    struct access_bed *bed = *state;
    int waits;
    int idle;

    access_bed_rule(bed, "any work jobs\n");
    waits = bed_connect(&bed->bed);
    bed_send(&bed->bed, waits, "block\n");
    idle = bed_connect(&bed->bed);
    access_bed_rule(bed, "any observe jobs\n");
    bed_expect_end(&bed->bed, waits);
    access_bed_expect_log(bed, " access_lost conn=1 protocol=stub who=user:");
    access_bed_expect_no_log(bed, " access_lost conn=2 ");
    access_bed_ask(bed, idle, "may", "may 4");
    (void)close(idle);
}

static void connection_that_still_has_its_right_keeps_waiting(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, "any work,observe jobs\n");
    client = bed_connect(&bed->bed);
    bed_send(&bed->bed, client, "block\n");
    access_bed_rule(bed, "any work jobs\n");
    bed_expect_silence(&bed->bed, client);
    bed_unblock(&bed->bed.front);
    bed_expect(&bed->bed, client, "unblocked\n");
    (void)close(client);
}

static void connection_is_fed_after_a_long_authorization(void **state)
{
    struct access_bed *bed = *state;
    int other;
    int client;

    access_bed_rule(bed, "any work,observe jobs\n");
    other = bed_connect(&bed->bed);
    client = bed_connect(&bed->bed);
    bed_turns(&bed->bed, 3);
    bed->bed.front.grants_later = 100;
    access_bed_rule(bed, "any observe jobs\n");
    bed_send(&bed->bed, client, "may\n");
    bed_expect_silence(&bed->bed, client);
    // Others need not wait for that.
    access_bed_ask(bed, other, "may", "may 4");
    assert_true(bed->bed.front.grants_later > 0);
    // The rules change once more.
    access_bed_rule(bed, "any submit jobs\n");
    bed_expect(&bed->bed, client, "may 1\n");
    assert_int_equal(bed->bed.front.grants_later, 0);
    // It is read again.
    access_bed_ask(bed, client, "may", "may 1");
    (void)close(client);
    (void)close(other);
}

static void blocked_connection_is_authorized_when_rules_are_removed(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, "any work jobs\n");
    client = bed_connect(&bed->bed);
    bed_send(&bed->bed, client, "block\n");
    bed_turns(&bed->bed, 2);
    bed->bed.front.grants_later = 3;
    access_bed_unrule(bed);
    bed_turns(&bed->bed, 8);
    assert_int_equal(bed->bed.front.grants_later, 0);
    assert_null(bed_latest(&bed->bed)->caller);
    bed_unblock(&bed->bed.front);
    bed_expect(&bed->bed, client, "unblocked\n");
    (void)close(client);
}

static void connection_may_close_during_its_authorization(void **state)
{
    struct access_bed *bed = *state;
    int client;

    access_bed_rule(bed, "any work jobs\n");
    client = bed_connect(&bed->bed);
    bed_turns(&bed->bed, 2);
    bed->bed.front.grants_later = 1000;
    access_bed_rule(bed, "any observe jobs\n");
    bed_turns(&bed->bed, 2);
    (void)close(client);
    bed_turns(&bed->bed, 2);
    assert_true(bed->bed.front.grants_later > 0);
}

// More than are authorized in a turn.
enum { MANY = 600 };

static int *connect_many(struct access_bed *bed)
{
    int *clients = calloc(MANY, sizeof *clients);
    const struct rlimit files = {.rlim_cur = 4 * MANY, .rlim_max = 4 * MANY};

    assert_non_null(clients);
    (void)setrlimit(RLIMIT_NOFILE, &files);
    for (size_t i = 0; i < MANY; i++) {
        clients[i] = bed_connect(&bed->bed);
    }
    bed_turns(&bed->bed, 3);
    bed->bed.front.granted = 0;
    return clients;
}

static void many_connections_are_authorized_over_several_turns(void **state)
{
    struct access_bed *bed = *state;
    int *clients = connect_many(bed);
    unsigned turns = 0;
    int newcomer;

    access_bed_rule(bed, "any observe jobs\n");
    while (bed->bed.front.granted < MANY) {
        unsigned before = bed->bed.front.granted;

        loop_turn(&bed->bed.loop, true);
        turns++;
        assert_in_range(bed->bed.front.granted - before, 1, 256);
        if (turns == 1) {
            // Clients that connect or ask meanwhile need not wait for that.
            newcomer = bed_connect(&bed->bed);
            access_bed_ask(bed, newcomer, "may", "may 4");
            access_bed_ask(bed, clients[MANY - 1], "may", "may 4");
            access_bed_ask(bed, clients[MANY - 2], "itself", "known 4");
            (void)close(newcomer);
        }
    }
    for (size_t i = 0; i < MANY; i++) {
        access_bed_ask(bed, clients[i], "may", "may 4");
        (void)close(clients[i]);
    }
    free(clients);
}

static void connections_that_end_meanwhile_are_skipped(void **state)
{
    struct access_bed *bed = *state;
    int *clients = connect_many(bed);

    access_bed_rule(bed, "any observe jobs\n");
    loop_turn(&bed->bed.loop, true);
    assert_in_range(bed->bed.front.granted, 1, MANY - 1);
    for (size_t i = 0; i < MANY; i++) {
        if (i != MANY - 1) {
            (void)close(clients[i]);
        }
    }
    bed_turns(&bed->bed, 20);
    assert_int_equal(bed->bed.front.open, 1);
    access_bed_ask(bed, clients[MANY - 1], "may", "may 4");
    (void)close(clients[MANY - 1]);
    free(clients);
}

static void connection_that_cannot_be_authorized_without_memory_is_closed(void **state)
{
    struct access_bed *bed = *state;

    for (size_t n = 1; n < 100; n++) {
        int client = bed_connect(&bed->bed);
        bool failed;

        access_bed_rule(bed, "any observe jobs\n");
        nth_alloc_fail(n);
        bed_turns(&bed->bed, 2);
        failed = nth_alloc_count() >= n;
        nth_alloc_fail(0);
        if (!failed) {
            access_bed_ask(bed, client, "may", "may 4");
            (void)close(client);
            assert_in_range(n, 2, 100);
            return;
        }
        bed_expect_end(&bed->bed, client);
        access_bed_unrule(bed);
    }
    fail();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, access_bed_setup, access_bed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(open_connections_are_authorized_by_the_new_rules),
        TEST(connections_from_before_the_rules_are_authorized),
        TEST(when_no_rules_are_left_every_client_may_do_everything),
        TEST(a_token_is_known_again),
        TEST(caller_of_a_replaced_token_has_the_rights_of_its_peer),
        TEST(caller_of_a_removed_token_has_the_rights_of_its_peer),
        TEST(of_rules_in_quick_succession_the_last_count),
        TEST(connection_that_waits_for_a_lost_right_is_dropped),
        TEST(connection_that_still_has_its_right_keeps_waiting),
        TEST(connection_is_fed_after_a_long_authorization),
        TEST(blocked_connection_is_authorized_when_rules_are_removed),
        TEST(connection_may_close_during_its_authorization),
        TEST(many_connections_are_authorized_over_several_turns),
        TEST(connections_that_end_meanwhile_are_skipped),
        TEST(connection_that_cannot_be_authorized_without_memory_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
