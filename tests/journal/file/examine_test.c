/* SPDX-License-Identifier: MIT */
#include "journal/file/disk.h"
#include "journal/file/examine.h"
#include "journal/journal.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A directory; if `file` is set, with one file of five bytes.
static char directory[64];
static char file[80];

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof directory, "/tmp/tandem-examine-XXXXXX");
    assert_non_null(mkdtemp(directory));
    (void)snprintf(file, sizeof file, "%s/file", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(file);
    return rmdir(directory);
}

static void make_file(void)
{
    FILE *stream = fopen(file, "w");

    assert_non_null(stream);
    assert_int_equal(fputs("bytes", stream) >= 0, 1);
    assert_int_equal(fclose(stream), 0);
}

static void assert_file_is_as_it_was(void)
{
    char bytes[16] = "";
    FILE *stream = fopen(file, "r");

    assert_non_null(stream);
    assert_int_equal(fread(bytes, 1, sizeof bytes, stream), 5);
    assert_string_equal(bytes, "bytes");
    assert_int_equal(fclose(stream), 0);
}

static void a_directory_without_a_journal_has_no_jobs_and_stays_empty(void **state)
{
    struct journal_examined examined;
    struct error_text why;

    (void)state;
    assert_true(journal_examine(directory, &examined, &why));
    assert_true(examined.ready + examined.delayed + examined.buried + examined.queues == 0);
    assert_false(examined.damaged);
    // tear_down() removes it, which works for an empty one only.
}

static void a_directory_that_is_not_there_is_not_made(void **state)
{
    struct journal_examined examined;
    struct error_text why;
    struct stat st;

    (void)state;
    assert_false(journal_examine(file, &examined, &why));
    assert_string_equal(why.text, "No such file or directory");
    assert_int_equal(stat(file, &st), -1);
}

static void without_memory_it_fails_and_leaves_nothing_behind(void **state)
{
    struct journal_examined examined;
    bool good = false;

    (void)state;
    for (size_t n = 1; !good; n++) {
        struct error_text why = {""};

        nth_alloc_fail(n);
        good = journal_examine(directory, &examined, &why);
        assert_true(good || *why.text);
        assert_true(good == (nth_alloc_count() < n));
    }
    nth_alloc_fail(0);
}

static void changes_are_reported_as_done_and_are_not_executed(void **state)
{
    struct iovec part = {.iov_base = (char[]){"other"}, .iov_len = 5};
    struct journal_io io;
    size_t put;
    int opened;

    (void)state;
    make_file();
    assert_int_equal(journal_disk_open_readonly(&io, directory), 0);
    assert_int_equal(io.open(io.disk, "file", JOURNAL_OPEN_READ, &opened), 0);
    assert_int_equal(io.write(io.disk, opened, &part, 1, 0, &put), 0);
    assert_int_equal(put, 5);
    assert_int_equal(io.truncate(io.disk, opened, 1), 0);
    assert_int_equal(io.allocate(io.disk, opened, 100), 0);
    assert_int_equal(io.sync(io.disk, opened), 0);
    assert_int_equal(io.rename(io.disk, "file", "else"), 0);
    assert_int_equal(io.remove(io.disk, "file"), 0);
    assert_int_equal(io.sync_directory(io.disk), 0);
    io.close(io.disk, opened);
    assert_int_equal(io.open(io.disk, "file", JOURNAL_OPEN_CREATE, &opened), EROFS);
    journal_disk_close_readonly(&io);
    assert_file_is_as_it_was();
}

static void two_do_not_use_the_directory_at_once(void **state)
{
    struct journal_io first;
    struct journal_io second;

    (void)state;
    assert_int_equal(journal_disk_open_readonly(&first, directory), 0);
    assert_int_equal(journal_disk_open_readonly(&second, directory), 0);
    assert_int_equal(first.lock(first.disk), 0);
    assert_int_equal(second.lock(second.disk), EWOULDBLOCK);
    first.unlock(first.disk);
    assert_int_equal(second.lock(second.disk), 0);
    journal_disk_close_readonly(&second);
    journal_disk_close_readonly(&first);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_directory_without_a_journal_has_no_jobs_and_stays_empty),
        TEST(a_directory_that_is_not_there_is_not_made),
        TEST(without_memory_it_fails_and_leaves_nothing_behind),
        TEST(changes_are_reported_as_done_and_are_not_executed),
        TEST(two_do_not_use_the_directory_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
