/* SPDX-License-Identifier: MIT */
// libgearman's clients: one job at a time, and what the server tells of jobs.
#include "tests/clients/libgearman/bed.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1024 * 1024)

// Several clients do one job at a time at the same moment.
struct caller {
    pthread_t thread;
    gearman_client_st *client;
    const char *function, *key, *text;
    char *result;
    size_t size;
    gearman_return_t code;
};

static void *call(void *argument)
{
    struct caller *caller = argument;

    caller->result = gearman_client_do(caller->client, caller->function, caller->key, caller->text,
                                       strlen(caller->text), &caller->size, &caller->code);
    return NULL;
}

static void caller_start(struct caller *caller)
{
    assert_int_equal(pthread_create(&caller->thread, NULL, call, caller), 0);
}

static void caller_wait(struct caller *caller)
{
    assert_int_equal(pthread_join(caller->thread, NULL), 0);
}

static void do_at(gearman_client_st *client, const char *function, gearman_job_priority_t pri,
                  gearman_job_handle_t handle)
{
    gearman_return_t code = GEARMAN_MAX_RETURN;
    static const char *const texts[] = {"high", "normal", "low"};
    const char *text = texts[pri];

    if (pri == GEARMAN_JOB_PRIORITY_HIGH)
        code =
            gearman_client_do_high_background(client, function, NULL, text, strlen(text), handle);
    else if (pri == GEARMAN_JOB_PRIORITY_LOW)
        code = gearman_client_do_low_background(client, function, NULL, text, strlen(text), handle);
    else
        code = gearman_client_do_background(client, function, NULL, text, strlen(text), handle);
    assert_int_equal(code, GEARMAN_SUCCESS);
}

// Grabs the next job of the bed's function by hand.
static gearman_job_st *grab(struct worker *worker)
{
    gearman_return_t code;
    gearman_job_st *job = NULL;

    do
        job = gearman_worker_grab_job(worker->gearman, NULL, &code);
    while (!job && (code == GEARMAN_TIMEOUT || code == GEARMAN_NO_JOBS));
    assert_non_null(job);
    return job;
}

static struct worker *registered(struct bed *bed)
{
    struct worker *worker = bed_worker(bed);

    assert_int_equal(gearman_worker_register(worker->gearman, bed->function, 0), GEARMAN_SUCCESS);
    return worker;
}

static char *new_load(size_t len)
{
    char *load = malloc(len);

    assert_non_null(load);
    for (size_t i = 0; i < len; i++)
        load[i] = (char)(i * 31 >> 4);
    return load;
}

static void a_foreground_job_is_done(void **state)
{
    struct bed *bed = *state;

    bed_start(bed, work_echo, NULL);
    expect_done(bed->client, bed->function, "work", "work");
}

static void a_client_does_five_hundred_jobs_one_after_the_other(void **state)
{
    struct bed *bed = *state;

    bed_start(bed, work_echo, NULL);
    for (int i = 0; i < 500; i++)
        expect_done(bed->client, bed->function, "work", "work");
}

static void a_workload_and_a_result_of_no_bytes_go_through(void **state)
{
    struct bed *bed = *state;
    size_t size = 1;
    gearman_return_t code = GEARMAN_MAX_RETURN;

    bed_start(bed, work_echo, NULL);
    void *result = gearman_client_do(bed->client, bed->function, NULL, NULL, 0, &size, &code);
    assert_int_equal(code, GEARMAN_SUCCESS);
    assert_int_equal(size, 0);
    free(result);
}

// libgearman's small windows make it slow on a loopback interface, so others try larger ones.
static void a_workload_and_a_result_of_a_mib_go_through(void **state)
{
    struct bed *bed = *state;
    size_t size = 0;
    gearman_return_t code = GEARMAN_MAX_RETURN;
    char *load = new_load(MIB);

    bed_start(bed, work_echo, NULL);
    char *result = gearman_client_do(bed->client, bed->function, NULL, load, MIB, &size, &code);
    assert_int_equal(code, GEARMAN_SUCCESS);
    assert_int_equal(size, MIB);
    assert_int_equal(memcmp(load, result, size), 0);
    free(result);
    free(load);
}

// Debian's gearmand has no limit.
static void a_workload_that_is_too_large_is_refused(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handle = "";
    char *load = calloc(66, MIB);

    assert_non_null(load);
    assert_int_not_equal(
        gearman_client_do_background(bed->client, bed->function, NULL, load, 66 * MIB, handle),
        GEARMAN_SUCCESS);
    submit(bed->second, bed->function, NULL, "this is not", handle);
    free(load);
}

static void high_goes_before_normal_and_normal_before_low(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handles[3];
    struct worker *worker = registered(bed);

    for (int pri = GEARMAN_JOB_PRIORITY_LOW; pri >= GEARMAN_JOB_PRIORITY_HIGH; pri--)
        do_at(bed->client, bed->function, (gearman_job_priority_t)pri, handles[pri]);
    for (int pri = GEARMAN_JOB_PRIORITY_HIGH; pri <= GEARMAN_JOB_PRIORITY_LOW; pri++) {
        gearman_job_st *job = grab(worker);
        assert_string_equal(gearman_job_handle(job), handles[pri]);
        assert_int_equal(gearman_job_send_complete(job, NULL, 0), GEARMAN_SUCCESS);
        gearman_job_free(job);
    }
}

static void a_job_is_known_by_its_handle_and_key_until_it_is_done(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handle = "";
    struct worker *worker = registered(bed);

    submit(bed->client, bed->function, bed->function, "work", handle);
    struct told told = told_by_handle(bed->client, handle);
    assert_true(told.is_known && !told.is_running);
    told = told_by_key(bed->client, bed->function);
    assert_true(told.is_known && !told.is_running && told.clients == 0);

    gearman_job_st *job = grab(worker);
    assert_int_equal(gearman_job_send_status(job, 3, 4), GEARMAN_SUCCESS);
    do
        told = told_by_handle(bed->client, handle);
    while (told.denominator == 0);
    assert_true(told.is_known && told.is_running && told.numerator == 3 && told.denominator == 4);
    told = told_by_key(bed->client, bed->function);
    assert_true(told.is_known && told.is_running && told.numerator == 3 && told.denominator == 4);

    assert_int_equal(gearman_job_send_complete(job, NULL, 0), GEARMAN_SUCCESS);
    gearman_job_free(job);
    do
        told = told_by_handle(bed->client, handle);
    while (told.is_known);
    assert_false(told_by_key(bed->client, bed->function).is_known);
}

static void a_job_that_never_was_is_unknown(void **state)
{
    struct bed *bed = *state;
    const gearman_job_handle_t handle = "H:nowhere:1";

    assert_false(told_by_handle(bed->client, handle).is_known);
    assert_false(told_by_key(bed->client, "no such key").is_known);
}

static void clients_with_the_same_key_share_a_job_and_are_counted(void **state)
{
    struct bed *bed = *state;
    struct caller callers[3] = {0};
    gearman_job_handle_t handle = "";

    for (int i = 0; i < 3; i++) {
        callers[i].client = bed_client();
        callers[i].function = callers[i].key = bed->function;
        callers[i].text = "work";
        caller_start(&callers[i]);
    }
    while (told_by_key(bed->client, bed->function).clients < 3)
        ;
    submit(bed->second, bed->function, bed->function, "dropped", handle);
    assert_int_equal(told_by_key(bed->client, bed->function).clients, 3);

    bed_start(bed, work_echo, NULL);
    for (int i = 0; i < 3; i++) {
        caller_wait(&callers[i]);
        assert_int_equal(callers[i].code, GEARMAN_SUCCESS);
        assert_int_equal(callers[i].size, 4);
        assert_memory_equal(callers[i].result, "work", 4);
        free(callers[i].result);
        gearman_client_free(callers[i].client);
    }
    while (told_by_handle(bed->second, handle).is_known)
        ;
}

static void a_key_of_64_bytes_is_taken_and_a_longer_one_refused(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handle = "", again = "";
    char key[66];

    memset(key, 'k', sizeof(key));
    key[63] = '\0';
    submit(bed->client, bed->function, key, "work", handle);
    submit(bed->client, bed->function, key, "work", again);
    assert_string_equal(handle, again);
    key[63] = 'k';
    key[65] = '\0';
    assert_int_not_equal(
        gearman_client_do_background(bed->second, bed->function, key, "work", 4, handle),
        GEARMAN_SUCCESS);
}

static void a_failed_job_is_told_as_failed(void **state)
{
    struct bed *bed = *state;
    size_t size;
    gearman_return_t code;

    bed_start(bed, work_fail, NULL);
    assert_null(gearman_client_do(bed->client, bed->function, NULL, "work", 4, &size, &code));
    assert_int_equal(code, GEARMAN_WORK_FAIL);
}

static void a_client_gives_up_when_its_time_is_over_and_goes_on(void **state)
{
    struct bed *bed = *state;
    size_t size;
    gearman_return_t code;

    gearman_client_set_timeout(bed->client, 50);
    assert_null(gearman_client_do(bed->client, bed->function, NULL, "work", 4, &size, &code));
    assert_int_equal(code, GEARMAN_TIMEOUT);
    gearman_client_set_timeout(bed->client, FOREVER_MS);
    bed_start(bed, work_echo, NULL);
    expect_done(bed->second, bed->function, "work", "work");
}

static void a_client_connects_again_when_its_connection_broke(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handle = "";

    submit(bed->client, bed->function, NULL, "before", handle);
    bed_cut();
    gearman_client_set_timeout(bed->client, 200); // it does not see by itself what happened
    while (gearman_client_do_background(bed->client, bed->function, NULL, "after", 5, handle) !=
           GEARMAN_SUCCESS)
        ;
    gearman_client_set_timeout(bed->client, FOREVER_MS);
    assert_true(told_by_handle(bed->client, handle).is_known);
}

static void a_namespace_keeps_functions_apart(void **state)
{
    struct bed *bed = *state;
    struct worker *worker = bed_worker(bed);

    gearman_worker_set_namespace(worker->gearman, "ours-", 5);
    worker_can_do(worker, bed->function, work_echo, 0, NULL);
    worker_start(worker);
    gearman_client_set_namespace(bed->client, "ours-", 5);
    expect_done(bed->client, bed->function, "work", "work");
    gearman_client_set_namespace(bed->client, NULL, 0);
    gearman_client_set_timeout(bed->client, 50);
    size_t size;
    gearman_return_t code;
    assert_null(gearman_client_do(bed->client, bed->function, NULL, "work", 4, &size, &code));
    assert_int_equal(code, GEARMAN_TIMEOUT);
}

static void what_is_echoed_comes_back(void **state)
{
    struct bed *bed = *state;
    char *load = calloc(5, MIB);

    assert_non_null(load);
    assert_int_equal(gearman_client_echo(bed->client, "are you there?", 14), GEARMAN_SUCCESS);
    assert_int_equal(gearman_client_echo(bed->client, load, 5 * MIB), GEARMAN_SUCCESS);
    free(load);
}

static void an_unknown_option_is_refused(void **state)
{
    struct bed *bed = *state;

    assert_true(gearman_client_set_server_option(bed->client, "exceptions", 10));
    assert_false(gearman_client_set_server_option(bed->client, "no such thing", 13));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bed_open, bed_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_foreground_job_is_done),
        TEST(a_client_does_five_hundred_jobs_one_after_the_other),
        TEST(a_workload_and_a_result_of_no_bytes_go_through),
        TEST(a_workload_and_a_result_of_a_mib_go_through),
        TEST(a_workload_that_is_too_large_is_refused),
        TEST(high_goes_before_normal_and_normal_before_low),
        TEST(a_job_is_known_by_its_handle_and_key_until_it_is_done),
        TEST(a_job_that_never_was_is_unknown),
        TEST(clients_with_the_same_key_share_a_job_and_are_counted),
        TEST(a_key_of_64_bytes_is_taken_and_a_longer_one_refused),
        TEST(a_failed_job_is_told_as_failed),
        TEST(a_client_gives_up_when_its_time_is_over_and_goes_on),
        TEST(a_client_connects_again_when_its_connection_broke),
        TEST(a_namespace_keeps_functions_apart),
        TEST(what_is_echoed_comes_back),
        TEST(an_unknown_option_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
