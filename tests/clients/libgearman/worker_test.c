/* SPDX-License-Identifier: MIT */
// libgearman's workers: several functions, limits, keys, reducers, and lost connections.
#include "tests/clients/libgearman/bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static gearman_return_t work_constant(gearman_job_st *job, void *context)
{
    const char *text = context;

    return gearman_job_send_complete(job, text, strlen(text));
}

// Tells the job's key and reducer.
static gearman_return_t work_key(gearman_job_st *job, void *context)
{
    const char *key = gearman_job_unique(job);

    (void)context;
    return gearman_job_send_complete(job, key, strlen(key));
}

// Reads a byte from the pipe before it answers: the test says when.
static gearman_return_t work_when_let_go(gearman_job_st *job, void *context)
{
    const int *pipe_fds = context;
    char byte;

    if (read(pipe_fds[0], &byte, 1) != 1)
        return GEARMAN_ERROR;
    return gearman_job_send_complete(job, "late", 4);
}

static void let_go(const int *pipe_fds)
{
    assert_int_equal(write(pipe_fds[1], "x", 1), 1);
}

static struct worker *registered(struct bed *bed, uint32_t limit_ms)
{
    struct worker *worker = bed_worker(bed);

    assert_int_equal(gearman_worker_register(worker->gearman, bed->function, limit_ms),
                     GEARMAN_SUCCESS);
    return worker;
}

static gearman_job_st *grab(struct worker *worker)
{
    gearman_return_t code;
    gearman_job_st *job = gearman_worker_grab_job(worker->gearman, NULL, &code);

    assert_int_equal(code, GEARMAN_SUCCESS);
    return job;
}

static void wait_until_gone(struct bed *bed, const gearman_job_handle_t handle)
{
    while (told_by_handle(bed->second, handle).is_known)
        ;
}

static void wait_until_running(struct bed *bed, const gearman_job_handle_t handle)
{
    while (!told_by_handle(bed->second, handle).is_running)
        ;
}

struct attempts {
    int failed;
    struct timespec at[2];
};

static gearman_return_t work_that_fails(gearman_job_st *job, void *context)
{
    struct attempts *attempts = context;

    assert_in_range(attempts->failed, 0, 1);
    (void)clock_gettime(CLOCK_MONOTONIC, &attempts->at[attempts->failed++]);
    return gearman_job_send_fail(job);
}

// The broker has a policy for such a function (retried.conf), of which no worker knows.
static void a_job_that_fails_twice_has_been_retried_and_is_a_dead_letter_then(void **state)
{
    struct bed *bed = *state;
    struct attempts attempts = {0};
    gearman_job_handle_t handle = "";
    struct worker *dead = bed_worker(bed);
    char name[sizeof bed->function + 16];
    char dead_name[sizeof bed->function + 16];
    gearman_job_st *job;

    (void)snprintf(name, sizeof name, "%s.retried", bed->function);
    (void)snprintf(dead_name, sizeof dead_name, "%s.retried.dead", bed->function);
    worker_can_do(dead, name, work_that_fails, 0, &attempts);
    assert_int_equal(gearman_worker_register(dead->gearman, dead_name, 0), GEARMAN_SUCCESS);
    submit(bed->client, name, NULL, "work", handle);
    // The same worker fails it twice, each time as it does its work, and then gets the dead letter.
    assert_int_equal(gearman_worker_work(dead->gearman), GEARMAN_SUCCESS);
    assert_int_equal(gearman_worker_work(dead->gearman), GEARMAN_SUCCESS);
    job = grab(dead);
    assert_string_equal(gearman_job_handle(job), handle);
    assert_string_equal(gearman_job_function_name(job), dead_name);
    assert_int_equal(gearman_job_send_complete(job, NULL, 0), GEARMAN_SUCCESS);
    gearman_job_free(job);
    assert_true(attempts.at[1].tv_sec >= attempts.at[0].tv_sec + 2);
}

static void a_worker_does_the_jobs_of_two_functions(void **state)
{
    struct bed *bed = *state;
    struct worker *worker = bed_worker(bed);

    worker_can_do(worker, bed->function, work_constant, 0, "one");
    worker_can_do(worker, bed->other, work_constant, 0, "two");
    worker_start(worker);
    expect_done(bed->client, bed->function, "work", "one");
    expect_done(bed->client, bed->other, "work", "two");
}

static void a_worker_sees_the_key_of_a_job(void **state)
{
    struct bed *bed = *state;
    struct worker *worker = bed_worker(bed);
    size_t size;
    gearman_return_t code;

    gearman_worker_add_options(worker->gearman, GEARMAN_WORKER_GRAB_UNIQ);
    worker_can_do(worker, bed->function, work_key, 0, NULL);
    worker_start(worker);
    char *key = gearman_client_do(bed->client, bed->function, "the key", "work", 4, &size, &code);
    assert_int_equal(code, GEARMAN_SUCCESS);
    assert_int_equal(size, 7);
    assert_memory_equal(key, "the key", 7);
    free(key);
}

static void a_worker_that_wants_no_job_gets_none(void **state)
{
    struct bed *bed = *state;
    struct worker *worker = registered(bed, 0);
    gearman_job_handle_t handle = "";

    gearman_worker_set_timeout(worker->gearman, 50);
    assert_int_equal(gearman_worker_work(worker->gearman), GEARMAN_TIMEOUT);
    assert_int_equal(gearman_worker_unregister_all(worker->gearman), GEARMAN_SUCCESS);
    submit(bed->client, bed->function, NULL, "work", handle);
    assert_int_equal(gearman_worker_work(worker->gearman), GEARMAN_NO_REGISTERED_FUNCTIONS);
    struct told told = told_by_handle(bed->second, handle);
    assert_true(told.is_known && !told.is_running);
}

static void the_job_of_a_worker_that_leaves_is_given_to_another(void **state)
{
    struct bed *bed = *state;
    struct worker *leaving = registered(bed, 0);
    gearman_job_handle_t handle = "";

    submit(bed->client, bed->function, NULL, "work", handle);
    gearman_job_st *job = grab(leaving);
    assert_string_equal(gearman_job_handle(job), handle);
    gearman_job_free(job);
    worker_stop(leaving);
    bed_start(bed, work_echo, NULL);
    wait_until_gone(bed, handle);
}

static void a_job_that_is_held_too_long_is_given_to_another(void **state)
{
    struct bed *bed = *state;
    struct worker *slow = registered(bed, 1000);
    gearman_job_handle_t handle = "";

    submit(bed->client, bed->function, NULL, "work", handle);
    gearman_job_st *job = grab(slow);
    bed_start(bed, work_echo, NULL);
    wait_until_gone(bed, handle);
    gearman_job_free(job);
}

static void an_idle_worker_connects_again_when_its_connection_broke(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handle = "";

    bed_start(bed, work_nothing, NULL);
    submit(bed->client, bed->function, NULL, "work", handle);
    wait_until_gone(bed, handle);
    gearman_client_free(bed->client);
    gearman_client_free(bed->second);
    bed_cut();
    bed->client = bed_client();
    bed->second = bed_client();
    submit(bed->client, bed->function, NULL, "work", handle);
    wait_until_gone(bed, handle);
}

static void a_worker_whose_connection_broke_does_its_job_again(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handle = "";
    int pipe_fds[2];
    struct worker *worker = bed_worker(bed);

    assert_int_equal(pipe(pipe_fds), 0);
    worker_can_do(worker, bed->function, work_when_let_go, 0, pipe_fds);
    worker_start(worker);
    submit(bed->client, bed->function, NULL, "work", handle);
    wait_until_running(bed, handle);
    gearman_client_free(bed->client);
    gearman_client_free(bed->second);
    bed_cut();
    bed->client = bed_client();
    bed->second = bed_client();
    while (told_by_handle(bed->second, handle).is_running)
        ;
    let_go(pipe_fds);
    let_go(pipe_fds);
    wait_until_gone(bed, handle);
    worker_stop(worker);
    bed->worker_count--;
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

// Cuts the workload into its bytes, each of which is a job of the reducer's function.
static gearman_return_t work_split(gearman_job_st *job, void *context)
{
    const char *load = gearman_job_workload(job);

    (void)context;
    for (size_t i = 0; i < gearman_job_workload_size(job); i++) {
        gearman_return_t code = gearman_job_send_data(job, load + i, 1);
        if (code)
            return code;
    }
    return GEARMAN_SUCCESS;
}

static gearman_return_t join(gearman_aggregator_st *aggregator, gearman_task_st *task,
                             gearman_result_st *result)
{
    char text[64];
    size_t len = 0;

    (void)aggregator;
    for (; task; task = gearman_next(task)) {
        gearman_result_st *part = gearman_task_result(task);
        size_t size = part ? gearman_result_size(part) : 0;
        if (size > sizeof(text) - len)
            return GEARMAN_ERROR;
        memcpy(text + len, gearman_result_value(part), size);
        len += size;
    }
    return gearman_result_store_value(result, text, len);
}

static gearman_return_t work_twice(gearman_job_st *job, void *context)
{
    const char *load = gearman_job_workload(job);
    char twice[2] = {load[0], load[0]};

    (void)context;
    return gearman_job_send_complete(job, twice, sizeof(twice));
}

static void a_job_is_split_for_a_reducer_and_its_parts_are_joined(void **state)
{
    struct bed *bed = *state;
    gearman_argument_t load = gearman_argument_make(NULL, 0, "abc", 3);
    struct worker *splitter = bed_worker(bed);
    struct worker *doubler = bed_worker(bed);

    assert_int_equal(gearman_worker_define_function(
                         splitter->gearman, bed->function, strlen(bed->function),
                         gearman_function_create_partition(work_split, join), 0, NULL),
                     GEARMAN_SUCCESS);
    worker_start(splitter);
    worker_can_do(doubler, bed->other, work_twice, 0, NULL);
    worker_start(doubler);
    gearman_task_st *task =
        gearman_execute_by_partition(bed->client, bed->function, strlen(bed->function), bed->other,
                                     strlen(bed->other), NULL, 0, NULL, &load, NULL);
    assert_non_null(task);
    assert_int_equal(gearman_task_return(task), GEARMAN_SUCCESS);
    gearman_result_st *result = gearman_task_result(task);
    assert_int_equal(gearman_result_size(result), 6);
    // libgearman keeps its tasks in a list with the newest first.
    assert_memory_equal(gearman_result_value(result), "ccbbaa", 6);
}

static void what_a_worker_echoes_comes_back(void **state)
{
    struct bed *bed = *state;

    assert_int_equal(gearman_worker_echo(bed_worker(bed)->gearman, "are you there?", 14),
                     GEARMAN_SUCCESS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bed_open, bed_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_worker_does_the_jobs_of_two_functions),
        TEST(a_job_that_fails_twice_has_been_retried_and_is_a_dead_letter_then),
        TEST(a_worker_sees_the_key_of_a_job),
        TEST(a_worker_that_wants_no_job_gets_none),
        TEST(the_job_of_a_worker_that_leaves_is_given_to_another),
        TEST(a_job_that_is_held_too_long_is_given_to_another),
        TEST(an_idle_worker_connects_again_when_its_connection_broke),
        TEST(a_worker_whose_connection_broke_does_its_job_again),
        TEST(a_job_is_split_for_a_reducer_and_its_parts_are_joined),
        TEST(what_a_worker_echoes_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
