/* SPDX-License-Identifier: MIT */
// How the fake disk fails, forgets and reports false success: other tests rely on it.
#include "tests/journal/file/disk_bench.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void fault(enum fake_op op, enum fake_effect effect, int error)
{
    fake_disk_fault(bench.fake,
                    &(struct fake_fault){.op = op, .nth = 1, .effect = effect, .error = error});
}

static const char *bytes_of(const char *name)
{
    size_t len;

    return fake_disk_bytes(bench.fake, name, &len);
}

// A file "a" of 1,024 safe bytes, with its name.
static int safe_file(void)
{
    int file = disk_opened("a", JOURNAL_OPEN_CREATE);

    assert_int_equal(bench.io.allocate(bench.io.disk, file, 1024), 0);
    disk_put(file, "safe", 4, 0);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(bench.io.sync_directory(bench.io.disk), 0);
    return file;
}

static void a_power_cut_takes_unsynced_bytes(void **state)
{
    int file = safe_file();
    size_t len;

    (void)state;
    disk_put(file, "lost", 4, 0);
    disk_put(file, "lost", 4, 2000);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_memory_equal(fake_disk_bytes(bench.fake, "a", &len), "safe", 4);
    assert_int_equal(len, 1024);
    assert_int_equal(fake_disk_opened(bench.fake), 0);
}

static void a_kill_takes_nothing(void **state)
{
    int file = safe_file();

    (void)state;
    disk_put(file, "kept", 4, 0);
    (void)disk_opened("b", JOURNAL_OPEN_CREATE);
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
    fake_disk_kill(bench.fake);
    assert_memory_equal(bytes_of("a"), "kept", 4);
    assert_non_null(bytes_of("b"));
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
}

static void a_power_cut_can_leave_all_of_it(void **state)
{
    int file = safe_file();

    (void)state;
    disk_put(file, "kept", 4, 2000);
    assert_int_equal(bench.io.rename(bench.io.disk, "a", "b"), 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_ALL, 1);
    assert_null(bytes_of("a"));
    assert_memory_equal(bytes_of("b") + 2000, "kept", 4);
}

enum { SECTORS_LEN = 20 * FAKE_SECTOR };

// The state after a power cut that follows writes to 20 sectors.
static void cut_sectors(uint64_t seed, char left[SECTORS_LEN])
{
    int file = disk_opened("a", JOURNAL_OPEN_CREATE);
    struct fake_disk *twin;
    size_t len;

    memset(left, 'x', SECTORS_LEN);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, SECTORS_LEN), 0);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(bench.io.sync_directory(bench.io.disk), 0);
    disk_put(file, left, SECTORS_LEN, 0);
    twin = fake_disk_copy(bench.fake);
    fake_disk_cut(bench.fake, FAKE_KEEP_SOME, seed);
    memcpy(left, bytes_of("a"), SECTORS_LEN);
    // The same seed does the same.
    fake_disk_cut(twin, FAKE_KEEP_SOME, seed);
    assert_memory_equal(fake_disk_bytes(twin, "a", &len), left, SECTORS_LEN);
    fake_disk_free(twin);
    assert_int_equal(bench.io.remove(bench.io.disk, "a"), 0);
}

static void a_power_cut_can_leave_some_sectors(void **state)
{
    char left[SECTORS_LEN];
    unsigned lost = 0;
    unsigned kept = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        cut_sectors(seed, left);
        for (size_t i = 0; i < SECTORS_LEN; i++) {
            // Whole sectors.
            assert_int_equal(left[i], left[i / FAKE_SECTOR * FAKE_SECTOR]);
            lost += left[i] == 0;
            kept += left[i] == 'x';
        }
    }
    assert_int_equal(lost + kept, 20 * SECTORS_LEN);
    assert_true(lost > 50 * FAKE_SECTOR && kept > 50 * FAKE_SECTOR);
}

static void names_last_when_the_directory_was_synced(void **state)
{
    (void)state;
    disk_shut(safe_file());
    disk_shut(disk_opened("b", JOURNAL_OPEN_CREATE));
    assert_int_equal(bench.io.remove(bench.io.disk, "a"), 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_non_null(bytes_of("a"));
    assert_null(bytes_of("b"));
    assert_int_equal(bench.io.rename(bench.io.disk, "a", "c"), 0);
    assert_int_equal(bench.io.sync_directory(bench.io.disk), 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_null(bytes_of("a"));
    assert_non_null(bytes_of("c"));
}

static void a_power_cut_can_leave_the_first_names(void **state)
{
    unsigned seen = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        (void)disk_opened("a", JOURNAL_OPEN_CREATE);
        (void)disk_opened("b", JOURNAL_OPEN_CREATE);
        fake_disk_cut(bench.fake, FAKE_KEEP_SOME, seed);
        assert_true(bytes_of("a") || !bytes_of("b"));
        seen |= 1u << ((bytes_of("a") != NULL) + (bytes_of("b") != NULL));
        fake_disk_free(bench.fake);
        bench.fake = fake_disk_new();
        bench.io = fake_disk_io(bench.fake);
    }
    assert_int_equal(seen, 7);
}

static void a_sync_that_fails_is_not_made_up_for(void **state)
{
    int file = safe_file();

    (void)state;
    disk_put(file, "lost", 4, 0);
    fault(FAKE_SYNC, FAKE_FAIL, EIO);
    assert_int_equal(bench.io.sync(bench.io.disk, file), EIO);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    // A reader sees it until the power fails.
    disk_expect_bytes(file, "lost", 4, 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_ALL, 1);
    assert_memory_equal(bytes_of("a"), "safe", 4);
}

static void the_nth_call_fails_or_all_from_there(void **state)
{
    const struct fake_fault once = {.op = FAKE_SYNC, .nth = 2, .effect = FAKE_FAIL, .error = EIO};
    const struct fake_fault all = {
        .op = FAKE_ANY, .nth = 3, .effect = FAKE_FAIL, .error = ENOSPC, .lasting = true};
    int file = safe_file();
    static const int expected_once[] = {0, EIO, 0, 0};
    static const int expected_all[] = {0, 0, ENOSPC, ENOSPC};

    (void)state;
    fake_disk_fault(bench.fake, &once);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(bench.io.sync(bench.io.disk, file), expected_once[i]);
    }
    fake_disk_fault(bench.fake, &all);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(bench.io.sync_directory(bench.io.disk), expected_all[i]);
    }
    fake_disk_heal(bench.fake);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(fake_disk_calls(bench.fake, FAKE_SYNC), 6);
}

static void a_write_is_short_torn_or_lost_in_silence(void **state)
{
    int file = safe_file();
    struct iovec part = {.iov_base = "12345678", .iov_len = 8};
    size_t done;

    (void)state;
    fault(FAKE_WRITE, FAKE_SHORT, 0);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 0, &done), 0);
    assert_int_equal(done, 4);
    disk_expect_bytes(file, "1234\0", 5, 0);

    fault(FAKE_WRITE, FAKE_TEAR, EIO);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 100, &done), EIO);
    assert_int_equal(done, 0);
    disk_expect_bytes(file, "1234\0", 5, 100);

    fault(FAKE_WRITE, FAKE_LIE, 0);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 200, &done), 0);
    assert_int_equal(done, 8);
    disk_expect_bytes(file, "\0", 1, 200);
}

static void a_sync_can_report_a_false_success(void **state)
{
    int file = safe_file();

    (void)state;
    disk_put(file, "lost", 4, 0);
    fault(FAKE_SYNC, FAKE_LIE, 0);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_memory_equal(bytes_of("a"), "safe", 4);
}

static void nothing_happens_after_the_power_has_gone(void **state)
{
    int file = safe_file();
    struct iovec part = {.iov_base = "gone", .iov_len = 4};
    struct fake_disk *twin;
    size_t done;
    size_t len;

    (void)state;
    fault(FAKE_WRITE, FAKE_HALT, 0);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 0, &done), EIO);
    assert_int_equal(bench.io.sync(bench.io.disk, file), EIO);
    assert_int_equal(bench.io.rename(bench.io.disk, "a", "b"), EIO);
    twin = fake_disk_copy(bench.fake);
    // The call during which the power failed may have been executed.
    fake_disk_cut(bench.fake, FAKE_KEEP_ALL, 1);
    assert_memory_equal(bytes_of("a"), "gone", 4);
    fake_disk_cut(twin, FAKE_KEEP_NONE, 1);
    assert_memory_equal(fake_disk_bytes(twin, "a", &len), "safe", 4);
    fake_disk_free(twin);
    file = disk_opened("a", JOURNAL_OPEN_READ);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
}

static void space_is_counted_and_can_run_out(void **state)
{
    int file = safe_file();
    struct iovec part = {.iov_base = "12345678", .iov_len = 8};
    size_t done;

    (void)state;
    assert_int_equal(fake_disk_used(bench.fake), 1024);
    fake_disk_set_budget(bench.fake, 1030);
    // Allocated space can be written to.
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 1016, &done), 0);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 1024, &done), ENOSPC);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 1031), ENOSPC);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 1030), 0);
    // A file that is open takes its space even without a name.
    assert_int_equal(bench.io.remove(bench.io.disk, "a"), 0);
    assert_int_equal(fake_disk_used(bench.fake), 1030);
    disk_shut(file);
    assert_int_equal(fake_disk_used(bench.fake), 0);
}

static void bytes_flip_and_break(void **state)
{
    int file = safe_file();
    char bytes[8];
    size_t got;

    (void)state;
    fake_disk_flip(bench.fake, "a", 1, 0x20);
    disk_expect_bytes(file, "sAfe", 4, 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_memory_equal(bytes_of("a"), "sAfe", 4);
    file = disk_opened("a", JOURNAL_OPEN_READ);
    fake_disk_break(bench.fake, "a", 600);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 592, &got), 0);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 593, &got), EIO);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 600, &got), EIO);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 601, &got), 0);
    fake_disk_put(bench.fake, "b", "file", 4);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_memory_equal(bytes_of("b"), "file", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE(a_power_cut_takes_unsynced_bytes),
        FAKE(a_kill_takes_nothing),
        FAKE(a_power_cut_can_leave_all_of_it),
        FAKE(a_power_cut_can_leave_some_sectors),
        FAKE(names_last_when_the_directory_was_synced),
        FAKE(a_power_cut_can_leave_the_first_names),
        FAKE(a_sync_that_fails_is_not_made_up_for),
        FAKE(the_nth_call_fails_or_all_from_there),
        FAKE(a_write_is_short_torn_or_lost_in_silence),
        FAKE(a_sync_can_report_a_false_success),
        FAKE(nothing_happens_after_the_power_has_gone),
        FAKE(space_is_counted_and_can_run_out),
        FAKE(bytes_flip_and_break),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
