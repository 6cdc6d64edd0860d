/* SPDX-License-Identifier: MIT */
// The effect of failing endpoints on their jobs: a failed attempt if the endpoint may have received
// the job, otherwise none.
#include "core/base/log.h"
#include "tests/push/push_bed.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DONE FAKE_ANSWER("200 OK", "4", "done")

// A watched job gets this response, and fails with these words.
static void check_failure(struct push_bed *bed, const char *answer, bool closes,
                          enum push_outcome_kind kind, const char *words)
{
    char told[300];

    fake_script(&bed->fake, answer, closes);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    (void)snprintf(told, sizeof told, "exception 1 %s", words);
    assert_string_equal(bed->told, told);
    assert_int_equal(bed_state(bed, 1), JOB_BURIED);
    assert_int_equal(bed_shown(bed, 0).outcomes[kind], 1);
    assert_string_equal(bed_shown(bed, 0).last_failure, words);
}

static void other_status_is_a_failed_attempt(void **state)
{
    check_failure(*state, FAKE_ANSWER("500 Oops", "2", "no"), false, OUTCOME_REFUSED,
                  "HTTP status 500");
}

static void redirect_is_not_followed(void **state)
{
    struct push_bed *bed = *state;
    char answer[200];

    (void)snprintf(answer, sizeof answer,
                   "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", bed->url);
    check_failure(bed, answer, false, OUTCOME_REFUSED,
                  "HTTP status 302: redirects are not followed");
    bed_rest(bed);
    assert_int_equal(bed->fake.count, 1);
}

static void status_counts_without_the_rest_of_the_response(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.timeout_for = 300 * NSEC_PER_MSEC;
    check_failure(bed, "HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nha", false,
                  OUTCOME_REFUSED, "HTTP status 404");
}

static void response_that_is_too_late_is_a_failed_attempt(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.timeout_for = 300 * NSEC_PER_MSEC;
    check_failure(bed, NULL, false, OUTCOME_TIMED_OUT, "no answer in time");
}

static void incomplete_result_is_a_failed_attempt(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", true);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_memory_equal(bed->told, "exception 1 no whole answer: ", 29);
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_BROKEN], 1);
}

static void incomplete_chunked_result_is_a_failed_attempt(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
                true);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_memory_equal(bed->told, "exception 1 no whole answer: ", 29);
}

static void peer_that_closes_without_a_response_is_a_failed_attempt(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, NULL, true);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_memory_equal(bed->told, "exception 1 no whole answer: ", 29);
}

static void response_that_is_not_http_is_a_failed_attempt(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, "SSH-2.0-OpenSSH_9.2\r\n", true);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_memory_equal(bed->told, "exception 1 no whole answer: ", 29);
}

// `head`, followed by `count` times 'x'.
static char *long_answer(const char *head, size_t count)
{
    char *answer = malloc(strlen(head) + count + 1);

    assert_non_null(answer);
    (void)sprintf(answer, "%s", head);
    memset(answer + strlen(head), 'x', count);
    answer[strlen(head) + count] = '\0';
    return answer;
}

static void result_is_bounded(void **state)
{
    struct push_bed *bed = *state;
    char *fits = long_answer("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", 1000);
    char *large = long_answer("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", 1001);

    fake_script(&bed->fake, fits, false);
    fake_script(&bed->fake, large, false);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_int_equal(strlen(bed->told), strlen("complete 1 ") + 1000);
    *bed->told = '\0';
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_string_equal(bed->told, "exception 2 the answer is larger than push_max_answer");
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_TOO_LARGE], 1);
    free(fits);
    free(large);
}

static void head_is_bounded(void **state)
{
    struct push_bed *bed = *state;
    char *answer = long_answer("HTTP/1.1 200 OK\r\nX: ", 60000);
    char *twice = malloc(200000);

    assert_non_null(twice);
    (void)sprintf(twice, "%s\r\nY: %s\r\n\r\n", answer, answer);
    fake_script(&bed->fake, twice, false);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_memory_equal(bed->told, "exception 1 no whole answer", 27);
    free(answer);
    free(twice);
}

// A port of 127.0.0.1 at which no process listens, or can listen until the socket is closed.
static int closed_port(int *fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;

    *fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(*fd, (const struct sockaddr *)(const void *)&address, len), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)(void *)&address, &len), 0);
    return ntohs(address.sin_port);
}

static void endpoint_that_is_down_costs_no_attempts(void **state)
{
    struct push_bed *bed = *state;
    uint64_t tried;
    int closed;

    (void)snprintf(bed->url, sizeof bed->url, "http://127.0.0.1:%d/", closed_port(&closed));
    bed_push(bed);
    for (unsigned i = 0; i < 50; i++) {
        (void)PUT(bed, .body = "x");
    }
    UNTIL(bed, strcmp(bed_shown(bed, 0).state, "paused") == 0);
    // An hour.
    for (unsigned i = 0; i < 180; i++) {
        bed->skew += SECONDS(20);
        for (unsigned j = 0; j < 5; j++) {
            bed_turn(bed);
        }
    }
    bed_rest(bed);
    tried = bed_shown(bed, 0).outcomes[OUTCOME_UNREACHABLE];
    assert_in_range(tried, 10, 100);
    for (uint64_t id = 1; id <= 50; id++) {
        assert_int_equal(bed_state(bed, id), JOB_READY);
        assert_int_equal(bed_attempts(bed, id), 0);
    }
    (void)close(closed);
}

static void endpoint_that_fails_all_jobs_gets_few_of_them(void **state)
{
    struct push_bed *bed = *state;
    unsigned buried = 0;

    fake_script(&bed->fake, FAKE_ANSWER("502 Bad Gateway", "0", ""), false);
    bed_push(bed);
    for (unsigned i = 0; i < 50; i++) {
        (void)PUT(bed, .body = "x");
    }
    bed_rest(bed);
    // Three in a row, and the requests that were being sent.
    for (uint64_t id = 1; id <= 50; id++) {
        buried += bed_state(bed, id) == JOB_BURIED ? 1 : 0;
    }
    assert_in_range(buried, 3, 3 + 4);
    assert_string_equal(bed_shown(bed, 0).state, "paused");
    bed_advance(bed, SECONDS(1));
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_REFUSED], buried + 1);
}

static void endpoint_that_is_up_again_gets_its_jobs(void **state)
{
    struct push_bed *bed = *state;

    for (unsigned i = 0; i < 5; i++) {
        fake_script(&bed->fake, FAKE_ANSWER("500 Oops", "0", ""), false);
    }
    fake_script(&bed->fake, DONE, false);
    bed->settings.connections = 1;
    bed_push(bed);
    for (unsigned i = 0; i < 20; i++) {
        (void)PUT(bed, .body = "x");
    }
    bed_rest(bed);
    assert_int_equal(bed->fake.count, 3);
    bed_advance(bed, SECONDS(1));
    assert_int_equal(bed->fake.count, 4);
    bed_advance(bed, SECONDS(1));
    assert_int_equal(bed->fake.count, 4);
    bed_advance(bed, SECONDS(1));
    assert_int_equal(bed->fake.count, 5);
    bed_advance(bed, SECONDS(4));
    UNTIL(bed, bed->fake.count == 20);
    assert_string_equal(bed_shown(bed, 0).state, "open");
}

static void count_lines(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    (void)level;
    (void)fields;
    (void)count;
    *(unsigned *)context += strcmp(event, "push_failed") == 0 ? 1 : 0;
}

static void failures_of_an_endpoint_are_logged_at_most_every_ten_seconds(void **state)
{
    struct push_bed *bed = *state;
    unsigned lines = 0;

    fake_script(&bed->fake, FAKE_ANSWER("400 Bad Request", "0", ""), false);
    bed_push(bed);
    log_set_sink(count_lines, &lines, LOG_LEVEL_WARN);
    for (unsigned i = 0; i < 20; i++) {
        (void)PUT(bed, .body = "x");
    }
    UNTIL(bed, bed_state(bed, 20) == JOB_BURIED);
    assert_int_equal(lines, 1);
    bed_advance(bed, SECONDS(10));
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed_state(bed, 21) == JOB_BURIED);
    log_set_sink(NULL, NULL, LOG_LEVEL_WARN);
    assert_int_equal(lines, 2);
}

static void client_error_statuses_do_not_pause_the_endpoint(void **state)
{
    struct push_bed *bed = *state;

    fake_script(&bed->fake, FAKE_ANSWER("400 Bad Request", "0", ""), false);
    bed_push(bed);
    for (unsigned i = 0; i < 20; i++) {
        (void)PUT(bed, .body = "x");
    }
    UNTIL(bed, bed->fake.count == 20);
    bed_rest(bed);
    assert_string_equal(bed_shown(bed, 0).state, "open");
}

static void failing_endpoint_does_not_affect_others(void **state)
{
    struct push_bed *bed = *state;
    struct push_settings both[2] = {bed->settings, bed->settings};
    char url[64];
    int closed;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/", closed_port(&closed));
    both[0].name = "bad";
    both[0].url = url;
    fake_script(&bed->fake, DONE, false);
    bed_push_all(bed, both, 2);
    for (unsigned i = 0; i < 20; i++) {
        (void)PUT(bed, .queue = "bad");
        (void)PUT(bed, .queue = "q");
    }
    UNTIL(bed, bed->fake.count == 20);
    bed_rest(bed);
    assert_string_equal(bed_shown(bed, 0).state, "paused");
    assert_int_equal(bed_shown(bed, 1).outcomes[OUTCOME_COMPLETED], 20);
    (void)close(closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(other_status_is_a_failed_attempt),
        STORY(redirect_is_not_followed),
        STORY(status_counts_without_the_rest_of_the_response),
        STORY(response_that_is_too_late_is_a_failed_attempt),
        STORY(incomplete_result_is_a_failed_attempt),
        STORY(incomplete_chunked_result_is_a_failed_attempt),
        STORY(peer_that_closes_without_a_response_is_a_failed_attempt),
        STORY(response_that_is_not_http_is_a_failed_attempt),
        STORY(result_is_bounded),
        STORY(head_is_bounded),
        STORY(endpoint_that_is_down_costs_no_attempts),
        STORY(endpoint_that_fails_all_jobs_gets_few_of_them),
        STORY(endpoint_that_is_up_again_gets_its_jobs),
        STORY(failures_of_an_endpoint_are_logged_at_most_every_ten_seconds),
        STORY(client_error_statuses_do_not_pause_the_endpoint),
        STORY(failing_endpoint_does_not_affect_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
