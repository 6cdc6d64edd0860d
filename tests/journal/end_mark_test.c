/* SPDX-License-Identifier: MIT */
// A missing end of the journal is detected: the records acknowledged last are not lost without
// notice after a quiet moment, after a close, or with the youngest file.
#include "journal/codec.h"
#include "journal/file/manifest.h"
#include "journal/segment.h"
#include "tests/journal/journal_bed.h"

#include <stdio.h>
#include <string.h>

static const nsec_t policies[] = {0, MSEC(50)};

// The name of the file that is written to.
static const char *youngest(const struct bed *bed)
{
    static char name[SEGMENT_NAME_MAX];

    segment_name(bed_info(bed).current, name);
    return name;
}

static struct bed *bed_with_jobs(nsec_t policy, int count)
{
    struct bed *bed = BED(.sync_every_for = policy);

    for (int i = 0; i < count; i++) {
        assert_true(BED_PUT(bed, .body_len = 40) > 0);
        (void)bed_turns(bed);
    }
    return bed;
}

// Whether a process starts on that disk. Frees the disk.
static bool opens(const struct bed *bed, struct fake_disk *disk, bool repair)
{
    struct bed other = {.options = bed->options, .disk = disk, .now = bed->now};
    bool good;

    other.io = fake_disk_io(other.disk);
    other.disk_worker.io = &other.io;
    other.options.repair = repair;
    good = bed_open(&other);
    assert_true(good || strstr(other.why.text, "--repair"));
    bed_abandon(&other);
    fake_disk_free(other.disk);
    return good;
}

static struct fake_disk *killed(const struct bed *bed)
{
    struct fake_disk *disk = fake_disk_copy(bed->disk);

    fake_disk_kill(disk);
    return disk;
}

static void remove_file(struct fake_disk *disk, const char *name)
{
    const struct journal_io io = fake_disk_io(disk);

    assert_int_equal(io.remove(io.disk, name), 0);
    assert_int_equal(io.sync_directory(io.disk), 0);
}

// Where the records end that were in the file before the last one.
static size_t records_end(const struct bed *bed, const char *name)
{
    size_t len;
    const char *bytes = fake_disk_bytes(bed->disk, name, &len);
    size_t at = CODEC_SEGMENT_HEAD;
    size_t last = at;

    while (at < len && codec_record_type(bytes + at)) {
        last = at;
        at += (size_t)codec_record_size(bytes + at);
    }
    return last;
}

static void after_a_quiet_moment_damage_is_not_a_torn_end(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bed *bed = bed_with_jobs(policies[i], 3);
        size_t end;

        bed_pass(bed, SEC(2));
        end = records_end(bed, youngest(bed));
        assert_true(opens(bed, killed(bed), false));
        for (size_t at = CODEC_SEGMENT_HEAD; at < end; at += 5) {
            struct fake_disk *disk = killed(bed);

            fake_disk_flip(disk, youngest(bed), at, 1);
            assert_true(opens(bed, fake_disk_copy(disk), true));
            assert_false(opens(bed, disk, false));
        }
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

static unsigned long writes(const struct bed *bed)
{
    return fake_disk_calls(bed->disk, FAKE_WRITE);
}

static void an_idle_journal_says_once_that_all_is_there(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bed *bed = bed_with_jobs(policies[i], 3);
        unsigned long before;
        unsigned long syncs;

        bed_pass(bed, MSEC(900));
        before = writes(bed);
        syncs = fake_disk_calls(bed->disk, FAKE_SYNC);
        bed_pass(bed, SEC(1000));
        assert_int_equal(writes(bed), before + 1);
        assert_int_equal(fake_disk_calls(bed->disk, FAKE_SYNC), syncs);
        assert_true(journal_next_due(bed->journal) == NSEC_NEVER);
        bed_expect_survives_all(bed);
        // Work goes on as if the mark were missing.
        assert_true(BED_PUT(bed, .body_len = 40) > 0);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

static void a_busy_journal_says_nothing_of_the_kind(void **state)
{
    struct bed *bed = bed_with_jobs(0, 3);
    unsigned long before = writes(bed);

    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_true(BED_PUT(bed, .body_len = 40) > 0);
        bed_pass(bed, MSEC(800));
    }
    assert_int_equal(writes(bed), before + 20);
    bed_free(bed);
}

// A disk that fails at that moment affects no client.
static void an_end_mark_that_cannot_be_written_does_no_harm(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct fake_fault fault = {
            .op = FAKE_WRITE, .nth = 1, .effect = FAKE_TEAR, .error = 5};
        struct bed *bed = bed_with_jobs(policies[i], 3);

        bed_pass(bed, MSEC(900));
        fake_disk_fault(bed->disk, &fault);
        bed_pass(bed, SEC(10));
        bed_expect_survives_all(bed);
        // The same after a batch that was written and is not synced.
        bed_pass(bed, SEC(10));
        assert_true(BED_PUT(bed, .body_len = 40) > 0);
        fake_disk_fault(bed->disk, &fault);
        (void)bed_turns(bed);
        assert_true(bed_acknowledged(bed));
        bed_pass(bed, SEC(10));
        assert_int_equal(bed->gave_up, 0);
        bed_expect_survives_all(bed);
        bed_free(bed);
    }
}

static void after_a_close_damage_is_not_a_torn_end(void **state)
{
    const nsec_t all[] = {0, MSEC(50), NSEC_NEVER};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct bed *bed = bed_with_jobs(all[i], 3);
        char name[SEGMENT_NAME_MAX];
        size_t len;

        (void)snprintf(name, sizeof name, "%s", youngest(bed));
        assert_true(bed_close(bed));
        (void)fake_disk_bytes(bed->disk, name, &len);
        assert_true(opens(bed, fake_disk_copy(bed->disk), false));
        for (size_t at = CODEC_SEGMENT_HEAD; at < len; at++) {
            struct fake_disk *disk = fake_disk_copy(bed->disk);
            const char *bytes;

            fake_disk_flip(disk, name, at, 1);
            assert_true(opens(bed, fake_disk_copy(disk), true));
            assert_false(opens(bed, disk, false));
            disk = fake_disk_copy(bed->disk);
            bytes = fake_disk_bytes(bed->disk, name, &len);
            fake_disk_put(disk, name, bytes, at);
            assert_true(opens(bed, fake_disk_copy(disk), true));
            assert_false(opens(bed, disk, false));
        }
        bed_free(bed);
    }
}

static void the_youngest_file_is_missed(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct bed *bed = bed_with_jobs(0, 100);
        uint64_t last = bed_info(bed).current;
        uint64_t next_id = bed->serial + 1;
        struct fake_disk *disk;
        char name[SEGMENT_NAME_MAX];

        assert_true(last > 1);
        (void)snprintf(name, sizeof name, "%s", youngest(bed));
        if (closed) {
            assert_true(bed_close(bed));
        }
        disk = killed(bed);
        remove_file(disk, name);
        assert_false(opens(bed, fake_disk_copy(disk), false));
        assert_true(opens(bed, fake_disk_copy(disk), true));
        // Neither its number nor its ids come again.
        bed_abandon(bed);
        fake_disk_free(bed->disk);
        bed->disk = disk;
        bed->io = fake_disk_io(disk);
        bed->options.repair = true;
        assert_true(bed_open(bed));
        assert_int_equal(bed_info(bed).current, last + 1);
        assert_true(broker_next_id(bed->broker) > next_id);
        book_begin(bed->book, bed->broker);
        bed_restart(bed, BED_KILLED, 0);
        bed->options.repair = false;
        bed_restart(bed, BED_KILLED, 0);
        bed_free(bed);
    }
}

static void a_manifest_without_segments_is_not_a_new_journal(void **state)
{
    struct bed *bed = bed_with_jobs(0, 3);
    struct fake_disk *disk = killed(bed);

    (void)state;
    remove_file(disk, "journal.0000000001");
    assert_true(opens(bed, fake_disk_copy(disk), true));
    assert_false(opens(bed, fake_disk_copy(disk), false));
    // For a new journal, all files must be removed.
    remove_file(disk, MANIFEST_NAME);
    assert_true(opens(bed, disk, false));
    bed_free(bed);
}

// Of an older version, or copied without it.
static void a_journal_without_the_file_gets_one(void **state)
{
    struct bed *bed = bed_with_jobs(0, 3);
    size_t len;

    (void)state;
    assert_true(bed_close(bed));
    remove_file(bed->disk, MANIFEST_NAME);
    assert_true(bed_open(bed));
    bed_pass(bed, SEC(1));
    assert_non_null(fake_disk_bytes(bed->disk, MANIFEST_NAME, &len));
    bed_expect_survives_all(bed);
    bed_free(bed);
}

static void damage_of_the_file_is_noticed(void **state)
{
    struct bed *bed = bed_with_jobs(0, 3);
    const char *bytes;
    size_t len;

    (void)state;
    assert_true(bed_close(bed));
    bytes = fake_disk_bytes(bed->disk, MANIFEST_NAME, &len);
    for (size_t at = 0; at < len; at++) {
        struct fake_disk *disk = fake_disk_copy(bed->disk);

        fake_disk_flip(disk, MANIFEST_NAME, at, 16);
        assert_true(opens(bed, fake_disk_copy(disk), true));
        assert_false(opens(bed, disk, false));
        // The last four bytes are zero.
        disk = fake_disk_copy(bed->disk);
        fake_disk_put(disk, MANIFEST_NAME, bytes, at);
        assert_int_equal(opens(bed, disk, false), at >= len - 4);
    }
    fake_disk_break(bed->disk, MANIFEST_NAME, 50);
    assert_true(opens(bed, fake_disk_copy(bed->disk), true));
    bed_free(bed);
}

static void the_host_that_a_journal_began_on_is_kept(void **state)
{
    struct bed *bed = BED(.host = "first");

    (void)state;
    assert_string_equal(journal_host(bed->journal), "first");
    (void)bed_turns(bed);
    bed->options.host = "second";
    bed_restart(bed, BED_KILLED, 0);
    assert_string_equal(journal_host(bed->journal), "first");
    assert_true(bed_close(bed));
    bed->options.host = "third";
    assert_true(bed_open(bed));
    assert_string_equal(journal_host(bed->journal), "first");
    bed_free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_quiet_moment_damage_is_not_a_torn_end),
        cmocka_unit_test(an_idle_journal_says_once_that_all_is_there),
        cmocka_unit_test(a_busy_journal_says_nothing_of_the_kind),
        cmocka_unit_test(an_end_mark_that_cannot_be_written_does_no_harm),
        cmocka_unit_test(after_a_close_damage_is_not_a_torn_end),
        cmocka_unit_test(the_youngest_file_is_missed),
        cmocka_unit_test(a_manifest_without_segments_is_not_a_new_journal),
        cmocka_unit_test(a_journal_without_the_file_gets_one),
        cmocka_unit_test(damage_of_the_file_is_noticed),
        cmocka_unit_test(the_host_that_a_journal_began_on_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
