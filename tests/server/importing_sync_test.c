/* SPDX-License-Identifier: MIT */
// The sync after an import: what is synced, and what stops a start.
#include "server/importing_sync.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    unsigned files, directories; // that were synced
    int file_error, directory_error;
} syncs;

// In the place of the system's.
int fsync(int fd)
{
    struct stat about;

    assert_int_equal(fstat(fd, &about), 0);
    errno = S_ISDIR(about.st_mode) ? syncs.directory_error : syncs.file_error;
    syncs.directories += S_ISDIR(about.st_mode);
    syncs.files += S_ISREG(about.st_mode);
    return errno ? -1 : 0;
}

struct place {
    char dir[32];
    int fd;
};

static void make_file(const struct place *place, const char *name)
{
    int fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    (void)close(fd);
}

static int begin(void **state)
{
    static struct place place;

    memset(&syncs, 0, sizeof syncs);
    (void)snprintf(place.dir, sizeof place.dir, "/tmp/tandem-sync-XXXXXX");
    if (!mkdtemp(place.dir)) {
        return -1;
    }
    place.fd = open(place.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = &place;
    return place.fd >= 0 ? 0 : -1;
}

static int end(void **state)
{
    static const char *const names[] = {"lock", "one", "two", "link", "pipe"};
    const struct place *place = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)unlinkat(place->fd, names[i], 0);
    }
    (void)unlinkat(place->fd, "folder", AT_REMOVEDIR);
    (void)close(place->fd);
    return rmdir(place->dir);
}

static void the_directory_and_its_files_are_synced(void **state)
{
    const struct place *place = *state;
    struct error_text why;

    make_file(place, "lock");
    make_file(place, "one");
    make_file(place, "two");
    assert_true(importing_sync(place->dir, &why));
    assert_int_equal(syncs.files, 2);
    assert_int_equal(syncs.directories, 1);
}

static void links_pipes_and_folders_are_not_synced(void **state)
{
    const struct place *place = *state;
    struct error_text why;

    assert_int_equal(symlinkat("/nowhere", place->fd, "link"), 0);
    assert_int_equal(mkfifoat(place->fd, "pipe", 0600), 0);
    assert_int_equal(mkdirat(place->fd, "folder", 0700), 0);
    syncs.file_error = EIO;
    assert_true(importing_sync(place->dir, &why));
    assert_int_equal(syncs.directories, 1);
}

static void expect_failure(const struct place *place, int error)
{
    struct error_text why;
    char expected[sizeof why.text];

    (void)snprintf(expected, sizeof expected, "journal %s: cannot sync it: %s", place->dir,
                   strerror(error));
    assert_false(importing_sync(place->dir, &why));
    assert_string_equal(why.text, expected);
}

static void a_file_that_cannot_be_synced_fails(void **state)
{
    const struct place *place = *state;

    make_file(place, "one");
    syncs.file_error = EIO;
    expect_failure(place, EIO);
}

// Some file systems know no sync. Then the jobs may be lost in a power failure, and the start must
// not report that they are on disk.
static void a_file_system_without_sync_fails(void **state)
{
    const struct place *place = *state;

    make_file(place, "one");
    syncs.file_error = EINVAL;
    expect_failure(place, EINVAL);
    syncs.file_error = 0;
    syncs.directory_error = EINVAL;
    expect_failure(place, EINVAL);
}

static void a_missing_directory_fails(void **state)
{
    struct error_text why;

    (void)state;
    assert_false(importing_sync("/nowhere/at/all", &why));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_directory_and_its_files_are_synced),
        TEST(links_pipes_and_folders_are_not_synced),
        TEST(a_file_that_cannot_be_synced_fails),
        TEST(a_file_system_without_sync_fails),
        TEST(a_missing_directory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
