/* SPDX-License-Identifier: MIT */

// Paths and queries, without a request.

#include "admin/request/route.h"
#include "admin/request/input.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct slice text(const char *chars)
{
    return slice_str(chars);
}

static bool matches(const char *path, const char *pattern)
{
    struct slice args[ROUTE_ARGS_MAX];

    return path_matches(text(path), pattern, args);
}

static void a_path_matches_only_itself(void **state)
{
    (void)state;
    assert_true(matches("/", "/"));
    assert_true(matches("/metrics", "/metrics"));
    assert_false(matches("/metrics/", "/metrics"));
    assert_false(matches("/metric", "/metrics"));
    assert_false(matches("/metricss", "/metrics"));
    assert_false(matches("", "/"));
    assert_false(matches("metrics", "/metrics"));
    assert_false(matches("//metrics", "/metrics"));
}

static void a_name_in_braces_matches_one_segment_that_is_not_empty(void **state)
{
    struct slice args[ROUTE_ARGS_MAX];

    (void)state;
    assert_true(path_matches(text("/q/a%2Fb/jobs"), "/q/{name}/jobs", args));
    assert_true(slice_equal(args[0], SLICE("a%2Fb")));
    assert_true(path_matches(text("/q/a/b"), "/q/{one}/{two}", args));
    assert_true(slice_equal(args[0], SLICE("a")));
    assert_true(slice_equal(args[1], SLICE("b")));
    assert_false(matches("/q//jobs", "/q/{name}/jobs"));
    assert_false(matches("/q/", "/q/{name}"));
    assert_false(matches("/q", "/q/{name}"));
    assert_false(matches("/q/a/b", "/q/{name}"));
}

static void is_value(const char *query, const char *name, const char *wanted)
{
    struct query_value value;

    assert_int_equal(query_get(text(query), name, &value), QUERY_FOUND);
    assert_true(slice_equal(query_slice(&value), text(wanted)));
    assert_int_equal(value.text[value.len], 0);
}

static void a_parameter_is_found_by_its_name_and_decoded(void **state)
{
    struct query_value value;

    (void)state;
    is_value("a=1", "a", "1");
    is_value("a=1&b=2", "b", "2");
    is_value("&&b=2&", "b", "2");
    is_value("b", "b", "");
    is_value("b=", "b", "");
    is_value("b=x=y", "b", "x=y");
    is_value("b=%41+%2B%26", "b", "A +&");
    is_value("b=1&b=2", "b", "1");
    assert_int_equal(query_get(SLICE(""), "a", &value), QUERY_ABSENT);
    assert_int_equal(query_get(SLICE("ab=1"), "a", &value), QUERY_ABSENT);
    assert_int_equal(query_get(SLICE("b=a"), "a", &value), QUERY_ABSENT);
}

static void an_invalid_encoding_is_an_error(void **state)
{
    char query[2 + 3 * QUERY_VALUE_MAX + 4] = "a=";
    struct query_value value;

    (void)state;
    assert_int_equal(query_get(SLICE("a=%"), "a", &value), QUERY_BAD);
    assert_int_equal(query_get(SLICE("a=%4"), "a", &value), QUERY_BAD);
    assert_int_equal(query_get(SLICE("a=%zz"), "a", &value), QUERY_BAD);
    for (size_t i = 0; i < QUERY_VALUE_MAX; i++) {
        static const char escape[] = {'%', '7', '8'};

        memcpy(query + 2 + 3 * i, escape, sizeof escape);
    }
    assert_int_equal(query_get(slice_of(query, 2 + 3 * QUERY_VALUE_MAX), "a", &value), QUERY_FOUND);
    assert_int_equal(value.len, QUERY_VALUE_MAX);
    query[2 + 3 * QUERY_VALUE_MAX] = 'x';
    assert_int_equal(query_get(slice_of(query, 3 + 3 * QUERY_VALUE_MAX), "a", &value), QUERY_BAD);
    memset(query + 2, 'x', QUERY_VALUE_MAX + 1);
    assert_int_equal(query_get(slice_of(query, 2 + QUERY_VALUE_MAX + 1), "a", &value), QUERY_BAD);
}

static void unknown_parameters_are_reported(void **state)
{
    static const char *const names[] = {"limit", "cursor", NULL};
    struct slice unknown;

    (void)state;
    assert_true(query_known(SLICE(""), names, &unknown));
    assert_true(query_known(SLICE("cursor=a&limit"), names, &unknown));
    assert_false(query_known(SLICE("cursor=a&limits=3"), names, &unknown));
    assert_true(slice_equal(unknown, SLICE("limits")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_matches_only_itself),
        cmocka_unit_test(a_name_in_braces_matches_one_segment_that_is_not_empty),
        cmocka_unit_test(a_parameter_is_found_by_its_name_and_decoded),
        cmocka_unit_test(an_invalid_encoding_is_an_error),
        cmocka_unit_test(unknown_parameters_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
