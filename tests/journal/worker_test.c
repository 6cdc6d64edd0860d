/* SPDX-License-Identifier: MIT */
// The thread that does tasks.
#include "journal/worker.h"

#include "core/base/log.h"
#include "journal/file/files.h"

#include "tests/journal/fake_worker.h"
#include "tests/journal/file/fake_disk.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SIZE = 4096 };

struct bench {
    struct fake_disk *disk;
    struct journal_io io;
    struct segment *segment;
    struct worker_thread *thread;
    struct journal_worker worker;
    int woken[2]; // a pipe: a byte for each task that is done
    // The properties of the thread, as `wake` found them; read after a byte has come.
    char name[16];
    sigset_t blocked;
};

static nsec_t ticks;

static nsec_t tick(void)
{
    ticks += 7;
    return ticks;
}

static void wake(void *context)
{
    struct bench *bench = context;

    (void)prctl(PR_GET_NAME, bench->name, 0, 0, 0);
    (void)sigprocmask(SIG_BLOCK, NULL, &bench->blocked);
    assert_int_equal(write(bench->woken[1], "w", 1), 1);
}

static int setup(void **state)
{
    static struct bench bench;
    struct task_runner runner;

    bench = (struct bench){.disk = fake_disk_new()};
    bench.io = fake_disk_io(bench.disk);
    bench.segment = segment_new(1, 5);
    assert_non_null(bench.segment);
    assert_int_equal(pipe(bench.woken), 0);
    runner = journal_files_runner(&bench.io);
    assert_int_equal(worker_thread_new(&bench.thread, &runner, tick, wake, &bench), 0);
    bench.worker = worker_thread_interface(bench.thread);
    *state = &bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    worker_thread_free(bench->thread);
    (void)close(bench->woken[0]);
    (void)close(bench->woken[1]);
    segment_free(bench->segment);
    fake_disk_free(bench->disk);
    return 0;
}

static void give(struct bench *bench, struct task *task)
{
    bench->worker.give(bench->worker.self, task);
}

static void expect_wake(struct bench *bench)
{
    char byte;

    assert_int_equal(read(bench->woken[0], &byte, 1), 1);
}

static void prepare(struct bench *bench)
{
    struct task task = {.kind = TASK_PREPARE, .segment = bench->segment, .size = SIZE};

    give(bench, &task);
    bench->worker.wait(bench->worker.self);
    expect_wake(bench);
    assert_int_equal(task.error, 0);
}

static void a_worker_thread_that_has_nothing_is_done(void **state)
{
    struct bench *bench = *state;

    assert_true(bench->worker.done(bench->worker.self));
    bench->worker.wait(bench->worker.self);
    worker_thread_free(NULL);
}

static void a_task_is_done_when_it_wakes_the_loop(void **state)
{
    struct bench *bench = *state;
    struct task task = {.kind = TASK_PREPARE, .segment = bench->segment, .size = SIZE, .error = -1};

    give(bench, &task);
    expect_wake(bench);
    assert_true(bench->worker.done(bench->worker.self));
    assert_int_equal(task.error, 0);
    assert_int_equal(task.took_for, 7);
    assert_true(segment_is_open(bench->segment));
}

static void a_waiting_thread_sees_the_result(void **state)
{
    struct bench *bench = *state;
    struct task task = {.kind = TASK_PREPARE, .segment = bench->segment, .size = SIZE};

    fake_disk_set_budget(bench->disk, SIZE - 1);
    give(bench, &task);
    bench->worker.wait(bench->worker.self);
    assert_true(bench->worker.done(bench->worker.self));
    assert_int_equal(task.error, ENOSPC);
    assert_string_equal(task.failed, "allocate");
    expect_wake(bench);
}

static void a_polling_thread_sees_the_result(void **state)
{
    struct bench *bench = *state;
    struct task task = {.kind = TASK_PREPARE, .segment = bench->segment, .size = SIZE, .error = -1};

    give(bench, &task);
    while (!bench->worker.done(bench->worker.self)) {
        (void)poll(NULL, 0, 0);
    }
    assert_int_equal(task.error, 0);
    expect_wake(bench);
}

static void the_loop_appends_while_a_batch_is_written(void **state)
{
    struct bench *bench = *state;
    struct chunk_pool pool = {0};
    struct log_batch batches[2];
    struct task task;

    prepare(bench);
    bench->segment->end = 72;
    batch_init(&batches[0], 0);
    for (unsigned i = 0; i < 20; i++) {
        struct log_batch *now = &batches[i % 2];
        char *to = batch_reserve(now, &pool, bench->segment, 24);

        assert_non_null(to);
        // As a record of 24 bytes would begin: enough to be sealed.
        memset(to, 0, 24);
        to[8] = 8;
        if (i > 0) {
            bench->worker.wait(bench->worker.self);
            expect_wake(bench);
            assert_int_equal(task.error, 0);
            batch_drop(&batches[(i + 1) % 2], &pool);
        }
        task = (struct task){.kind = TASK_WRITE, .sync = i % 3 == 0, .batch = now};
        task.before = bench->segment;
        give(bench, &task);
        batch_init(&batches[(i + 1) % 2], i + 1);
    }
    bench->worker.wait(bench->worker.self);
    assert_int_equal(bench->segment->written, 72 + 20 * 24);
    batch_drop(&batches[0], &pool);
    batch_drop(&batches[1], &pool);
    chunk_pool_clear(&pool);
}

static void signals_are_left_to_the_loop(void **state)
{
    struct bench *bench = *state;
    sigset_t mine;

    prepare(bench);
    assert_string_equal(bench->name, "tandem-journal");
    assert_true(sigismember(&bench->blocked, SIGTERM));
    assert_true(sigismember(&bench->blocked, SIGCHLD));
    assert_true(sigismember(&bench->blocked, SIGPIPE));
    assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mine), 0);
    assert_false(sigismember(&mine, SIGTERM));
}

static void a_worker_thread_that_is_freed_finishes_its_task(void **state)
{
    struct bench *bench = *state;
    struct task task = {.kind = TASK_PREPARE, .segment = bench->segment, .size = SIZE, .error = -1};

    give(bench, &task);
    worker_thread_free(bench->thread);
    bench->thread = NULL;
    assert_int_equal(task.error, 0);
    expect_wake(bench);
}

static void without_memory_there_is_no_worker_thread(void **state)
{
    struct bench *bench = *state;
    struct worker_thread *other;
    struct task_runner runner;

    nth_alloc_fail(1);
    runner = journal_files_runner(&bench->io);
    assert_int_equal(worker_thread_new(&other, &runner, tick, wake, bench), ENOMEM);
    nth_alloc_fail(0);
    assert_null(other);
}

static void a_fake_worker_runs_tasks_at_once_or_on_request(void **state)
{
    struct bench *bench = *state;
    struct fake_worker fake = {.io = &bench->io, .takes_for = 3};
    struct journal_worker worker = fake_worker_interface(&fake);
    struct task task = {.kind = TASK_PREPARE, .segment = bench->segment, .size = SIZE};

    assert_false(fake_worker_run(&fake));
    worker.give(worker.self, &task);
    assert_true(worker.done(worker.self));
    assert_int_equal(task.took_for, 3);
    fake.waits = true;
    task = (struct task){.kind = TASK_SYNC, .segment = bench->segment};
    worker.give(worker.self, &task);
    assert_false(worker.done(worker.self));
    assert_true(fake_worker_run(&fake));
    assert_true(worker.done(worker.self));
    worker.give(worker.self, &task);
    worker.wait(worker.self);
    assert_int_equal(fake.count, 3);
}

#define HAND_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

struct call {
    struct bench *bench;
    struct task task;
    pthread_t by;
};

static void prepare_within(void *context)
{
    struct call *call = context;
    const struct journal_worker *worker = &call->bench->worker;

    call->by = pthread_self();
    give(call->bench, &call->task);
    assert_true(worker->done(worker->self));
    worker->wait(worker->self);
}

static void a_call_is_made_by_the_thread_and_its_tasks_at_once(void **state)
{
    struct bench *bench = *state;
    struct call call = {
        .bench = bench,
        .task = {.kind = TASK_PREPARE, .segment = bench->segment, .size = SIZE, .error = -1}};

    worker_thread_call(bench->thread, prepare_within, &call);
    expect_wake(bench);
    assert_true(worker_thread_idle(bench->thread));
    assert_false(pthread_equal(call.by, pthread_self()));
    assert_int_equal(call.task.error, 0);
    assert_true(segment_is_open(bench->segment));
    // Tasks are done as before.
    prepare(bench);
}

// A call that waits for as long as the disk hangs: until the log has told of it.
static void hang(void *context)
{
    const int *told = context;
    char byte;

    assert_int_equal(read(told[0], &byte, 1), 1);
}

static void end_hang(void *context, enum log_level level, const char *event,
                     const struct log_field *fields, size_t count)
{
    const int *told = context;

    (void)fields;
    (void)count;
    assert_int_equal(level, LOG_LEVEL_WARN);
    assert_string_equal(event, "journal_slow");
    assert_int_equal(write(told[1], "t", 1), 1);
}

static void a_long_wait_is_logged(void **state)
{
    struct bench *bench = *state;
    int told[2];

    assert_int_equal(pipe(told), 0);
    log_set_sink(end_hang, told, LOG_LEVEL_WARN);
    worker_thread_call(bench->thread, hang, told);
    bench->worker.wait(bench->worker.self);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    expect_wake(bench);
    (void)close(told[0]);
    (void)close(told[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HAND_TEST(a_worker_thread_that_has_nothing_is_done),
        HAND_TEST(a_task_is_done_when_it_wakes_the_loop),
        HAND_TEST(a_waiting_thread_sees_the_result),
        HAND_TEST(a_polling_thread_sees_the_result),
        HAND_TEST(the_loop_appends_while_a_batch_is_written),
        HAND_TEST(signals_are_left_to_the_loop),
        HAND_TEST(a_worker_thread_that_is_freed_finishes_its_task),
        HAND_TEST(without_memory_there_is_no_worker_thread),
        HAND_TEST(a_fake_worker_runs_tasks_at_once_or_on_request),
        HAND_TEST(a_call_is_made_by_the_thread_and_its_tasks_at_once),
        HAND_TEST(a_long_wait_is_logged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
