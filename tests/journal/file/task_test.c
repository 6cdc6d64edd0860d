/* SPDX-License-Identifier: MIT */
// The calls of a task to the disk, their order, and the state after a failure.
#include "journal/file/files.h"

#include "journal/codec.h"
#include "tests/journal/file/fake_disk.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NAME_1 "journal.0000000001"
#define NAME_2 "journal.0000000002"

enum { SIZE = 1 << 20 };

struct bench {
    struct fake_disk *disk;
    struct journal_io io;
    struct chunk_pool pool;
    struct segment *first;
    struct segment *second;
    struct log_batch batch;
    struct task task;
};

// Does a task, and returns its error.
static int run(struct bench *bench, const struct task *task)
{
    bench->task = *task;
    bench->task.error = -1;
    task_run(&bench->task, &bench->io);
    return bench->task.error;
}

// The task leaves the size to the loop.
static void prepare(struct bench *bench, struct segment *segment)
{
    uint64_t size = segment->size;

    assert_int_equal(
        run(bench, &(struct task){.kind = TASK_PREPARE, .segment = segment, .size = SIZE}), 0);
    assert_int_equal(segment->size, size);
    assert_true(segment->file >= 0);
    segment->size = SIZE;
}

static struct segment *segment_at(uint64_t number)
{
    struct segment *segment = segment_new(number, 1000 + number);

    assert_non_null(segment);
    segment->end = CODEC_SEGMENT_HEAD;
    segment->ids_end = 65536 * number;
    segment->created_ms = 1700000000000 + number;
    return segment;
}

static int setup(void **state)
{
    static struct bench bench;

    bench = (struct bench){.disk = fake_disk_new()};
    bench.io = fake_disk_io(bench.disk);
    bench.first = segment_at(1);
    bench.second = segment_at(2);
    batch_init(&bench.batch, 1);
    prepare(&bench, bench.first);
    fake_disk_trace_clear(bench.disk);
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    batch_drop(&bench->batch, &bench->pool);
    chunk_pool_clear(&bench->pool);
    segment_free(bench->first);
    segment_free(bench->second);
    fake_disk_free(bench->disk);
    return 0;
}

static void append(struct bench *bench, struct segment *segment, uint64_t number)
{
    char *to = batch_reserve(&bench->batch, &bench->pool, segment, CODEC_NUMBER_SIZE);

    assert_non_null(to);
    codec_put_number(to, CODEC_END, number);
}

static int write_out(struct bench *bench, struct segment *before, bool sync)
{
    return run(
        bench,
        &(struct task){.kind = TASK_WRITE, .sync = sync, .batch = &bench->batch, .before = before});
}

static void next_batch(struct bench *bench)
{
    batch_drop(&bench->batch, &bench->pool);
    fake_disk_trace_clear(bench->disk);
}

static void expect_trace(const struct bench *bench, const char *trace)
{
    assert_string_equal(fake_disk_trace(bench->disk), trace);
}

// The file holds that record at that place.
static void expect_record(const struct bench *bench, const struct segment *segment, uint64_t offset,
                          uint64_t number)
{
    struct codec_record record;
    char name[SEGMENT_NAME_MAX];
    const char *bytes;
    size_t len;

    segment_name(segment->number, name);
    bytes = fake_disk_bytes(bench->disk, name, &len);
    assert_non_null(bytes);
    assert_true(offset + CODEC_NUMBER_SIZE <= len);
    assert_true(codec_head_good(bytes + offset, segment->salt, offset));
    assert_true(codec_read(bytes + offset, segment->salt, offset, &record));
    assert_int_equal(record.type, CODEC_END);
    assert_int_equal(record.number, number);
}

static void a_segment_gets_its_name_when_its_records_are_there(void **state)
{
    struct bench *bench = *state;
    struct segment_head head;
    size_t len;

    bench->first->previous_end = 0;
    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, true), 0);
    expect_trace(bench, "write spare 72+24\n"
                        "write spare 0+72\n"
                        "sync spare\n"
                        "rename spare " NAME_1 "\n"
                        "sync_directory\n");
    assert_true(segment_is_published(bench->first));
    assert_int_equal(bench->first->written, 96);
    assert_int_equal(bench->first->synced, 96);
    assert_int_equal(codec_read_segment_head(fake_disk_bytes(bench->disk, NAME_1, &len), &head),
                     CODEC_HEAD_GOOD);
    assert_int_equal(len, SIZE);
    assert_int_equal(head.number, 1);
    assert_int_equal(head.previous, 0);
    assert_int_equal(head.salt, 1001);
    assert_int_equal(head.ids_end, 65536);
    assert_int_equal(head.created_ms, 1700000000001);
    expect_record(bench, bench->first, 72, 5);
}

static void a_batch_without_sync_is_only_written(void **state)
{
    struct bench *bench = *state;

    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, true), 0);
    next_batch(bench);
    append(bench, bench->first, 6);
    append(bench, bench->first, 7);
    assert_int_equal(write_out(bench, bench->first, false), 0);
    expect_trace(bench, "write " NAME_1 " 96+48\n");
    assert_int_equal(bench->first->written, 144);
    assert_int_equal(bench->first->synced, 96);
    expect_record(bench, bench->first, 96, 6);
    expect_record(bench, bench->first, 120, 7);
}

static void a_segment_is_synced_as_far_as_it_was_written(void **state)
{
    struct bench *bench = *state;

    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, false), 0);
    // Meanwhile the loop appends.
    bench->first->end += 1000;
    assert_int_equal(run(bench, &(struct task){.kind = TASK_SYNC, .segment = bench->first}), 0);
    assert_int_equal(bench->first->synced, 96);
}

static void the_previous_segment_is_synced_first(void **state)
{
    struct bench *bench = *state;
    struct segment_head head;
    size_t len;

    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, false), 0);
    prepare(bench, bench->second);
    next_batch(bench);
    append(bench, bench->first, 6);
    // As if the two followed on each other in one file.
    bench->second->end = bench->first->end;
    append(bench, bench->second, 7);
    bench->second->previous_end = bench->first->end;
    assert_int_equal(write_out(bench, bench->first, false), 0);
    expect_trace(bench, "write " NAME_1 " 96+24\n"
                        "sync " NAME_1 "\n"
                        "write spare 120+24\n"
                        "write spare 0+72\n"
                        "sync spare\n"
                        "rename spare " NAME_2 "\n"
                        "sync_directory\n");
    assert_int_equal(bench->first->synced, 120);
    assert_int_equal(codec_read_segment_head(fake_disk_bytes(bench->disk, NAME_2, &len), &head),
                     CODEC_HEAD_GOOD);
    assert_int_equal(head.previous, 1);
    assert_int_equal(head.previous_end, 120);
}

static void fail_at(struct bench *bench, enum fake_op op, unsigned long nth, int error)
{
    fake_disk_heal(bench->disk);
    fake_disk_fault(bench->disk, &(struct fake_fault){
                                     .op = op, .nth = nth, .effect = FAKE_FAIL, .error = error});
}

// Two batches, of which the second is not synced.
static void write_two(struct bench *bench)
{
    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, false), 0);
    next_batch(bench);
    append(bench, bench->first, 6);
    assert_int_equal(write_out(bench, bench->first, false), 0);
    assert_int_equal(bench->first->synced, 96);
}

static void the_segment_of_batches_before_is_synced_too(void **state)
{
    struct bench *bench = *state;

    write_two(bench);
    prepare(bench, bench->second);
    next_batch(bench);
    append(bench, bench->second, 7);
    assert_int_equal(write_out(bench, bench->first, false), 0);
    assert_int_equal(strncmp(fake_disk_trace(bench->disk), "sync " NAME_1 "\n", 24), 0);
    assert_int_equal(bench->first->synced, 120);
}

static void a_segment_that_has_failed_may_fail_again(void **state)
{
    struct bench *bench = *state;

    write_two(bench);
    segment_set_state(bench->first, SEGMENT_FAILED);
    prepare(bench, bench->second);
    batch_move(&bench->batch, bench->second);
    fake_disk_trace_clear(bench->disk);
    fail_at(bench, FAKE_SYNC, 1, EIO);
    assert_int_equal(write_out(bench, bench->first, true), 0);
    assert_int_equal(bench->first->synced, 96);
    // The record was sealed again, for its present place.
    expect_record(bench, bench->second, 72, 6);
}

static struct blob *body_of(size_t len)
{
    struct blob *blob = blob_new(len);

    assert_non_null(blob);
    for (size_t i = 0; i < len; i++) {
        blob->bytes[i] = (char)(i * 31 + i / 251);
    }
    return blob;
}

static void append_job(struct bench *bench, struct segment *segment, uint64_t id, struct blob *blob)
{
    struct job_image image = {.now = {.id = id}, .queue = SLICE("mail"), .body = blob_slice(blob)};
    size_t whole = codec_job_size(4 + blob->len);
    size_t unpadded = CODEC_JOB_FIXED + 4;
    char *to = batch_reserve(&bench->batch, &bench->pool, segment, unpadded);

    assert_non_null(to);
    assert_int_equal(codec_put_job(to, &image, false), unpadded);
    batch_refer(&bench->batch, blob, whole - unpadded - blob->len);
}

static void expect_job(const struct bench *bench, const struct segment *segment, uint64_t offset,
                       uint64_t id, const struct blob *blob)
{
    struct codec_record record;
    size_t len;
    const char *bytes = fake_disk_bytes(bench->disk, NAME_1, &len);

    assert_true(codec_head_good(bytes + offset, segment->salt, offset));
    assert_int_equal(codec_record_size(bytes + offset), codec_job_size(4 + blob->len));
    assert_true(codec_read(bytes + offset, segment->salt, offset, &record));
    assert_int_equal(record.type, CODEC_JOB);
    assert_int_equal(record.job.now.id, id);
    assert_true(slice_equal(record.job.body, blob_slice(blob)));
}

static void a_body_that_is_referred_to_is_written_behind_its_record(void **state)
{
    struct bench *bench = *state;
    static const size_t lens[] = {1, 3, 4, 5, 11, 12, 100, 5000, 70000};
    uint64_t offset = CODEC_SEGMENT_HEAD;

    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        struct blob *blob = body_of(lens[i]);

        append(bench, bench->first, 1 + i);
        append_job(bench, bench->first, 10 + i, blob);
        blob_unref(blob);
    }
    assert_int_equal(write_out(bench, NULL, true), 0);
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        struct blob *blob = body_of(lens[i]);

        expect_record(bench, bench->first, offset, 1 + i);
        offset += CODEC_NUMBER_SIZE;
        expect_job(bench, bench->first, offset, 10 + i, blob);
        offset += codec_job_size(4 + lens[i]);
        blob_unref(blob);
    }
    assert_int_equal(bench->first->synced, offset);
}

static void many_chunks_are_written_in_few_calls(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = body_of(101);
    unsigned long before;

    for (uint64_t i = 0; i < 1000; i++) {
        append_job(bench, bench->first, 1 + i, blob);
    }
    before = fake_disk_calls(bench->disk, FAKE_WRITE);
    assert_int_equal(write_out(bench, NULL, true), 0);
    // The head, and slices of 341 chunks.
    assert_int_equal(fake_disk_calls(bench->disk, FAKE_WRITE) - before, 1 + 3);
    for (uint64_t i = 0; i < 1000; i++) {
        expect_job(bench, bench->first, CODEC_SEGMENT_HEAD + i * codec_job_size(105), 1 + i, blob);
    }
    blob_unref(blob);
}

static void short_writes_are_gone_on_with(void **state)
{
    struct bench *bench = *state;
    struct blob *blob = body_of(5000);
    const struct fake_fault shorts = {
        .op = FAKE_WRITE, .nth = 1, .effect = FAKE_SHORT, .lasting = true};

    append(bench, bench->first, 5);
    append_job(bench, bench->first, 6, blob);
    append(bench, bench->first, 7);
    fake_disk_fault(bench->disk, &shorts);
    assert_int_equal(write_out(bench, NULL, true), 0);
    expect_record(bench, bench->first, 72, 5);
    expect_job(bench, bench->first, 96, 6, blob);
    expect_record(bench, bench->first, 96 + codec_job_size(5004), 7);
    blob_unref(blob);
}

static void expect_failure(const struct bench *bench, const char *what, const struct segment *bad)
{
    assert_string_equal(bench->task.failed, what);
    assert_ptr_equal(bench->task.bad, bad);
}

static void a_write_that_fails_says_which_segment(void **state)
{
    struct bench *bench = *state;

    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, true), 0);
    next_batch(bench);
    append(bench, bench->first, 6);
    fail_at(bench, FAKE_WRITE, 1, EIO);
    assert_int_equal(write_out(bench, bench->first, true), EIO);
    expect_failure(bench, "write", bench->first);
    assert_int_equal(bench->first->written, 96);

    fail_at(bench, FAKE_SYNC, 1, EDQUOT);
    assert_int_equal(write_out(bench, bench->first, true), EDQUOT);
    expect_failure(bench, "sync", bench->first);
    assert_int_equal(bench->first->synced, 96);

    assert_int_equal(write_out(bench, bench->first, true), 0);
    assert_null(bench->task.failed);
    assert_null(bench->task.bad);
}

static void the_segment_before_can_be_the_one_that_fails(void **state)
{
    struct bench *bench = *state;

    write_two(bench);
    prepare(bench, bench->second);
    next_batch(bench);
    append(bench, bench->second, 7);
    fail_at(bench, FAKE_SYNC, 1, EIO);
    assert_int_equal(write_out(bench, bench->first, false), EIO);
    expect_failure(bench, "sync", bench->first);
    assert_false(segment_is_published(bench->second));
}

static void a_publishing_that_fails_leaves_the_spare(void **state)
{
    struct bench *bench = *state;
    static const enum fake_op ops[] = {FAKE_SYNC, FAKE_RENAME};

    append(bench, bench->first, 5);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        size_t len;

        fail_at(bench, ops[i], 1, EIO);
        assert_int_equal(write_out(bench, NULL, true), EIO);
        expect_failure(bench, "publish", bench->first);
        assert_false(segment_is_published(bench->first));
        assert_non_null(fake_disk_bytes(bench->disk, "spare", &len));
        assert_null(fake_disk_bytes(bench->disk, NAME_1, &len));
    }
    fake_disk_heal(bench->disk);
    assert_int_equal(write_out(bench, NULL, true), 0);
    expect_record(bench, bench->first, 72, 5);
}

// Its name may have lasted: the file must stay whole.
static void a_name_that_may_not_last_is_that_of_a_whole_file(void **state)
{
    struct bench *bench = *state;

    append(bench, bench->first, 5);
    fail_at(bench, FAKE_SYNC_DIRECTORY, 1, EIO);
    assert_int_equal(write_out(bench, NULL, true), EIO);
    expect_failure(bench, "publish", bench->first);
    assert_false(segment_is_published(bench->first));
    fake_disk_heal(bench->disk);
    prepare(bench, bench->second);
    expect_record(bench, bench->first, 72, 5);
}

static void a_spare_is_there_with_its_space_or_not_at_all(void **state)
{
    struct bench *bench = *state;
    const struct task task = {.kind = TASK_PREPARE, .segment = bench->second, .size = SIZE};
    uint64_t used;
    size_t len;

    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, true), 0);
    used = fake_disk_used(bench->disk);
    fake_disk_set_budget(bench->disk, used + SIZE - 1);
    assert_int_equal(run(bench, &task), ENOSPC);
    expect_failure(bench, "allocate", bench->second);
    assert_null(fake_disk_bytes(bench->disk, "spare", &len));
    assert_int_equal(fake_disk_opened(bench->disk), 1);
    assert_int_equal(fake_disk_used(bench->disk), used);
    assert_int_equal(bench->second->file, -1);

    fail_at(bench, FAKE_OPEN, 1, EACCES);
    assert_int_equal(run(bench, &task), EACCES);
    expect_failure(bench, "open", bench->second);

    fake_disk_set_budget(bench->disk, used + SIZE);
    assert_int_equal(run(bench, &task), 0);
    assert_int_equal(fake_disk_used(bench->disk), used + SIZE);
}

static void a_segment_grows_and_shrinks(void **state)
{
    struct bench *bench = *state;
    struct task task = {.kind = TASK_RESIZE, .segment = bench->first, .size = SIZE + 8192};

    fake_disk_set_budget(bench->disk, SIZE + 4096);
    assert_int_equal(run(bench, &task), ENOSPC);
    expect_failure(bench, "allocate", bench->first);
    assert_int_equal(fake_disk_used(bench->disk), SIZE);
    task.size = SIZE + 4096;
    assert_int_equal(run(bench, &task), 0);
    assert_int_equal(fake_disk_used(bench->disk), SIZE + 4096);
    // The loop looks at the size all the time: it changes it itself.
    assert_int_equal(bench->first->size, SIZE);
    bench->first->size = 4096;
    task.size = 4096;
    fail_at(bench, FAKE_TRUNCATE, 1, EIO);
    assert_int_equal(run(bench, &task), EIO);
    expect_failure(bench, "resize", bench->first);
    assert_int_equal(run(bench, &task), 0);
    assert_int_equal(fake_disk_used(bench->disk), 4096);
}

static void a_removed_file_stays_removed(void **state)
{
    struct bench *bench = *state;
    const struct task task = {.kind = TASK_REMOVE, .segment = bench->first, .size = SIZE};
    size_t len;

    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, true), 0);
    bench->io.close(bench->io.disk, bench->first->file);
    bench->first->file = -1;
    fail_at(bench, FAKE_REMOVE, 1, EIO);
    assert_int_equal(run(bench, &task), EIO);
    expect_failure(bench, "remove", bench->first);
    fail_at(bench, FAKE_SYNC_DIRECTORY, 1, EIO);
    assert_int_equal(run(bench, &task), EIO);
    expect_failure(bench, "remove", bench->first);
    // It is removed, but not durably yet.
    fake_disk_trace_clear(bench->disk);
    assert_int_equal(run(bench, &task), 0);
    expect_trace(bench, "remove " NAME_1 " = ENOENT\nsync_directory\n");
    fake_disk_cut(bench->disk, FAKE_KEEP_NONE, 1);
    assert_null(fake_disk_bytes(bench->disk, NAME_1, &len));
}

static void a_damaged_file_is_kept_under_another_name(void **state)
{
    struct bench *bench = *state;
    const struct task task = {.kind = TASK_REMOVE, .segment = bench->first};
    size_t len;

    append(bench, bench->first, 5);
    assert_int_equal(write_out(bench, NULL, true), 0);
    bench->io.close(bench->io.disk, bench->first->file);
    bench->first->damaged = true;
    assert_int_equal(run(bench, &task), 0);
    assert_null(fake_disk_bytes(bench->disk, NAME_1, &len));
    assert_non_null(fake_disk_bytes(bench->disk, "damaged.0000000001", &len));
    assert_int_equal(run(bench, &task), 0);
}

// Power cuts before, during and after each call of two batches: records that were reported as
// synced are there.
static void synced_bytes_survive_a_power_cut_at_every_call(void **state)
{
    struct bench *bench = *state;
    uint64_t synced = 0;

    for (unsigned long n = 1; synced < 96; n++) {
        struct bench again = {.disk = fake_disk_new()};
        void *self = &again;

        again.io = fake_disk_io(again.disk);
        again.first = segment_at(1);
        again.second = segment_at(2);
        batch_init(&again.batch, 1);
        fake_disk_fault(again.disk,
                        &(struct fake_fault){.op = FAKE_ANY, .nth = n, .effect = FAKE_HALT});
        if (run(&again,
                &(struct task){.kind = TASK_PREPARE, .segment = again.first, .size = SIZE}) == 0) {
            again.first->size = SIZE;
            append(&again, again.first, 5);
            (void)write_out(&again, NULL, true);
        }
        synced = again.first->synced;
        assert_true(synced == 0 || synced == 72 || synced == 96);
        fake_disk_cut(again.disk, n % 2 ? FAKE_KEEP_SOME : FAKE_KEEP_NONE, n);
        if (synced == 96) {
            expect_record(&again, again.first, 72, 5);
        }
        (void)teardown(&self);
    }
    (void)bench;
}

#define TASK_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TASK_TEST(a_segment_gets_its_name_when_its_records_are_there),
        TASK_TEST(a_batch_without_sync_is_only_written),
        TASK_TEST(a_segment_is_synced_as_far_as_it_was_written),
        TASK_TEST(the_previous_segment_is_synced_first),
        TASK_TEST(the_segment_of_batches_before_is_synced_too),
        TASK_TEST(a_segment_that_has_failed_may_fail_again),
        TASK_TEST(a_body_that_is_referred_to_is_written_behind_its_record),
        TASK_TEST(many_chunks_are_written_in_few_calls),
        TASK_TEST(short_writes_are_gone_on_with),
        TASK_TEST(a_write_that_fails_says_which_segment),
        TASK_TEST(the_segment_before_can_be_the_one_that_fails),
        TASK_TEST(a_publishing_that_fails_leaves_the_spare),
        TASK_TEST(a_name_that_may_not_last_is_that_of_a_whole_file),
        TASK_TEST(a_spare_is_there_with_its_space_or_not_at_all),
        TASK_TEST(a_segment_grows_and_shrinks),
        TASK_TEST(a_removed_file_stays_removed),
        TASK_TEST(a_damaged_file_is_kept_under_another_name),
        TASK_TEST(synced_bytes_survive_a_power_cut_at_every_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
