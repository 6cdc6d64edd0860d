/* SPDX-License-Identifier: MIT */
// The schema that the database must have, its rights, and the meaning of its settings.
#include "tests/journal/pg/pg_bed.h"

#include "journal/pg/schema.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static char said[SCHEMA_TEXT_SIZE];

static bool init(const char *conninfo, const char *shard)
{
    return journal_pg_init_store(conninfo, shard, said, sizeof said);
}

static enum rows_outcome look(struct journal_rows *rows)
{
    struct rows_lease lease;

    return rows->ops->look(rows, &lease);
}

static void existing_store_is_left_unchanged(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_true(init(bed_admin_conninfo(), BED_SHARD));
    assert_non_null(strstr(said, "GRANT SELECT, UPDATE ON tandem.lease TO tandem;"));
    assert_string_equal(bed_read(bed->a, 1, 0), "1:one");
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM tandem.version"), 1);
}

static void shards_have_their_own_rows(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("a");
    uint64_t epoch = bed_take(bed->a);
    struct journal_rows *other;

    // A name that ends as a slot's does.
    settings.shard = BED_SHARD "_1";
    settings.conninfo = bed_admin_conninfo();
    assert_true(init(bed_admin_conninfo(), settings.shard));
    other = bed_open(&settings);
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_int_equal(bed_take(other), 1);
    assert_int_equal(bed_append(other, 1, 1, 1, "other"), ROWS_DONE);
    assert_int_equal(bed_remove(other, 1, 1), ROWS_DONE);
    assert_string_equal(bed_read(other, 1, 0), "");
    assert_string_equal(bed_read(bed->a, 1, 0), "1:one");
    bed_free(other);
}

// Adding a row locks the table of all shards for as long as that takes.
static void store_that_is_in_use_may_be_made_again(void **state)
{
    struct bed *bed = *state;

    (void)bed_sql(bed->admin,
                  "BEGIN; INSERT INTO tandem.rows SELECT '" BED_SHARD "', 1, 1, 1, 1, '';"
                  "SELECT * FROM tandem.rows_" BED_SHARD "_1");
    assert_true(init(bed_admin_conninfo(), BED_SHARD));
    assert_true(init(bed_admin_conninfo(), "third"));
    (void)bed_sql(bed->admin, "ROLLBACK");
    assert_int_equal(bed_sql(bed->admin, "SELECT count(*) FROM pg_inherits WHERE inhparent = "
                                         "'tandem.rows'::regclass AND inhrelid = "
                                         "'tandem.shard_third'::regclass"),
                     1);
}

// Later sessions queue after one that waits for a lock.
static void a_lock_is_not_waited_for_long(void **state)
{
    struct bed *bed = *state;

    (void)bed_sql(bed->admin, "BEGIN; LOCK TABLE tandem.lease");
    assert_false(init(bed_admin_conninfo(), BED_SHARD));
    assert_non_null(strstr(said, "55P03"));
    (void)bed_sql(bed->admin, "COMMIT");
}

// Their owner adds it; a broker reports the command.
static void tables_of_version_1_are_upgraded_with_their_rows(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);
    struct rows_settings settings = bed_settings("c");
    struct journal_rows *c;

    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    (void)bed_sql(bed->admin, "ALTER TABLE tandem.lease DROP COLUMN history");
    (void)bed_sql(bed->admin, "UPDATE tandem.version SET version = 1");
    c = bed_open(&settings);
    assert_int_equal(look(c), ROWS_REFUSED);
    assert_non_null(strstr(c->ops->why(c), "--init-store"));
    assert_true(init(bed_admin_conninfo(), BED_SHARD));
    assert_int_equal(look(c), ROWS_DONE);
    assert_string_equal(bed_read(c, 1, 0), "1:one");
    assert_int_equal(bed_append(bed->a, epoch, 1, 2, "two"), ROWS_DONE);
    assert_true(init(bed_admin_conninfo(), BED_SHARD));
    bed_free(c);
}

static void another_version_is_refused(void **state)
{
    struct bed *bed = *state;

    (void)bed_sql(bed->admin, "UPDATE tandem.version SET version = 3");
    assert_int_equal(look(bed->a), ROWS_REFUSED);
    assert_non_null(strstr(bed->a->ops->why(bed->a), "version 3"));
    assert_false(init(bed_admin_conninfo(), BED_SHARD));
    assert_non_null(strstr(said, "version 3"));
    (void)bed_sql(bed->admin, "UPDATE tandem.version SET version = 2");
    assert_int_equal(look(bed->a), ROWS_DONE);
}

static void a_missing_schema_is_named(void **state)
{
    struct bed *bed = *state;
    struct rows_settings settings = bed_settings("a");
    char conninfo[512];
    struct journal_rows *rows;

    settings.shard = "nowhere";
    rows = bed_open(&settings);
    assert_int_equal(look(rows), ROWS_REFUSED);
    assert_non_null(strstr(rows->ops->why(rows), "shard nowhere"));
    bed_free(rows);
    (void)bed_sql(bed->admin, "CREATE DATABASE empty");
    (void)snprintf(conninfo, sizeof conninfo, "%s dbname=empty", bed_conninfo());
    settings.conninfo = conninfo;
    rows = bed_open(&settings);
    assert_int_equal(look(rows), ROWS_REFUSED);
    assert_non_null(strstr(rows->ops->why(rows), "--init-store"));
    bed_free(rows);
    (void)bed_sql(bed->admin, "DROP DATABASE empty WITH (FORCE)");
}

static void a_statement_without_rights_is_refused(void **state)
{
    struct bed *bed = *state;
    uint64_t epoch = bed_take(bed->a);

    (void)bed_sql(bed->admin, "REVOKE INSERT ON tandem.rows FROM tandem");
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_REFUSED);
    assert_non_null(strstr(bed->a->ops->why(bed->a), "42501"));
    (void)bed_sql(bed->admin, "GRANT INSERT ON tandem.rows TO tandem");
    assert_int_equal(bed_append(bed->a, epoch, 1, 1, "one"), ROWS_DONE);
    assert_false(init(bed_conninfo(), "other"));
    assert_non_null(strstr(said, "42501"));
}

static void malformed_connection_string_is_refused_and_not_shown(void **state)
{
    static const char *const texts[] = {"password=geheim geheim", "postgresql://u:ge@heim@host/db",
                                        "host=x geheim=1"};
    struct rows_settings settings = bed_settings("a");

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct journal_rows *rows;

        settings.conninfo = texts[i];
        rows = bed_open(&settings);
        assert_int_equal(look(rows), ROWS_REFUSED);
        assert_null(strstr(rows->ops->why(rows), "heim"));
        bed_free(rows);
        assert_false(init(texts[i], BED_SHARD));
        assert_null(strstr(said, "heim"));
    }
}

static void name_of_a_shard_has_no_quotes(void **state)
{
    static const char *const names[] = {
        "", "A", "a-b", "a'b", "a\"b", "a b", "a23456789012345678901234567890123"};
    struct rows_settings settings = bed_settings("a");

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct journal_rows *rows;

        settings.shard = names[i];
        rows = bed_open(&settings);
        assert_int_equal(look(rows), ROWS_REFUSED);
        bed_free(rows);
        assert_false(init(bed_admin_conninfo(), names[i]));
    }
    assert_true(schema_shard_is_sane("a2345678901234567890123456789_12"));
}

//
// The durability of a commit
//

static struct rows_durability care_of(const char *commit)
{
    struct rows_settings settings = bed_settings("c");
    struct rows_durability care;
    char conninfo[512];
    struct journal_rows *rows;

    (void)snprintf(conninfo, sizeof conninfo, "%s options='-c synchronous_commit=%s'",
                   bed_conninfo(), commit);
    settings.conninfo = conninfo;
    rows = bed_open(&settings);
    assert_int_equal(rows->ops->durability(rows, &care), ROWS_DONE);
    bed_free(rows);
    return care;
}

static void set_standbys(struct bed *bed, const char *names)
{
    (void)bed_sql(bed->admin, "ALTER SYSTEM SET synchronous_standby_names = '%s'", names);
    (void)bed_sql(bed->admin, "SELECT pg_reload_conf()");
    // A new session sees the settings that the server has by then.
    for (unsigned i = 0; i < 6000; i++) {
        if ((strstr(care_of("on").text, "ANY 1") != NULL) == (names[0] != '\0')) {
            return;
        }
        (void)poll(NULL, 0, 10);
    }
    fail_msg("%s", "the setting stays as it was");
}

static void commit_waits_as_the_settings_demand(void **state)
{
    struct bed *bed = *state;
    struct rows_durability care = care_of("on");

    assert_true(care.commits_wait);
    assert_false(care.standbys_wait);
    assert_false(care.fsync); // of the test's server
    assert_non_null(strstr(care.text, "synchronous_commit=on fsync=off"));
    assert_false(care_of("off").commits_wait);
    set_standbys(bed, "ANY 1 (x, y)");
    assert_true(care_of("on").standbys_wait);
    assert_non_null(strstr(care_of("on").text, "ANY 1 (x, y)"));
    assert_true(care_of("remote_write").standbys_wait);
    assert_true(care_of("remote_apply").standbys_wait);
    assert_true(care_of("local").commits_wait);
    assert_false(care_of("local").standbys_wait);
    assert_false(care_of("off").standbys_wait);
    set_standbys(bed, "");
}

#define STORY(name) cmocka_unit_test_setup_teardown(name, bed_begin, bed_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(existing_store_is_left_unchanged),
        STORY(shards_have_their_own_rows),
        STORY(store_that_is_in_use_may_be_made_again),
        STORY(a_lock_is_not_waited_for_long),
        STORY(another_version_is_refused),
        STORY(tables_of_version_1_are_upgraded_with_their_rows),
        STORY(a_missing_schema_is_named),
        STORY(a_statement_without_rights_is_refused),
        STORY(malformed_connection_string_is_refused_and_not_shown),
        STORY(name_of_a_shard_has_no_quotes),
        STORY(commit_waits_as_the_settings_demand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
