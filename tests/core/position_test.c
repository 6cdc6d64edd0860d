/* SPDX-License-Identifier: MIT */
// The replies that wait until the store has reached a position, and that position.
#include "tests/core/stage.h"

static uint64_t position(struct stage *s)
{
    return broker_position(s->broker);
}

static void answer_waits_for_the_records_of_its_verb(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_int_equal(position(s), 1);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_release(w, 1, 0, SEC(1)));
    assert_int_equal(position(s), 2);
    assert_status(STATUS_OK, stage_kick_id(s, 1));
    assert_int_equal(position(s), 3);
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_bury(w, 1, 0));
    assert_int_equal(position(s), 4);
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_int_equal(position(s), 5);
    assert_status(STATUS_OK, act_complete(w, 1, NULL));
    assert_int_equal(position(s), 6);
    PUT(s, .queue = "q", .on_fail = ON_FAIL_DROP);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, NULL));
    assert_int_equal(position(s), 9);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(1)));
    assert_int_equal(position(s), 10);
    assert_status(STATUS_OK, stage_cancel(s, 3));
    assert_int_equal(position(s), 11);
}

static void answer_without_a_record_waits_for_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    PUT(s, .queue = "q");
    assert_status(STATUS_NOT_FOUND, act_complete(w, 1, NULL));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    assert_status(STATUS_NOT_FOUND, act_fail(w, 1, NULL));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    assert_status(STATUS_NOT_FOUND, act_release(w, 1, 0, 0));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    assert_status(STATUS_NOT_FOUND, act_bury(w, 1, 0));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    assert_status(STATUS_NOT_FOUND, stage_kick_id(s, 1));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    assert_status(STATUS_NOT_FOUND, stage_cancel(s, 99));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    // Taking a ready job by its id writes no record.
    assert_status(STATUS_OK, act_take_id(w, 1));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    act_unsubscribe(w, "q");
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    assert_status(STATUS_OK, broker_unsubscribe_all(w->session));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
}

static void refused_verb_waits_for_nothing(void **state)
{
    struct stage *s = *state;
    struct job_spec spec = {.durable = true};
    struct submission submission;

    PUT(s, .queue = "q");
    assert_status(STATUS_BAD_NAME,
                  broker_submit_to(s->broker, SLICE(""), &spec, NULL, &submission));
    assert_int_equal(position(s), 0);
    PUT(s, .queue = "q");
    s->refused = STORE_REFUSES_ALL;
    assert_status(STATUS_NO_SPACE, stage_pause(s, "q", SEC(1)));
    assert_int_equal(position(s), 0);
    s->refused = 0;
    PUT(s, .queue = "q");
    s->refused = STORE_REFUSES_ALL;
    assert_status(STATUS_NO_SPACE, stage_try_put(s, NULL, PLAN(.queue = "q"), NULL));
    assert_int_equal(position(s), 0);
    broker_drain(s->broker);
    assert_status(STATUS_DRAINING, stage_try_put(s, NULL, PLAN(.queue = "q"), NULL));
    assert_int_equal(position(s), 0);
}

static void duplicate_waits_for_the_job_that_it_joins(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT(s, .key = "k", .delay_for = SEC(9));
    PUT(s, .queue = "other");
    PUT(s, .key = "k", .delay_for = SEC(10));
    assert_int_equal(position(s), 1);
    // It starts earlier now: a record.
    PUT(s, .key = "k", .delay_for = SEC(1));
    assert_int_equal(position(s), 3);
    SUBMIT(c, .key = "l", .fleeting = true);
    PUT(s, .key = "l");
    assert_int_equal(position(s), 4);
    stage_expect_recorded(s, "submit 1; submit 2; start 1; submit 3");
}

static void fleeting_job_waits_for_its_id_alone(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");

    PUT(s, .queue = "other");
    s->recorded.len = 0;
    SUBMIT(c, .fleeting = true, .key = "k", .delay_for = SEC(9));
    assert_int_equal(position(s), 0);
    s->ids_at = 7;
    SUBMIT(c, .fleeting = true);
    assert_int_equal(position(s), 7);
    SUBMIT(c, .fleeting = true, .key = "k", .delay_for = SEC(1));
    assert_int_equal(position(s), 7);
    stage_expect_recorded(s, "");
}

static void body_waits_for_the_submission(void **state)
{
    struct stage *s = *state;

    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    PUT_BURIED(s, .queue = "q");
    assert_int_equal(broker_job_position(s->broker, broker_find(s->broker, 1)), 1);
    assert_int_equal(broker_job_position(s->broker, broker_find(s->broker, 2)), 2);
    assert_int_equal(broker_job_position(s->broker, broker_find(s->broker, 3)), 3);
}

static void broker_without_a_store_waits_for_nothing(void **state)
{
    struct stage *s = stage_new((struct broker_options){0}, false);
    struct store_info info = {.written = 1};

    (void)state;
    PUT(s, .queue = "q");
    assert_int_equal(position(s), 0);
    assert_int_equal(broker_job_position(s->broker, broker_find(s->broker, 1)), 0);
    assert_status(STATUS_OK, stage_pause(s, "q", SEC(1)));
    assert_int_equal(position(s), 0);
    assert_false(broker_store_info(s->broker, &info));
    assert_int_equal(info.written, 0);
    stage_free(s);
}

static void store_reports_its_state(void **state)
{
    struct stage *s = *state;
    struct store_info info;

    PUT(s, .queue = "q");
    PUT(s, .queue = "q");
    assert_true(broker_store_info(s->broker, &info));
    assert_int_equal(info.written, 2);
}

static void each_slice_of_a_kick_has_its_position(void **state)
{
    struct stage *s = *state;
    struct kick kick;
    enum { MANY = BROKER_SLICE + 44 };

    s->mute = true;
    for (size_t i = 0; i < MANY; i++) {
        PUT(s, .delay_for = SEC(9), .queue = "q");
    }
    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, stage_find(s, "q"), 1000, &kick));
    assert_status(STATUS_MORE, broker_kick(s->broker, stage_find(s, "q"), &kick));
    assert_int_equal(broker_position(s->broker), MANY + BROKER_SLICE);
    PUT(s, .queue = "other");
    assert_status(STATUS_OK, broker_kick(s->broker, stage_find(s, "q"), &kick));
    assert_int_equal(broker_position(s->broker), 2 * MANY + 1);
}

static void slice_that_kicks_jobs_that_are_not_durable_has_no_position(void **state)
{
    struct stage *s = *state;
    struct actor *c = stage_open(s, "c");
    struct kick kick;

    PUT(s, .delay_for = SEC(9), .queue = "q");
    SUBMIT(c, .delay_for = SEC(10), .queue = "q", .fleeting = true);
    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, stage_find(s, "q"), 1, &kick));
    assert_status(STATUS_OK, broker_kick(s->broker, stage_find(s, "q"), &kick));
    assert_int_not_equal(broker_position(s->broker), 0);
    assert_int_equal(STATUS_OK, broker_kick_begin(NULL, stage_find(s, "q"), 1, &kick));
    assert_status(STATUS_OK, broker_kick(s->broker, stage_find(s, "q"), &kick));
    assert_int_equal(kick.kicked, 1);
    assert_int_equal(broker_position(s->broker), 0);
}

static void final_events_wait_for_the_record_of_the_end(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");

    SUBMIT(c, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, act_complete(w, 1, "r"));
    stage_expect(s, "c complete 1 r");
    assert_int_equal(s->event_at, 2);
    SUBMIT(c, .queue = "q", .on_fail = ON_FAIL_BURY);
    assert_int_equal(act_take(w), 2);
    assert_status(STATUS_OK, act_fail(w, 2, "why"));
    stage_expect(s, "c exception 2 why");
    assert_int_equal(s->event_at, 4);
    SUBMIT(c, .queue = "q", .on_fail = ON_FAIL_DROP);
    assert_int_equal(act_take(w), 3);
    assert_status(STATUS_OK, act_fail(w, 3, NULL));
    stage_expect(s, "c failed 3");
    assert_int_equal(s->event_at, 6);
    SUBMIT(c, .queue = "q");
    assert_status(STATUS_OK, stage_cancel(s, 4));
    stage_expect(s, "c cancelled 4");
    assert_int_equal(s->event_at, 8);
    SUBMIT(c, .queue = "q", .fleeting = true);
    assert_int_equal(act_take(w), 5);
    assert_status(STATUS_OK, act_complete(w, 5, NULL));
    stage_expect(s, "c complete 5");
    assert_int_equal(s->event_at, 0);
}

static void other_events_wait_for_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct job_event event = {.kind = JOB_EVENT_DATA, .position = 99};

    SUBMIT(c, .queue = "q", .key = "k");
    assert_int_equal(act_take(w), 1);
    s->event_at = 77;
    assert_status(STATUS_OK, broker_report(w->session, 1, &event));
    stage_expect(s, "c data 1");
    assert_int_equal(s->event_at, 0);
    assert_status(STATUS_OK, act_progress(w, 1, 1, 2));
    stage_expect(s, "c progress 1 1/2");
    s->event_at = 77;
    SUBMIT(stage_open(s, "d"), .queue = "q", .key = "k");
    stage_expect(s, "d progress 1 1/2");
    assert_int_equal(s->event_at, 0);
    s->event_at = 77;
    assert_status(STATUS_OK, act_release(w, 1, 0, 0));
    stage_expect(s, "c retried 1; d retried 1");
    assert_int_equal(s->event_at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(answer_waits_for_the_records_of_its_verb),
        STORY(answer_without_a_record_waits_for_nothing),
        STORY(refused_verb_waits_for_nothing),
        STORY(duplicate_waits_for_the_job_that_it_joins),
        STORY(fleeting_job_waits_for_its_id_alone),
        STORY(body_waits_for_the_submission),
        cmocka_unit_test(broker_without_a_store_waits_for_nothing),
        STORY(store_reports_its_state),
        STORY(each_slice_of_a_kick_has_its_position),
        STORY(slice_that_kicks_jobs_that_are_not_durable_has_no_position),
        STORY(final_events_wait_for_the_record_of_the_end),
        STORY(other_events_wait_for_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
