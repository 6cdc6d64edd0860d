/* SPDX-License-Identifier: MIT */
// Which lease a statement finds, which locks it holds, and the state of a session whose client has
// stalled.
#include "tests/journal/pg/pg_bed.h"

#include "journal/pg/db.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static enum rows_outcome renew(struct journal_rows *rows, uint64_t epoch)
{
    struct rows_lease lease;

    return rows->ops->renew(rows, epoch, &lease);
}

static enum rows_outcome remove_first(struct journal_rows *rows, uint64_t epoch)
{
    return bed_remove(rows, epoch, 1);
}

static bool pass_row(void *context, const struct rows_row *row)
{
    (void)context;
    (void)row;
    return true;
}

static enum rows_outcome read_first(struct journal_rows *rows, uint64_t epoch)
{
    (void)epoch;
    return rows->ops->read(rows, 1, 0, pass_row, NULL);
}

static enum rows_outcome report(struct journal_rows *rows, uint64_t epoch)
{
    struct rows_member own = {.node = "x", .epoch = epoch};
    struct rows_member members[ROWS_MEMBERS_MAX];
    size_t count;

    return rows->ops->report(rows, &own, members, &count);
}

//
// Whose it is
//

static void expect_lost(struct bed *bed, uint64_t epoch)
{
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_LOST);
    assert_int_equal(remove_first(bed->a, epoch), ROWS_LOST);
    assert_int_equal(bed_release(bed->a, epoch), ROWS_LOST);
    assert_int_equal(bed_sql(bed->admin, "SELECT seq + oldest FROM tandem.lease"), 1);
}

// Turns may be the same by chance if a failover has taken the database back in time.
static void lease_of_the_same_turn_is_anothers_by_its_epoch_or_its_holder(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    (void)bed_sql(bed->admin, "UPDATE tandem.lease SET epoch = epoch + 1");
    expect_lost(bed, epoch);
    (void)bed_sql(bed->admin, "UPDATE tandem.lease SET epoch = epoch - 1, holder = 'b'");
    expect_lost(bed, epoch);
    (void)bed_sql(bed->admin, "UPDATE tandem.lease SET holder = 'a'");
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
}

// It is free, and then it is as that of this shard.
static void lease_of_another_shard_is_left_alone(void **state)
{
    static const char same[] = "SELECT count(*) FROM tandem.lease o, tandem.lease l "
                               "WHERE o.shard = 'other' AND l.shard = '" BED_SHARD "' "
                               "AND (o.epoch, o.holder, o.turn) = (l.epoch, l.holder, l.turn)";
    struct bed *bed = *state;
    uint64_t epoch;

    (void)bed_sql(bed->admin, "INSERT INTO tandem.lease (shard) VALUES ('other')");
    epoch = bed_take(bed->a);
    assert_int_equal(bed_sql(bed->admin, same), 0);
    (void)bed_sql(bed->admin, "UPDATE tandem.lease o SET epoch = l.epoch, holder = l.holder, "
                              "turn = l.turn, released = false FROM tandem.lease l "
                              "WHERE o.shard = 'other' AND l.shard = '" BED_SHARD "'");
    assert_int_equal(bed_sql(bed->admin, same), 1);
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_int_equal(remove_first(bed->a, epoch), ROWS_DONE);
    assert_int_equal(renew(bed->a, epoch), ROWS_DONE);
    assert_int_equal(bed_release(bed->a, epoch), ROWS_DONE);
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM tandem.lease WHERE shard = 'other' "
                                         "AND seq = 0 AND oldest = 1 AND NOT released"),
                     1);
    assert_int_equal(bed_sql(bed->admin, same), 0);
}

// A statement that a lost connection has sent finds another turn.
static void each_connection_has_a_turn_of_its_own(void **state)
{
    static const char turn[] = "SELECT turn FROM tandem.lease";
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    long long first = bed_sql(bed->admin, turn);
    struct rows_lease lease;

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_int_equal(bed_sql(bed->admin, turn), first);
    (void)bed_sql(bed->admin, "SELECT count(pg_terminate_backend(pid, 60000)) "
                              "FROM pg_stat_activity WHERE usename = 'tandem'");
    assert_int_equal(bed->a->ops->look(bed->a, &lease), ROWS_AWAY);
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
    assert_int_equal(bed_sql(bed->admin, turn), first + 1);
}

static void lease_says_since_when_its_holder_has_it(void **state)
{
    struct bed *bed = *state;

    (void)bed_sql(bed->admin, "UPDATE tandem.lease SET since = now() - interval '1 hour'");
    (void)bed_take(bed->a);
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM tandem.lease "
                                         "WHERE since > now() - interval '30 minutes'"),
                     1);
}

//
// Waits
//

// The row has changed during the wait, as by a statement that was under way.
static void lease_lasts_from_when_its_row_was_had(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct call call;

    (void)bed_sql(bed->admin, "BEGIN; UPDATE tandem.lease SET oldest = oldest");
    call_begin(&call, bed->a, renew, epoch);
    bed_await(bed, "Lock", 1);
    (void)bed_sql(bed->admin, "CREATE TEMP TABLE had AS SELECT clock_timestamp() AS at; COMMIT");
    assert_int_equal(call_end(&call), ROWS_DONE);
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM tandem.lease, had "
                                         "WHERE expires >= at + interval '60 seconds'"),
                     1);
}

// No other session waits, for it or for the lease, because a unit cannot be removed.
static void unit_that_is_read_is_not_waited_for(void **state)
{
    struct bed *bed = *state;
    struct call reading;
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    (void)bed_sql(bed->admin, "BEGIN; SELECT * FROM tandem.rows_" BED_SHARD "_1");
    assert_int_equal(remove_first(bed->a, epoch), ROWS_AWAY);
    // A statement in the middle of that finds neither of them locked.
    (void)bed_sql(bed->admin, "SELECT * FROM tandem.lease FOR UPDATE NOWAIT");
    call_begin(&reading, bed->b, read_first, epoch);
    assert_int_equal(call_end(&reading), ROWS_DONE);
    (void)bed_sql(bed->admin, "COMMIT");
    assert_int_equal(remove_first(bed->a, epoch), ROWS_DONE);
}

static void wait_for_standby(struct bed *bed, const char *names)
{
    (void)bed_sql(bed->admin, "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
    (void)bed_sql(bed->admin, "SELECT pg_reload_conf()");
}

static atomic_bool enough;

// The server takes note of its settings in a while. Of two rows, which is more than a statement.
static enum rows_outcome append_two_until_it_waits(struct journal_rows *rows, uint64_t epoch)
{
    static char letters[] = "ab";
    struct iovec parts[] = {{&letters[0], 1}, {&letters[1], 1}};
    enum rows_outcome outcome;
    uint64_t seq = 1;

    atomic_store(&enough, false);
    do {
        struct rows_new two[] = {{1, seq, &parts[0], 1, 1}, {1, seq + 1, &parts[1], 1, 1}};
        struct rows_append append = {
            .known = bed_known(epoch, two[0].seq - 1), .rows = two, .count = 2};

        outcome = rows->ops->append(rows, &append);
        seq += 2;
    } while (outcome == ROWS_DONE && !atomic_load(&enough));
    return outcome;
}

static enum rows_outcome end_waiting(struct bed *bed, struct call *call)
{
    enum rows_outcome outcome;

    atomic_store(&enough, true);
    (void)bed_sql(bed->admin, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
                              "WHERE wait_event = 'SyncRep'");
    outcome = call_end(call);
    wait_for_standby(bed, "");
    return outcome;
}

static void large_batch_that_was_not_replicated_is_in_doubt(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct call call;

    wait_for_standby(bed, "nobody");
    call_begin(&call, bed->a, append_two_until_it_waits, epoch);
    bed_await(bed, "SyncRep", 1);
    assert_int_equal(end_waiting(bed, &call), ROWS_DOUBT);
}

// Reporting a member's state does not wait.
static void report_waits_for_no_standby(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    uint64_t epoch = bed_take(bed->a);
    enum rows_outcome outcome;
    struct call call;
    struct journal_rows *c;

    settings.patience_for = nsec_from_seconds(20);
    c = bed_open(&settings);
    wait_for_standby(bed, "nobody");
    call_begin(&call, bed->a, append_two_until_it_waits, epoch);
    bed_await(bed, "SyncRep", 1);
    outcome = report(c, epoch);
    (void)end_waiting(bed, &call);
    assert_int_equal(outcome, ROWS_DONE);
    bed_free(c);
}

//
// Sessions
//

// The user's own settings, or those of his role, are for people.
static const char *conninfo_of_people(void)
{
    static char conninfo[512];

    (void)snprintf(conninfo, sizeof conninfo,
                   "%s options='-c statement_timeout=1min "
                   "-c default_transaction_isolation=serializable'",
                   bed_conninfo());
    return conninfo;
}

// It would end the wait for a standby, and leave the commit in doubt.
static void no_statement_is_ended_by_time(void **state)
{
    struct db db;
    PGresult *result;

    (void)state;
    assert_true(db_init(&db, conninfo_of_people(), nsec_from_seconds(60)));
    db_begin(&db);
    assert_int_equal(db_ready(&db), ROWS_DONE);
    assert_int_equal(db_ask(&db, "SHOW statement_timeout", DB_LOOKS, &result), ROWS_DONE);
    assert_string_equal(PQgetvalue(result, 0, 0), "0");
    PQclear(result);
    db_close(&db);
}

// It would be refused because others have changed the row meanwhile.
static void row_that_was_waited_for_is_taken_as_it_is_then(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("c");
    struct call call;
    uint64_t epoch;
    struct journal_rows *c;

    settings.conninfo = conninfo_of_people();
    c = bed_open(&settings);
    epoch = bed_take(c);
    (void)bed_sql(bed->admin, "BEGIN; UPDATE tandem.lease SET oldest = oldest");
    call_begin(&call, c, renew, epoch);
    bed_await(bed, "Lock", 1);
    (void)bed_sql(bed->admin, "COMMIT");
    assert_int_equal(call_end(&call), ROWS_DONE);
    bed_free(c);
}

static void transaction_whose_client_has_stalled_does_not_hold_the_lease(void **state)
{
    struct bed *bed = *state;
    ExecStatusType status;
    PGresult *result;
    struct db db;

    assert_true(db_init(&db, bed_conninfo(), nsec_from_seconds(60)));
    db_begin(&db);
    assert_int_equal(db_ready(&db), ROWS_DONE);
    assert_int_equal(db_say(&db, "BEGIN; SELECT * FROM tandem.lease FOR UPDATE", DB_LOOKS),
                     ROWS_DONE);
    // It fails if the lease is not free.
    (void)bed_sql(bed->admin, "SET lock_timeout = '60s'");
    result = PQexec(bed->admin, "UPDATE tandem.lease SET expires = now()");
    status = PQresultStatus(result);
    PQclear(result);
    db_close(&db);
    assert_int_equal(status, PGRES_COMMAND_OK);
}

//
// Members
//

static void the_last_report_of_a_member_counts(void **state)
{
    struct bed *bed = *state;
    struct rows_member members[ROWS_MEMBERS_MAX];
    struct rows_member a = {.node = "a", .address = "x=1"};
    size_t count;

    assert_int_equal(bed->a->ops->report(bed->a, &a, members, &count), ROWS_DONE);
    (void)bed_sql(bed->admin, "UPDATE tandem.member SET seen = now() - interval '2 minutes'");
    a = (struct rows_member){
        .node = "a", .address = "x=2", .owner = true, .takes = true, .epoch = 3, .seq = 4};
    assert_int_equal(bed->a->ops->report(bed->a, &a, members, &count), ROWS_DONE);
    a.node[0] = 'b';
    assert_int_equal(bed->b->ops->report(bed->b, &a, members, &count), ROWS_DONE);
    assert_int_equal(count, 2);
    assert_string_equal(members[1].node, "a");
    assert_string_equal(members[1].address, "x=2");
    assert_true(members[1].owner);
    assert_true(members[1].takes);
    assert_int_equal(members[1].epoch, 3);
    assert_int_equal(members[1].seq, 4);
}

static void add_member(struct bed *bed, const char *shard, const char *node, const char *age)
{
    (void)bed_sql(bed->admin,
                  "INSERT INTO tandem.member VALUES "
                  "('%s', '%s', '', false, false, 0, 0, now() - interval '%s')",
                  shard, node, age);
}

static void members_are_forgotten_after_a_day_and_those_of_other_shards_left_alone(void **state)
{
    struct bed *bed = *state;
    struct rows_member members[ROWS_MEMBERS_MAX];
    struct rows_member a = {.node = "a"};
    size_t count;

    add_member(bed, BED_SHARD, "gone", "25 hours");
    add_member(bed, BED_SHARD, "away", "23 hours");
    add_member(bed, "other", "there", "1 second");
    add_member(bed, "other", "gone", "25 hours");
    assert_int_equal(bed->a->ops->report(bed->a, &a, members, &count), ROWS_DONE);
    assert_int_equal(count, 1);
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM tandem.member "
                                         "WHERE shard = '" BED_SHARD "' AND node = 'gone'"),
                     0);
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM tandem.member"), 4);
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, bed_begin, bed_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(lease_of_the_same_turn_is_anothers_by_its_epoch_or_its_holder),
        STORY(lease_of_another_shard_is_left_alone),
        STORY(each_connection_has_a_turn_of_its_own),
        STORY(lease_says_since_when_its_holder_has_it),
        STORY(lease_lasts_from_when_its_row_was_had),
        STORY(unit_that_is_read_is_not_waited_for),
        STORY(large_batch_that_was_not_replicated_is_in_doubt),
        STORY(report_waits_for_no_standby),
        STORY(no_statement_is_ended_by_time),
        STORY(row_that_was_waited_for_is_taken_as_it_is_then),
        STORY(transaction_whose_client_has_stalled_does_not_hold_the_lease),
        STORY(the_last_report_of_a_member_counts),
        STORY(members_are_forgotten_after_a_day_and_those_of_other_shards_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
