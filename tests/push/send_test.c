/* SPDX-License-Identifier: MIT */
// Jobs of a queue are posted to its endpoint, and completed by its response.
#include "push/signature.h"
#include "tests/push/push_bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DONE FAKE_ANSWER("200 OK", "4", "done")

static void job_is_posted_and_the_response_is_its_result(void **state)
{
    struct push_bed *bed = *state;
    long long deadline;
    uint64_t id;

    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    id = PUT(bed, .body = "lines\nof text", .watched = true);
    UNTIL(bed, *bed->told);
    assert_string_equal(bed->told, "complete 1 done");
    assert_int_equal(bed_state(bed, id), JOB_GONE);
    assert_int_equal(bed->fake.count, 1);
    assert_memory_equal(bed->fake.requests[0], "POST /hook?key=hidden HTTP/1.1\r\n", 32);
    assert_string_equal(fake_body(&bed->fake, 0), "lines\nof text");
    assert_string_equal(fake_field(&bed->fake, 0, "Content-Type"), "application/octet-stream");
    assert_string_equal(fake_field(&bed->fake, 0, "X-Gearman-Job-Handle"), "H:host.example:1");
    assert_string_equal(fake_field(&bed->fake, 0, "X-Tandem-Queue"), "q");
    assert_string_equal(fake_field(&bed->fake, 0, "X-Tandem-Attempt"), "1");
    deadline = strtoll(fake_field(&bed->fake, 0, "X-Tandem-Deadline"), NULL, 10);
    assert_in_range(deadline, bed_now(bed).wall / NSEC_PER_MSEC,
                    bed_now(bed).wall / NSEC_PER_MSEC + 5000);
    assert_memory_equal(fake_field(&bed->fake, 0, "webhook-id"), "H:host-example:1-", 17);
    assert_null(fake_field(&bed->fake, 0, "webhook-signature"));
    assert_null(fake_field(&bed->fake, 0, "Expect"));
}

static void empty_response_and_empty_body_are_valid(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, "HTTP/1.1 204 No Content\r\n\r\n", false);
    bed_push(bed);
    (void)PUT(bed, .body = "", .watched = true);
    UNTIL(bed, *bed->told);
    assert_string_equal(bed->told, "complete 1");
    assert_string_equal(fake_field(&bed->fake, 0, "Content-Length"), "0");
}

static void name_of_the_queue_is_escaped(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.name = "a*";
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .queue = "a b\r\nX-Evil: 1%\xc3\xa4", .watched = true);
    UNTIL(bed, *bed->told);
    assert_string_equal(fake_field(&bed->fake, 0, "X-Tandem-Queue"),
                        "a%20b%0D%0AX-Evil:%201%25%C3%A4");
}

static void check_signature(const struct push_bed *bed, size_t index, const char *secret)
{
    struct secrets secrets = {.count = 0};
    struct signature signature;
    char text[SIGNATURE_SIZE];
    char id[256];
    struct error_text why = {{0}};
    size_t len = bed->fake.lens[index] - bed->fake.bodies[index];

    (void)snprintf(id, sizeof id, "%s", fake_field(&bed->fake, index, "webhook-id"));
    assert_true(secrets_read(&secrets, "push_secret", slice_str(secret), &why));
    assert_true(
        signature_begin(&signature, &secrets, slice_str(id),
                        strtoll(fake_field(&bed->fake, index, "webhook-timestamp"), NULL, 10)));
    assert_true(signature_take(&signature, slice_of(fake_body(&bed->fake, index), len)));
    assert_true(signature_write(&signature, text));
    assert_string_equal(fake_field(&bed->fake, index, "webhook-signature"), text);
    signature_clear(&signature);
    secrets_clear(&secrets);
}

static void requests_are_signed_small_or_large(void **state)
{
    static const char two[] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw "
                              "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    struct push_bed *bed = *state;

    bed->settings.secret = two;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "small");
    UNTIL(bed, bed->fake.count == 1);
    (void)PUT(bed, .zeros = 1000000);
    UNTIL(bed, bed->fake.count == 2);
    (void)PUT(bed, .body = "");
    UNTIL(bed, bed->fake.count == 3);
    for (size_t i = 0; i < 3; i++) {
        check_signature(bed, i, two);
    }
    assert_int_equal(bed->fake.lens[1] - bed->fake.bodies[1], 1000000);
}

static void number_of_jobs_is_limited_by_connections(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.connections = 3;
    fake_script(&bed->fake, NULL, false);
    bed_push(bed);
    for (unsigned i = 0; i < 10; i++) {
        (void)PUT(bed, .body = "x");
    }
    UNTIL(bed, bed->fake.count == 3);
    bed_rest(bed);
    assert_int_equal(bed->fake.count, 3);
    assert_int_equal(bed_state(bed, 3), JOB_RESERVED);
    assert_int_equal(bed_state(bed, 4), JOB_READY);
    assert_int_equal(bed_shown(bed, 0).in_flight, 3);
}

static void connection_is_used_again(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.connections = 1;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    for (unsigned i = 0; i < 40; i++) {
        (void)PUT(bed, .body = "x");
    }
    UNTIL(bed, bed_state(bed, 40) == JOB_GONE);
    assert_int_equal(bed->fake.count, 40);
    assert_int_equal(bed->fake.accepted, 1);
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_COMPLETED], 40);
}

static void body_is_sent_when_the_store_has_it(void **state)
{
    struct push_bed *bed = *state;

    bed->reached = 0;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    bed_rest(bed);
    assert_int_equal(bed_state(bed, 1), JOB_RESERVED);
    assert_int_equal(bed->fake.accepted, 0);
    bed->reached = bed->appended;
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    assert_int_equal(bed->fake.count, 1);
}

static void nothing_is_sent_before_the_host_allows_it(void **state)
{
    struct push_bed *bed = *state;

    bed->fenced = true;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    bed_rest(bed);
    assert_int_equal(bed->fake.accepted, 0);
    bed->fenced = false;
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    assert_int_equal(bed->fake.count, 1);
}

// More than the buffers of both sockets hold.
static void sending_of_a_body_stops_while_the_host_forbids_it(void **state)
{
    struct push_bed *bed = *state;
    size_t before;

    bed->settings.timeout_for = SECONDS(600);
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .zeros = (size_t)32 << 20, .ttr_for = SECONDS(3600));
    UNTIL(bed, bed->fake.accepted == 1 && bed->fake.conns[0].len > 0);
    bed->fenced = true;
    bed_rest(bed);
    before = bed->fake.conns[0].len;
    bed_rest(bed);
    assert_int_equal(bed->fake.conns[0].len, before);
    assert_int_equal(bed->fake.count, 0);
    bed->fenced = false;
    UNTIL(bed, bed->fake.conns[0].len > before);
}

static void job_that_is_not_stored_in_time_is_given_back(void **state)
{
    struct push_bed *bed = *state;

    bed->reached = 0;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .body = "x");
    bed_rest(bed);
    bed_advance(bed, SECONDS(6));
    assert_true(bed_shown(bed, 0).outcomes[OUTCOME_UNSENT] > 0);
    assert_int_equal(bed_attempts(bed, 1), 0);
    bed->reached = bed->appended;
    UNTIL(bed, bed_state(bed, 1) == JOB_GONE);
    assert_int_equal(bed->fake.count, 1);
}

static void glob_pushes_all_matching_queues_and_keeps_none(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.name = "mail-*";
    fake_script(&bed->fake, DONE, false);
    (void)PUT(bed, .queue = "mail-before");
    bed_push(bed);
    (void)PUT(bed, .queue = "mail-a");
    (void)PUT(bed, .queue = "mail-b");
    (void)PUT(bed, .queue = "other");
    UNTIL(bed, bed->fake.count == 3);
    bed_rest(bed);
    assert_int_equal(bed_state(bed, 4), JOB_READY);
    assert_non_null(broker_queue_find(bed->broker, SLICE("mail-a")));
    bed_advance(bed, SECONDS(61));
    assert_null(broker_queue_find(bed->broker, SLICE("mail-before")));
    assert_null(broker_queue_find(bed->broker, SLICE("mail-a")));
    (void)PUT(bed, .queue = "mail-a");
    UNTIL(bed, bed->fake.count == 4);
}

static void queue_that_others_refer_to_is_kept(void **state)
{
    struct push_bed *bed = *state;
    struct queue *queue;

    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    assert_int_equal(broker_queue_hold(bed->broker, SLICE("q"), &queue), STATUS_OK);
    bed_rest(bed);
    bed_advance(bed, SECONDS(61));
    (void)PUT(bed, .queue = "q");
    UNTIL(bed, bed->fake.count == 1);
    broker_queue_drop(bed->broker, queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(job_is_posted_and_the_response_is_its_result),
        STORY(empty_response_and_empty_body_are_valid),
        STORY(name_of_the_queue_is_escaped),
        STORY(requests_are_signed_small_or_large),
        STORY(number_of_jobs_is_limited_by_connections),
        STORY(connection_is_used_again),
        STORY(body_is_sent_when_the_store_has_it),
        STORY(nothing_is_sent_before_the_host_allows_it),
        STORY(sending_of_a_body_stops_while_the_host_forbids_it),
        STORY(job_that_is_not_stored_in_time_is_given_back),
        STORY(glob_pushes_all_matching_queues_and_keeps_none),
        STORY(queue_that_others_refer_to_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
