/* SPDX-License-Identifier: MIT */
// The start of a journal that takes long: it can be stopped at any moment, says how far it is, and
// does not read bytes that were never written.
#include "tests/journal/journal_work.h"

#include "journal/codec.h"
#include "journal/segment.h"

#include <errno.h>

// Says stop at one of its calls to the disk; counts the later ones.
static struct {
    struct journal_io through;
    const struct bed *bed;
    unsigned long stop_at;
    unsigned long calls;
    unsigned long reads_after;
    struct restore_progress progress;
} stopping;

static void count_call(void)
{
    journal_progress(stopping.bed->journal, &stopping.progress);
    assert_true(stopping.progress.read <= stopping.progress.size);
    if (++stopping.calls == stopping.stop_at) {
        journal_stop_opening(stopping.bed->journal);
    }
}

static int stop_read(void *disk, int file, void *to, size_t len, uint64_t offset, size_t *got)
{
    count_call();
    stopping.reads_after += stopping.calls > stopping.stop_at;
    return stopping.through.read(disk, file, to, len, offset, got);
}

static int stop_write(void *disk, int file, const struct iovec *parts, int count, uint64_t offset,
                      size_t *put)
{
    count_call();
    return stopping.through.write(disk, file, parts, count, offset, put);
}

static int stop_sync(void *disk, int file)
{
    count_call();
    return stopping.through.sync(disk, file);
}

// Whether it opens though it is stopped at that call.
static bool opens(struct bed *bed, unsigned long stop_at)
{
    stopping.through = fake_disk_io(bed->disk);
    stopping.bed = bed;
    stopping.stop_at = stop_at;
    stopping.calls = 0;
    stopping.reads_after = 0;
    bed->io = stopping.through;
    bed->io.read = stop_read;
    bed->io.write = stop_write;
    bed->io.sync = stop_sync;
    return bed_open(bed);
}

// Another process finds what that one left.
static struct bed *follow(const struct bed *bed)
{
    struct bed_options options = bed->options;
    struct bed *next;

    options.no_book = true;
    next = bed_new_closed(&options);
    fake_disk_free(next->disk);
    next->disk = fake_disk_copy(bed->disk);
    next->now = bed->now;
    return next;
}

static void a_start_that_is_stopped_ends_and_loses_nothing(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    unsigned long stopped = 0;
    bool over = false;

    (void)state;
    work_a_while(bed);
    bed_abandon(bed);
    fake_disk_kill(bed->disk);
    for (unsigned long stop_at = 1; !over; stop_at++) {
        struct bed *next = follow(bed);

        if (opens(next, stop_at)) {
            over = stopping.calls < stop_at;
        } else {
            stopped++;
            assert_int_equal(stopping.reads_after, 0);
            fake_disk_kill(next->disk);
            assert_true(opens(next, 0));
        }
        book_expect(bed->book, next->broker, bed->left, 0);
        bed_free(next);
    }
    assert_true(stopped > 5);
    bed_free(bed);
}

static void a_start_says_how_far_it_is(void **state)
{
    struct bed *bed = BED(.sync_every_for = 0);
    uint64_t size;

    (void)state;
    work_a_while(bed);
    bed_abandon(bed);
    fake_disk_kill(bed->disk);
    size = fake_disk_used(bed->disk);
    assert_true(opens(bed, 0));
    journal_progress(bed->journal, &stopping.progress);
    assert_true(stopping.progress.size > 0 && stopping.progress.size <= size);
    assert_true(stopping.progress.read >= stopping.progress.size / 2);
    bed_free(bed);
}

//
// Holes
//

// The youngest segment becomes as long as can be, with something at its very end, or not.
static void stretch(struct bed *bed, bool marked)
{
    char name[SEGMENT_NAME_MAX];
    struct journal_io io;
    int file;

    segment_name(bed_info(bed).current, name);
    bed_abandon(bed);
    fake_disk_kill(bed->disk);
    io = fake_disk_io(bed->disk);
    assert_int_equal(io.open(io.disk, name, JOURNAL_OPEN_READ, &file), 0);
    assert_int_equal(io.truncate(io.disk, file, FAKE_FILE_MAX), 0);
    if (marked) {
        const struct iovec part = {.iov_base = (char[]){"mark"}, .iov_len = 4};
        size_t put;

        assert_int_equal(io.write(io.disk, file, &part, 1, FAKE_FILE_MAX - 4, &put), 0);
    }
    io.close(io.disk, file);
}

static void expect_hole_unread(bool marked, bool repair)
{
    struct bed *bed = BED(.sync_every_for = 0, .repair = repair);

    work_a_while(bed);
    stretch(bed, marked);
    assert_true(opens(bed, 0));
    journal_progress(bed->journal, &stopping.progress);
    // All segments, and a window or two more.
    assert_true(stopping.progress.read < FAKE_FILE_MAX / 8);
    book_expect(bed->book, bed->broker, bed->left, 0);
    bed_free(bed);
}

static void a_hole_behind_the_last_record_is_not_read(void **state)
{
    (void)state;
    expect_hole_unread(false, false);
    expect_hole_unread(false, true);
}

static void a_hole_before_a_torn_end_is_not_read(void **state)
{
    (void)state;
    expect_hole_unread(true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_that_is_stopped_ends_and_loses_nothing),
        cmocka_unit_test(a_start_says_how_far_it_is),
        cmocka_unit_test(a_hole_behind_the_last_record_is_not_read),
        cmocka_unit_test(a_hole_before_a_torn_end_is_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
