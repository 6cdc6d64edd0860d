/* SPDX-License-Identifier: MIT */
// Disks: what the real one and the fake one have in common, what is the real one's own, and how the
// fake one fails and forgets.
#include "journal/io.h"

#include "tests/support/fake_disk.h"
#include "tests/support/nth_alloc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

struct bench {
    struct journal_io io;
    struct fake_disk *fake; // NULL: the real one
    char dir[64];
    char path[80]; // of the journal's directory, in `dir`
};

static struct bench bench;

static int real_setup(void **state)
{
    bench = (struct bench){.dir = "/tmp/tandem-disk-XXXXXX"};
    assert_non_null(mkdtemp(bench.dir));
    (void)snprintf(bench.path, sizeof bench.path, "%s/journal", bench.dir);
    assert_int_equal(journal_disk_open(&bench.io, bench.path), 0);
    *state = &bench;
    return 0;
}

static void remove_name(void *context, const char *name)
{
    const struct journal_io *io = context;

    (void)io->remove(io->disk, name);
}

static int real_teardown(void **state)
{
    (void)state;
    if (bench.io.disk) {
        (void)bench.io.list(bench.io.disk, remove_name, &bench.io);
    }
    journal_disk_close(&bench.io);
    (void)rmdir(bench.path);
    return rmdir(bench.dir);
}

static int fake_setup(void **state)
{
    bench = (struct bench){.fake = fake_disk_new()};
    bench.io = fake_disk_io(bench.fake);
    *state = &bench;
    return 0;
}

static int fake_teardown(void **state)
{
    (void)state;
    fake_disk_free(bench.fake);
    return 0;
}

static int opened(const char *name, enum journal_open how)
{
    int file = -1;

    assert_int_equal(bench.io.open(bench.io.disk, name, how, &file), 0);
    assert_true(file >= 0);
    return file;
}

// Writes it all, which a disk may do in several goes.
static void put(int file, const char *bytes, size_t len, uint64_t offset)
{
    while (len > 0) {
        struct iovec parts[2] = {
            {.iov_base = (char *)(uintptr_t)bytes, .iov_len = len / 2},
            {.iov_base = (char *)(uintptr_t)bytes + len / 2, .iov_len = len - len / 2}};
        size_t done = 0;

        assert_int_equal(bench.io.write(bench.io.disk, file, parts, 2, offset, &done), 0);
        assert_true(done > 0 && done <= len);
        bytes += done;
        len -= done;
        offset += done;
    }
}

static void expect_bytes(int file, const char *bytes, size_t len, uint64_t offset)
{
    char found[256];
    size_t got = 0;

    assert_true(len <= sizeof found);
    assert_int_equal(bench.io.read(bench.io.disk, file, found, len, offset, &got), 0);
    assert_int_equal(got, len);
    assert_memory_equal(found, bytes, len);
}

static void expect_size(int file, uint64_t expected)
{
    uint64_t size = 0;

    assert_int_equal(bench.io.size(bench.io.disk, file, &size), 0);
    assert_int_equal(size, expected);
}

static void shut(int file)
{
    bench.io.close(bench.io.disk, file);
}

//
// Any disk
//

static void what_is_written_is_read(void **state)
{
    int file = opened("a", JOURNAL_OPEN_CREATE);
    size_t got = 5;
    char byte;

    (void)state;
    put(file, "hello, world", 12, 1000);
    put(file, "H", 1, 1000);
    expect_bytes(file, "Hello, world", 12, 1000);
    expect_bytes(file, "\0\0", 2, 0);
    expect_size(file, 1012);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(bench.io.read(bench.io.disk, file, &byte, 1, 1012, &got), 0);
    assert_int_equal(got, 0);
    shut(file);
    file = opened("a", JOURNAL_OPEN_READ);
    expect_bytes(file, "Hello, world", 12, 1000);
    shut(file);
    file = opened("a", JOURNAL_OPEN_CREATE);
    expect_size(file, 0);
    shut(file);
}

static void space_is_set_aside_and_given_back(void **state)
{
    int file = opened("a", JOURNAL_OPEN_CREATE);

    (void)state;
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 0), 0);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 100000), 0);
    expect_size(file, 100000);
    expect_bytes(file, "\0\0\0", 3, 99997);
    put(file, "hello", 5, 50000);
    // It never makes a file smaller.
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 10), 0);
    expect_size(file, 100000);
    assert_int_equal(bench.io.truncate(bench.io.disk, file, 50002), 0);
    expect_size(file, 50002);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 60000), 0);
    expect_bytes(file, "he\0\0\0", 5, 50000);
    shut(file);
}

struct listing {
    unsigned count;
    char names[256];
};

static void list_name(void *context, const char *name)
{
    struct listing *listing = context;

    listing->count++;
    (void)strncat(listing->names, name, sizeof listing->names - strlen(listing->names) - 1);
}

static void names_come_change_and_go(void **state)
{
    struct listing listing = {0};
    int file = opened("first", JOURNAL_OPEN_CREATE);
    int other = opened("other", JOURNAL_OPEN_CREATE);

    (void)state;
    put(file, "hello", 5, 0);
    // In place of one that there is.
    assert_int_equal(bench.io.rename(bench.io.disk, "first", "other"), 0);
    assert_int_equal(bench.io.sync_directory(bench.io.disk), 0);
    shut(other);
    shut(file);
    assert_int_equal(bench.io.list(bench.io.disk, list_name, &listing), 0);
    assert_int_equal(listing.count, 1);
    assert_string_equal(listing.names, "other");
    file = opened("other", JOURNAL_OPEN_READ);
    expect_bytes(file, "hello", 5, 0);
    assert_int_equal(bench.io.remove(bench.io.disk, "other"), 0);
    // It is still there for those who have it open.
    expect_bytes(file, "hello", 5, 0);
    shut(file);
    listing = (struct listing){0};
    assert_int_equal(bench.io.list(bench.io.disk, list_name, &listing), 0);
    assert_int_equal(listing.count, 0);
}

static void what_is_not_there_is_said(void **state)
{
    int file;

    (void)state;
    assert_int_equal(bench.io.open(bench.io.disk, "a", JOURNAL_OPEN_READ, &file), ENOENT);
    assert_int_equal(bench.io.remove(bench.io.disk, "a"), ENOENT);
    assert_int_equal(bench.io.rename(bench.io.disk, "a", "b"), ENOENT);
}

static void a_directory_is_claimed_once(void **state)
{
    (void)state;
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
    assert_int_equal(bench.io.lock(bench.io.disk), EWOULDBLOCK);
    bench.io.unlock(bench.io.disk);
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
    bench.io.unlock(bench.io.disk);
    bench.io.unlock(bench.io.disk);
}

//
// The real disk
//

static mode_t mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

static void a_directory_is_made_with_its_parents(void **state)
{
    struct journal_io io;
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof path, "%s/x/y//z///", bench.dir);
    assert_int_equal(journal_disk_open(&io, path), 0);
    journal_disk_close(&io);
    for (int i = 0; i < 3; i++) {
        static const char *const ends[] = {"x/y/z", "x/y", "x"};

        (void)snprintf(path, sizeof path, "%s/%s", bench.dir, ends[i]);
        assert_int_equal(mode_of(path), 0700);
        assert_int_equal(rmdir(path), 0);
    }
}

static void a_relative_path_is_taken_from_where_we_are(void **state)
{
    struct journal_io io;
    char here[256];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(bench.dir), 0);
    assert_int_equal(journal_disk_open(&io, "here"), 0);
    journal_disk_close(&io);
    assert_int_equal(rmdir("here"), 0);
    assert_int_equal(journal_disk_open(&io, "up/here"), 0);
    journal_disk_close(&io);
    assert_int_equal(rmdir("up/here") + rmdir("up"), 0);
    assert_int_equal(chdir(here), 0);
}

static void files_are_for_nobody_else(void **state)
{
    char path[128];

    (void)state;
    shut(opened("a", JOURNAL_OPEN_CREATE));
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
    (void)snprintf(path, sizeof path, "%s/a", bench.path);
    assert_int_equal(mode_of(path), 0600);
    (void)snprintf(path, sizeof path, "%s/lock", bench.path);
    assert_int_equal(mode_of(path), 0600);
}

static void a_disk_that_is_closed_leaves_nothing_open(void **state)
{
    int lowest = dup(STDIN_FILENO);
    struct journal_io io;
    int again;

    (void)state;
    assert_int_equal(close(lowest), 0);
    assert_int_equal(journal_disk_open(&io, bench.path), 0);
    assert_int_equal(io.lock(io.disk), 0);
    assert_int_equal(io.list(io.disk, list_name, &(struct listing){0}), 0);
    journal_disk_close(&io);
    again = dup(STDIN_FILENO);
    assert_int_equal(again, lowest);
    (void)close(again);
}

static void another_opening_of_the_directory_is_kept_out(void **state)
{
    struct journal_io other;

    (void)state;
    assert_int_equal(journal_disk_open(&other, bench.path), 0);
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
    assert_int_equal(other.lock(other.disk), EWOULDBLOCK);
    journal_disk_close(&bench.io);
    assert_int_equal(other.lock(other.disk), 0);
    bench.io = other;
}

static void symbolic_links_are_not_followed(void **state)
{
    char path[128];
    int file;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/lock", bench.path);
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_int_equal(bench.io.lock(bench.io.disk), ELOOP);
    assert_int_equal(bench.io.open(bench.io.disk, "lock", JOURNAL_OPEN_READ, &file), ELOOP);
    assert_int_equal(bench.io.open(bench.io.disk, "lock", JOURNAL_OPEN_CREATE, &file), ELOOP);
}

static void a_write_of_more_parts_than_the_system_takes_is_short(void **state)
{
    enum { PARTS = 3000 };
    static struct iovec parts[PARTS];
    static char byte[] = "x";
    int file = opened("a", JOURNAL_OPEN_CREATE);
    size_t done = 0;

    (void)state;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = (struct iovec){.iov_base = byte, .iov_len = 1};
    }
    assert_int_equal(bench.io.write(bench.io.disk, file, parts, PARTS, 0, &done), 0);
    assert_true(done > 0 && done < PARTS);
    expect_size(file, done);
    shut(file);
}

static void a_place_that_cannot_be_a_directory_is_refused(void **state)
{
    struct journal_io io;
    char path[128];

    (void)state;
    shut(opened("a", JOURNAL_OPEN_CREATE));
    (void)snprintf(path, sizeof path, "%s/a", bench.path);
    assert_int_equal(journal_disk_open(&io, path), ENOTDIR);
    assert_null(io.disk);
    (void)snprintf(path, sizeof path, "%s/a/b", bench.path);
    assert_int_equal(journal_disk_open(&io, path), ENOTDIR);
    assert_int_equal(journal_disk_open(&io, ""), ENOENT);
    nth_alloc_fail(1);
    assert_int_equal(journal_disk_open(&io, bench.path), ENOMEM);
    nth_alloc_fail(0);
    journal_disk_close(&io);
}

static void errors_of_the_system_come_back(void **state)
{
    struct iovec part = {.iov_base = "x", .iov_len = 1};
    uint64_t size;
    size_t done;
    char byte;

    (void)state;
    assert_int_equal(bench.io.write(bench.io.disk, -1, &part, 1, 0, &done), EBADF);
    assert_int_equal(bench.io.read(bench.io.disk, -1, &byte, 1, 0, &done), EBADF);
    assert_int_equal(bench.io.sync(bench.io.disk, -1), EBADF);
    assert_int_equal(bench.io.size(bench.io.disk, -1, &size), EBADF);
    assert_int_equal(bench.io.allocate(bench.io.disk, -1, 10), EBADF);
    assert_int_equal(bench.io.truncate(bench.io.disk, -1, 10), EBADF);
}

//
// The fake disk
//

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
    int file = opened("a", JOURNAL_OPEN_CREATE);

    assert_int_equal(bench.io.allocate(bench.io.disk, file, 1024), 0);
    put(file, "safe", 4, 0);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(bench.io.sync_directory(bench.io.disk), 0);
    return file;
}

static void a_power_cut_takes_what_was_not_synced(void **state)
{
    int file = safe_file();
    size_t len;

    (void)state;
    put(file, "lost", 4, 0);
    put(file, "lost", 4, 2000);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_memory_equal(fake_disk_bytes(bench.fake, "a", &len), "safe", 4);
    assert_int_equal(len, 1024);
    assert_int_equal(fake_disk_opened(bench.fake), 0);
}

static void a_kill_takes_nothing(void **state)
{
    int file = safe_file();

    (void)state;
    put(file, "kept", 4, 0);
    (void)opened("b", JOURNAL_OPEN_CREATE);
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
    put(file, "kept", 4, 2000);
    assert_int_equal(bench.io.rename(bench.io.disk, "a", "b"), 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_ALL, 1);
    assert_null(bytes_of("a"));
    assert_memory_equal(bytes_of("b") + 2000, "kept", 4);
}

enum { SECTORS_LEN = 20 * FAKE_SECTOR };

// A power cut after writing to 20 sectors; what it leaves.
static void cut_sectors(uint64_t seed, char left[SECTORS_LEN])
{
    int file = opened("a", JOURNAL_OPEN_CREATE);
    struct fake_disk *twin;
    size_t len;

    memset(left, 'x', SECTORS_LEN);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, SECTORS_LEN), 0);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(bench.io.sync_directory(bench.io.disk), 0);
    put(file, left, SECTORS_LEN, 0);
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
    shut(safe_file());
    shut(opened("b", JOURNAL_OPEN_CREATE));
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
        (void)opened("a", JOURNAL_OPEN_CREATE);
        (void)opened("b", JOURNAL_OPEN_CREATE);
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
    put(file, "lost", 4, 0);
    fault(FAKE_SYNC, FAKE_FAIL, EIO);
    assert_int_equal(bench.io.sync(bench.io.disk, file), EIO);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    // Whoever reads sees it, until the power goes.
    expect_bytes(file, "lost", 4, 0);
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

static void a_write_is_short_torn_or_a_lie(void **state)
{
    int file = safe_file();
    struct iovec part = {.iov_base = "12345678", .iov_len = 8};
    size_t done;

    (void)state;
    fault(FAKE_WRITE, FAKE_SHORT, 0);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 0, &done), 0);
    assert_int_equal(done, 4);
    expect_bytes(file, "1234\0", 5, 0);

    fault(FAKE_WRITE, FAKE_TEAR, EIO);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 100, &done), EIO);
    assert_int_equal(done, 0);
    expect_bytes(file, "1234\0", 5, 100);

    fault(FAKE_WRITE, FAKE_LIE, 0);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 200, &done), 0);
    assert_int_equal(done, 8);
    expect_bytes(file, "\0", 1, 200);
}

static void a_sync_can_be_a_lie(void **state)
{
    int file = safe_file();

    (void)state;
    put(file, "lost", 4, 0);
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
    // What was being done when it went may have been done.
    fake_disk_cut(bench.fake, FAKE_KEEP_ALL, 1);
    assert_memory_equal(bytes_of("a"), "gone", 4);
    fake_disk_cut(twin, FAKE_KEEP_NONE, 1);
    assert_memory_equal(fake_disk_bytes(twin, "a", &len), "safe", 4);
    fake_disk_free(twin);
    file = opened("a", JOURNAL_OPEN_READ);
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
    // What is set aside can be written to.
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 1016, &done), 0);
    assert_int_equal(bench.io.write(bench.io.disk, file, &part, 1, 1024, &done), ENOSPC);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 1031), ENOSPC);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 1030), 0);
    // A file that is open takes its space even without a name.
    assert_int_equal(bench.io.remove(bench.io.disk, "a"), 0);
    assert_int_equal(fake_disk_used(bench.fake), 1030);
    shut(file);
    assert_int_equal(fake_disk_used(bench.fake), 0);
}

static void bytes_flip_and_break(void **state)
{
    int file = safe_file();
    char bytes[8];
    size_t got;

    (void)state;
    fake_disk_flip(bench.fake, "a", 1, 0x20);
    expect_bytes(file, "sAfe", 4, 0);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_memory_equal(bytes_of("a"), "sAfe", 4);
    file = opened("a", JOURNAL_OPEN_READ);
    fake_disk_break(bench.fake, "a", 600);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 592, &got), 0);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 593, &got), EIO);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 600, &got), EIO);
    assert_int_equal(bench.io.read(bench.io.disk, file, bytes, 8, 601, &got), 0);
    fake_disk_put(bench.fake, "b", "file", 4);
    fake_disk_cut(bench.fake, FAKE_KEEP_NONE, 1);
    assert_memory_equal(bytes_of("b"), "file", 4);
}

#define REAL(f)                                                                                    \
    {                                                                                              \
#f " on the real disk", f, real_setup, real_teardown, NULL                                 \
    }
#define FAKE(f)                                                                                    \
    {                                                                                              \
#f " on the fake disk", f, fake_setup, fake_teardown, NULL                                 \
    }
#define BOTH(f) REAL(f), FAKE(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(what_is_written_is_read),
        BOTH(space_is_set_aside_and_given_back),
        BOTH(names_come_change_and_go),
        BOTH(what_is_not_there_is_said),
        BOTH(a_directory_is_claimed_once),
        REAL(a_directory_is_made_with_its_parents),
        REAL(a_relative_path_is_taken_from_where_we_are),
        REAL(files_are_for_nobody_else),
        REAL(a_disk_that_is_closed_leaves_nothing_open),
        REAL(another_opening_of_the_directory_is_kept_out),
        REAL(symbolic_links_are_not_followed),
        REAL(a_write_of_more_parts_than_the_system_takes_is_short),
        REAL(a_place_that_cannot_be_a_directory_is_refused),
        REAL(errors_of_the_system_come_back),
        FAKE(a_power_cut_takes_what_was_not_synced),
        FAKE(a_kill_takes_nothing),
        FAKE(a_power_cut_can_leave_all_of_it),
        FAKE(a_power_cut_can_leave_some_sectors),
        FAKE(names_last_when_the_directory_was_synced),
        FAKE(a_power_cut_can_leave_the_first_names),
        FAKE(a_sync_that_fails_is_not_made_up_for),
        FAKE(the_nth_call_fails_or_all_from_there),
        FAKE(a_write_is_short_torn_or_a_lie),
        FAKE(a_sync_can_be_a_lie),
        FAKE(nothing_happens_after_the_power_has_gone),
        FAKE(space_is_counted_and_can_run_out),
        FAKE(bytes_flip_and_break),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
