/* SPDX-License-Identifier: MIT */
// Metrics as text: both formats, labels, and the Accept header.
#include "admin/metrics/metrics_text.h"

#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <string.h>

static const struct metric_family bytes_sent = {"t_sent_bytes", METRIC_COUNTER, "Sent."};
static const struct metric_family age = {"t_age_seconds", METRIC_GAUGE, "Age."};
static const struct metric_family sizes = {"t_sizes", METRIC_HISTOGRAM, "Sizes."};
static const struct metric_family syncs = {"t_sync_seconds", METRIC_HISTOGRAM, "Syncs."};

static void assert_text(struct metrics_text *text, const char *expected)
{
    char bytes[2048];

    assert_false(text->failed);
    assert_true(text->len < sizeof bytes);
    memcpy(bytes, text->bytes, text->len);
    bytes[text->len] = '\0';
    assert_string_equal(bytes, expected);
    metrics_text_free(text);
}

static void write_page(struct metrics_text *text)
{
    static const int64_t ends[] = {1, 10, INT64_MAX};
    static const int64_t spans[] = {100000, 1000000000, INT64_MAX};
    static const uint64_t counts[] = {2, 0, 3};

    metrics_text_head(text, &bytes_sent);
    metrics_text_count(text, &bytes_sent, SLICE("a=\"b\""), UINT64_MAX);
    metrics_text_head(text, &age);
    metrics_text_seconds(text, &age, SLICE(""), 0);
    metrics_text_seconds(text, &age, SLICE("a=\"1\""), 1500000000);
    metrics_text_seconds(text, &age, SLICE("a=\"2\""), 20000000001);
    metrics_text_head(text, &sizes);
    metrics_text_histogram(
        text, &sizes, SLICE(""),
        &(struct metric_histogram){.ends = ends, .counts = counts, .buckets = 3, .sum = 99});
    metrics_text_head(text, &syncs);
    metrics_text_histogram(
        text, &syncs, SLICE("a=\"b\""),
        &(struct metric_histogram){
            .ends = spans, .counts = counts, .buckets = 3, .sum = 2500000000, .nanoseconds = true});
    metrics_text_end(text);
}

static void the_text_format_has_totals_in_heads_and_no_end(void **state)
{
    struct metrics_text text = {.open_metrics = false};

    (void)state;
    write_page(&text);
    assert_text(&text, "# HELP t_sent_bytes_total Sent.\n"
                       "# TYPE t_sent_bytes_total counter\n"
                       "t_sent_bytes_total{a=\"b\"} 18446744073709551615\n"
                       "# HELP t_age_seconds Age.\n"
                       "# TYPE t_age_seconds gauge\n"
                       "t_age_seconds 0\n"
                       "t_age_seconds{a=\"1\"} 1.5\n"
                       "t_age_seconds{a=\"2\"} 20.000000001\n"
                       "# HELP t_sizes Sizes.\n"
                       "# TYPE t_sizes histogram\n"
                       "t_sizes_bucket{le=\"1\"} 2\n"
                       "t_sizes_bucket{le=\"10\"} 2\n"
                       "t_sizes_bucket{le=\"+Inf\"} 5\n"
                       "t_sizes_sum 99\n"
                       "t_sizes_count 5\n"
                       "# HELP t_sync_seconds Syncs.\n"
                       "# TYPE t_sync_seconds histogram\n"
                       "t_sync_seconds_bucket{a=\"b\",le=\"0.0001\"} 2\n"
                       "t_sync_seconds_bucket{a=\"b\",le=\"1\"} 2\n"
                       "t_sync_seconds_bucket{a=\"b\",le=\"+Inf\"} 5\n"
                       "t_sync_seconds_sum{a=\"b\"} 2.5\n"
                       "t_sync_seconds_count{a=\"b\"} 5\n");
}

static void open_metrics_has_units_points_in_integral_bounds_and_an_end(void **state)
{
    struct metrics_text text = {.open_metrics = true};

    (void)state;
    write_page(&text);
    assert_text(&text, "# HELP t_sent_bytes Sent.\n"
                       "# TYPE t_sent_bytes counter\n"
                       "# UNIT t_sent_bytes bytes\n"
                       "t_sent_bytes_total{a=\"b\"} 18446744073709551615\n"
                       "# HELP t_age_seconds Age.\n"
                       "# TYPE t_age_seconds gauge\n"
                       "# UNIT t_age_seconds seconds\n"
                       "t_age_seconds 0\n"
                       "t_age_seconds{a=\"1\"} 1.5\n"
                       "t_age_seconds{a=\"2\"} 20.000000001\n"
                       "# HELP t_sizes Sizes.\n"
                       "# TYPE t_sizes histogram\n"
                       "t_sizes_bucket{le=\"1.0\"} 2\n"
                       "t_sizes_bucket{le=\"10.0\"} 2\n"
                       "t_sizes_bucket{le=\"+Inf\"} 5\n"
                       "t_sizes_sum 99\n"
                       "t_sizes_count 5\n"
                       "# HELP t_sync_seconds Syncs.\n"
                       "# TYPE t_sync_seconds histogram\n"
                       "# UNIT t_sync_seconds seconds\n"
                       "t_sync_seconds_bucket{a=\"b\",le=\"0.0001\"} 2\n"
                       "t_sync_seconds_bucket{a=\"b\",le=\"1.0\"} 2\n"
                       "t_sync_seconds_bucket{a=\"b\",le=\"+Inf\"} 5\n"
                       "t_sync_seconds_sum{a=\"b\"} 2.5\n"
                       "t_sync_seconds_count{a=\"b\"} 5\n"
                       "# EOF\n");
}

static void a_text_without_memory_for_all_of_it_has_failed(void **state)
{
    struct metrics_text text = {.open_metrics = false};

    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        nth_alloc_fail(n);
        for (int i = 0; i < 100; i++) {
            metrics_text_count(&text, &bytes_sent, SLICE("a=\"a label of some length\""), 12345);
        }
        nth_alloc_fail(0);
        assert_true(text.failed);
        metrics_text_free(&text);
        text.failed = false;
    }
}

static void assert_label(struct slice name, const char *expected)
{
    char label[METRICS_LABEL_MAX + 1];
    size_t len = metrics_label(label, name);

    assert_true(len <= METRICS_LABEL_MAX);
    label[len] = '\0';
    assert_string_equal(label, expected);
}

static void names_in_utf8_are_only_escaped(void **state)
{
    (void)state;
    assert_label(SLICE("mail"), "mail");
    assert_label(SLICE("App\\Jobs\\Mail"), "App\\\\Jobs\\\\Mail");
    assert_label(SLICE("a\"b\nc\rd\te{}"), "a\\\"b\\nc\rd\te{}");
    assert_label(SLICE("na\xc3\xafve \xf0\x9f\x93\xac"), "na\xc3\xafve \xf0\x9f\x93\xac");
    assert_label(SLICE("byte:s"), "byte:s");
}

static void names_not_in_utf8_are_spelled_out_without_collisions(void **state)
{
    (void)state;
    assert_label(SLICE("mail\xff"), "bytes:mail\\\\xff");
    assert_label(SLICE("\xe2\x82"), "bytes:\\\\xe2\\\\x82");
    assert_label(SLICE("a\\xff\xff\"\n"), "bytes:a\\\\\\\\xff\\\\xff\\\"\\\\x0a");
    // UTF-8 names that look like a spelled-out name.
    assert_label(SLICE("bytes:mail\\xff"), "bytes:bytes:mail\\\\\\\\xff");
    assert_label(SLICE("bytes:"), "bytes:bytes:");
}

static void the_longest_label_fits(void **state)
{
    char name[QUEUE_NAME_MAX];
    char label[METRICS_LABEL_MAX];

    (void)state;
    memset(name, 0xff, sizeof name);
    assert_int_equal(metrics_label(label, slice_of(name, sizeof name)), METRICS_LABEL_MAX);
    memset(name, '\n', sizeof name);
    assert_int_equal(metrics_label(label, slice_of(name, sizeof name)), 2 * QUEUE_NAME_MAX);
}

static void bytes_of_other_texts_that_are_not_utf8_are_replaced(void **state)
{
    char to[64];
    size_t len = metrics_escape(to, SLICE("1.0\"\xff\xc3\xaf\\"));

    (void)state;
    assert_int_equal(len, 10);
    assert_memory_equal(to, "1.0\\\"?\xc3\xaf\\\\", 10);
}

#define OPEN "application/openmetrics-text"

static void open_metrics_requires_at_least_the_quality_of_plain_text(void **state)
{
    static const char *const open[] = {
        OPEN,
        OPEN "; version=1.0.0; charset=utf-8",
        OPEN ";version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
             "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "text/plain;q=0.5, Application/OpenMetrics-Text;q=0.501",
        "text/html, " OPEN ";q=0.1",
        NULL,
    };
    static const char *const plain[] = {
        "",
        "*/*",
        "text/plain",
        "application/json",
        OPEN ";q=0",
        OPEN ";q=0.2,text/plain",
        OPEN ";version=0.0.1",
        OPEN ";version=2.0.0, text/plain;q=0.1",
        OPEN "x",
        ",;,=;q",
        OPEN ";q=0;;",
        OPEN ";q=oops",
        NULL,
    };

    (void)state;
    for (const char *const *accept = open; *accept; accept++) {
        assert_true(metrics_accept_open(slice_str(*accept)));
    }
    for (const char *const *accept = plain; *accept; accept++) {
        assert_false(metrics_accept_open(slice_str(*accept)));
    }
}

static void a_sum_of_long_times_is_written_in_seconds(void **state)
{
    static const int64_t ends[] = {INT64_MAX};
    static const uint64_t counts[] = {5};
    struct metrics_text text = {.open_metrics = false};

    (void)state;
    metrics_text_histogram(&text, &syncs, SLICE("a=\"b\""),
                           &(struct metric_histogram){.ends = ends,
                                                      .counts = counts,
                                                      .buckets = 1,
                                                      .sum = 20500000000002500,
                                                      .nanoseconds = true,
                                                      .sum_in_us = true});
    assert_text(&text, "t_sync_seconds_bucket{a=\"b\",le=\"+Inf\"} 5\n"
                       "t_sync_seconds_sum{a=\"b\"} 20500000000.0025\n"
                       "t_sync_seconds_count{a=\"b\"} 5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_format_has_totals_in_heads_and_no_end),
        cmocka_unit_test(open_metrics_has_units_points_in_integral_bounds_and_an_end),
        cmocka_unit_test(a_text_without_memory_for_all_of_it_has_failed),
        cmocka_unit_test(names_in_utf8_are_only_escaped),
        cmocka_unit_test(names_not_in_utf8_are_spelled_out_without_collisions),
        cmocka_unit_test(the_longest_label_fits),
        cmocka_unit_test(bytes_of_other_texts_that_are_not_utf8_are_replaced),
        cmocka_unit_test(open_metrics_requires_at_least_the_quality_of_plain_text),
        cmocka_unit_test(a_sum_of_long_times_is_written_in_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
