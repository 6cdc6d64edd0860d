/* SPDX-License-Identifier: MIT */

// More queues than series: the busiest queues have series, and the rest is exact.

#include "tests/admin/wire_metrics.h"
#include "tests/proto_common/wire_host_private.h"
#include "tests/support/chance.h"
#include "tests/support/nth_alloc.h"

#define QUEUES 10
#define REST(name) "tandem_" name "{queue=\"\",rest=\"true\"}"

static const char *const counters[] = {
    "jobs_submitted", "jobs_completed", "jobs_failed", "jobs_buried",
    "jobs_deleted",   "job_timeouts",   "job_retries",
};
#define COUNTERS (sizeof counters / sizeof *counters)

// The sum over all samples of the family whose labels end with this text, including the rest.
static uint64_t sum_of(const struct http_answer *answer, const char *family, const char *behind)
{
    struct slice left = answer->body;
    uint64_t sum = 0;
    char start[80];
    const char *at;

    (void)snprintf(start, sizeof start, "\n%s{queue=", family);
    while ((at = metrics_find(left, start)) != NULL) {
        const char *line = at + 1;
        const char *end = memchr(line, '\n', (size_t)(slice_end(left) - line));
        const char *found = metrics_find(slice_of(line, (size_t)(end - line)), behind);

        sum += found ? strtoull(found + strlen(behind), NULL, 10) : 0;
        left = slice_of(end, (size_t)(slice_end(left) - end));
    }
    return sum;
}

struct told {
    uint64_t rest[COUNTERS];
    uint64_t rest_waits;
};

// The series and the rest are the totals, and the rest has not fallen.
static void assert_exact(struct admin *t, const struct http_answer *answer, struct told *told)
{
    char series[80];
    struct broker_info info;

    for (size_t i = 0; i < COUNTERS; i++) {
        uint64_t all, rest;

        (void)snprintf(series, sizeof series, "tandem_broker_%s_total", counters[i]);
        all = sample_of(answer, series);
        (void)snprintf(series, sizeof series, "tandem_%s_total", counters[i]);
        assert_int_equal(sum_of(answer, series, "} "), all);
        (void)snprintf(series, sizeof series, REST("%s_total"), counters[i]);
        rest = sample_of(answer, series);
        assert_true(rest >= told->rest[i]);
        told->rest[i] = rest;
    }
    assert_int_equal(sum_of(answer, "tandem_wait_seconds_count", "} "),
                     sample_of(answer, "tandem_broker_wait_seconds_count"));
    assert_int_equal(sum_of(answer, "tandem_run_seconds_bucket", ",le=\"+Inf\"} "),
                     sample_of(answer, "tandem_broker_run_seconds_count"));
    assert_true(sample_of(answer, REST("wait_seconds_count")) >= told->rest_waits);
    told->rest_waits = sample_of(answer, REST("wait_seconds_count"));
    broker_info(rig_broker(t->rig), &info);
    assert_int_equal(sum_of(answer, "tandem_jobs", ",state=\"ready\"} "), info.jobs[JOB_READY]);
    assert_int_equal(sum_of(answer, "tandem_jobs", ",state=\"buried\"} "), info.jobs[JOB_BURIED]);
    assert_int_equal(sum_of(answer, "tandem_ready_jobs", ",band=\"normal\"} "),
                     info.ready[BAND_NORMAL]);
}

static void put_some(struct admin *t, unsigned queue, unsigned count)
{
    char words[128];

    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(words, sizeof words, "use q%u\r\nput 2000 0 60 1\r\nx\r\nuse default\r\n",
                       queue);
        says(t->w, words);
    }
}

static void live_a_little(struct admin *t)
{
    static const char *const verbs[] = {"delete", "bury", "release"};
    static const char *const behind[] = {"", " 2000", " 2000 0"};
    char words[128];
    struct slice heard;
    unsigned queue = below(QUEUES);
    unsigned verb = below(3);

    put_some(t, below(QUEUES), 1 + below(3));
    (void)snprintf(words, sizeof words, "watch q%u\r\nignore default\r\nreserve-with-timeout 0\r\n",
                   queue);
    heard = peer_ask(t->v, slice_str(words));
    rig_advance(t->rig, NSEC_PER_SEC / 3);
    heard.ptr = strstr(heard.ptr, "RESERVED ");
    if (heard.ptr) {
        unsigned long id = strtoul(heard.ptr + strlen("RESERVED "), NULL, 10);

        (void)snprintf(words, sizeof words, "%s %lu%s\r\n", verbs[verb], id, behind[verb]);
        says(t->v, words);
    }
    if (below(4) == 0) {
        says(t->v, "kick 100\r\n");
    }
    (void)snprintf(words, sizeof words, "watch default\r\nignore q%u\r\n", queue);
    says(t->v, words);
}

static void series_and_the_rest_are_exact_as_queues_come_and_go(void **state)
{
    struct admin *t = *state;
    struct told told = {.rest_waits = 0};

    t->settings.max_series_queues = 3;
    for (int i = 0; i < 150; i++) {
        const struct http_answer *answer;
        uint64_t queues, most;

        live_a_little(t);
        answer = asks(t->a, SEES("/metrics"), 200);
        assert_exact(t, answer, &told);
        queues = sample_of(answer, "tandem_queues");
        most = (uint64_t)t->settings.max_series_queues;
        sample_is(answer, "tandem_queues_in_rest", queues > most ? queues - most : 0);
        // Other queues have series from now on.
        t->settings.max_series_queues = i % 20 == 19 ? 12 : 3;
    }
    assert_true(told.rest_waits > 0);
}

static void the_busiest_queues_have_series_and_keep_them(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    t->settings.max_series_queues = 3;
    for (unsigned i = 0; i < QUEUES; i++) {
        put_some(t, i, 10 + i);
    }
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"q7\"}", 17);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"q8\"}", 18);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"q9\"}", 19);
    sample_is(answer, REST("jobs_submitted_total"), 10 + 11 + 12 + 13 + 14 + 15 + 16);
    // It is slightly busier than q7 now, with 18 present jobs.
    put_some(t, 6, 3);
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"q7\"}", 17);
    // It is much busier: it gets the series, and its earlier counts stay in the rest.
    put_some(t, 6, 5);
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"q6\"}", 0);
    sample_is(answer, "tandem_jobs{queue=\"q6\",state=\"ready\"}", 24);
    assert_false(metrics_say(answer, "queue=\"q7\""));
    put_some(t, 6, 2);
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"q6\"}", 2);
}

static void a_queue_created_while_all_have_series_has_all_its_counts(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    put_some(t, 1, 4);
    asks(t->a, SEES("/metrics"), 200);
    put_some(t, 2, 5);
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"q2\"}", 5);
    sample_is(answer, REST("jobs_submitted_total"), 0);
    sample_is(answer, "tandem_queues_in_rest", 0);
}

static void without_series_everything_is_the_rest(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    t->settings.max_series_queues = 0;
    put_some(t, 1, 4);
    rig_advance(t->rig, 9 * NSEC_PER_SEC);
    answer = asks(t->a, SEES("/metrics"), 200);
    assert_false(metrics_say(answer, "queue=\"q1\""));
    sample_is(answer, REST("jobs_submitted_total"), 4);
    sample_is(answer, "tandem_jobs{queue=\"\",rest=\"true\",state=\"ready\"}", 4);
    sample_is_about(answer, REST("oldest_ready_seconds"), 9);
    sample_is(answer, REST("subscriptions"), 2);
}

static int setup_in_turns(void **state)
{
    return admin_setup_with(state, (struct rig_options){.budget = 64}, ADMIN_DEFAULTS);
}

static void many_queues_are_visited_in_many_turns(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;
    unsigned long feeds;
    char name[16];

    t->settings.max_series_queues = 10;
    for (int i = 0; i < 2000; i++) {
        struct slice text = slice_of(name, (size_t)snprintf(name, sizeof name, "q%d", i));

        assert_int_equal(broker_queue_create(rig_broker(t->rig), NULL, text), STATUS_OK);
    }
    feeds = rig_feeds(t->rig);
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_queues_in_rest", 1991);
    assert_true(rig_feeds(t->rig) - feeds > 2000 / BROKER_SLICE / 8);
}

static int setup_slowly(void **state)
{
    return admin_setup_with(state, (struct rig_options){.budget = 8}, ADMIN_DEFAULTS);
}

static void queues_removed_during_the_walk_are_left_out(void **state)
{
    struct admin *t = *state;
    struct broker *broker = rig_broker(t->rig);
    const struct http_answer *answer;
    char name[16];

    for (int i = 0; i < 200; i++) {
        struct slice text = slice_of(name, (size_t)snprintf(name, sizeof name, "q%d", i));

        assert_int_equal(broker_queue_create(broker, NULL, text), STATUS_OK);
    }
    peer_send(t->a, SEES("/metrics"));
    for (int i = 0; i < 3; i++) {
        rig_feed(t->rig);
    }
    for (int i = 0; i < 60; i += 2) {
        struct slice text = slice_of(name, (size_t)snprintf(name, sizeof name, "q%d", i));

        assert_int_equal(broker_queue_forget(broker, NULL, text), STATUS_OK);
    }
    rig_run(t->rig);
    answer = answered(t->a, 200);
    sample_is(answer, "tandem_queues", 171);
    sample_is(answer, "tandem_queues_in_rest", 0);
    assert_false(metrics_say(answer, "queue=\"q58\""));
    sample_is(answer, "tandem_paused{queue=\"q59\"}", 0);
    sample_is(answer, "tandem_paused{queue=\"q199\"}", 0);
}

// Sends the request twice with the n-th allocation failing. False if there were fewer than n.
static bool ask_without(size_t n)
{
    struct told told = {.rest_waits = 0};
    struct slice said = SEES("/metrics");
    struct slice heard;
    struct admin *t;
    void *state;
    bool failed;

    admin_setup(&state);
    t = state;
    put_some(t, 1, 4);
    asks(t->b, SEES("/metrics"), 200);
    t->settings.max_series_queues = 2;
    put_some(t, 2, 40);
    nth_alloc_fail(n);
    heard = peer_ask(t->a, said);
    failed = nth_alloc_count() >= n;
    nth_alloc_fail(0);
    assert_true(peer_failed(t->a) || metrics_find(heard, "HTTP/1.1 503 ") ||
                metrics_find(heard, "tandem_run_seconds_count{queue=\"\",rest=\"true\"} 0\n"));
    put_some(t, 3, 50);
    assert_exact(t, asks(t->b, SEES("/metrics"), 200), &told);
    admin_teardown(&state);
    return failed;
}

static void without_memory_there_is_no_reply_or_a_complete_one(void **state)
{
    size_t n = 1;

    (void)state;
    while (ask_without(n)) {
        n++;
    }
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(series_and_the_rest_are_exact_as_queues_come_and_go),
        ADMIN(the_busiest_queues_have_series_and_keep_them),
        ADMIN(a_queue_created_while_all_have_series_has_all_its_counts),
        ADMIN(without_series_everything_is_the_rest),
        cmocka_unit_test_setup_teardown(many_queues_are_visited_in_many_turns, setup_in_turns,
                                        admin_teardown),
        cmocka_unit_test_setup_teardown(queues_removed_during_the_walk_are_left_out, setup_slowly,
                                        admin_teardown),
        cmocka_unit_test(without_memory_there_is_no_reply_or_a_complete_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
