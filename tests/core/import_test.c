/* SPDX-License-Identifier: MIT */
// Jobs of another broker come in with their state, and are then like any other job.
#include "core/submit.h"
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"

static struct job_image plain(const char *queue)
{
    return (struct job_image){
        .now = {.state = JOB_READY}, .queue = stage_slice(queue), .body = SLICE("body")};
}

static struct job_image keyed(enum job_state state)
{
    struct job_image image = plain("q");

    image.now.state = (uint8_t)state;
    image.key_kind = KEY_NAME;
    image.key = SLICE("k");
    return image;
}

static enum status try_import(struct stage *s, struct actor *by, struct job_image image,
                              struct imported *imported)
{
    enum status status = broker_import(s->broker, &image, by ? by->session : NULL, imported);

    stage_step(s);
    return status;
}

static uint64_t import(struct stage *s, struct job_image image)
{
    struct imported imported;

    assert_status(STATUS_OK, try_import(s, NULL, image, &imported));
    assert_false(imported.joined);
    return imported.id;
}

static void expect_refused(struct stage *s, struct actor *by, enum status expected,
                           struct job_image image)
{
    struct imported imported;

    assert_status(expected, try_import(s, by, image, &imported));
    assert_int_equal(imported.id, 0);
    assert_int_equal(broker_position(s->broker), 0);
    stage_expect_recorded(s, "");
}

static void a_job_comes_in_with_all_that_it_had(void **state)
{
    struct stage *s = *state;
    struct job_image image = stage_whole_image();
    struct job_image is;

    assert_int_equal(import(s, image), 42);
    assert_int_not_equal(broker_position(s->broker), 0);
    stage_expect_recorded(s, "submit 42");
    is = stage_image(s, 42);
    image.now.keyed = true;
    stage_expect_same_image(&image, &is);
    assert_int_equal(stage_job(s, 42).age_for, SEC(100));
    assert_int_equal(stage_job(s, 42).remaining_for, SEC(9));
    assert_true(stage_job(s, 42).durable);
    assert_int_equal(stage_queue(s, "mail").total_jobs, 1);
}

static void ids_continue_after_a_given_id(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain("q");

    image.now.id = 1000000;
    assert_int_equal(import(s, image), 1000000);
    assert_int_equal(PUT(s, .queue = "q"), 1000001);
    assert_int_equal(import(s, plain("q")), 1000002);
    stage_expect_recorded(s, "submit 1000000; submit 1000001; submit 1000002");
    expect_refused(s, NULL, STATUS_IN_USE, image);
    image.now.id = UINT64_MAX;
    expect_refused(s, NULL, STATUS_BAD_NAME, image);
    image.now.id = 7; // the caller guarantees that no job ever had it
    assert_int_equal(import(s, image), 7);
    assert_int_equal(PUT(s, .queue = "q"), 1000003);
}

static void equals_stand_in_the_order_in_which_they_come(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct job_image image = plain("q");

    image.now.id = 5;
    (void)import(s, image);
    (void)import(s, plain("q"));
    image = plain("q");
    image.now.pri = 1;
    (void)import(s, image);
    assert_int_equal(PUT(s, .queue = "q"), 8);
    act_drain(w, "5 6 8 7");
}

static void imported_buried_job_comes_behind_other_buried_jobs(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct job_image image = plain("q");

    assert_int_equal(PUT_BURIED(s, .queue = "q"), 1);
    image.now.state = JOB_BURIED;
    image.now.burial = UINT64_MAX; // is ignored
    assert_int_equal(import(s, image), 2);
    assert_int_equal(import(s, image), 3);
    assert_int_equal(PUT_BURIED(s, .queue = "q"), 4);
    stage_expect_jobs(s, "q", 0, 0, 0, 4);
    assert_int_equal(stage_kick(s, "q", 2), 2);
    act_drain(w, "1 2");
}

static void a_delay_that_is_over_is_over(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain("q");

    image.now.state = JOB_DELAYED;
    image.now.delay = 60;
    image.now.due_at = STAGE_WALL_AT - SEC(1);
    assert_int_equal(stage_job(s, import(s, image)).state, JOB_READY);
    image.now.due_at = STAGE_WALL_AT + SEC(10);
    (void)import(s, image);
    stage_expect_jobs(s, "q", 1, 1, 0, 0);
    stage_advance(s, SEC(10));
    stage_expect_jobs(s, "q", 2, 0, 0, 0);
}

static void waiting_session_gets_the_imported_job(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    act_wait(w);
    (void)import(s, plain("q"));
    stage_expect(s, "w leased 1");
}

static void a_key_joins_the_job_that_holds_it(void **state)
{
    struct stage *s = *state;
    struct imported imported;

    assert_int_equal(import(s, keyed(JOB_BURIED)), 1); // holds no key
    assert_int_equal(import(s, keyed(JOB_READY)), 2);
    stage_expect_recorded(s, "submit 1; submit 2");
    assert_status(STATUS_OK, try_import(s, NULL, keyed(JOB_READY), &imported));
    assert_true(imported.joined);
    assert_int_equal(imported.id, 2);
    assert_int_equal(PUT(s, .queue = "q", .key = "k"), 2);
    assert_int_equal(import(s, keyed(JOB_BURIED)), 3);
    stage_expect_recorded(s, "submit 3");
}

static void a_body_that_is_the_key_joins_too(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain("q");
    struct imported imported;

    image.key_kind = KEY_CONTENT;
    assert_int_equal(import(s, image), 1);
    assert_status(STATUS_OK, try_import(s, NULL, image, &imported));
    assert_true(imported.joined);
    assert_int_equal(PUT(s, .queue = "q", .by_content = true, .body = "body"), 1);
    // A buried job takes its key again when it is kicked, if no other job has it then.
    assert_status(STATUS_OK, stage_cancel(s, 1));
    image.now.state = JOB_BURIED;
    assert_int_equal(import(s, image), 2);
    assert_status(STATUS_OK, stage_kick_id(s, 2));
    assert_int_equal(PUT(s, .queue = "q", .by_content = true, .body = "body"), 2);
}

static void the_limits_of_a_queue_bind_clients_not_the_host(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct imported imported;

    POLICY(s, "*", .max_jobs = 1, .max_job_size = 4);
    assert_status(STATUS_OK, try_import(s, c, plain("q"), &imported));
    stage_expect_recorded(s, "submit 1");
    expect_refused(s, c, STATUS_QUEUE_FULL, plain("q"));
    assert_int_equal(import(s, plain("q")), 2);
    POLICY(s, "*", .max_job_size = 3);
    stage_expect_recorded(s, "submit 2");
    expect_refused(s, c, STATUS_JOB_TOO_LARGE, plain("q"));
}

static void session_that_may_not_submit_imports_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    const struct grant mine = {MAY_SUBMIT, SLICE("mine")};
    struct imported imported;

    (void)act_grant(c, &mine, 1);
    expect_refused(s, c, STATUS_FORBIDDEN, plain("q"));
    assert_null(stage_find(s, "q"));
    assert_status(STATUS_OK, try_import(s, c, plain("mine"), &imported));
    stage_expect_recorded(s, "submit 1");
    broker_drain(s->broker);
    expect_refused(s, NULL, STATUS_DRAINING, plain("q"));
    assert_null(stage_find(s, "q"));
}

static void impossible_job_is_refused(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain("q");
    static char long_key[JOB_KEY_MAX + 1];

    image.now.state = JOB_RESERVED;
    expect_refused(s, NULL, STATUS_BAD_NAME, image);
    image = plain("q");
    image.now.attempts = JOB_ATTEMPTS_MAX + 1;
    expect_refused(s, NULL, STATUS_BAD_NAME, image);
    image = keyed(JOB_READY);
    image.key = slice_of(long_key, sizeof long_key);
    expect_refused(s, NULL, STATUS_TOO_LARGE, image);
    expect_refused(s, NULL, STATUS_BAD_NAME, plain(""));
    s->refused = STORE_REFUSES(RECORD_SUBMIT);
    expect_refused(s, NULL, STATUS_NO_SPACE, plain("q"));
    assert_null(stage_find(s, "q"));
}

static void without_memory_nothing_is_changed(void **state)
{
    struct stage *s = *state;
    struct job_image image = keyed(JOB_READY);
    struct imported imported;
    enum status status = STATUS_NO_MEMORY;

    image.now.delay = 3;
    image.reducer = SLICE("reduce");
    for (size_t n = 1; status == STATUS_NO_MEMORY; n++) {
        nth_alloc_fail(n);
        status = broker_import(s->broker, &image, NULL, &imported);
        if (nth_alloc_count() < n) {
            nth_alloc_fail(0);
            break;
        }
        nth_alloc_fail(0);
        stage_step(s);
        if (status == STATUS_NO_MEMORY) {
            stage_expect_recorded(s, "");
            assert_null(stage_find(s, "q"));
        }
    }
    assert_status(STATUS_OK, status);
    stage_expect_recorded(s, "submit 1");
}

static void a_restart_finds_it_again(void **state)
{
    struct stage *s = *state;
    struct job_image image = plain("q");
    struct stage *again;

    image.now.id = 70000;
    image.now.state = JOB_BURIED;
    image.now.counters.buries = 1;
    (void)import(s, image);
    image.now.id = 70001;
    image.now.state = JOB_READY;
    (void)import(s, image);
    again = stage_restart(s, SEC(5));
    for (uint64_t id = 70000; id <= 70001; id++) {
        struct job_image before = stage_image(s, id);
        struct job_image after = stage_image(again, id);

        stage_expect_same_image(&before, &after);
    }
    stage_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_job_comes_in_with_all_that_it_had),
        STORY(ids_continue_after_a_given_id),
        STORY(equals_stand_in_the_order_in_which_they_come),
        STORY(imported_buried_job_comes_behind_other_buried_jobs),
        STORY(a_delay_that_is_over_is_over),
        STORY(waiting_session_gets_the_imported_job),
        STORY(a_key_joins_the_job_that_holds_it),
        STORY(a_body_that_is_the_key_joins_too),
        STORY(the_limits_of_a_queue_bind_clients_not_the_host),
        STORY(session_that_may_not_submit_imports_nothing),
        STORY(impossible_job_is_refused),
        STORY(without_memory_nothing_is_changed),
        STORY(a_restart_finds_it_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
