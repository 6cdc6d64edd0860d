/* SPDX-License-Identifier: MIT */
// Disks: the behaviour that the real one and the fake one have in common, and that of the real one
// alone.
#include "tests/journal/file/disk_bench.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// The file system, as the real disk asks it how much space there is (the linker puts this in its
// place).
static struct {
    unsigned asked;
    uint64_t blocks;
} file_system;

int __wrap_fstatvfs(int fd, struct statvfs *room);

int __wrap_fstatvfs(int fd, struct statvfs *room)
{
    (void)fd;
    memset(room, 0, sizeof *room);
    file_system.asked++;
    room->f_bavail = file_system.blocks;
    room->f_frsize = 1024;
    return 0;
}

//
// Any disk
//

static void written_bytes_are_read(void **state)
{
    int file = disk_opened("a", JOURNAL_OPEN_CREATE);
    size_t got = 5;
    char byte;

    (void)state;
    disk_put(file, "hello, world", 12, 1000);
    disk_put(file, "H", 1, 1000);
    disk_expect_bytes(file, "Hello, world", 12, 1000);
    disk_expect_bytes(file, "\0\0", 2, 0);
    disk_expect_size(file, 1012);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(bench.io.read(bench.io.disk, file, &byte, 1, 1012, &got), 0);
    assert_int_equal(got, 0);
    disk_shut(file);
    file = disk_opened("a", JOURNAL_OPEN_READ);
    disk_expect_bytes(file, "Hello, world", 12, 1000);
    disk_shut(file);
    file = disk_opened("a", JOURNAL_OPEN_CREATE);
    disk_expect_size(file, 0);
    disk_shut(file);
}

static void space_is_set_aside_and_given_back(void **state)
{
    int file = disk_opened("a", JOURNAL_OPEN_CREATE);

    (void)state;
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 0), 0);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 100000), 0);
    disk_expect_size(file, 100000);
    disk_expect_bytes(file, "\0\0\0", 3, 99997);
    disk_put(file, "hello", 5, 50000);
    // It never makes a file smaller.
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 10), 0);
    disk_expect_size(file, 100000);
    assert_int_equal(bench.io.truncate(bench.io.disk, file, 50002), 0);
    disk_expect_size(file, 50002);
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 60000), 0);
    disk_expect_bytes(file, "he\0\0\0", 5, 50000);
    disk_shut(file);
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
    int file = disk_opened("first", JOURNAL_OPEN_CREATE);
    int other = disk_opened("other", JOURNAL_OPEN_CREATE);

    (void)state;
    disk_put(file, "hello", 5, 0);
    // It replaces an existing file.
    assert_int_equal(bench.io.rename(bench.io.disk, "first", "other"), 0);
    assert_int_equal(bench.io.sync_directory(bench.io.disk), 0);
    disk_shut(other);
    disk_shut(file);
    assert_int_equal(bench.io.list(bench.io.disk, list_name, &listing), 0);
    assert_int_equal(listing.count, 1);
    assert_string_equal(listing.names, "other");
    file = disk_opened("other", JOURNAL_OPEN_READ);
    disk_expect_bytes(file, "hello", 5, 0);
    assert_int_equal(bench.io.remove(bench.io.disk, "other"), 0);
    // It can still be read where it is open.
    disk_expect_bytes(file, "hello", 5, 0);
    disk_shut(file);
    listing = (struct listing){0};
    assert_int_equal(bench.io.list(bench.io.disk, list_name, &listing), 0);
    assert_int_equal(listing.count, 0);
}

static void a_missing_file_is_reported(void **state)
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

static void a_directory_is_made(void **state)
{
    struct journal_io io;
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof path, "%s/x///", bench.dir);
    assert_int_equal(journal_disk_open(&io, path), 0);
    journal_disk_close(&io);
    (void)snprintf(path, sizeof path, "%s/x", bench.dir);
    assert_int_equal(mode_of(path), 0700);
    assert_int_equal(rmdir(path), 0);
}

// A disk that is not mounted, or a typing error: a new journal there would look like a loss.
static void a_directory_is_not_made_with_its_parents(void **state)
{
    struct journal_io io;
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof path, "%s/x/y", bench.dir);
    assert_int_equal(journal_disk_open(&io, path), ENOENT);
    (void)snprintf(path, sizeof path, "%s/x", bench.dir);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_relative_path_is_relative_to_the_working_directory(void **state)
{
    struct journal_io io;
    char here[256];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(bench.dir), 0);
    assert_int_equal(journal_disk_open(&io, "here"), 0);
    journal_disk_close(&io);
    assert_int_equal(rmdir("here"), 0);
    assert_int_equal(mkdir("up", 0700), 0);
    assert_int_equal(journal_disk_open(&io, "up/here"), 0);
    journal_disk_close(&io);
    assert_int_equal(rmdir("up/here") + rmdir("up"), 0);
    assert_int_equal(chdir(here), 0);
}

static void files_are_private_to_the_user(void **state)
{
    char path[128];

    (void)state;
    disk_shut(disk_opened("a", JOURNAL_OPEN_CREATE));
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

// The lock file was removed, or replaced by another one: no second process gets in.
static void a_removed_lock_file_admits_no_process(void **state)
{
    struct journal_io other;
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof path, "%s/lock", bench.path);
    assert_int_equal(journal_disk_open(&other, bench.path), 0);
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(other.lock(other.disk), EWOULDBLOCK);
    disk_shut(disk_opened("lock", JOURNAL_OPEN_CREATE));
    assert_int_equal(other.lock(other.disk), EWOULDBLOCK);
    bench.io.unlock(bench.io.disk);
    assert_int_equal(other.lock(other.disk), 0);
    journal_disk_close(&other);
}

// A version that knows the file only keeps this one out, and is kept out.
static void the_lock_file_alone_keeps_others_out(void **state)
{
    char path[128];
    int file;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/lock", bench.path);
    file = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(bench.io.lock(bench.io.disk), EWOULDBLOCK);
    assert_int_equal(flock(file, LOCK_UN), 0);
    assert_int_equal(bench.io.lock(bench.io.disk), 0);
    assert_int_equal(flock(file, LOCK_EX | LOCK_NB), -1);
    (void)close(file);
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
    int file = disk_opened("a", JOURNAL_OPEN_CREATE);
    size_t done = 0;

    (void)state;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = (struct iovec){.iov_base = byte, .iov_len = 1};
    }
    assert_int_equal(bench.io.write(bench.io.disk, file, parts, PARTS, 0, &done), 0);
    assert_true(done > 0 && done < PARTS);
    disk_expect_size(file, done);
    disk_shut(file);
}

static void a_place_that_cannot_be_a_directory_is_refused(void **state)
{
    struct journal_io io;
    char path[128];

    (void)state;
    disk_shut(disk_opened("a", JOURNAL_OPEN_CREATE));
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

#define BOTH(f) REAL(f), FAKE(f)

// The caller cannot wait for an answer over a network.
static void free_space_is_known_without_asking_the_file_system(void **state)
{
    int file = disk_opened("a", JOURNAL_OPEN_CREATE);
    unsigned asked = file_system.asked;

    (void)state;
    assert_int_not_equal(asked, 0);
    file_system.blocks = 7;
    (void)bench.io.space(bench.io.disk);
    assert_int_equal(file_system.asked, asked);
    assert_int_equal(bench.io.sync(bench.io.disk, file), 0);
    assert_int_equal(bench.io.space(bench.io.disk), 7 * 1024);
    file_system.blocks = 6;
    assert_int_equal(bench.io.allocate(bench.io.disk, file, 1000), 0);
    assert_int_equal(bench.io.space(bench.io.disk), 6 * 1024);
    file_system.blocks = 9;
    assert_int_equal(bench.io.truncate(bench.io.disk, file, 0), 0);
    assert_int_equal(bench.io.space(bench.io.disk), 9 * 1024);
    file_system.blocks = 8;
    assert_int_equal(bench.io.remove(bench.io.disk, "a"), 0);
    assert_int_equal(bench.io.space(bench.io.disk), 8 * 1024);
    disk_shut(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(written_bytes_are_read),
        BOTH(space_is_set_aside_and_given_back),
        BOTH(names_come_change_and_go),
        BOTH(a_missing_file_is_reported),
        BOTH(a_directory_is_claimed_once),
        REAL(a_directory_is_made),
        REAL(a_directory_is_not_made_with_its_parents),
        REAL(a_relative_path_is_relative_to_the_working_directory),
        REAL(files_are_private_to_the_user),
        REAL(a_disk_that_is_closed_leaves_nothing_open),
        REAL(another_opening_of_the_directory_is_kept_out),
        REAL(a_removed_lock_file_admits_no_process),
        REAL(the_lock_file_alone_keeps_others_out),
        REAL(symbolic_links_are_not_followed),
        REAL(a_write_of_more_parts_than_the_system_takes_is_short),
        REAL(a_place_that_cannot_be_a_directory_is_refused),
        REAL(errors_of_the_system_come_back),
        REAL(free_space_is_known_without_asking_the_file_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
