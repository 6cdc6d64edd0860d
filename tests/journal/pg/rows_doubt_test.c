/* SPDX-License-Identifier: MIT */
// The outcome of a call if the database or the connection fails.
#include "tests/journal/pg/pg_bed.h"

#include "journal/pg/db.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static enum rows_outcome append_first(struct journal_rows *rows, uint64_t epoch)
{
    return bed_append(rows, epoch, 1, 1, "one");
}

static enum rows_outcome renew(struct journal_rows *rows, uint64_t epoch)
{
    struct rows_lease lease;

    return rows->ops->renew(rows, epoch, &lease);
}

static uint64_t renewed_seq(struct journal_rows *rows, uint64_t epoch)
{
    struct rows_lease lease;

    assert_int_equal(rows->ops->renew(rows, epoch, &lease), ROWS_DONE);
    return lease.seq;
}

static enum rows_outcome look(struct journal_rows *rows, uint64_t epoch)
{
    struct rows_lease lease;

    (void)epoch;
    return rows->ops->look(rows, &lease);
}

static enum rows_outcome take(struct journal_rows *rows, uint64_t epoch)
{
    // As the first member has taken it.
    struct rows_lease seen = {.epoch = epoch, .holder = "a"}, taken;

    return rows->ops->take(rows, &seen, &taken);
}

static enum rows_outcome wait_long(struct journal_rows *rows, uint64_t epoch)
{
    (void)epoch;
    return rows->ops->wait(rows, nsec_from_seconds(3600));
}

static void end_backends(struct bed *bed)
{
    (void)bed_sql(bed->admin,
                  "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity "
                  "WHERE usename = 'tandem'");
}

//
// In doubt
//

static void renewing_waits_for_an_append_that_is_still_under_way(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct call call;

    bed_lock_lease(bed);
    call_begin(&call, bed->a, append_first, epoch);
    bed_await(bed, "Lock", 1);
    bed->a->ops->stop(bed->a);
    assert_int_equal(call_end(&call), ROWS_STOPPED);
    bed->a->ops->resume(bed->a);
    // The server still has the statement, and does not know that the client has gone.
    call_begin(&call, bed->a, renew, epoch);
    bed_await(bed, "Lock", 2);
    (void)bed_sql(bed->admin, "COMMIT");
    assert_int_equal(call_end(&call), ROWS_DONE);
    assert_int_equal(renewed_seq(bed->a, epoch), 1);
    assert_string_equal(bed_read(bed->a, 1, 0), "1:one");
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
}

static void append_whose_backend_was_ended_is_in_doubt_until_a_renewal(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct call call;

    bed_lock_lease(bed);
    call_begin(&call, bed->a, append_first, epoch);
    bed_await(bed, "Lock", 1);
    end_backends(bed);
    assert_int_equal(call_end(&call), ROWS_DOUBT);
    (void)bed_sql(bed->admin, "COMMIT");
    assert_int_equal(renewed_seq(bed->a, epoch), 0);
    assert_int_equal(append_first(bed->a, epoch), ROWS_DONE);
}

static void append_that_arrives_after_a_renewal_by_another_connection_adds_nothing(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("a");
    struct journal_rows *second = bed_open(&settings);
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(renewed_seq(second, epoch), 0);
    assert_int_equal(append_first(bed->a, epoch), ROWS_DOUBT);
    assert_string_equal(bed_read(second, 1, 0), "");
    bed_free(second);
}

static void first_append_of_a_new_connection_has_its_turn(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(append_first(bed->a, epoch), ROWS_DONE);
    end_backends(bed);
    // That the connection is lost is seen when it is used.
    assert_int_equal(look(bed->a, 0), ROWS_AWAY);
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
}

static void large_batch_whose_connection_is_lost_before_its_end_is_not_in_doubt(void **state)
{
    static char letters[] = "ab";
    struct bed *bed = *state;
    struct iovec parts[] = {{&letters[0], 1}, {&letters[1], 1}};
    struct rows_new rows[] = {{1, 1, &parts[0], 1, 1}, {1, 2, &parts[1], 1, 1}};
    struct rows_append append = {.rows = rows, .count = 2};

    append.known = bed_known(bed_take(bed->a), 0);
    end_backends(bed);
    assert_int_equal(bed->a->ops->append(bed->a, &append), ROWS_AWAY);
    assert_int_equal(bed->a->ops->append(bed->a, &append), ROWS_DONE);
    assert_string_equal(bed_read(bed->a, 1, 0), "1:a 2:b");
}

static void call_ends_when_its_patience_does(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    enum rows_outcome outcome;
    struct journal_rows *c;
    uint64_t epoch;

    settings.patience_for = 2 * NSEC_PER_SEC;
    epoch = bed_take(bed->a);
    c = bed_open(&settings);
    bed_lapse(bed);
    bed_lock_lease(bed);
    outcome = take(c, epoch);
    // On a slow machine its time is up before it has asked.
    assert_true(outcome == ROWS_DOUBT || outcome == ROWS_AWAY);
    (void)bed_sql(bed->admin, "COMMIT");
    bed_free(c);
}

// Nothing would end it: it waits for as long as the lock is held.
static void waiting_for_a_lock_leaves_no_session_behind(void **state)
{
    static const char sessions[] = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'tandem'";
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    uint64_t epoch = bed_take(bed->a);
    struct rows_lease lease;
    long long before;
    struct journal_rows *c;

    settings.patience_for = 10 * NSEC_PER_SEC;
    c = bed_open(&settings);
    assert_int_equal(c->ops->look(c, &lease), ROWS_DONE);
    before = bed_sql(bed->admin, sessions);
    bed_lapse(bed);
    bed_lock_lease(bed);
    assert_int_equal(take(c, epoch), ROWS_AWAY);
    (void)bed_sql(bed->admin, "COMMIT");
    assert_int_equal(bed_sql(bed->admin, sessions), before);
    bed_free(c);
}

//
// Standbys of the database
//

static void wait_for_standby(struct bed *bed, const char *names)
{
    (void)bed_sql(bed->admin, "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
    (void)bed_sql(bed->admin, "SELECT pg_reload_conf()");
}

// The server takes note of its settings in a while.
static enum rows_outcome append_until_it_waits(struct journal_rows *rows, uint64_t epoch)
{
    enum rows_outcome outcome;
    uint64_t seq = 0;

    do {
        outcome = bed_append(rows, epoch, 1, ++seq, "x");
        (void)poll(NULL, 0, 1);
    } while (outcome == ROWS_DONE);
    return outcome;
}

static void commit_that_was_not_replicated_is_in_doubt(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a), seq;
    struct call call;

    wait_for_standby(bed, "nobody");
    call_begin(&call, bed->a, append_until_it_waits, epoch);
    bed_await(bed, "SyncRep", 1);
    (void)bed_sql(bed->admin, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
                              "WHERE wait_event = 'SyncRep'");
    assert_int_equal(call_end(&call), ROWS_DOUBT);
    assert_non_null(strstr(bed->a->ops->why(bed->a), "synchronous replication"));
    // Rewriting a row waits for a standby, too, and so does the row that was in doubt.
    call_begin(&call, bed->a, renew, epoch);
    bed_await(bed, "SyncRep", 1);
    wait_for_standby(bed, "");
    assert_int_equal(call_end(&call), ROWS_DONE);
    seq = renewed_seq(bed->a, epoch);
    assert_int_equal(bed_append(bed->a, epoch, 1, seq + 1, "x"), ROWS_DONE);
}

static void append_whose_backend_was_ended_while_it_waits_for_a_standby_is_in_doubt(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a), seq;
    struct call call;

    wait_for_standby(bed, "nobody");
    call_begin(&call, bed->a, append_until_it_waits, epoch);
    bed_await(bed, "SyncRep", 1);
    end_backends(bed);
    assert_int_equal(call_end(&call), ROWS_DOUBT);
    wait_for_standby(bed, "");
    seq = renewed_seq(bed->a, epoch);
    assert_int_equal(bed_append(bed->a, epoch, 1, seq + 1, "x"), ROWS_DONE);
}

// A late answer would be taken for the answer to the next question.
static void call_that_was_not_answered_in_time_has_dropped_its_connection(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    enum rows_outcome outcome;
    struct journal_rows *c;
    uint64_t epoch;

    settings.patience_for = 3 * NSEC_PER_SEC;
    c = bed_open(&settings);
    epoch = bed_take(c);
    wait_for_standby(bed, "nobody");
    outcome = append_until_it_waits(c, epoch);
    wait_for_standby(bed, "");
    assert_int_equal(outcome, ROWS_DOUBT);
    assert_non_null(strstr(c->ops->why(c), "in time"));
    assert_int_equal(look(c, 0), ROWS_DONE);
    bed_free(c);
}

//
// Servers
//

static void read_only(struct bed *bed, const char *on)
{
    (void)bed_sql(bed->admin, "ALTER SYSTEM SET default_transaction_read_only = %s", on);
    (void)bed_sql(bed->admin, "SELECT pg_reload_conf()");
}

static void server_that_takes_no_writes_is_away(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a), seq;

    read_only(bed, "on");
    assert_int_equal(append_until_it_waits(bed->a, epoch), ROWS_AWAY);
    assert_non_null(strstr(bed->a->ops->why(bed->a), "read-only"));
    // Its connection is of no use any more.
    assert_int_equal(look(bed->a, 0), ROWS_AWAY);
    assert_int_equal(look(bed->b, 0), ROWS_AWAY);
    assert_non_null(strstr(bed->b->ops->why(bed->b), "read-only"));
    read_only(bed, "off");
    for (unsigned i = 0; i < 6000 && renew(bed->a, epoch) != ROWS_DONE; i++) {
        (void)poll(NULL, 0, 10);
    }
    seq = renewed_seq(bed->a, epoch);
    assert_int_equal(bed_append(bed->a, epoch, 1, seq + 1, "x"), ROWS_DONE);
}

// A port at which connections are taken, and nothing is ever said.
static int silent_server(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

// Long before its patience ends, which is a minute.
static void expect_other_server(const struct bed *bed, unsigned silent_port, const char *word)
{
    struct rows_settings settings = bed_settings("c");
    enum rows_outcome outcome = ROWS_AWAY;
    nsec_t began_at = db_now();
    char conninfo[512];
    struct journal_rows *c;

    (void)snprintf(conninfo, sizeof conninfo,
                   "host=127.0.0.1,%s port=%u,%s user=tandem dbname=%s %s", PQhost(bed->admin),
                   silent_port, PQport(bed->admin), PQdb(bed->admin), word);
    settings.conninfo = conninfo;
    c = bed_open(&settings);
    // On a slow machine the other one may be too late, too.
    while (outcome == ROWS_AWAY && db_now() - began_at < nsec_from_seconds(50)) {
        outcome = look(c, 0);
    }
    assert_true(db_now() - began_at < nsec_from_seconds(50));
    assert_int_equal(outcome, ROWS_DONE);
    bed_free(c);
}

static void server_that_says_nothing_is_passed_over(void **state)
{
    unsigned port;
    int fd = silent_server(&port);

    expect_other_server(*state, port, "connect_timeout=1");
    expect_other_server(*state, port, "");
    (void)close(fd);
}

static void name_of_a_server_is_looked_up(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    char conninfo[512];
    struct journal_rows *c;

    // If the machine has two addresses, the server does not listen on one of them.
    (void)snprintf(conninfo, sizeof conninfo, "host=localhost port=%s user=tandem dbname=%s",
                   PQport(bed->admin), PQdb(bed->admin));
    settings.conninfo = conninfo;
    c = bed_open(&settings);
    assert_int_equal(look(c, 0), ROWS_DONE);
    bed_free(c);
    settings.conninfo = "host=no..where";
    c = bed_open(&settings);
    assert_int_equal(look(c, 0), ROWS_AWAY);
    assert_non_null(strstr(c->ops->why(c), "no..where"));
    bed_free(c);
}

static void missing_server_is_away_and_its_password_is_not_shown(void **state)
{
    struct rows_settings settings = bed_settings("c");
    unsigned port;
    int fd = silent_server(&port);
    char conninfo[128];
    struct journal_rows *c;

    (void)state;
    (void)close(fd);
    (void)snprintf(conninfo, sizeof conninfo,
                   "host=127.0.0.1 port=%u user=me password=geheim sslmode=disable", port);
    settings.conninfo = conninfo;
    c = bed_open(&settings);
    assert_int_equal(look(c, 0), ROWS_AWAY);
    assert_non_null(strstr(c->ops->why(c), "127.0.0.1"));
    assert_null(strstr(c->ops->why(c), "geheim"));
    bed_free(c);
}

//
// Waking, and stopping
//

static void a_waiting_process_is_woken_by_a_row_with_notification_and_by_a_release(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct iovec part = {.iov_base = NULL};
    struct rows_new row = {.unit = 1, .seq = 1, .parts = &part};
    struct rows_append append = {
        .known = bed_known(epoch, row.seq - 1), .rows = &row, .count = 1, .tell = true};
    struct call call;

    // From then on it listens.
    assert_int_equal(bed->b->ops->wait(bed->b, 0), ROWS_DONE);
    call_begin(&call, bed->b, wait_long, 0);
    assert_int_equal(bed->a->ops->append(bed->a, &append), ROWS_DONE);
    assert_int_equal(call_end(&call), ROWS_DONE);
    // A notification that came during another call counts, too.
    assert_int_equal(bed_release(bed->a, epoch), ROWS_DONE);
    assert_int_equal(look(bed->b, 0), ROWS_DONE);
    assert_int_equal(wait_long(bed->b, 0), ROWS_DONE);
    assert_int_equal(bed->b->ops->wait(bed->b, 1), ROWS_DONE);
}

static void a_waiting_process_notices_a_lost_connection(void **state)
{
    struct bed *bed = *state;

    assert_int_equal(bed->b->ops->wait(bed->b, 0), ROWS_DONE);
    end_backends(bed);
    // It rests for as long then: a caller that asks again at once would ask without end.
    assert_int_equal(bed->b->ops->wait(bed->b, 1), ROWS_AWAY);
    assert_int_equal(bed->b->ops->wait(bed->b, 0), ROWS_DONE);
}

// Otherwise a caller would ask again without end.
static void a_process_that_cannot_connect_waits_as_long(void **state)
{
    struct rows_settings settings = bed_settings("c");
    nsec_t wait_for = NSEC_PER_SEC / 5;
    char conninfo[128];
    nsec_t began_at;
    unsigned port;
    struct journal_rows *c;

    (void)state;
    (void)close(silent_server(&port));
    (void)snprintf(conninfo, sizeof conninfo, "host=127.0.0.1 port=%u", port);
    settings.conninfo = conninfo;
    c = bed_open(&settings);
    began_at = db_now();
    assert_int_equal(c->ops->wait(c, wait_for), ROWS_AWAY);
    assert_true(db_now() - began_at >= wait_for);
    bed_free(c);
}

static void stop_ends_any_wait(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    uint64_t epoch = bed_take(bed->a);
    // cppcheck-suppress uninitvar ; it takes the parameters of the type for variables
    enum rows_outcome (*const calls[])(struct journal_rows * rows,
                                       uint64_t epoch) = {renew, append_first, wait_long};
    char conninfo[128];
    struct call call;
    unsigned port;
    int fd = silent_server(&port);
    struct journal_rows *c;

    bed_lock_lease(bed);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        call_begin(&call, bed->a, calls[i], epoch);
        bed->a->ops->stop(bed->a);
        assert_int_equal(call_end(&call), ROWS_STOPPED);
        assert_int_equal(look(bed->a, 0), ROWS_STOPPED);
        bed->a->ops->resume(bed->a);
    }
    (void)bed_sql(bed->admin, "COMMIT");
    (void)snprintf(conninfo, sizeof conninfo, "host=127.0.0.1 port=%u connect_timeout=0", port);
    settings.conninfo = conninfo;
    c = bed_open(&settings);
    call_begin(&call, c, look, 0);
    c->ops->stop(c);
    assert_int_equal(call_end(&call), ROWS_STOPPED);
    bed_free(c);
    (void)close(fd);
}

// Takes nothing more until no session locks the unit.
static bool stall_until_it_is_free(void *context, const struct rows_row *row)
{
    struct bed *bed = context;
    unsigned tries = 0;

    (void)row;
    while (bed_sql(bed->admin, "SELECT count(*) FROM pg_locks "
                               "WHERE relation = 'tandem.rows_" BED_SHARD "_1'::regclass") > 0) {
        assert_true(tries++ < 1200);
        (void)poll(NULL, 0, 50);
    }
    return true;
}

static void unit_is_not_locked_for_long_by_a_reader_that_stalls(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    char conninfo[256];
    struct journal_rows *c;

    (void)snprintf(conninfo, sizeof conninfo, "host=127.0.0.1 port=%s user=tandem dbname=%s",
                   PQport(bed->admin), PQdb(bed->admin));
    settings.conninfo = conninfo;
    settings.patience_for = nsec_from_seconds(1) / 2;
    c = bed_open(&settings);
    // More than both sides of a connection have room for.
    (void)bed_sql(bed->admin, "INSERT INTO tandem.rows SELECT '" BED_SHARD "', 1, 1, n, 1, "
                              "decode(repeat('ab', 4 << 20), 'hex') FROM generate_series(1, 12) n");
    assert_int_equal(c->ops->read(c, 1, 0, stall_until_it_is_free, bed), ROWS_AWAY);
    bed_free(c);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, bed_begin, bed_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(renewing_waits_for_an_append_that_is_still_under_way),
        STORY(append_whose_backend_was_ended_is_in_doubt_until_a_renewal),
        STORY(append_that_arrives_after_a_renewal_by_another_connection_adds_nothing),
        STORY(first_append_of_a_new_connection_has_its_turn),
        STORY(large_batch_whose_connection_is_lost_before_its_end_is_not_in_doubt),
        STORY(call_ends_when_its_patience_does),
        STORY(waiting_for_a_lock_leaves_no_session_behind),
        STORY(commit_that_was_not_replicated_is_in_doubt),
        STORY(append_whose_backend_was_ended_while_it_waits_for_a_standby_is_in_doubt),
        STORY(call_that_was_not_answered_in_time_has_dropped_its_connection),
        STORY(server_that_takes_no_writes_is_away),
        STORY(server_that_says_nothing_is_passed_over),
        STORY(name_of_a_server_is_looked_up),
        STORY(missing_server_is_away_and_its_password_is_not_shown),
        STORY(a_waiting_process_is_woken_by_a_row_with_notification_and_by_a_release),
        STORY(a_waiting_process_notices_a_lost_connection),
        STORY(a_process_that_cannot_connect_waits_as_long),
        STORY(stop_ends_any_wait),
        STORY(unit_is_not_locked_for_long_by_a_reader_that_stalls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
