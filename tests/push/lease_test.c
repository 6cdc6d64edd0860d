/* SPDX-License-Identifier: MIT */
// Jobs that are being sent: pauses, jobs that are taken away meanwhile, and the end when the broker
// stops or its settings change.
#include "core/base/log.h"
#include "tests/push/push_bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DONE FAKE_ANSWER("200 OK", "4", "done")

static void check_pause(struct push_bed *bed, const char *answer, nsec_t pause_for)
{
    fake_script(&bed->fake, answer, false);
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_DEFERRED] == 1);
    bed_rest(bed);
    assert_int_equal(bed_state(bed, 1), JOB_READY);
    assert_int_equal(bed_attempts(bed, 1), 0);
    assert_string_equal(bed_shown(bed, 0).state, "paused");
    assert_in_range(bed_shown(bed, 0).paused_for, pause_for - SECONDS(2), pause_for);
    bed_advance(bed, pause_for - SECONDS(3));
    assert_int_equal(bed->fake.count, 1);
    bed_advance(bed, SECONDS(3));
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    assert_int_equal(bed->fake.count, 2);
}

static void busy_endpoint_says_how_long_to_wait(void **state)
{
    check_pause(*state, "HTTP/1.1 429 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n",
                SECONDS(30));
}

static void unavailable_endpoint_says_how_long_to_wait(void **state)
{
    check_pause(*state, "HTTP/1.1 503 No\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n",
                SECONDS(30));
}

static void longest_pause_is_ten_minutes(void **state)
{
    check_pause(*state, "HTTP/1.1 429 Busy\r\nRetry-After: 9999999\r\nContent-Length: 0\r\n\r\n",
                SECONDS(600));
}

static void retry_after_is_ignored_with_other_statuses(void **state)
{
#define ANSWER(status) "HTTP/1.1 " status "\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"
    static const char *const answers[] = {ANSWER("200 OK"), ANSWER("301 Moved"), ANSWER("404 No"),
                                          ANSWER("500 Oops"), ANSWER("502 No")};
    struct push_bed *bed = *state;

    bed->settings.connections = 1;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        fake_script(&bed->fake, answers[i], false);
    }
    bed_push(bed);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        (void)PUT(bed, .body = "x");
        UNTIL(bed, bed->fake.count == i + 1);
        UNTIL(bed, bed_state(bed, i + 1) == (i == 0 ? JOB_GONE : JOB_BURIED));
        assert_string_equal(bed_shown(bed, 0).state, "open");
    }
}

static struct {
    int paused, resuming, resumed;
} lines;

static void on_line(void *context, enum log_level level, const char *event,
                    const struct log_field *fields, size_t count)
{
    (void)context;
    (void)level;
    lines.resumed += strcmp(event, "push_resumed") == 0;
    lines.resuming += strcmp(event, "push_resuming") == 0;
    for (size_t i = 0; strcmp(event, "push_paused") == 0 && i < count; i++) {
        lines.paused += strcmp(fields[i].key, "seconds") == 0 && fields[i].number == 600;
    }
}

static void pause_is_logged_and_a_reload_ends_it(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, "HTTP/1.1 429 Busy\r\nRetry-After: 9999\r\nContent-Length: 0\r\n\r\n",
                false);
    fake_script(&bed->fake, DONE, false);
    memset(&lines, 0, sizeof lines);
    log_set_sink(on_line, NULL, LOG_LEVEL_INFO);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_DEFERRED] == 1);
    bed_rest(bed);
    assert_string_equal(bed_shown(bed, 0).state, "paused");
    assert_int_equal(lines.paused, 1);
    bed_push(bed);
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    assert_int_equal(lines.paused, 1);
    assert_int_equal(lines.resumed, 1);
}

static void pause_is_ended_by_an_operator(void **state)
{
    struct push_bed *bed = *state;
    struct slice section;

    fake_script(&bed->fake, "HTTP/1.1 429 Busy\r\nRetry-After: 9999\r\nContent-Length: 0\r\n\r\n",
                false);
    fake_script(&bed->fake, DONE, false);
    memset(&lines, 0, sizeof lines);
    log_set_sink(on_line, NULL, LOG_LEVEL_INFO);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_DEFERRED] == 1);
    bed_rest(bed);
    assert_int_equal(bed->fake.count, 1);
    assert_false(push_resume(bed->push, SLICE("elsewhere")));
    bed_rest(bed);
    assert_string_equal(bed_shown(bed, 0).state, "paused");
    section = slice_str(bed_shown(bed, 0).section);
    assert_true(push_resume(bed->push, section));
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    assert_int_equal(lines.resuming, 1);
    assert_int_equal(lines.resumed, 1);
    // An endpoint that is not paused continues, and nothing is logged.
    assert_true(push_resume(bed->push, section));
    assert_int_equal(lines.resuming, 1);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
}

static void operator_has_an_endpoint_that_is_down_tried_again(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.connections = 1;
    fake_script(&bed->fake, FAKE_ANSWER("429 Busy", "0", ""), false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed->fake.count == 3);
    bed_rest(bed);
    assert_string_equal(bed_shown(bed, 0).state, "paused");
    assert_true(push_resume(bed->push, slice_str(bed_shown(bed, 0).section)));
    assert_string_equal(bed_shown(bed, 0).state, "trying");
    UNTIL(bed, bed->fake.count == 4);
}

static void busy_endpoint_without_retry_after_is_tried_less_often(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.connections = 1;
    fake_script(&bed->fake, FAKE_ANSWER("429 Busy", "0", ""), false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed->fake.count == 3);
    bed_rest(bed);
    assert_int_equal(bed->fake.count, 3);
    assert_string_equal(bed_shown(bed, 0).state, "paused");
    assert_int_equal(bed_attempts(bed, 1), 0);
}

static void earlier_retry_after_does_not_last(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, "HTTP/1.1 429 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n",
                false);
    fake_script(&bed->fake, FAKE_ANSWER("503 No", "0", ""), false);
    bed->settings.connections = 1;
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed->fake.count == 1);
    bed_rest(bed);
    bed_advance(bed, SECONDS(31));
    UNTIL(bed, bed_state(bed, 1) == JOB_BURIED);
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_REFUSED], 1);
}

static void request_ends_before_the_lease_of_its_job(void **state)
{
    struct push_bed *bed = *state;
    long long deadline;
    nsec_t latest_at;

    bed->counts_stalls = true;
    fake_script(&bed->fake, NULL, false);
    bed_push(bed);
    (void)PUT(bed, .ttr_for = SECONDS(1));
    UNTIL(bed, bed->fake.count == 1);
    latest_at = bed_now(bed).wall + SECONDS(1) - 100 * NSEC_PER_MSEC;
    deadline = strtoll(fake_field(&bed->fake, 0, "X-Tandem-Deadline"), NULL, 10);
    assert_true(deadline * NSEC_PER_MSEC <= latest_at);
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_TIMED_OUT] > 0);
    assert_true(bed_now(bed).wall >= deadline * NSEC_PER_MSEC);
}

static void job_that_was_taken_away_is_not_ended_by_the_first_response(void **state)
{
    const struct job_act release = {.kind = ACT_RELEASE};
    struct push_bed *bed = *state;

    bed->settings.timeout_for = SECONDS(1);
    fake_script(&bed->fake, NULL, false);
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, bed->fake.count == 1);
    assert_int_equal(broker_act(bed->broker, NULL, 1, &release), STATUS_OK);
    UNTIL(bed, strstr(bed->told, "complete"));
    assert_string_equal(bed->told, "retried 1; complete 1 done");
    // The first request has no response, which no longer matters.
    UNTIL(bed, bed_shown(bed, 0).in_flight == 0);
    assert_int_equal(bed->fake.count, 2);
}

static void job_that_was_taken_away_before_it_was_sent_is_sent_once(void **state)
{
    const struct job_act release = {.kind = ACT_RELEASE};
    struct push_bed *bed = *state;

    bed->reached = 0;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed_state(bed, 1) == JOB_RESERVED);
    assert_int_equal(broker_act(bed->broker, NULL, 1, &release), STATUS_OK);
    UNTIL(bed, bed_state(bed, 1) == JOB_RESERVED);
    bed->reached = UINT64_MAX;
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    bed_rest(bed);
    assert_int_equal(bed->fake.count, 1);
    assert_int_equal(bed_shown(bed, 0).in_flight, 0);
}

static void job_may_be_deleted_while_it_is_sent(void **state)
{
    const struct job_act delete = {.kind = ACT_DELETE};
    struct push_bed *bed = *state;

    bed->settings.timeout_for = 300 * NSEC_PER_MSEC;
    fake_script(&bed->fake, NULL, false);
    bed_push(bed);
    (void)PUT(bed, .zeros = 100000);
    UNTIL(bed, bed->fake.count == 1);
    assert_int_equal(broker_act(bed->broker, NULL, 1, &delete), STATUS_OK);
    UNTIL(bed, bed_shown(bed, 0).in_flight == 0);
}

static void job_is_given_back_later_if_the_store_has_no_room(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, "HTTP/1.1 429 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
                false);
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    bed->refused = 1u << RECORD_RELEASE | 1u << RECORD_SET;
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_DEFERRED] == 1);
    bed_advance(bed, SECONDS(5));
    assert_int_equal(bed_state(bed, 1), JOB_RESERVED);
    bed->refused = 0;
    bed_advance(bed, SECONDS(2));
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_DEFERRED], 1);
}

static void private_address_is_never_connected_to(void **state)
{
    struct push_bed *bed = *state;

    (void)snprintf(bed->url, sizeof bed->url, "http://localhost:%d/", bed->fake.port);
    bed->settings.may_be_private = false;
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_UNREACHABLE] > 0);
    assert_string_equal(bed_shown(bed, 0).last_failure,
                        "its address is not of the public Internet");
    assert_int_equal(bed->fake.accepted, 0);
    assert_int_equal(bed_attempts(bed, 1), 0);
}

static void endpoint_that_stays_the_same_keeps_its_requests(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, NULL, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed->fake.count == 1);
    bed_push(bed);
    bed_rest(bed);
    assert_int_equal(bed_shown(bed, 0).in_flight, 1);
    assert_string_equal(bed_shown(bed, 0).state, "open");
    assert_int_equal(bed->fake.count, 1);
}

static void endpoint_that_changes_takes_no_more_and_ends_with_its_last_response(void **state)
{
    struct push_bed *bed = *state;
    struct introspect_push shown;

    bed->settings.timeout_for = SECONDS(1);
    fake_script(&bed->fake, NULL, false);
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed->fake.count == 1);
    bed->settings.connections = 2;
    bed_push(bed);
    assert_string_equal(bed_shown(bed, 0).state, "leaving");
    (void)PUT(bed, .body = "y");
    UNTIL(bed, bed_state(bed, 2) == JOB_GONE);
    assert_int_equal(bed_state(bed, 1), JOB_RESERVED);
    UNTIL(bed, !push_endpoint_info(bed->push, 1, &shown));
    assert_int_equal(bed_state(bed, 1), JOB_BURIED);
    assert_int_equal(bed_shown(bed, 0).connections, 2);
}

static void queue_without_an_endpoint_is_not_pushed(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed->fake.count == 1);
    bed_push_all(bed, &bed->settings, 0);
    bed_rest(bed);
    (void)PUT(bed, .body = "y");
    bed_rest(bed);
    assert_int_equal(bed_state(bed, 2), JOB_READY);
    assert_false(push_is_busy(bed->push));
}

static void queue_with_another_section_goes_to_its_endpoint(void **state)
{
    struct push_bed *bed = *state;
    struct push_settings both[2] = {bed->settings, bed->settings};
    struct introspect_push shown;

    both[0].name = "a*";
    both[1].name = "*";
    fake_script(&bed->fake, DONE, false);
    bed_push_all(bed, &both[1], 1);
    (void)PUT(bed, .queue = "ab");
    UNTIL(bed, bed->fake.count == 1);
    bed_push_all(bed, both, 2);
    (void)PUT(bed, .queue = "ab");
    UNTIL(bed, bed->fake.count == 2);
    bed_rest(bed);
    assert_true(
        push_queue_endpoint_info(bed->push, broker_queue_find(bed->broker, SLICE("ab")), &shown));
    assert_string_equal(shown.section, "a*");
}

static void stop_waits_for_responses_and_gives_back_the_rest(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.connections = 2;
    fake_script(&bed->fake, NULL, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    (void)PUT(bed, .body = "y");
    (void)PUT(bed, .body = "z");
    UNTIL(bed, bed->fake.count == 2);
    push_stop(bed->push);
    bed_rest(bed);
    assert_true(push_is_busy(bed->push));
    assert_int_equal(bed->fake.count, 2);
    push_free(bed->push);
    bed->push = NULL;
    for (uint64_t id = 1; id <= 3; id++) {
        assert_int_equal(bed_state(bed, id), JOB_READY);
        assert_int_equal(bed_attempts(bed, id), 0);
    }
}

static void stop_sends_no_held_request(void **state)
{
    struct push_bed *bed = *state;

    bed->reached = 0;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    bed_rest(bed);
    push_stop(bed->push);
    bed->reached = bed->appended;
    UNTIL(bed, !push_is_busy(bed->push));
    assert_int_equal(bed->fake.count, 0);
    assert_int_equal(bed_state(bed, 1), JOB_READY);
}

static void stop_in_the_middle_leaves_no_endpoint_to_be_called(void **state)
{
    struct push_bed *bed = *state;
    struct push_settings two[2] = {bed->settings, bed->settings};

    two[0].name = "a";
    two[1].name = "b";
    fake_script(&bed->fake, NULL, false);
    bed_push_all(bed, two, 2);
    for (int i = 0; i < 3; i++) {
        (void)PUT(bed, .queue = "a", .ttr_for = SECONDS(2 + i));
        (void)PUT(bed, .queue = "b", .ttr_for = SECONDS(2 + i));
    }
    UNTIL(bed, bed->fake.count == 6);
    push_stop(bed->push);
    push_free(bed->push);
    bed->push = NULL;
    for (uint64_t id = 1; id <= 6; id++) {
        assert_int_equal(bed_state(bed, id), JOB_READY);
    }
}

static void settings_after_the_stop_make_no_endpoint(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, NULL, false);
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .ttr_for = SECONDS(1));
    UNTIL(bed, bed->fake.count == 1);
    push_stop(bed->push);
    bed_push(bed);
    (void)PUT(bed, .body = "y");
    bed_advance(bed, SECONDS(2));
    UNTIL(bed, !push_is_busy(bed->push));
    assert_int_equal(bed->fake.count, 1);
    assert_int_equal(bed_state(bed, 2), JOB_READY);
    assert_int_equal(bed_attempts(bed, 2), 0);
}

static void only_the_origin_of_a_url_is_shown(void **state)
{
    struct push_bed *bed = *state;
    char origin[64];

    bed_push(bed);
    (void)snprintf(origin, sizeof origin, "http://127.0.0.1:%d", bed->fake.port);
    assert_string_equal(bed_shown(bed, 0).endpoint, origin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(busy_endpoint_says_how_long_to_wait),
        STORY(unavailable_endpoint_says_how_long_to_wait),
        STORY(longest_pause_is_ten_minutes),
        STORY(retry_after_is_ignored_with_other_statuses),
        STORY(pause_is_logged_and_a_reload_ends_it),
        STORY(pause_is_ended_by_an_operator),
        STORY(operator_has_an_endpoint_that_is_down_tried_again),
        STORY(busy_endpoint_without_retry_after_is_tried_less_often),
        STORY(earlier_retry_after_does_not_last),
        STORY(request_ends_before_the_lease_of_its_job),
        STORY(job_that_was_taken_away_is_not_ended_by_the_first_response),
        STORY(job_that_was_taken_away_before_it_was_sent_is_sent_once),
        STORY(job_may_be_deleted_while_it_is_sent),
        STORY(job_is_given_back_later_if_the_store_has_no_room),
        STORY(private_address_is_never_connected_to),
        STORY(endpoint_that_stays_the_same_keeps_its_requests),
        STORY(endpoint_that_changes_takes_no_more_and_ends_with_its_last_response),
        STORY(queue_without_an_endpoint_is_not_pushed),
        STORY(queue_with_another_section_goes_to_its_endpoint),
        STORY(stop_waits_for_responses_and_gives_back_the_rest),
        STORY(stop_sends_no_held_request),
        STORY(stop_in_the_middle_leaves_no_endpoint_to_be_called),
        STORY(settings_after_the_stop_make_no_endpoint),
        STORY(only_the_origin_of_a_url_is_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
