/* SPDX-License-Identifier: MIT */
// Tasks that make a file, or have it go, in steps.
#include "journal/file/files.h"

#include "tests/journal/file/fake_disk.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define NAME "journal.0000000001"

enum { SIZE = 1 << 20 };

struct bench {
    struct fake_disk *disk;
    struct journal_io io;
    struct segment *segment;
    struct task task;
};

static int setup(void **state)
{
    static struct bench bench;

    bench = (struct bench){.disk = fake_disk_new(), .segment = segment_new(1, 5)};
    assert_non_null(bench.segment);
    bench.io = fake_disk_io(bench.disk);
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    segment_free(bench->segment);
    fake_disk_free(bench->disk);
    return 0;
}

// Does a task, and returns its error.
static int run(struct bench *bench, enum task_kind kind, uint64_t size)
{
    bench->task = (struct task){.kind = kind, .segment = bench->segment, .size = size, .error = -1};
    task_run(&bench->task, &bench->io);
    return bench->task.error;
}

static void fail_next(struct bench *bench, enum fake_op op, int error)
{
    fake_disk_heal(bench->disk);
    fake_disk_fault(bench->disk,
                    &(struct fake_fault){.op = op, .nth = 1, .effect = FAKE_FAIL, .error = error});
}

// A file that is written to no more.
static void make_file(struct bench *bench)
{
    int file;

    assert_int_equal(bench->io.open(bench->io.disk, NAME, JOURNAL_OPEN_CREATE, &file), 0);
    assert_int_equal(bench->io.allocate(bench->io.disk, file, SIZE), 0);
    bench->io.close(bench->io.disk, file);
    bench->segment->state = SEGMENT_PUBLISHED;
    bench->segment->size = SIZE;
    fake_disk_trace_clear(bench->disk);
}

static void expect_gone(const struct bench *bench)
{
    assert_int_equal(bench->segment->file, -1);
    assert_int_equal(fake_disk_opened(bench->disk), 0);
    assert_int_equal(fake_disk_used(bench->disk), 0);
}

// The system keeps it for as long as it is open: it gives its space back a little at a time.
static void a_large_file_loses_its_name_first(void **state)
{
    struct bench *bench = *state;
    size_t len;

    make_file(bench);
    assert_int_equal(run(bench, TASK_REMOVE, SIZE - 1), 0);
    assert_string_equal(fake_disk_trace(bench->disk),
                        "open " NAME "\nremove " NAME "\nsync_directory\n");
    assert_true(bench->segment->file >= 0);
    assert_null(fake_disk_bytes(bench->disk, NAME, &len));
    for (uint64_t size = SIZE; size > 0;) {
        assert_int_equal(fake_disk_used(bench->disk), size);
        size -= SIZE / 4;
        assert_int_equal(run(bench, TASK_FREE_SPACE, size), 0);
    }
    expect_gone(bench);
}

static void a_file_that_is_not_large_goes_at_once(void **state)
{
    struct bench *bench = *state;

    make_file(bench);
    assert_int_equal(run(bench, TASK_REMOVE, SIZE), 0);
    assert_string_equal(fake_disk_trace(bench->disk), "remove " NAME "\nsync_directory\n");
    expect_gone(bench);
}

// If it cannot be done in steps, it is done at once.
static void a_file_that_cannot_be_truncated_is_removed_nevertheless(void **state)
{
    struct bench *bench = *state;

    make_file(bench);
    assert_int_equal(run(bench, TASK_REMOVE, SIZE / 4), 0);
    fail_next(bench, FAKE_TRUNCATE, EIO);
    assert_int_equal(run(bench, TASK_FREE_SPACE, SIZE / 2), 0);
    expect_gone(bench);

    // No descriptor is left.
    make_file(bench);
    fail_next(bench, FAKE_OPEN, EMFILE);
    assert_int_equal(run(bench, TASK_REMOVE, SIZE / 4), 0);
    expect_gone(bench);
}

static void a_large_file_that_cannot_be_removed_is_tried_again(void **state)
{
    struct bench *bench = *state;

    make_file(bench);
    fail_next(bench, FAKE_REMOVE, EIO);
    assert_int_equal(run(bench, TASK_REMOVE, SIZE / 4), EIO);
    assert_int_equal(bench->segment->file, -1);
    assert_int_equal(fake_disk_used(bench->disk), SIZE);
    // Its name may come back after a power cut: no space of it is freed.
    fail_next(bench, FAKE_SYNC_DIRECTORY, EIO);
    assert_int_equal(run(bench, TASK_REMOVE, SIZE / 4), EIO);
    assert_int_equal(bench->segment->file, -1);
    assert_int_equal(run(bench, TASK_REMOVE, SIZE / 4), 0);
    expect_gone(bench);
}

static void a_spare_is_made_in_steps(void **state)
{
    struct bench *bench = *state;
    size_t len;

    for (uint64_t size = SIZE / 4; size <= SIZE; size += SIZE / 4) {
        assert_int_equal(run(bench, TASK_PREPARE, size), 0);
        assert_int_equal(fake_disk_used(bench->disk), size);
    }
    assert_int_equal(fake_disk_opened(bench->disk), 1);
    // The space that it has already is freed in steps, too.
    fail_next(bench, FAKE_ALLOCATE, ENOSPC);
    assert_int_equal(run(bench, TASK_PREPARE, 2 * SIZE), ENOSPC);
    assert_string_equal(bench->task.failed, "allocate");
    assert_null(fake_disk_bytes(bench->disk, SEGMENT_SPARE_NAME, &len));
    assert_true(bench->segment->file >= 0);
    assert_int_equal(run(bench, TASK_FREE_SPACE, SIZE / 2), 0);
    assert_int_equal(fake_disk_used(bench->disk), SIZE / 2);
    assert_int_equal(run(bench, TASK_FREE_SPACE, 0), 0);
    expect_gone(bench);
}

#define STEP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(a_large_file_loses_its_name_first),
        STEP_TEST(a_file_that_is_not_large_goes_at_once),
        STEP_TEST(a_file_that_cannot_be_truncated_is_removed_nevertheless),
        STEP_TEST(a_large_file_that_cannot_be_removed_is_tried_again),
        STEP_TEST(a_spare_is_made_in_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
