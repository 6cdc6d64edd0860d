/* SPDX-License-Identifier: MIT */
#include "os/small_file.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tandem-small-file-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void expect_error(const char *at, size_t most, int error)
{
    struct small_file file = {.len = 7};

    assert_int_equal(small_file_read(&file, at, most), error);
    assert_null(file.bytes);
}

static void file_is_read_as_a_whole_with_a_nul_behind_it(void **state)
{
    struct small_file file;

    (void)state;
    write_file("a\nbc");
    assert_int_equal(small_file_read(&file, path, 100), 0);
    assert_int_equal(file.len, 4);
    assert_string_equal(file.bytes, "a\nbc");
    small_file_free(&file);
    assert_null(file.bytes);
    small_file_free(&file);
}

static void empty_file_is_an_empty_text(void **state)
{
    struct small_file file;

    (void)state;
    write_file("");
    assert_int_equal(small_file_read(&file, path, 0), 0);
    assert_int_equal(file.len, 0);
    assert_string_equal(file.bytes, "");
    small_file_free(&file);
}

static void file_of_the_limit_is_read_and_a_longer_one_is_not(void **state)
{
    struct small_file file;

    (void)state;
    write_file("12345");
    assert_int_equal(small_file_read(&file, path, 5), 0);
    small_file_free(&file);
    expect_error(path, 4, EFBIG);
}

static void other_kinds_of_files_are_refused_without_waiting(void **state)
{
    (void)state;
    (void)unlink(path);
    expect_error(path, 100, ENOENT);
    expect_error(folder, 100, EISDIR);
    expect_error("/dev/zero", 100, EINVAL);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_error(path, 100, EINVAL);
    assert_int_equal(unlink(path), 0);
    assert_string_equal(small_file_error(EINVAL), "not a regular file");
    assert_string_equal(small_file_error(ENOENT), strerror(ENOENT));
}

static void any_file_may_be_read_if_the_caller_says_so(void **state)
{
    struct small_file file;

    (void)state;
    assert_int_equal(small_file_read_any(&file, "/dev/null", 100), 0);
    assert_int_equal(file.len, 0);
    small_file_free(&file);
    assert_int_equal(small_file_read_any(&file, "/dev/zero", 100), EFBIG);
    assert_int_equal(small_file_read_any(&file, folder, 100), EISDIR);
}

static void pipe_is_read_to_its_end(void **state)
{
    struct small_file file;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "ab", 2), 2);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(small_file_read_fd(&file, ends[0], 100), 0);
    assert_string_equal(file.bytes, "ab");
    small_file_free(&file);
    assert_int_equal(close(ends[0]), 0);
}

static void missing_memory_is_an_error(void **state)
{
    (void)state;
    write_file("text");
    nth_alloc_fail(1);
    expect_error(path, 100, ENOMEM);
    nth_alloc_fail(0);
    assert_string_equal(small_file_error(ENOMEM), "out of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_is_read_as_a_whole_with_a_nul_behind_it),
        cmocka_unit_test(empty_file_is_an_empty_text),
        cmocka_unit_test(file_of_the_limit_is_read_and_a_longer_one_is_not),
        cmocka_unit_test(other_kinds_of_files_are_refused_without_waiting),
        cmocka_unit_test(any_file_may_be_read_if_the_caller_says_so),
        cmocka_unit_test(pipe_is_read_to_its_end),
        cmocka_unit_test(missing_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
