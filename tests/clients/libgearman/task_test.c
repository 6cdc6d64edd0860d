/* SPDX-License-Identifier: MIT */
// libgearman's tasks: many jobs at once, with callbacks, without blocking, and for a later moment.
#include "tests/clients/libgearman/bed.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MANY 1000

// The calls of the callbacks of a client.
struct diary {
    char text[512];
    int created, completed, failed;
};

static struct diary *diary_of(gearman_task_st *task)
{
    return gearman_task_context(task);
}

static void note(gearman_task_st *task, const char *what)
{
    struct diary *diary = diary_of(task);
    size_t used = strlen(diary->text);

    snprintf(diary->text + used, sizeof(diary->text) - used, "%s%s:%.*s", used ? " " : "", what,
             (int)gearman_task_data_size(task),
             gearman_task_data(task) ? (const char *)gearman_task_data(task) : "");
}

static gearman_return_t on_created(gearman_task_st *task)
{
    diary_of(task)->created++;
    return GEARMAN_SUCCESS;
}

static gearman_return_t on_data(gearman_task_st *task)
{
    note(task, "data");
    return GEARMAN_SUCCESS;
}

static gearman_return_t on_warning(gearman_task_st *task)
{
    note(task, "warning");
    return GEARMAN_SUCCESS;
}

static gearman_return_t on_status(gearman_task_st *task)
{
    struct diary *diary = diary_of(task);
    size_t used = strlen(diary->text);

    snprintf(diary->text + used, sizeof(diary->text) - used, "%s%u/%u", used ? " " : "",
             gearman_task_numerator(task), gearman_task_denominator(task));
    return GEARMAN_SUCCESS;
}

static gearman_return_t on_complete(gearman_task_st *task)
{
    diary_of(task)->completed++;
    note(task, "complete");
    return GEARMAN_SUCCESS;
}

static gearman_return_t on_exception(gearman_task_st *task)
{
    note(task, "exception");
    return GEARMAN_SUCCESS;
}

static gearman_return_t on_fail(gearman_task_st *task)
{
    diary_of(task)->failed++;
    return GEARMAN_SUCCESS;
}

static void keep_diaries(gearman_client_st *client)
{
    gearman_client_set_created_fn(client, on_created);
    gearman_client_set_data_fn(client, on_data);
    gearman_client_set_warning_fn(client, on_warning);
    gearman_client_set_status_fn(client, on_status);
    gearman_client_set_complete_fn(client, on_complete);
    gearman_client_set_exception_fn(client, on_exception);
    gearman_client_set_fail_fn(client, on_fail);
}

static gearman_task_st *add(struct bed *bed, const char *key, const char *text, struct diary *diary)
{
    gearman_return_t code = GEARMAN_MAX_RETURN;
    gearman_task_st *task = gearman_client_add_task(bed->client, NULL, diary, bed->function, key,
                                                    text, strlen(text), &code);

    assert_int_equal(code, GEARMAN_SUCCESS);
    return task;
}

static gearman_return_t work_in_parts(gearman_job_st *job, void *context)
{
    (void)context;
    if (gearman_job_send_data(job, "one", 3) || gearman_job_send_warning(job, "careful", 7) ||
        gearman_job_send_status(job, 1, 2) || gearman_job_send_data(job, "two", 3))
        return GEARMAN_ERROR;
    return gearman_job_send_complete(job, "all", 3);
}

static gearman_return_t work_except(gearman_job_st *job, void *context)
{
    (void)context;
    return gearman_job_send_exception(job, "no such file", 12);
}

static void parts_a_warning_and_progress_come_before_the_result(void **state)
{
    struct bed *bed = *state;
    struct diary diary = {0};

    bed_start(bed, work_in_parts, NULL);
    keep_diaries(bed->client);
    add(bed, NULL, "work", &diary);
    assert_int_equal(gearman_client_run_tasks(bed->client), GEARMAN_SUCCESS);
    assert_string_equal(diary.text, "data:one warning:careful 1/2 data:two complete:all");
    assert_int_equal(diary.created, 1);
}

static void a_thousand_tasks_of_all_priorities_are_done_by_three_workers(void **state)
{
    struct bed *bed = *state;
    static struct diary diaries[MANY];
    gearman_return_t code = GEARMAN_MAX_RETURN;

    memset(diaries, 0, sizeof(diaries));
    for (int i = 0; i < 3; i++)
        bed_start(bed, work_echo, NULL);
    keep_diaries(bed->client);
    for (int i = 0; i < MANY; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%d", i);
        if (i % 3 == 0)
            gearman_client_add_task_high(bed->client, NULL, &diaries[i], bed->function, NULL, text,
                                         strlen(text), &code);
        else if (i % 3 == 1)
            gearman_client_add_task_low(bed->client, NULL, &diaries[i], bed->function, NULL, text,
                                        strlen(text), &code);
        else
            add(bed, NULL, text, &diaries[i]);
    }
    assert_int_equal(gearman_client_run_tasks(bed->client), GEARMAN_SUCCESS);
    for (int i = 0; i < MANY; i++) {
        char expected[32];
        snprintf(expected, sizeof(expected), "complete:%d", i);
        assert_string_equal(diaries[i].text, expected);
    }
}

static void a_failure_fails_one_task_of_many(void **state)
{
    struct bed *bed = *state;
    struct diary good = {0}, bad = {0};
    struct worker *worker = bed_worker(bed);
    gearman_return_t code;

    worker_can_do(worker, bed->function, work_echo, 0, NULL);
    worker_can_do(worker, bed->other, work_fail, 0, NULL);
    worker_start(worker);
    keep_diaries(bed->client);
    gearman_client_add_task(bed->client, NULL, &bad, bed->other, NULL, "work", 4, &code);
    add(bed, NULL, "work", &good);
    (void)gearman_client_run_tasks(bed->client);
    (void)gearman_client_run_tasks(bed->client);
    assert_int_equal(bad.failed, 1);
    assert_string_equal(good.text, "complete:work");
}

static void an_exception_reaches_a_client_that_asked_for_exceptions(void **state)
{
    struct bed *bed = *state;
    struct diary diary = {0};

    bed_start(bed, work_except, NULL);
    keep_diaries(bed->client);
    assert_true(gearman_client_set_server_option(bed->client, "exceptions", 10));
    add(bed, NULL, "work", &diary);
    (void)gearman_client_run_tasks(bed->client);
    assert_string_equal(diary.text, "exception:no such file");
}

// The handle in gearmand's WORK_FAIL has one NUL too many here, and libgearman waits on.
static void to_a_client_that_did_not_ask_for_exceptions_one_is_a_failure(void **state)
{
    struct bed *bed = *state;
    struct diary diary = {0};

    bed_start(bed, work_except, NULL);
    keep_diaries(bed->client);
    add(bed, NULL, "work", &diary);
    (void)gearman_client_run_tasks(bed->client);
    assert_string_equal(diary.text, "");
    assert_int_equal(diary.failed, 1);
}

static void tasks_run_without_blocking(void **state)
{
    struct bed *bed = *state;
    struct diary diaries[20] = {0};
    gearman_return_t code;
    int waited = 0;

    gearman_client_add_options(bed->client, GEARMAN_CLIENT_NON_BLOCKING);
    keep_diaries(bed->client);
    for (int i = 0; i < 20; i++)
        add(bed, NULL, "work", &diaries[i]);
    while ((code = gearman_client_run_tasks(bed->client)) == GEARMAN_IO_WAIT) {
        if (waited++ == 0)
            bed_start(bed, work_echo, NULL);
        assert_int_equal(gearman_client_wait(bed->client), GEARMAN_SUCCESS);
    }
    assert_int_equal(code, GEARMAN_SUCCESS);
    assert_true(waited > 0);
    for (int i = 0; i < 20; i++)
        assert_string_equal(diaries[i].text, "complete:work");
}

static void background_tasks_are_done_after_their_client_is_told(void **state)
{
    struct bed *bed = *state;
    gearman_return_t code;
    gearman_job_handle_t handles[3];
    gearman_task_st *tasks[3] = {
        gearman_client_add_task_background(bed->client, NULL, NULL, bed->function, NULL, "normal",
                                           6, &code),
        gearman_client_add_task_high_background(bed->client, NULL, NULL, bed->function, NULL,
                                                "high", 4, &code),
        gearman_client_add_task_low_background(bed->client, NULL, NULL, bed->function, NULL, "low",
                                               3, &code)};

    assert_int_equal(gearman_client_run_tasks(bed->client), GEARMAN_SUCCESS);
    for (int i = 0; i < 3; i++) {
        snprintf(handles[i], sizeof(handles[i]), "%s", gearman_task_job_handle(tasks[i]));
        assert_true(told_by_handle(bed->second, handles[i]).is_known);
    }
    bed_start(bed, work_nothing, NULL);
    for (int i = 0; i < 3; i++)
        while (told_by_handle(bed->second, handles[i]).is_known)
            ;
}

static void tasks_ask_for_the_status_of_jobs(void **state)
{
    struct bed *bed = *state;
    gearman_job_handle_t handle = "";
    gearman_return_t code;

    submit(bed->second, bed->function, bed->function, "work", handle);
    gearman_task_st *by_handle =
        gearman_client_add_task_status(bed->client, NULL, NULL, handle, &code);
    gearman_task_st *by_key =
        gearman_client_add_task_status_by_unique(bed->client, NULL, bed->function, &code);
    assert_int_equal(gearman_client_run_tasks(bed->client), GEARMAN_SUCCESS);
    assert_true(gearman_task_is_known(by_handle) && !gearman_task_is_running(by_handle));
    assert_true(gearman_task_is_known(by_key) && !gearman_task_is_running(by_key));
}

static gearman_task_st *execute(struct bed *bed, gearman_task_attr_t *how, const char *text)
{
    gearman_argument_t load = gearman_argument_make(NULL, 0, text, strlen(text));
    gearman_task_st *task = gearman_execute(bed->client, bed->function, strlen(bed->function), NULL,
                                            0, how, &load, NULL);

    assert_non_null(task);
    return task;
}

static void an_executed_task_has_its_result(void **state)
{
    struct bed *bed = *state;
    gearman_task_attr_t high = gearman_task_attr_init(GEARMAN_JOB_PRIORITY_HIGH);

    bed_start(bed, work_echo, NULL);
    gearman_task_st *task = execute(bed, &high, "work");
    assert_int_equal(gearman_task_return(task), GEARMAN_SUCCESS);
    gearman_result_st *result = gearman_task_result(task);
    assert_int_equal(gearman_result_size(result), 4);
    assert_memory_equal(gearman_result_value(result), "work", 4);
}

// Debian's gearmand wakes no worker that sleeps when the moment comes.
static void a_job_for_a_later_moment_waits_for_it_and_is_done(void **state)
{
    struct bed *bed = *state;
    gearman_task_attr_t later =
        gearman_task_attr_init_epoch(time(NULL) + 86400, GEARMAN_JOB_PRIORITY_NORMAL);
    gearman_task_attr_t soon =
        gearman_task_attr_init_epoch(time(NULL) + 1, GEARMAN_JOB_PRIORITY_NORMAL);
    gearman_job_handle_t handles[2];

    snprintf(handles[0], sizeof(handles[0]), "%s",
             gearman_task_job_handle(execute(bed, &later, "work")));
    bed_start(bed, work_nothing, NULL);
    snprintf(handles[1], sizeof(handles[1]), "%s",
             gearman_task_job_handle(execute(bed, &soon, "work")));
    while (told_by_handle(bed->second, handles[1]).is_known)
        ;
    struct told told = told_by_handle(bed->second, handles[0]);
    assert_true(told.is_known && !told.is_running);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bed_open, bed_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_a_warning_and_progress_come_before_the_result),
        TEST(a_thousand_tasks_of_all_priorities_are_done_by_three_workers),
        TEST(a_failure_fails_one_task_of_many),
        TEST(an_exception_reaches_a_client_that_asked_for_exceptions),
        TEST(to_a_client_that_did_not_ask_for_exceptions_one_is_a_failure),
        TEST(tasks_run_without_blocking),
        TEST(background_tasks_are_done_after_their_client_is_told),
        TEST(tasks_ask_for_the_status_of_jobs),
        TEST(an_executed_task_has_its_result),
        TEST(a_job_for_a_later_moment_waits_for_it_and_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
