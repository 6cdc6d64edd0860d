/* SPDX-License-Identifier: MIT */
// Leases that outlive the process: their records, and the holders of the jobs after a restart.
#include "tests/core/stage_restart.h"
#include "tests/support/nth_alloc.h"

#include "core/durable_lease.h"
#include "core/restore.h"

#include <stdio.h>
#include <string.h>

static struct durable_lease lease_of(uint64_t id, nsec_t limit_for)
{
    struct durable_lease lease = {.job_id = id, .limit_for = limit_for};

    memset(lease.name, (int)id, sizeof lease.name);
    return lease;
}

static void keep(struct actor *w, uint64_t id, nsec_t limit_for)
{
    const struct durable_lease lease = lease_of(id, limit_for);

    if (limit_for > 0) {
        assert_status(STATUS_OK, broker_limit(w->session, id, limit_for));
    }
    broker_lease_persist(w->session, &lease);
    stage_step(w->stage);
}

// Puts a job of that time to run; `w` takes it, and its lease is made durable.
static uint64_t begin(struct actor *w, nsec_t ttr_for, nsec_t limit_for)
{
    uint64_t id = PUT(w->stage, .ttr_for = ttr_for);

    assert_int_equal(act_take(w), id);
    keep(w, id, limit_for);
    return id;
}

static bool next(struct stage *s, struct durable_lease *lease)
{
    uint64_t cursor = 0;

    return broker_durable_lease_next(s->broker, &cursor, lease);
}

static void expect_none(struct stage *s)
{
    struct durable_lease lease;

    assert_false(next(s, &lease));
}

// The only durable lease is that of the job, and `w` resumes it.
static enum status try_resume(struct actor *w, uint64_t id)
{
    struct durable_lease lease = {.job_id = 0};
    const struct durable_lease meant = lease_of(id, 0);
    enum status status;

    assert_true(next(w->stage, &lease));
    assert_int_equal(lease.job_id, id);
    assert_memory_equal(lease.name, meant.name, sizeof lease.name);
    status = broker_lease_resume(w->session, &lease);
    stage_step(w->stage);
    return status;
}

static struct actor *resume(struct stage *s, uint64_t id)
{
    struct actor *w = stage_open(s, "w");

    assert_status(STATUS_OK, try_resume(w, id));
    assert_int_equal(stage_state(s, id), JOB_RESERVED);
    return w;
}

static void discard(struct stage *s, uint64_t id)
{
    broker_lease_discard(s->broker, id);
    stage_step(s);
    expect_none(s);
}

static void a_durable_lease_goes_on_after_a_restart_for_its_remaining_time(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");

    begin(w, SEC(60), 0);
    stage_expect_recorded(s, "submit 1; memo lease");
    stage_advance(s, SEC(10));
    again = stage_restart(s, SEC(5));
    w = resume(again, 1);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(45));
    assert_int_equal(act_take(stage_worker(again, "v", "q")), 0);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(stage_state(again, 1), JOB_GONE);
    expect_none(again);
    stage_free(again);
}

static void a_resumed_lease_ends_as_any_other(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *v;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    again = stage_restart(s, SEC(20));
    resume(again, 1);
    v = stage_worker(again, "v", "q");
    act_wait(v);
    stage_advance(again, SEC(40) - 1);
    stage_expect(again, "");
    stage_advance(again, 1);
    stage_expect(again, "v leased 1");
    assert_int_equal(stage_job(again, 1).attempts, 1);
    assert_int_equal(stage_job(again, 1).timeouts, 1);
    assert_int_equal(stage_job(again, 1).reserves, 2);
    expect_none(again);
    stage_free(again);
}

static void a_renewal_is_kept_once_a_second(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct durable_lease lease;
    struct actor *w = stage_worker(s, "w", "q");

    begin(w, SEC(60), 0);
    stage_expect_recorded(s, "submit 1; memo lease");
    stage_advance(s, MSEC(100));
    assert_status(STATUS_OK, act_touch(w, 1));
    stage_expect_recorded(s, "memo lease");
    for (int i = 0; i < 9; i++) {
        stage_advance(s, MSEC(100));
        assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
    }
    stage_expect_recorded(s, "");
    stage_advance(s, SEC(50));
    assert_status(STATUS_OK, act_touch(w, 1));
    stage_expect_recorded(s, "memo lease");
    again = stage_restart(s, 0);
    w = resume(again, 1);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(60));
    // So is one after the restart.
    stage_advance(again, SEC(30));
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_true(next(again, &lease));
    assert_int_equal(lease.until_at, again->now.wall + SEC(60));
    stage_free(again);
}

static void a_renewal_by_an_operator_is_kept_too(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    stage_advance(s, SEC(30));
    assert_status(STATUS_OK, stage_act(s, NULL, 1, ACT(.kind = ACT_TOUCH)));
    again = stage_restart(s, SEC(1));
    resume(again, 1);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(59));
    stage_free(again);
}

static void a_limit_goes_on_too(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct durable_lease lease;
    struct actor *w = stage_worker(s, "w", "q");

    begin(w, 0, SEC(30));
    stage_advance(s, SEC(10));
    again = stage_restart(s, SEC(5));
    assert_true(next(again, &lease));
    assert_int_equal(lease.limit_for, SEC(30));
    assert_int_equal(lease.until_at, STAGE_WALL_AT + SEC(30));
    w = resume(again, 1);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(15));
    assert_status(STATUS_OK, broker_limit(w->session, 1, SEC(30)));
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(30));
    stage_advance(again, SEC(30));
    assert_int_equal(stage_state(again, 1), JOB_READY);
    assert_int_equal(stage_job(again, 1).attempts, 1);
    stage_free(again);
}

// Renewals move the end of its time to run back, up to the limit.
static void a_limit_beyond_the_time_to_run_does_not_end_a_resumed_lease_before(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    begin(stage_worker(s, "w", "q"), SEC(20), SEC(50));
    stage_advance(s, SEC(10));
    again = stage_restart(s, SEC(5));
    resume(again, 1);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(5));
    for (int i = 0; i < 4; i++) {
        assert_status(STATUS_OK, stage_act(again, NULL, 1, ACT(.kind = ACT_TOUCH)));
        assert_int_equal(stage_job(again, 1).remaining_for, i < 3 ? SEC(20) : SEC(5));
        stage_advance(again, i < 3 ? SEC(15) : SEC(5));
    }
    assert_int_equal(stage_state(again, 1), JOB_READY);
    stage_free(again);
}

static void a_clock_that_is_set_back_does_not_prolong_it(void **state)
{
    struct stage *s = *state;
    struct stage *again;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    again = stage_restart(s, -SEC(3600));
    resume(again, 1);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(60));
    stage_free(again);
    again = stage_restart(s, -SEC(10));
    resume(again, 1);
    assert_int_equal(stage_job(again, 1).remaining_for, SEC(60));
    stage_free(again);
}

static void a_lease_that_ended_meanwhile_spends_no_attempt(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    again = stage_restart(s, SEC(60));
    w = stage_open(again, "w");
    assert_status(STATUS_NOT_FOUND, try_resume(w, 1));
    discard(again, 1);
    assert_int_equal(stage_state(again, 1), JOB_READY);
    assert_int_equal(stage_job(again, 1).attempts, 0);
    stage_free(again);
}

// Ends the lease of that job in one of the ways; the records that are written. `*w` becomes another
// actor if it closes.
static const char *end_in_way(struct stage *s, struct actor **w, uint64_t id)
{
    switch (id) {
    case 1:
        assert_status(STATUS_OK, act_complete(*w, id, NULL));
        return "end 1";
    case 2:
        assert_status(STATUS_OK, act_release(*w, id, 0, SEC(1000)));
        return "release 2";
    case 3:
        assert_status(STATUS_OK, act_bury(*w, id, 0));
        return "bury 3";
    case 4:
        assert_status(STATUS_OK, stage_act(s, NULL, id, ACT(.kind = ACT_DELETE)));
        return "end 4";
    case 5:
        assert_status(STATUS_OK, stage_act(s, NULL, id, ACT(.kind = ACT_RELEASE)));
        return "release 5";
    case 6:
        stage_advance(s, SEC(60));
        return "forget lease";
    case 7:
        broker_all_undelivered((*w)->session);
        break;
    default:
        break;
    }
    act_close(*w);
    *w = stage_worker(s, "w", "q");
    return "forget lease";
}

static void each_end_is_told(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (uint64_t id = 1; id <= 8; id++) {
        char begun[64];

        (void)snprintf(begun, sizeof begun, "submit %d; memo lease", (int)id);
        assert_int_equal(begin(w, SEC(60), 0), id);
        stage_expect_recorded(s, begun);
        stage_expect_recorded(s, end_in_way(s, &w, id));
        expect_none(s);
        if (stage_state(s, id) == JOB_READY) {
            (void)snprintf(begun, sizeof begun, "end %d", (int)id);
            assert_status(STATUS_OK, stage_cancel(s, id));
            stage_expect_recorded(s, begun);
        }
    }
}

static void a_retry_and_a_dead_letter_end_it(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    POLICY(s, "q", .max_attempts = 2, .on_exhausted = ON_EXHAUSTED_MOVE,
           .dead_queue = SLICE("dead"));
    begin(w, SEC(60), 0);
    stage_expect_recorded(s, "submit 1; memo lease");
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_expect_recorded(s, "forget lease; set 1");
    assert_int_equal(act_take(w), 1);
    keep(w, 1, 0);
    assert_status(STATUS_OK, act_fail(w, 1, NULL));
    stage_expect_recorded(s, "memo lease; move 1");
    expect_none(s);
}

// A broker to which the store has given back job 1 and its lease, before the end of the restart.
static struct stage *give_back(struct stage *from, const struct job_image *image)
{
    struct stage *s = stage_new((struct broker_options){0}, true);
    const struct memo *restored;
    const struct memo *memo;
    const struct job *copy;
    uint64_t cursor = 0;

    memo = broker_memo_next(from->broker, MEMO_LEASE, &cursor);
    assert_non_null(memo);
    assert_status(STATUS_OK, broker_restore_job(s->broker, image, &copy));
    assert_status(STATUS_OK, broker_restore_memo(s->broker, memo, &restored));
    return s;
}

static void finish(struct stage *s)
{
    assert_status(STATUS_OK, broker_restore_finish(s->broker, 2));
    stage_step(s);
}

static void it_is_counted_as_one_reservation(void **state)
{
    struct stage *s = *state;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    // If the record of the job was rewritten meanwhile, it counts this lease; otherwise not.
    for (uint32_t reserves = 0; reserves <= 1; reserves++) {
        struct job_image image = stage_image(s, 1);
        struct stage *again;

        image.now.counters.reserves = reserves;
        again = give_back(s, &image);
        finish(again);
        resume(again, 1);
        assert_int_equal(stage_job(again, 1).reserves, 1);
        assert_int_equal(stage_job(again, 1).attempts, 0);
        stage_free(again);
    }
}

static void a_later_record_of_the_job_ends_it(void **state)
{
    static const enum record_kind kinds[] = {RECORD_RELEASE, RECORD_BURY, RECORD_KICK, RECORD_TAKE,
                                             RECORD_START,   RECORD_MOVE, RECORD_END};
    const struct dead_letter none = {.why = DEAD_NOT};
    struct stage *s = *state;
    struct job_image image;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    image = stage_image(s, 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct stage *again = give_back(s, &image);
        const struct job_change now = {
            .id = 1, .state = kinds[i] == RECORD_BURY ? JOB_BURIED : JOB_READY, .burial = 1};
        enum status status =
            kinds[i] == RECORD_MOVE
                ? broker_restore_move(again->broker, &now, SLICE("r"), false, &none)
            : kinds[i] == RECORD_END ? broker_restore_end(again->broker, 1)
                                     : broker_restore_change(again->broker, kinds[i], &now);

        assert_status(STATUS_OK, status);
        finish(again);
        expect_none(again);
        stage_free(again);
    }
}

static void changes_by_an_operator_and_full_records_do_not_end_it(void **state)
{
    const struct job_change now = {.id = 1, .state = JOB_READY, .pri = 7};
    struct stage *s = *state;
    struct job_image image;
    const struct job *copy;
    struct stage *again;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    image = stage_image(s, 1);
    again = give_back(s, &image);
    assert_status(STATUS_OK, broker_restore_change(again->broker, RECORD_SET, &now));
    finish(again);
    resume(again, 1);
    assert_int_equal(stage_job(again, 1).pri, 7);
    stage_free(again);
    again = give_back(s, &image);
    assert_status(STATUS_OK, broker_restore_job(again->broker, &image, &copy));
    finish(again);
    resume(again, 1);
    stage_free(again);
}

static void the_end_of_the_process_does_not_end_it(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");

    begin(w, SEC(60), 0);
    stage_expect_recorded(s, "submit 1; memo lease");
    broker_retire(s->broker);
    act_close(w);
    stage_expect_recorded(s, "");
    again = stage_restart(s, SEC(1));
    resume(again, 1);
    stage_free(again);
}

static void it_counts_as_a_running_job(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *v;
    struct actor *w;

    begin(stage_worker(s, "w", "q"), SEC(60), 0);
    PUT(s, .queue = "q");
    again = stage_restart(s, SEC(1));
    w = resume(again, 1);
    POLICY(again, "q", .max_running = 1);
    v = stage_worker(again, "v", "q");
    assert_int_equal(act_take(v), 0);
    assert_int_equal(stage_queue(again, "q").closed, CLOSED_RUNNING);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(act_take(v), 2);
    stage_free(again);
}

static void its_key_is_held(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *again;

    PUT(s, .key = "k", .ttr_for = SEC(60));
    assert_int_equal(act_take(w), 1);
    keep(w, 1, 0);
    again = stage_restart(s, SEC(1));
    resume(again, 1);
    assert_int_equal(PUT(again, .key = "k"), 1);
    stage_free(again);
}

static void a_result_of_which_a_part_went_before_is_lost(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct result result;
    struct stage *again;

    POLICY(s, "q", .keep_result_for = SEC(60));
    begin(w, SEC(60), 0);
    stage_expect_recorded(s, "submit 1; memo lease");
    assert_status(STATUS_OK, act_data(w, 1, "a part"));
    stage_expect_recorded(s, "memo lease");
    assert_status(STATUS_OK, act_data(w, 1, "a part"));
    stage_expect_recorded(s, "");
    again = stage_restart(s, SEC(1));
    POLICY(again, "q", .keep_result_for = SEC(60));
    w = resume(again, 1);
    assert_true(stage_job(again, 1).data_reported);
    assert_status(STATUS_OK, act_complete(w, 1, "the rest"));
    assert_true(broker_result(again->broker, 1, &result));
    assert_int_equal(result.data_state, RESULT_LOST);
    stage_free(again);
}

static void leases_of_fleeting_jobs_and_leases_without_end_are_not_durable(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .fleeting = true, .ttr_for = SEC(60));
    PUT(s, .queue = "q");
    for (uint64_t id = 1; id <= 2; id++) {
        assert_int_equal(act_take(w), id);
        keep(w, id, 0);
    }
    stage_expect_recorded(s, "submit 2");
    expect_none(s);
}

static void without_room_a_lease_is_a_lease_all_the_same(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct stage *again;

    s->refused = STORE_REFUSES(RECORD_MEMO);
    begin(w, SEC(60), 0);
    expect_none(s);
    s->refused = 0;
    begin(w, SEC(60), 0);
    stage_advance(s, SEC(30));
    // If a renewal has no room, the old memo stays.
    s->refused = STORE_REFUSES(RECORD_MEMO) | STORE_REFUSES(RECORD_FORGET);
    assert_status(STATUS_OK, act_touch(w, 1));
    assert_status(STATUS_OK, act_touch(w, 2));
    again = stage_restart(s, 0);
    resume(again, 2);
    assert_int_equal(stage_job(again, 2).remaining_for, SEC(30));
    stage_free(again);
    stage_advance(s, SEC(60));
    expect_none(s);
}

static void without_memory_a_lease_is_not_kept_or_not_resumed(void **state)
{
    struct stage *s = *state;
    struct stage *again;
    struct actor *w = stage_worker(s, "w", "q");
    struct durable_lease lease = lease_of(1, 0);
    enum status status;

    PUT(s, .ttr_for = SEC(60));
    assert_int_equal(act_take(w), 1);
    // The extra part of the job, then the memo, allocation by allocation.
    for (unsigned nth = 1; !next(s, &lease); nth++) {
        assert_true(nth < 100);
        nth_alloc_fail(nth);
        broker_lease_persist(w->session, &lease);
        nth_alloc_fail(0);
        stage_step(s);
    }
    again = stage_restart(s, 0);
    w = stage_open(again, "w");
    for (unsigned nth = 1; stage_state(again, 1) != JOB_RESERVED; nth++) {
        assert_true(nth < 100);
        nth_alloc_fail(nth);
        status = broker_lease_resume(w->session, &lease);
        nth_alloc_fail(0);
        assert_true(status == STATUS_OK || status == STATUS_NO_MEMORY);
        stage_step(again);
    }
    stage_free(again);
}

static void unreadable_memo_is_forgotten(void **state)
{
    struct stage *s = *state;
    const struct memo *restored;
    const struct memo memo = {.kind = MEMO_LEASE,
                              .key = SLICE("12345678"),
                              .value = SLICE("no lease"),
                              .until_at = NSEC_NEVER,
                              .number = 1};

    assert_status(STATUS_OK, broker_restore_memo(s->broker, &memo, &restored));
    expect_none(s);
    assert_null(broker_memo_find(s->broker, MEMO_LEASE, memo.key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_durable_lease_goes_on_after_a_restart_for_its_remaining_time),
        STORY(a_resumed_lease_ends_as_any_other),
        STORY(a_renewal_is_kept_once_a_second),
        STORY(a_renewal_by_an_operator_is_kept_too),
        STORY(a_limit_goes_on_too),
        STORY(a_limit_beyond_the_time_to_run_does_not_end_a_resumed_lease_before),
        STORY(a_clock_that_is_set_back_does_not_prolong_it),
        STORY(a_lease_that_ended_meanwhile_spends_no_attempt),
        STORY(it_is_counted_as_one_reservation),
        STORY(each_end_is_told),
        STORY(a_retry_and_a_dead_letter_end_it),
        STORY(a_later_record_of_the_job_ends_it),
        STORY(changes_by_an_operator_and_full_records_do_not_end_it),
        STORY(the_end_of_the_process_does_not_end_it),
        STORY(it_counts_as_a_running_job),
        STORY(its_key_is_held),
        STORY(a_result_of_which_a_part_went_before_is_lost),
        STORY(leases_of_fleeting_jobs_and_leases_without_end_are_not_durable),
        STORY(without_room_a_lease_is_a_lease_all_the_same),
        STORY(without_memory_a_lease_is_not_kept_or_not_resumed),
        STORY(unreadable_memo_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
