/* SPDX-License-Identifier: MIT */

// Scrapes of metrics.

// memmem is a GNU function.
#define _GNU_SOURCE
#include "tests/admin/wire_metrics.h"
#include "tests/proto_common/wire_host_private.h"

#define OPEN "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n"

static void the_format_is_the_requested_one(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer = asks(t->a, SEES("/metrics"), 200);

    field_is(answer, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    field_is(answer, "Cache-Control", "no-store");
    field_is(answer, "Vary", "Accept");
    assert_true(metrics_say(answer, "# TYPE tandem_jobs_submitted_total counter\n"));
    assert_false(metrics_say(answer, "# EOF"));
    stays(t->a, answer);
    answer = asks(t->a, http_get("/metrics", OPEN), 200);
    field_is(answer, "Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert_true(metrics_say(answer, "# TYPE tandem_jobs_submitted counter\n"));
    assert_true(metrics_say(answer, "# UNIT tandem_wait_seconds seconds\n"));
    assert_memory_equal(answer->body.ptr + answer->body.len - 6, "# EOF\n", 6);
    stays(t->a, answer);
}

static void a_head_request_gets_no_body_and_frees_everything(void **state)
{
    struct admin *t = *state;

    for (int i = 0; i < 2 * METRICS_SAMPLES; i++) {
        peer_send(t->a, http_bare("HEAD", "/metrics", ""));
        rig_run(t->rig);
        assert_non_null(strstr(peer_hear(t->a).ptr, "text/plain; version=0.0.4"));
    }
    asks(t->a, SEES("/metrics"), 200);
}

static void metrics_of_the_process_are_written(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    t->introspect.is_opening = true;
    t->introspect.opening = (struct restore_progress){.read = 250, .size = 1000, .jobs = 7};
    t->introspect.protocols[1].refusals[REFUSAL_TOKEN] = 77;
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_build_info{version=\"0.1.0\"}", 1);
    sample_is(answer, "tandem_opening", 1);
    sample_is(answer, "tandem_opening_bytes{part=\"done\"}", 250);
    sample_is(answer, "tandem_opening_bytes{part=\"all\"}", 1000);
    sample_is(answer, "tandem_refusals_total{protocol=\"gearman\",kind=\"token\"}", 77);
    sample_is(answer, "tandem_loop_turns_total", t->introspect.loop.turns);
    sample_is(answer, "tandem_memory_bytes{kind=\"jobs\"}", t->introspect.memory.by_kind[0]);
    sample_is(answer, "process_open_fds", t->introspect.descriptors.open);
    sample_is(answer, "tandem_journal_sync_seconds_count", t->introspect.journal.syncs.count);
    t->introspect.is_opening = false;
    t->introspect.journal.disk_free = UINT64_MAX;
    // A reply during the opening ends its connection.
    answer = asks(t->b, SEES("/metrics"), 200);
    sample_is(answer, "tandem_opening_bytes{part=\"all\"}", 0);
    assert_false(metrics_say(answer, "\ntandem_journal_disk_free_bytes "));
}

static void show_endpoints(struct wire_introspect *introspect, size_t count)
{
    static const char *const words[] = {"completed", "refused"};
    static const uint64_t outcomes[] = {7, 3};
    static const int64_t ends[] = {NSEC_PER_SEC, INT64_MAX};
    static const uint64_t counts[] = {6, 4};
    static char names[WIRE_INTROSPECT_PUSHES][16];

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "mail%zu.*", i);
        introspect->pushes[i] = (struct introspect_push){.section = names[i],
                                                         .endpoint = "https://example.com:443",
                                                         .state = i == 1 ? "leaving" : "open",
                                                         .paused_for = i == 2 ? NSEC_PER_SEC : 0,
                                                         .connections = 8,
                                                         .in_flight = 5,
                                                         .outcome_words = words,
                                                         .outcomes = outcomes,
                                                         .outcome_count = 2,
                                                         .last_failure = ""};
    }
    introspect->push_count = count;
    introspect->push_seconds =
        (struct introspect_distribution){ends, counts, 2, 10, 20 * NSEC_PER_SEC};
}

static void endpoints_have_metrics_by_section_and_the_hundred_and_first_is_in_the_rest(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer = asks(t->a, SEES("/metrics"), 200);

    assert_false(metrics_say(answer, "tandem_push_requests_total{"));
    assert_true(metrics_say(answer, "# TYPE tandem_push_requests_total counter\n"));
    show_endpoints(&t->introspect, 104);
    answer = asks(t->b, SEES("/metrics"), 200);
    sample_is(answer, "tandem_push_requests_total{section=\"mail0.*\",outcome=\"completed\"}", 7);
    sample_is(answer, "tandem_push_requests_total{section=\"mail100.*\",outcome=\"refused\"}", 3);
    sample_is(answer, "tandem_push_in_flight{section=\"mail0.*\"}", 5);
    sample_is(answer, "tandem_push_paused{section=\"mail0.*\"}", 0);
    sample_is(answer, "tandem_push_paused{section=\"mail2.*\"}", 1);
    // The second endpoint is leaving; the last three are the rest.
    assert_false(metrics_say(answer, "section=\"mail1.*\""));
    assert_false(metrics_say(answer, "section=\"mail101.*\""));
    sample_is(answer, "tandem_push_in_flight{section=\"\"}", 15);
    sample_is(answer, "tandem_push_requests_total{section=\"\",outcome=\"completed\"}", 21);
    sample_is(answer, "tandem_push_seconds_count", 10);
    sample_is(answer, "tandem_push_seconds_bucket{le=\"1\"}", 6);
}

static void jobs_of_a_queue_are_counted_by_state_and_band(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    says(t->w, "use mail\r\nput 0 0 60 1\r\nx\r\nput 5000 0 60 1\r\nx\r\nput 9 7 60 1\r\nx\r\n"
               "put 3000000000 0 60 1\r\nx\r\nput 1 0 60 1\r\nx\r\nwatch mail\r\nreserve\r\n"
               "bury 1 0\r\nreserve\r\n");
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_jobs{queue=\"mail\",state=\"ready\"}", 2);
    sample_is(answer, "tandem_jobs{queue=\"mail\",state=\"reserved\"}", 1);
    sample_is(answer, "tandem_jobs{queue=\"mail\",state=\"delayed\"}", 1);
    sample_is(answer, "tandem_jobs{queue=\"mail\",state=\"buried\"}", 1);
    sample_is(answer, "tandem_ready_jobs{queue=\"mail\",band=\"high\"}", 0);
    sample_is(answer, "tandem_ready_jobs{queue=\"mail\",band=\"normal\"}", 1);
    sample_is(answer, "tandem_ready_jobs{queue=\"mail\",band=\"low\"}", 1);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"mail\"}", 5);
    sample_is(answer, "tandem_jobs_buried_total{queue=\"mail\"}", 1);
    sample_is(answer, "tandem_subscriptions{queue=\"mail\"}", 1);
    sample_is(answer, "tandem_workers", 1);
    sample_is(answer, "tandem_producers", 1);
}

static void times_of_a_queue_are_written_once_measured(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    says(t->w, "use mail\r\nput 0 0 60 1\r\nx\r\n");
    rig_advance(t->rig, 3 * NSEC_PER_SEC);
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is_about(answer, "tandem_oldest_ready_seconds{queue=\"mail\"}", 3);
    assert_false(metrics_say(answer, "tandem_wait_seconds_count{queue=\"mail\"}"));
    says(t->v, "watch mail\r\nreserve\r\n");
    rig_advance(t->rig, NSEC_PER_SEC / 2);
    says(t->v, "delete 1\r\n");
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_wait_seconds_bucket{queue=\"mail\",le=\"1.6384\"}", 0);
    sample_is(answer, "tandem_wait_seconds_bucket{queue=\"mail\",le=\"3.2768\"}", 1);
    sample_is_about(answer, "tandem_wait_seconds_sum{queue=\"mail\"}", 3);
    sample_is(answer, "tandem_run_seconds_bucket{queue=\"mail\",le=\"0.4096\"}", 0);
    sample_is(answer, "tandem_run_seconds_bucket{queue=\"mail\",le=\"0.8192\"}", 1);
    sample_is_about(answer, "tandem_run_seconds_sum{queue=\"mail\"}", 0.5);
    sample_is(answer, "tandem_run_seconds_count{queue=\"mail\"}", 1);
    sample_is(answer, "tandem_broker_run_seconds_count", 1);
}

static void hold(struct admin *t, struct slice name)
{
    assert_int_equal(broker_queue_create(rig_broker(t->rig), NULL, name), STATUS_OK);
}

static void names_of_any_bytes_have_different_labels(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    hold(t, SLICE("a\"b\\c\nd"));
    hold(t, SLICE("x\xff"));
    hold(t, SLICE("bytes:x\\xff"));
    hold(t, SLICE("na\xc3\xafve"));
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tandem_paused{queue=\"a\\\"b\\\\c\\nd\"}", 0);
    sample_is(answer, "tandem_paused{queue=\"bytes:x\\\\xff\"}", 0);
    sample_is(answer, "tandem_paused{queue=\"bytes:bytes:x\\\\\\\\xff\"}", 0);
    sample_is(answer, "tandem_paused{queue=\"na\xc3\xafve\"}", 0);
}

static void names_of_exporters_are_written_if_configured(void **state)
{
    static char both[] = "beanstalkd, gearman";
    static char none[] = "";
    struct admin *t = *state;
    const struct http_answer *answer;

    says(t->w, "use mail\r\nput 0 0 60 1\r\nx\r\nput 0 9 60 1\r\nx\r\nwatch mail\r\n");
    answer = asks(t->a, SEES("/metrics"), 200);
    assert_false(metrics_say(answer, "tube_current_jobs_ready"));
    assert_false(metrics_say(answer, "gearman_jobs"));
    t->settings.metrics_names = both;
    answer = asks(t->a, SEES("/metrics"), 200);
    sample_is(answer, "tube_current_jobs_ready{tube=\"mail\"}", 1);
    sample_is(answer, "beanstalkd_tube_current_jobs_ready_count{tube=\"mail\"}", 1);
    sample_is(answer, "tube_total_jobs{tube=\"mail\"}", 2);
    sample_is(answer, "tube_current_watching{tube=\"mail\"}", 1);
    sample_is(answer, "current_jobs_ready", 1);
    sample_is(answer, "current_connections", t->introspect.protocols[0].open);
    sample_is(answer, "gearman_jobs{function=\"mail\"}", 2);
    sample_is(answer, "gearman_jobs_waiting{function=\"mail\"}", 2);
    sample_is(answer, "gearman_jobs_running{function=\"mail\"}", 0);
    sample_is(answer, "gearman_workers{function=\"mail\"}", 1);
    sample_is(answer, "gearman_up", 1);
    assert_false(metrics_say(answer, "tube=\"\""));
    t->settings.metrics_names = none;
    answer = asks(t->a, SEES("/metrics"), 200);
    assert_false(metrics_say(answer, "gearman_jobs"));
}

static void a_caller_sees_only_the_queues_it_may_observe(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer;

    hold(t, SLICE("mine"));
    hold(t, SLICE("other"));
    rig_callers(t->rig)->default_grants = GRANTS({MAY_SUBMIT, "mine"});
    assert_false(peer_grant(t->a, rig_callers(t->rig)->default_grants));
    knows_token(t->rig, "some", {MAY_OBSERVE, "mine"});
    knows_token(t->rig, "all", {MAY_OBSERVE, "*"});
    knows_token(t->rig, "works", {MAY_SUBMIT | MAY_WORK, "*"});
    answer = asks(t->a, http_get("/metrics", "Authorization: Bearer some\r\n"), 200);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"mine\"}", 0);
    assert_false(metrics_say(answer, "queue=\"other"));
    assert_false(metrics_say(answer, "rest=\"true\""));
    assert_false(metrics_say(answer, "tandem_broker_jobs_submitted"));
    assert_false(metrics_say(answer, "tandem_connections"));
    answer = asks(t->a, http_get("/metrics", "Authorization: Bearer all\r\n"), 200);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"other\"}", 0);
    sample_is(answer, "tandem_jobs_submitted_total{queue=\"\",rest=\"true\"}", 0);
    asks(t->a, http_get("/metrics", "Authorization: Bearer works\r\n"), 403);
    asks(t->a, SEES("/metrics"), 401);
}

// A reply that is too long for wire_http.h.
static bool is_whole(struct slice heard)
{
    return memcmp(heard.ptr, "HTTP/1.1 200 ", 13) == 0 && heard.len > 1 << 20 &&
           memcmp(heard.ptr + heard.len - 5, "0\r\n\r\n", 5) == 0;
}

// Whether the sample was taken after the job was added.
static bool tells_of_job(struct slice heard)
{
    static const char sample[] = "\ntandem_jobs{queue=\"default\",state=\"ready\"} 1\n";

    assert_true(is_whole(heard));
    return memmem(heard.ptr, heard.len, sample, sizeof sample - 1) != NULL;
}

// Their number is limited, but every client gets a reply.
static void unread_samples_do_not_block_other_clients(void **state)
{
    struct admin *t = *state;
    struct peer *slow[METRICS_SAMPLES];

    for (int i = 0; i < 1200; i++) {
        char name[128];

        hold(t, slice_of(name, (size_t)snprintf(name, sizeof name, "q%0100d", i)));
    }
    for (int i = 0; i < METRICS_SAMPLES; i++) {
        slow[i] = peer_new(t->rig);
        peer_stop_reading(slow[i]);
        peer_send(slow[i], SEES("/metrics"));
        rig_run(t->rig);
        assert_true(peer_unread(slow[i]) < 5 << 18);
        assert_true(peer_holds(slow[i]) > 1000 * sizeof(struct metric_row));
    }
    // The last sample is still recent enough.
    says(t->w, "put 0 0 60 1\r\nx\r\n");
    assert_false(tells_of_job(peer_ask(t->a, SEES("/metrics"))));
    assert_false(peer_dropped(slow[0]));
    // The readers of the oldest sample are disconnected.
    rig_advance(t->rig, METRICS_SHARED_FOR);
    assert_true(tells_of_job(peer_ask(t->a, SEES("/metrics"))));
    assert_true(peer_dropped(slow[0]));
    peer_read_again(slow[1]);
    assert_true(is_whole(peer_hear(slow[1])));
    peer_free(slow[2]);
    assert_true(is_whole(peer_ask(t->a, SEES("/metrics"))));
}

static void concurrent_scrapes_share_a_sample(void **state)
{
    struct admin *t = *state;
    char first[200000];
    size_t len;
    const struct http_answer *answer;

    says(t->w, "use mail\r\nput 0 0 60 1\r\nx\r\n");
    peer_send(t->a, SEES("/metrics"));
    peer_send(t->b, SEES("/metrics"));
    rig_run(t->rig);
    answer = answered(t->a, 200);
    len = answer->body.len;
    assert_true(len < sizeof first);
    memcpy(first, answer->body.ptr, len);
    answer = answered(t->b, 200);
    assert_int_equal(answer->body.len, len);
    assert_memory_equal(answer->body.ptr, first, len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(the_format_is_the_requested_one),
        ADMIN(a_head_request_gets_no_body_and_frees_everything),
        ADMIN(metrics_of_the_process_are_written),
        ADMIN(endpoints_have_metrics_by_section_and_the_hundred_and_first_is_in_the_rest),
        ADMIN(jobs_of_a_queue_are_counted_by_state_and_band),
        ADMIN(times_of_a_queue_are_written_once_measured),
        ADMIN(names_of_any_bytes_have_different_labels),
        ADMIN(names_of_exporters_are_written_if_configured),
        ADMIN(a_caller_sees_only_the_queues_it_may_observe),
        ADMIN(unread_samples_do_not_block_other_clients),
        ADMIN(concurrent_scrapes_share_a_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
