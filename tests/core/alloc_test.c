/* SPDX-License-Identifier: MIT */
// Each allocation fails once. A verb that may fail then changes nothing and can be repeated; a verb
// that cannot fail succeeds. AddressSanitizer finds leaks.
#include "tests/core/stage.h"
#include "tests/support/nth_alloc.h"

#include "core/restore.h"

#include <string.h>

typedef void (*prepare_fn)(struct stage *s);
typedef enum status (*act_fn)(struct stage *s);

static void expect_unchanged(struct stage *s, const struct broker_info *before)
{
    struct broker_info after = stage_info(s);

    assert_memory_equal(after.jobs, before->jobs, sizeof after.jobs);
    assert_memory_equal(after.ready, before->ready, sizeof after.ready);
    assert_int_equal(after.total_jobs, before->total_jobs);
    assert_int_equal(after.queues, before->queues);
    assert_int_equal(after.sessions, before->sessions);
    assert_int_equal(after.waiting, before->waiting);
    stage_expect(s, "");
}

// Acts from the same start again and again, with another allocation failing each time. `told` is
// the text that actors write down after a success.
static void fail_each_allocation(prepare_fn prepare, act_fn act, bool may_fail, const char *told)
{
    for (size_t n = 1;; n++) {
        struct stage *s = stage_new((struct broker_options){0}, true);
        struct broker_info before;
        enum status status;
        size_t made;

        prepare(s);
        stage_settle(s);
        s->told.len = 0;
        before = stage_info(s);
        nth_alloc_fail(n);
        status = act(s);
        made = nth_alloc_count();
        nth_alloc_fail(0);
        stage_step(s);
        if (status != STATUS_OK) {
            assert_true(may_fail && made >= n);
            assert_status(STATUS_NO_MEMORY, status);
            expect_unchanged(s, &before);
            assert_status(STATUS_OK, act(s));
        }
        stage_expect(s, told);
        stage_free(s);
        if (made < n) {
            return;
        }
    }
}

#define MAY_FAIL true
#define NEVER_FAILS false

static struct actor *actor(struct stage *s)
{
    return &s->actors[0];
}

static void nothing(struct stage *s)
{
    stage_open(s, "a");
}

//
// Verbs that may fail
//

static enum status open_session(struct stage *s)
{
    static const struct session_ops ops = {0};
    struct session *session = NULL;
    enum status status = broker_session_open(s->broker, &ops, NULL, CHOICE_OLDEST, &session);

    if (status == STATUS_OK) {
        broker_session_close(session);
    }
    return status;
}

static enum status hold_queue(struct stage *s)
{
    struct queue *queue = NULL;
    enum status status = broker_queue_hold(s->broker, SLICE("some queue"), &queue);

    if (status == STATUS_OK) {
        broker_queue_drop(s->broker, queue);
    }
    return status;
}

static enum status subscribe(struct stage *s)
{
    struct subscription_terms terms = {.limit_for = SEC(5)};

    return broker_subscribe(actor(s)->session, SLICE("some queue"), &terms);
}

static void opening_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(nothing, open_session, MAY_FAIL, "");
    fail_each_allocation(nothing, hold_queue, MAY_FAIL, "");
    fail_each_allocation(nothing, subscribe, MAY_FAIL, "");
}

static void broker_itself_may_not_come_to_be(void **state)
{
    struct broker *broker = NULL;

    (void)state;
    for (size_t n = 1; !broker; n++) {
        struct broker_options options = {0};

        nth_alloc_fail(n);
        broker = broker_new(&options, (struct instant){.mono = 1, .wall = 1});
        assert_true(broker || nth_alloc_count() >= n);
        assert_true(n < 100);
    }
    nth_alloc_fail(0);
    broker_free(broker);
}

static enum status submit_plain(struct stage *s)
{
    return stage_try_put(s, NULL, PLAN(.body = "body"), NULL);
}

static enum status submit_rich(struct stage *s)
{
    return stage_try_put(s, actor(s),
                         PLAN(.key = "k", .reducer = "r", .delay_for = SEC(5), .max_attempts = 3),
                         NULL);
}

static enum status submit_by_content(struct stage *s)
{
    return stage_try_put(s, actor(s), PLAN(.by_content = true, .body = "body"), NULL);
}

static enum status submit_large(struct stage *s)
{
    static char body[100001];

    memset(body, 'x', sizeof body - 1);
    return stage_try_put(s, NULL, PLAN(.by_content = true, .body = body), NULL);
}

static void submitting_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(nothing, submit_plain, MAY_FAIL, "");
    fail_each_allocation(nothing, submit_rich, MAY_FAIL, "");
    fail_each_allocation(nothing, submit_by_content, MAY_FAIL, "");
    fail_each_allocation(nothing, submit_large, MAY_FAIL, "");
}

static void fleeting_job_with_progress(struct stage *s)
{
    struct actor *a = stage_worker(s, "a", "q");
    struct actor *w = stage_worker(s, "w", "q");

    SUBMIT(a, .key = "k", .fleeting = true);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
}

static enum status join_to_watch(struct stage *s)
{
    return stage_try_put(s, actor(s), PLAN(.key = "k", .fleeting = true), NULL);
}

static enum status join_to_keep(struct stage *s)
{
    return stage_try_put(s, actor(s), PLAN(.key = "k"), NULL);
}

static void joining_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(fleeting_job_with_progress, join_to_watch, MAY_FAIL, "a progress 1 1/2");
    fail_each_allocation(fleeting_job_with_progress, join_to_keep, MAY_FAIL, "a progress 1 1/2");
}

static void limited_worker_beside_a_job(struct stage *s)
{
    act_subscribe_on(stage_open(s, "a"), "q", SEC(5), ON_LIMIT_RETRY);
    PUT(s, .queue = "q");
}

static enum status take(struct stage *s)
{
    const struct job *job;

    return broker_take(actor(s)->session, &job);
}

static enum status take_by_id(struct stage *s)
{
    return act_take_id(actor(s), 1);
}

static void buried_keyed_job(struct stage *s)
{
    stage_open(s, "a");
    PUT_BURIED(s, .key = "k");
}

static void taking_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(limited_worker_beside_a_job, take, MAY_FAIL, "");
    fail_each_allocation(limited_worker_beside_a_job, take_by_id, MAY_FAIL, "");
    fail_each_allocation(buried_keyed_job, take_by_id, MAY_FAIL, "");
}

static void three_watchers_and_a_worker(struct stage *s)
{
    struct actor *a = stage_worker(s, "a", "q");

    for (int i = 0; i < 3; i++) {
        SUBMIT(a, .key = "k", .ttr_for = SEC(5), .max_attempts = 5);
    }
    assert_int_equal(act_take(a), 1);
}

static enum status report_data(struct stage *s)
{
    static union {
        struct blob blob;
        char room[sizeof(struct blob) + 8];
    } part = {.blob = {.refs = 1, .len = 0}};
    struct job_event event = {.kind = JOB_EVENT_DATA, .data = &part.blob};

    return broker_report(actor(s)->session, 1, &event);
}

static enum status report_progress(struct stage *s)
{
    return act_progress(actor(s), 1, 1, 2);
}

static void reporting_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(three_watchers_and_a_worker, report_data, MAY_FAIL,
                         "a data 1; a data 1; a data 1");
    fail_each_allocation(three_watchers_and_a_worker, report_progress, MAY_FAIL,
                         "a progress 1 1/2; a progress 1 1/2; a progress 1 1/2");
}

static void limited_worker(struct stage *s)
{
    act_subscribe_on(stage_open(s, "a"), "q", SEC(5), ON_LIMIT_RETRY);
}

static enum status start_waiting(struct stage *s)
{
    return act_wait_until(actor(s), NSEC_NEVER, SEC(1));
}

static void waiting_may_fail(void **state)
{
    (void)state;
    fail_each_allocation(limited_worker, start_waiting, MAY_FAIL, "");
}

//
// Verbs that cannot fail
//

static enum status complete(struct stage *s)
{
    return broker_complete(actor(s)->session, 1, NULL);
}

static enum status give_up(struct stage *s)
{
    return broker_fail(actor(s)->session, 1, NULL);
}

static enum status release(struct stage *s)
{
    return act_release(actor(s), 1, 3, SEC(2));
}

static enum status bury(struct stage *s)
{
    return act_bury(actor(s), 1, 3);
}

static enum status touch(struct stage *s)
{
    return act_touch(actor(s), 1);
}

static enum status expire(struct stage *s)
{
    stage_advance(s, SEC(5));
    assert_int_equal(stage_state(s, 1), JOB_READY);
    return STATUS_OK;
}

static enum status expire_and_take(struct stage *s)
{
    const struct job *job;

    expire(s);
    return broker_take(actor(s)->session, &job);
}

static enum status give_back(struct stage *s)
{
    act_give_back(actor(s), "q");
    stage_settle(s);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    return STATUS_OK;
}

static enum status cancel_held(struct stage *s)
{
    return stage_cancel_held(s, 1);
}

static void ends_and_losses_need_no_memory(void **state)
{
    static const struct {
        act_fn act;
        const char *told;
    } cases[] = {
        {complete, "a complete 1; a complete 1; a complete 1"},
        {give_up, "a failed 1; a failed 1; a failed 1"},
        {bury, "a failed 1; a failed 1; a failed 1"},
        {cancel_held, "a cancelled 1; a cancelled 1; a cancelled 1"},
        {expire, ""},
        {expire_and_take, "a retried 1; a retried 1; a retried 1"},
        {give_back, "a retried 1; a retried 1; a retried 1"},
        {touch, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fail_each_allocation(three_watchers_and_a_worker, cases[i].act, NEVER_FAILS, cases[i].told);
    }
}

static void buried_job_whose_name_others_hold(struct stage *s)
{
    stage_open(s, "a");
    PUT_BURIED(s, .key = "k");
    PUT(s, .queue = "r", .key = "k");
}

static enum status kick_and_find(struct stage *s)
{
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_status(STATUS_OK, stage_cancel(s, 2));
    assert_int_equal(job_id(broker_find_name(s->broker, SLICE("k"))), 1);
    return STATUS_OK;
}

static void two_queues_with_work(struct stage *s)
{
    struct actor *a = stage_open_in_turn(s, "a");

    act_subscribe(a, "q");
    act_subscribe(a, "r");
    act_subscribe(a, "idle");
    PUT(s, .queue = "q");
    PUT(s, .queue = "q", .pri = 1);
    PUT(s, .queue = "r", .pri = 1);
}

static enum status take_all(struct stage *s)
{
    static const uint64_t order[] = {1, 3, 2};

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(act_take(actor(s)), order[i]);
        assert_status(STATUS_OK, act_complete(actor(s), order[i], NULL));
    }
    return STATUS_OK;
}

static void names_and_turns_need_no_memory(void **state)
{
    (void)state;
    fail_each_allocation(buried_job_whose_name_others_hold, kick_and_find, NEVER_FAILS, "");
    fail_each_allocation(two_queues_with_work, take_all, NEVER_FAILS, "");
}

static void release_needs_no_memory(void **state)
{
    (void)state;
    fail_each_allocation(limited_worker_beside_a_job, take_by_id, MAY_FAIL, "");
    fail_each_allocation(three_watchers_and_a_worker, release, NEVER_FAILS,
                         "a retried 1; a retried 1; a retried 1");
}

static enum status leave(struct stage *s)
{
    act_close(actor(s));
    stage_settle(s);
    return STATUS_OK;
}

static void held_and_waited_for(struct stage *s)
{
    struct actor *a = stage_worker(s, "a", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(a), 1);
    act_wait(stage_worker(s, "w", "q"));
    act_await_nudge(stage_worker(s, "n", "q"));
}

static void leaving_needs_no_memory(void **state)
{
    (void)state;
    fail_each_allocation(held_and_waited_for, leave, NEVER_FAILS, "w leased 1; c retried 1");
}

static void job_for_a_limited_waiter(struct stage *s)
{
    struct actor *a = stage_open(s, "a");

    act_subscribe_on(a, "q", SEC(5), ON_LIMIT_RETRY);
    PUT(s, .delay_for = SEC(1));
    PUT(s, .delay_for = SEC(2));
    act_wait(a);
}

static enum status assign_and_take_back(struct stage *s)
{
    // The first assignment is lost before the session is told; the wait goes on, and its limit must
    // hold.
    s->now.mono += SEC(1);
    broker_tick(s->broker, s->now);
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    assert_status(STATUS_OK, stage_cancel_held(s, 1));
    stage_advance(s, SEC(1));
    assert_int_equal(stage_job(s, 2).remaining_for, SEC(5));
    return STATUS_OK;
}

static void assignment_needs_no_memory(void **state)
{
    (void)state;
    fail_each_allocation(job_for_a_limited_waiter, assign_and_take_back, NEVER_FAILS, "a leased 2");
}

// If a job without an extra part is lost, the part that was allocated for its limit goes with it,
// and the wait that goes on needs another one. Without memory the wait ends, but only once.
static void continued_wait_without_memory_ends_once(void **state)
{
    (void)state;
    for (size_t n = 0; n < 4; n++) {
        struct stage *s = stage_new((struct broker_options){0}, true);
        struct actor *a = stage_open(s, "a");
        bool over;

        act_subscribe_on(a, "q", SEC(5), ON_LIMIT_RETRY);
        act_wait(a);
        PUT(s, .queue = "q");
        nth_alloc_fail(n);
        assert_status(STATUS_OK, stage_cancel_held(s, 1));
        nth_alloc_fail(0);
        stage_settle(s);
        over = s->told.len > 0;
        stage_expect(s, over ? "a timed_out" : "");
        assert_true(n == 1 || !over);
        PUT(s, .queue = "q");
        stage_expect(s, over ? "" : "a leased 2");
        assert_int_equal(stage_job(s, 2).remaining_for, over ? 0 : SEC(5));
        stage_free(s);
    }
}

//
// Jobs that come back
//

static enum status restore_jobs(struct broker *broker)
{
    static char large[JOB_KEY_MAX * 10];
    const struct job_image images[] = {
        {.now = {.id = 1, .state = JOB_READY}, .queue = SLICE("q"), .body = SLICE("body")},
        {.now = {.id = 2, .state = JOB_READY, .keyed = true},
         .queue = SLICE("r"),
         .key_kind = KEY_NAME,
         .key = SLICE("k"),
         .reducer = SLICE("r")},
        {.now = {.id = 3, .state = JOB_READY, .keyed = true},
         .queue = SLICE("q"),
         .key_kind = KEY_CONTENT,
         .body = slice_of(large, sizeof large)},
        {.now = {.id = 4, .state = JOB_BURIED, .burial = 1, .counters = {.kicks = 1}},
         .queue = SLICE("q")},
        {.now = {.id = 2, .state = JOB_READY, .keyed = true},
         .queue = SLICE("r"),
         .key_kind = KEY_NAME,
         .key = SLICE("l")},
    };
    const struct job *job;
    const struct queue *queue;

    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        enum status status = broker_restore_job(broker, &images[i], &job);

        if (status != STATUS_OK) {
            return status;
        }
    }
    return broker_restore_pause(broker, SLICE("p"), SEC(5), STAGE_WALL_AT + SEC(5), &queue);
}

// Records that were restored before an allocation failed stay, so that the failed one can be tried
// again.
static void restoring_may_fail(void **state)
{
    size_t made;

    (void)state;
    for (size_t n = 1;; n++) {
        struct stage *s = stage_new((struct broker_options){0}, true);
        enum status status;

        nth_alloc_fail(n);
        status = restore_jobs(s->broker);
        made = nth_alloc_count();
        nth_alloc_fail(0);
        assert_status(made < n ? STATUS_OK : STATUS_NO_MEMORY, status);
        if (status != STATUS_OK) {
            assert_status(STATUS_OK, restore_jobs(s->broker));
        }
        assert_status(STATUS_OK, broker_restore_finish(s->broker, 10));
        stage_step(s);
        stage_expect_jobs(s, "q", 2, 0, 0, 1);
        stage_expect_jobs(s, "r", 1, 0, 0, 0);
        assert_int_equal(job_id(broker_find_name(s->broker, SLICE("l"))), 2);
        assert_null(broker_find_name(s->broker, SLICE("k")));
        assert_int_equal(stage_queue(s, "p").pause_remaining_for, SEC(5));
        stage_free(s);
        if (made < n) {
            return;
        }
    }
}

// Only counters for statistics may be missing.
static void changes_to_restored_jobs_need_no_memory(void **state)
{
    const struct job_image image = {.now = {.id = 1, .state = JOB_READY}, .queue = SLICE("q")};
    const struct job_change change = {.id = 1, .state = JOB_BURIED, .delay = 5, .burial = 1};

    (void)state;
    for (size_t n = 1; n < 5; n++) {
        struct stage *s = stage_new((struct broker_options){0}, true);
        const struct job *job;

        assert_status(STATUS_OK, broker_restore_job(s->broker, &image, &job));
        nth_alloc_fail(n);
        assert_status(STATUS_OK, broker_restore_change(s->broker, RECORD_BURY, &change));
        assert_status(STATUS_OK, broker_restore_finish(s->broker, 10));
        nth_alloc_fail(0);
        stage_step(s);
        stage_expect_jobs(s, "q", 0, 0, 0, 1);
        stage_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_may_fail),
        cmocka_unit_test(broker_itself_may_not_come_to_be),
        cmocka_unit_test(submitting_may_fail),
        cmocka_unit_test(joining_may_fail),
        cmocka_unit_test(taking_may_fail),
        cmocka_unit_test(reporting_may_fail),
        cmocka_unit_test(waiting_may_fail),
        cmocka_unit_test(ends_and_losses_need_no_memory),
        cmocka_unit_test(names_and_turns_need_no_memory),
        cmocka_unit_test(release_needs_no_memory),
        cmocka_unit_test(leaving_needs_no_memory),
        cmocka_unit_test(assignment_needs_no_memory),
        cmocka_unit_test(continued_wait_without_memory_ends_once),
        cmocka_unit_test(restoring_may_fail),
        cmocka_unit_test(changes_to_restored_jobs_need_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
