/* SPDX-License-Identifier: MIT */
// A process that shares its journal with others: it follows while another one owns it, and starts
// again when it has lost it. With the loop alone, and with I/O threads.
#include "tests/server/again_bed.h"
#include "tests/server/manager_socket.h"
#include "tests/support/with_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 20 };

static const char *io_threads;

#define START(...) AGAIN_START(true, io_threads, "server.io_spread=always", __VA_ARGS__)

static bool follows_again(const struct again *again)
{
    return atomic_load(&again->made) > 1;
}

static void until_it_follows(const struct again *again, unsigned made)
{
    while (atomic_load(&again->made) < made) {
        again_until(follows_again, again);
    }
}

static void put(int client)
{
    again_say(client, "put 0 0 10 1\r\na\r\n");
    again_expect(client, "INSERTED ");
}

static void expect_passed_on(struct again *again)
{
    int client = again_connect(again->bean);
    int other;

    again_say(client, "hello");
    other = again_accept_other(again, "hello");
    again_say(other, "here");
    again_expect(client, "here");
    (void)close(other);
    again_expect_end(client);
}

static bool is_ready(const struct again *again)
{
    return strstr(again_ask(again, "/readyz"), "HTTP/1.1 200 ") != NULL;
}

static unsigned long passed_on(const struct again *again)
{
    static const char key[] = "\"total\":";
    const char *proxied = strstr(again_ask(again, "/api/v1/cluster"), "\"proxied\"");
    const char *total = proxied ? strstr(proxied, key) : NULL;

    assert_non_null(total);
    return total ? strtoul(total + strlen(key), NULL, 10) : 0;
}

static void connections_that_were_passed_on_are_counted_once(void **state)
{
    struct again *again = START("journal.standby=proxy");

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        again_until(is_ready, again);
        assert_int_equal(passed_on(again), i);
        again_lose(again, true);
        until_it_follows(again, i + 2);
        expect_passed_on(again);
        assert_int_equal(passed_on(again), i + 1);
        again_own(again);
    }
    again_stop(again);
}

static void connections_are_not_passed_to_this_process_itself(void **state)
{
    struct again *again = START("journal.standby=proxy");
    int client;

    (void)state;
    (void)snprintf(again->other_address, sizeof again->other_address, "beanstalk=%s http=h:1",
                   again->bean);
    again_lose(again, true);
    until_it_follows(again, 2);
    client = again_connect(again->bean);
    again_say(client, "watch a\r\n");
    again_expect_silence(client);
    assert_int_equal(passed_on(again), 0);
    again_own(again);
    again_expect(client, "WATCHING 2\r\n");
    (void)close(client);
    again_stop(again);
}

static void process_serves_and_follows_again_and_again(void **state)
{
    struct again *again = START("journal.standby=proxy");

    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        int client = again_connect_served(again);
        int waiting = again_connect_served(again);

        put(client);
        (void)close(client);
        client = again_connect_served(again);
        again_say(waiting, "reserve-with-timeout 0\r\n");
        again_lose(again, true);
        until_it_follows(again, i + 2);
        expect_passed_on(again);
        again_own(again);
        (void)close(client);
        (void)close(waiting);
    }
    (void)close(again_connect_served(again));
    again_stop(again);
}

static void operators_are_answered_while_another_process_owns_it(void **state)
{
    struct again *again = START("journal.standby=proxy");

    (void)state;
    again_lose(again, true);
    until_it_follows(again, 2);
    assert_non_null(strstr(again_ask(again, "/healthz"), "HTTP/1.1 200 "));
    again_stop(again);
}

static void process_that_is_to_refuse_closes_connections(void **state)
{
    struct again *again = START("journal.standby=refuse");

    (void)state;
    again_lose(again, true);
    until_it_follows(again, 2);
    again_expect_end(again_connect(again->bean));
    again_own(again);
    (void)close(again_connect_served(again));
    again_stop(again);
}

static void connections_wait_while_no_process_owns_the_jobs(void **state)
{
    struct again *again = START("journal.standby=refuse");
    int client;

    (void)state;
    again_lose(again, false);
    until_it_follows(again, 2);
    client = again_connect(again->bean);
    again_say(client, "watch a\r\n");
    again_expect_silence(client);
    again_own(again);
    again_expect(client, "WATCHING 2\r\n");
    (void)close(client);
    again_stop(again);
}

static void replies_wait_until_ownership_is_confirmed(void **state)
{
    struct again *again = START("journal.fail_timeout=3600");
    int client;

    (void)state;
    client = again_connect_served(again);
    atomic_store(&again->unsure, true);
    fence_move(&again->fence, 0);
    again_say(client, "watch b\r\n");
    again_expect_silence(client);
    assert_non_null(strstr(again_ask(again, "/healthz"), "HTTP/1.1 200 "));
    again_own(again);
    again_expect(client, "WATCHING 3\r\n");
    assert_int_equal(atomic_load(&again->made), 1);
    (void)close(client);
    again_stop(again);
}

static void staged_output_is_not_sent_after_the_store_is_lost(void **state)
{
    struct again *again = START("journal.fail_timeout=3600");
    int client;
    int waiting;

    (void)state;
    client = again_connect_served(again);
    waiting = again_connect_served(again);
    again_say(waiting, "reserve\r\n");
    atomic_store(&again->unsure, true);
    fence_move(&again->fence, 0);
    again_say(client, "put 0 0 10 1\r\na\r\n");
    again_expect_silence(client);
    again_lose(again, true);
    again_expect_end(client);
    again_expect_end(waiting);
    until_it_follows(again, 2);
    again_stop(again);
}

static void process_that_is_unsure_for_too_long_becomes_a_standby(void **state)
{
    struct again *again = START("journal.fail_timeout=1");
    int client;

    (void)state;
    client = again_connect_served(again);
    atomic_store(&again->unsure, true);
    fence_move(&again->fence, 0);
    again_say(client, "watch b\r\n");
    again_expect_end(client);
    until_it_follows(again, 2);
    again_stop(again);
}

static void handover_closes_connections_and_lets_others_come_first(void **state)
{
    struct again *again = START("journal.standby=refuse");
    int client;

    (void)state;
    client = again_connect_served(again);
    put(client);
    again_expect(client, "1\r\n");
    atomic_store(&again->hand_over, true);
    again_expect_end(client);
    until_it_follows(again, 2);
    assert_true(atomic_load(&again->handed_over));
    assert_true(atomic_load(&again->yields));
    again_own(again);
    (void)close(again_connect_served(again));
    again_lose(again, true);
    until_it_follows(again, 3);
    assert_false(atomic_load(&again->yields));
    again_stop(again);
}

static void nothing_is_handed_over_if_no_process_would_take_it(void **state)
{
    static const char path[] = "/api/v1/cluster/handover";
    struct again *again = START("journal.standby=refuse", "journal.lease_ttl=5");
    int client;

    (void)state;
    client = again_connect_served(again);
    atomic_store(&again->other_only_follows, true);
    assert_non_null(strstr(again_operate(again, path), "HTTP/1.1 409 "));
    atomic_store(&again->other_only_follows, false);
    atomic_store(&again->other_seen_for, 6 * NSEC_PER_SEC);
    assert_non_null(strstr(again_operate(again, path), "HTTP/1.1 409 "));
    atomic_store(&again->other_seen_for, 4 * NSEC_PER_SEC);
    atomic_store(&again->other_is_past, true);
    assert_non_null(strstr(again_operate(again, path), "HTTP/1.1 409 "));
    put(client);
    again_expect(client, "1\r\n");
    assert_false(atomic_load(&again->handed_over));
    atomic_store(&again->other_is_past, false);
    assert_non_null(strstr(again_operate(again, path), "HTTP/1.1 202 "));
    again_expect_end(client);
    until_it_follows(again, 2);
    assert_true(atomic_load(&again->handed_over));
    again_stop(again);
}

static void process_that_is_drained_stays_so(void **state)
{
    struct again *again = START("journal.standby=refuse");
    int client;

    (void)state;
    client = again_connect_served(again);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    again_lose(again, true);
    until_it_follows(again, 2);
    again_own(again);
    (void)close(client);
    client = again_connect_served(again);
    again_say(client, "put 0 0 10 1\r\na\r\n");
    again_expect(client, "DRAINING\r\n");
    (void)close(client);
    again_stop(again);
}

static void process_that_loses_the_store_at_once_becomes_a_standby(void **state)
{
    struct again *again = AGAIN_START(false, io_threads, "server.io_spread=always");

    (void)state;
    atomic_store(&again->fails, 2);
    again_own(again);
    (void)close(again_connect_served(again));
    assert_int_equal(atomic_load(&again->made), 3);
    again_stop(again);
}

static void standby_that_is_drained_stays_so(void **state)
{
    struct again *again = AGAIN_START(false, io_threads, "server.io_spread=always");
    int client;

    (void)state;
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    // Signals are taken in before requests.
    assert_non_null(strstr(again_ask(again, "/healthz"), "HTTP/1.1 200 "));
    atomic_store(&again->fails, 1);
    again_own(again);
    client = again_connect_served(again);
    again_say(client, "put 0 0 10 1\r\na\r\n");
    again_expect(client, "DRAINING\r\n");
    (void)close(client);
    again_stop(again);
}

static void expect_told(int manager, const char *text)
{
    char told[NOTIFY_TEXT_MAX];
    ssize_t len = recv(manager, told, sizeof told - 1, 0);

    assert_true(len > 0);
    told[len] = '\0';
    assert_string_equal(told, text);
}

static void standby_reports_to_the_service_manager_that_it_is_ready(void **state)
{
    int manager = manager_socket();
    struct again *again = AGAIN_START(false, io_threads);

    (void)state;
    expect_told(manager, "STATUS=standing by: other owns the jobs");
    expect_told(manager, "READY=1");
    again_own(again);
    (void)close(again_connect_served(again));
    expect_told(manager, "STATUS=owns the jobs");
    again_lose(again, true);
    until_it_follows(again, 2);
    expect_told(manager, "STATUS=standing by: other owns the jobs");
    again_stop(again);
    expect_told(manager, "STOPPING=1");
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    (void)close(manager);
}

static void process_advertises_its_addresses(void **state)
{
    struct again *again =
        START("tls.certificate=", "beanstalk.listen=127.0.0.1:0 127.0.0.1:0 127.0.0.1:0");
    char word[80];

    (void)state;
    (void)snprintf(word, sizeof word, "beanstalk=%s ", again->bean);
    assert_memory_equal(again->advertised, word, strlen(word));
    // One place is enough.
    assert_null(strstr(again->advertised + 1, "beanstalk="));
    (void)snprintf(word, sizeof word, " admin=%s", again->admin);
    assert_non_null(strstr(again->advertised, word));
    again_stop(again);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process_serves_and_follows_again_and_again),
        cmocka_unit_test(connections_are_not_passed_to_this_process_itself),
        cmocka_unit_test(connections_that_were_passed_on_are_counted_once),
        cmocka_unit_test(operators_are_answered_while_another_process_owns_it),
        cmocka_unit_test(process_that_is_to_refuse_closes_connections),
        cmocka_unit_test(connections_wait_while_no_process_owns_the_jobs),
        cmocka_unit_test(replies_wait_until_ownership_is_confirmed),
        cmocka_unit_test(staged_output_is_not_sent_after_the_store_is_lost),
        cmocka_unit_test(process_that_is_unsure_for_too_long_becomes_a_standby),
        cmocka_unit_test(handover_closes_connections_and_lets_others_come_first),
        cmocka_unit_test(nothing_is_handed_over_if_no_process_would_take_it),
        cmocka_unit_test(process_that_is_drained_stays_so),
        cmocka_unit_test(standby_that_is_drained_stays_so),
        cmocka_unit_test(process_that_loses_the_store_at_once_becomes_a_standby),
        cmocka_unit_test(standby_reports_to_the_service_manager_that_it_is_ready),
        cmocka_unit_test(process_advertises_its_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    int failed;

    io_threads = "server.io_threads=0";
    failed = run_all();
    io_threads = "server.io_threads=2";
    return failed + run_all();
}
