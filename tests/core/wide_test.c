/* SPDX-License-Identifier: MIT */
// Sessions that take from thousands of queues: work on all of these is done in slices, and the jobs
// that they get meanwhile are right.
#include "tests/core/stage.h"
#include "tests/support/nth_alloc.h"

#include <stdio.h>
#include <string.h>

// The links that are made, undone or checked at once.
enum { AT_ONCE = 16 * BROKER_SLICE };
enum { MANY = 3 * AT_ONCE + 100 };

static struct slice queue_of(unsigned number)
{
    static char name[16];

    return slice_of(name, (size_t)snprintf(name, sizeof name, "q%u", number));
}

static const char *name_of(unsigned number)
{
    return queue_of(number).ptr;
}

static void subscribe_to(struct actor *a, unsigned from, unsigned to)
{
    const struct subscription_terms terms = {.limit_for = 0};

    for (unsigned i = from; i < to; i++) {
        assert_status(STATUS_OK, broker_subscribe(a->session, queue_of(i), &terms));
    }
    stage_step(a->stage);
}

static struct actor *wide_worker(struct stage *s, const char *name)
{
    struct actor *a = stage_open(s, name);

    subscribe_to(a, 0, MANY);
    return a;
}

// The number of queues on which a session waits.
static unsigned count_links(struct stage *s)
{
    unsigned count = 0;

    for (unsigned i = 0; i < MANY; i++) {
        count += stage_queue(s, name_of(i)).waiting > 0;
    }
    return count;
}

static void tick(struct stage *s)
{
    broker_tick(s->broker, s->now);
    stage_step(s);
}

// Ticks until no work remains; each changes at most a slice of links. Returns the number of ticks.
static unsigned ticks_until(struct stage *s, unsigned links)
{
    unsigned ticks = 0;

    while (count_links(s) != links) {
        unsigned before = count_links(s);
        unsigned after;

        assert_int_equal(broker_next_due(s->broker), s->now.mono);
        tick(s);
        after = count_links(s);
        assert_true((after > before ? after - before : before - after) <= AT_ONCE);
        assert_true(ticks++ < MANY);
    }
    tick(s);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    return ticks;
}

//
// Waiting
//

static void session_begins_and_stops_to_wait_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    assert_int_equal(act_take(w), 0);
    act_wait(w);
    assert_true(count_links(s) <= AT_ONCE);
    assert_int_equal(stage_info(s).waiting, 1);
    assert_true(ticks_until(s, MANY) >= 2);
    assert_true(act_unwait(w));
    assert_int_equal(stage_info(s).waiting, 0);
    assert_true(count_links(s) >= MANY - AT_ONCE);
    assert_true(ticks_until(s, 0) >= 3);
}

static void session_with_a_slice_of_queues_waits_on_all_at_once(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    subscribe_to(w, 0, AT_ONCE);
    subscribe_to(stage_open(s, "keeps the others"), AT_ONCE, MANY);
    act_wait(w);
    assert_int_equal(count_links(s), AT_ONCE);
    PUT(s, .queue = name_of(0));
    assert_int_equal(count_links(s), 0);
    stage_expect(s, "w leased 1");
}

static void job_of_a_queue_without_a_link_yet_reaches_a_waiting_session(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    assert_int_equal(stage_queue(s, name_of(0)).waiting, 0);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "w leased 1");
    stage_settle(s);
    assert_int_equal(count_links(s), 0);
}

static void job_of_a_queue_without_a_link_yet_is_there_when_the_wait_ends(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    assert_status(STATUS_OK, act_wait_until(w, s->now.mono + SEC(1), -1));
    PUT(s, .queue = name_of(0));
    s->now.mono += SEC(2);
    tick(s);
    stage_expect(s, "w leased 1");
}

static void link_of_a_wait_that_is_over_counts_for_nothing(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");
    struct actor *other;

    act_wait(w);
    stage_settle(s);
    PUT(s, .queue = name_of(7));
    assert_int_equal(stage_queue(s, name_of(0)).waiting, 1);
    other = stage_worker(s, "other", name_of(0));
    act_wait(other);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "w leased 1; other leased 2");
}

static void session_that_waits_again_stands_behind_longer_waiters(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");
    struct actor *other = stage_worker(s, "other", name_of(0));

    act_wait(w);
    stage_settle(s);
    act_wait(other);
    assert_true(act_unwait(w));
    act_wait(w);
    // Links of its first wait are still there.
    assert_int_equal(stage_queue(s, name_of(0)).waiting, 2);
    PUT(s, .queue = name_of(0));
    PUT(s, .queue = name_of(0));
    stage_expect(s, "other leased 1; w leased 2");
}

static void wait_that_begins_and_ends_while_links_are_undone_leaves_none(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    tick(s);
    assert_true(act_unwait(w));
    tick(s);
    act_wait(w);
    tick(s);
    assert_true(act_unwait(w));
    stage_settle(s);
    assert_int_equal(count_links(s), 0);
    act_wait(w);
    stage_settle(s);
    assert_int_equal(count_links(s), MANY);
}

static void nudge_is_awaited_in_slices_and_queues_are_added_meanwhile(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    subscribe_to(stage_open(s, "keeps the others"), MANY - 3, MANY + 1);
    subscribe_to(w, 0, MANY - 2);
    act_await_nudge(w);
    assert_true(count_links(s) <= AT_ONCE);
    subscribe_to(w, MANY - 2, MANY - 1);
    stage_settle(s);
    subscribe_to(w, MANY - 1, MANY);
    assert_int_equal(count_links(s), MANY);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "w nudged");
    assert_int_equal(act_take(w), 1);
    act_await_nudge(w);
    stage_settle(s);
    assert_true(act_unwait(w));
    act_await_nudge(w);
    // While links of the last wait are undone, no link is added.
    subscribe_to(w, MANY, MANY + 1);
    assert_int_equal(stage_queue(s, name_of(MANY)).waiting, 0);
    stage_settle(s);
    PUT(s, .queue = name_of(MANY));
    stage_expect(s, "w nudged");
}

static void session_that_gives_queues_up_meanwhile_is_linked_with_the_rest(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    subscribe_to(w, 0, MANY);
    act_await_nudge(w);
    for (unsigned i = 1; i < MANY; i++) {
        (void)broker_unsubscribe(w->session, queue_of(i), false);
    }
    stage_step(s);
    assert_int_equal(broker_next_due(s->broker), NSEC_NEVER);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "w nudged");
}

static void session_that_gives_queues_up_has_no_link_of_its_last_wait(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    stage_settle(s);
    assert_true(act_unwait(w));
    for (unsigned i = AT_ONCE - 1; i < MANY; i++) {
        (void)broker_unsubscribe(w->session, queue_of(i), false);
        if (i % 100 == 0) {
            tick(s);
        }
    }
    stage_step(s);
    assert_int_equal(stage_queue(s, name_of(0)).waiting, 0);
    act_wait(w);
    assert_int_equal(stage_queue(s, name_of(0)).waiting, 1);
}

static void session_may_close_while_links_are_made_or_undone(void **state)
{
    struct stage *s = *state;
    struct actor *v = wide_worker(s, "v");
    struct actor *w = wide_worker(s, "w");

    act_wait(v);
    act_wait(w);
    tick(s);
    act_close(v);
    stage_settle(s);
    assert_true(act_unwait(w));
    tick(s);
    act_close(w);
    PUT(s, .queue = name_of(0));
    stage_settle(s);
    stage_expect(s, "");
    assert_int_equal(stage_info(s).sessions, 0);
}

static void without_memory_the_queue_that_is_too_much_is_refused(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    const struct subscription_terms terms = {.limit_for = 0};
    enum status status = STATUS_NO_MEMORY;

    subscribe_to(w, 0, AT_ONCE);
    for (size_t n = 1; status != STATUS_OK; n++) {
        nth_alloc_fail_from(n);
        status = broker_subscribe(w->session, queue_of(AT_ONCE), &terms);
        nth_alloc_fail(0);
        stage_step(s);
        assert_true(status == STATUS_OK || session_subscriptions(w->session) == AT_ONCE);
    }
    act_wait(w);
    stage_settle(s);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "w leased 1");
}

//
// Grants
//

static const struct grant work_all[] = {{MAY_WORK, {"*", 1}}};
static const struct grant work_odd[] = {
    {MAY_WORK, {"*1", 2}}, {MAY_WORK, {"*3", 2}}, {MAY_WORK, {"*5", 2}},
    {MAY_WORK, {"*7", 2}}, {MAY_WORK, {"*9", 2}},
};
static const struct grant submit_all[] = {{MAY_SUBMIT, {"*", 1}}};

#define GRANT_SLICE(a, list) act_grant_slice((a), (list), sizeof(list) / sizeof *(list))
#define GRANT(a, list) act_grant((a), (list), sizeof(list) / sizeof *(list))

static void subscriptions_are_judged_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");
    unsigned slices = 1;

    (void)broker_take_links(s->broker);
    while (GRANT_SLICE(w, work_odd) == GRANT_MORE) {
        size_t links = broker_take_links(s->broker);

        // The work is charged, at most a slice and the globs of one name.
        assert_in_range(links, AT_ONCE, AT_ONCE + 8);
        slices++;
        (void)broker_take_links(s->broker);
    }
    assert_true(slices > MANY / AT_ONCE);
}

static void equal_rights_are_not_judged_again(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");
    struct grants *grants = grants_new(work_odd, 5);

    (void)GRANT(w, work_odd);
    (void)broker_take_links(s->broker);
    assert_int_equal(broker_session_grant(w->session, grants), GRANT_DONE);
    assert_int_equal(broker_take_links(s->broker), 0);
    grants_unref(grants);
}

static void lost_queue_is_reported_by_the_last_slice(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");
    enum grant_progress progress;

    assert_int_equal(GRANT_SLICE(w, work_odd), GRANT_MORE);
    do {
        // These grants take no right, but those before did.
        progress = GRANT_SLICE(w, work_all);
    } while (progress == GRANT_MORE);
    assert_int_equal(progress, GRANT_LOST);
    assert_true(GRANT(w, work_odd));
    assert_false(GRANT(w, work_all));
}

static void queue_that_a_job_barred_is_reported_by_the_last_slice(void **state)
{
    static const struct grant all_but_q0[] = {
        {MAY_WORK, {"q1*", 3}}, {MAY_WORK, {"q2*", 3}}, {MAY_WORK, {"q3*", 3}},
        {MAY_WORK, {"q4*", 3}}, {MAY_WORK, {"q5*", 3}}, {MAY_WORK, {"q6*", 3}},
        {MAY_WORK, {"q7*", 3}}, {MAY_WORK, {"q8*", 3}}, {MAY_WORK, {"q9*", 3}},
    };
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    stage_settle(s);
    assert_int_equal(GRANT_SLICE(w, all_but_q0), GRANT_MORE);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "");
    assert_true(GRANT(w, all_but_q0));
    stage_expect(s, "");
}

static void forbidden_queue_gives_nothing_from_the_first_slice_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    stage_settle(s);
    assert_int_equal(GRANT_SLICE(w, work_odd), GRANT_MORE);
    // Neither has been checked yet: both are linked.
    PUT(s, .queue = name_of(0));
    stage_expect(s, "");
    PUT(s, .queue = name_of(1));
    stage_expect(s, "w leased 2");
    while (GRANT_SLICE(w, work_odd) == GRANT_MORE) {
    }
    assert_int_equal(act_take(w), 0);
    act_wait(w);
    stage_settle(s);
    stage_expect(s, "");
}

static void forbidden_queue_nudges_no_session_from_the_first_slice_on(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_open_in_turn(s, "w");

    subscribe_to(w, 0, MANY);
    act_await_nudge(w);
    stage_settle(s);
    assert_int_equal(GRANT_SLICE(w, work_odd), GRANT_MORE);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "");
    PUT(s, .queue = name_of(1));
    stage_expect(s, "w nudged");
    assert_true(GRANT(w, work_odd));
}

static void queue_gives_again_when_it_has_been_judged(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    (void)GRANT(w, work_odd);
    act_wait(w);
    stage_settle(s);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "");
    assert_int_equal(GRANT_SLICE(w, work_all), GRANT_MORE);
    stage_expect(s, "");
    while (GRANT_SLICE(w, work_all) == GRANT_MORE) {
    }
    stage_expect(s, "w leased 1");
}

static void other_grants_start_over(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    stage_settle(s);
    assert_int_equal(GRANT_SLICE(w, work_odd), GRANT_MORE);
    assert_int_equal(GRANT_SLICE(w, submit_all), GRANT_MORE);
    PUT(s, .queue = name_of(1));
    stage_expect(s, "");
    assert_true(GRANT(w, work_all));
    stage_expect(s, "w leased 1");
    act_wait(w);
    stage_settle(s);
    for (unsigned i = MANY - 2; i < MANY; i++) {
        // The subscriptions that the first grants barred were checked again.
        PUT(s, .queue = name_of(i));
    }
    stage_expect(s, "w leased 2");
}

static void no_rules_at_all_open_everything_in_slices(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    (void)GRANT(w, submit_all);
    assert_int_equal(act_grant_slice(w, NULL, 0), GRANT_MORE);
    assert_false(act_grant(w, NULL, 0));
    PUT(s, .queue = name_of(0));
    assert_int_equal(act_take(w), 1);
}

static void session_that_lost_its_job_is_given_nothing_forbidden(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    stage_settle(s);
    PUT(s, .queue = name_of(0));
    PUT(s, .queue = name_of(2));
    PUT(s, .queue = name_of(1));
    // It was assigned the job but not told of it, and waits on.
    assert_int_equal(stage_state(s, 1), JOB_RESERVED);
    assert_int_equal(GRANT_SLICE(w, work_odd), GRANT_MORE);
    assert_status(STATUS_OK, stage_cancel_held(s, 1));
    stage_expect(s, "w leased 3");
    assert_true(GRANT(w, work_odd));
}

static void session_may_close_while_it_is_judged(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");

    act_wait(w);
    assert_int_equal(GRANT_SLICE(w, work_odd), GRANT_MORE);
    act_close(w);
    PUT(s, .queue = name_of(1));
    stage_settle(s);
    stage_expect(s, "");
    assert_int_equal(stage_info(s).sessions, 0);
}

// A session with few queues, whose names are compared with thousands of globs.
static void few_queues_and_many_globs_are_judged_in_slices(void **state)
{
    enum { GLOBS = 2 * AT_ONCE, QUEUES = 8 };
    static struct grant list[GLOBS];
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");

    for (size_t i = 0; i < GLOBS; i++) {
        list[i] = (struct grant){MAY_WORK, SLICE("*z")};
    }
    subscribe_to(w, 0, QUEUES);
    act_wait(w);
    assert_int_equal(act_grant_slice(w, list, GLOBS), GRANT_MORE);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "");
    assert_true(act_grant(w, list, GLOBS));
    assert_false(act_grant(w, NULL, 0));
    stage_expect(s, "w leased 1");
}

static void without_memory_few_queues_are_judged_at_once(void **state)
{
    enum { GLOBS = 2 * AT_ONCE, QUEUES = 8 };
    static struct grant list[GLOBS];
    struct stage *s = *state;
    struct actor *w = stage_open(s, "w");
    struct grants *grants;

    for (size_t i = 0; i < GLOBS; i++) {
        list[i] = (struct grant){MAY_WORK, SLICE("*z")};
    }
    grants = grants_new(list, GLOBS);
    subscribe_to(w, 0, QUEUES);
    act_wait(w);
    nth_alloc_fail_from(1);
    // Some memory may stay in the broker's slabs.
    (void)broker_session_grant(w->session, grants);
    nth_alloc_fail(0);
    stage_step(s);
    while (broker_session_grant(w->session, grants) == GRANT_MORE) {
    }
    grants_unref(grants);
    PUT(s, .queue = name_of(0));
    stage_expect(s, "");
}

static void that_all_are_forbidden_is_known_without_a_look_at_each(void **state)
{
    struct stage *s = *state;
    struct actor *w = wide_worker(s, "w");
    const struct job *job;

    (void)GRANT(w, submit_all);
    (void)broker_take_links(s->broker);
    assert_status(STATUS_FORBIDDEN, broker_take(w->session, &job));
    assert_status(STATUS_FORBIDDEN, act_wait_until(w, NSEC_NEVER, -1));
    assert_in_range(broker_take_links(s->broker), 0, 8);
    assert_status(STATUS_OK, broker_unsubscribe(w->session, queue_of(0), false));
    assert_status(STATUS_FORBIDDEN, broker_take(w->session, &job));
    (void)GRANT(w, work_odd);
    assert_status(STATUS_EMPTY, broker_take(w->session, &job));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(session_begins_and_stops_to_wait_in_slices),
        STORY(session_with_a_slice_of_queues_waits_on_all_at_once),
        STORY(job_of_a_queue_without_a_link_yet_reaches_a_waiting_session),
        STORY(job_of_a_queue_without_a_link_yet_is_there_when_the_wait_ends),
        STORY(link_of_a_wait_that_is_over_counts_for_nothing),
        STORY(session_that_waits_again_stands_behind_longer_waiters),
        STORY(wait_that_begins_and_ends_while_links_are_undone_leaves_none),
        STORY(nudge_is_awaited_in_slices_and_queues_are_added_meanwhile),
        STORY(session_that_gives_queues_up_meanwhile_is_linked_with_the_rest),
        STORY(session_that_gives_queues_up_has_no_link_of_its_last_wait),
        STORY(session_may_close_while_links_are_made_or_undone),
        STORY(without_memory_the_queue_that_is_too_much_is_refused),
        STORY(subscriptions_are_judged_in_slices),
        STORY(equal_rights_are_not_judged_again),
        STORY(lost_queue_is_reported_by_the_last_slice),
        STORY(queue_that_a_job_barred_is_reported_by_the_last_slice),
        STORY(forbidden_queue_gives_nothing_from_the_first_slice_on),
        STORY(forbidden_queue_nudges_no_session_from_the_first_slice_on),
        STORY(queue_gives_again_when_it_has_been_judged),
        STORY(other_grants_start_over),
        STORY(no_rules_at_all_open_everything_in_slices),
        STORY(session_that_lost_its_job_is_given_nothing_forbidden),
        STORY(session_may_close_while_it_is_judged),
        STORY(few_queues_and_many_globs_are_judged_in_slices),
        STORY(without_memory_few_queues_are_judged_at_once),
        STORY(that_all_are_forbidden_is_known_without_a_look_at_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
